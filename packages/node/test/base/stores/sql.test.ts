import { StoreError } from "@colloquy/core"
import { NodeSqlite } from "@colloquy/node"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { SqlError } from "effect/sql"
import { makeStore, sqlToStoreError } from "../../../src/base/internal/stores/sql.ts"

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
      "40003",
      "55P03",
      "55006",
      "57014",
      "72000"
    ])
      assert.isTrue(isRetryable(unknown({ code })), code)
  })

  it("makes a full disk and an error of input or output of SQLite a retryable StoreError", () => {
    for (const errcode of [13, 10, 778, 7, 14, 15, 5, 9])
      assert.isTrue(isRetryable(unknown({ errcode })), String(errcode))
  })

  it("does not make other errors of a database retryable", () => {
    for (const code of [
      { code: "22001" },
      { code: "42P01" },
      { code: "28P01" },
      { code: "3D000" },
      { code: "23505" },
      { code: "54000" },
      { code: "XX001" },
      { errcode: 11 },
      { errcode: 8 },
      {}
    ])
      assert.isFalse(isRetryable(unknown(code)), JSON.stringify(code))
    assert.isFalse(isRetryable(new Error("not an SqlError")))
  })

  it("has the message of the database as the reason", () => {
    const cause = new Error('role "nobody" does not exist')
    const reason = new SqlError.AuthenticationError({ cause, message: "PgConnection: Failed to connect" })
    assert.strictEqual(
      sqlToStoreError("inbox")("migrate")(new SqlError.SqlError({ reason })).reason,
      'PgConnection: Failed to connect: role "nobody" does not exist'
    )
  })

  it("keeps a StoreError", () => {
    const error = new StoreError.StoreError({ store: "inbox", operation: "stats", reason: "no", isRetryable: true })
    assert.strictEqual(sqlToStoreError("chats")("get")(error), error)
  })
})

describe("rows of values in SQLite", () => {
  const texts = ["plain", "", 'a "quoted" one', "back\\slash", "new\nline", "\u0001encoded", "🙂 и ё", "1", "null"]
  const columns = { one: "text", two: "text", three: "bigint" } as const
  const values = texts.map((one, index) => ({ one, two: index === 3 ? null : `${one} 2`, three: index }))

  it.effect("have the values and the order of the objects, with any number of columns", () =>
    Effect.gen(function* () {
      const { dialect, sql } = yield* makeStore({ store: "inbox", prefix: undefined, migrations: () => ({}) })
      const { one, three, two } = columns
      assert.deepStrictEqual(
        yield* sql`SELECT r.one FROM ${dialect.rows({ one }, values)}`,
        values.map(({ one }) => ({ one }))
      )
      assert.deepStrictEqual(
        yield* sql`SELECT r.one, r.two FROM ${dialect.rows({ one, two }, values)}`,
        values.map(({ one, two }) => ({ one, two }))
      )
      assert.deepStrictEqual(
        yield* sql`SELECT r.one, r.three FROM ${dialect.rows({ one, three }, values)}`,
        values.map(({ one, three }) => ({ one, three }))
      )
      assert.deepStrictEqual(yield* sql`SELECT r.one, r.two, r.three FROM ${dialect.rows(columns, values)}`, values)
    }).pipe(Effect.provide(NodeSqlite.layer({ filename: ":memory:" })))
  )

  it.effect("keep rows that have the same value in the first of two columns", () =>
    Effect.gen(function* () {
      const { dialect, sql } = yield* makeStore({ store: "inbox", prefix: undefined, migrations: () => ({}) })
      const same = ["2", "1", "2"].map((one, index) => ({ one, three: index }))
      assert.deepStrictEqual(
        yield* sql`SELECT r.one, r.three FROM ${dialect.rows({ one: "text", three: "bigint" }, same)}`,
        same
      )
    }).pipe(Effect.provide(NodeSqlite.layer({ filename: ":memory:" })))
  )
})
