import { StoreError } from "@colloquy/core"
import { assert, describe, it } from "@effect/vitest"
import { SqlError } from "effect/sql"
import { sqlToStoreError } from "../../src/internal/stores/sql.ts"

const unknown = (code: object) =>
  new SqlError.SqlError({ reason: new SqlError.UnknownError({ cause: Object.assign(new Error("failed"), code) }) })

const isRetryable = (cause: unknown): boolean => sqlToStoreError("inbox")("claim")(cause).isRetryable

describe("sqlToStoreError", () => {
  it("makes a passing problem of PostgreSQL a retryable StoreError", () => {
    for (const code of [
      "53100",
      "53200",
      "53300",
      "53400",
      "57P01",
      "57P02",
      "57P03",
      "58030",
      "25006",
      "25P03",
      "40003"
    ])
      assert.isTrue(isRetryable(unknown({ code })), code)
  })

  it("makes a full disk and an error of input or output of SQLite a retryable StoreError", () => {
    for (const errcode of [13, 10, 778, 7]) assert.isTrue(isRetryable(unknown({ errcode })), String(errcode))
  })

  it("does not make other errors of a database retryable", () => {
    for (const code of [{ code: "22001" }, { code: "XX001" }, { errcode: 11 }, { errcode: 8 }, {}])
      assert.isFalse(isRetryable(unknown(code)), JSON.stringify(code))
    assert.isFalse(isRetryable(new Error("not an SqlError")))
  })

  it("keeps a StoreError", () => {
    const error = new StoreError.StoreError({ store: "inbox", operation: "stats", reason: "no", isRetryable: true })
    assert.strictEqual(sqlToStoreError("chats")("get")(error), error)
  })
})
