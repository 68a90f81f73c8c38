import { assert, describe, it } from "@effect/vitest"
import { StoreError } from "../src/index.ts"

const error = (isRetryable: boolean) =>
  new StoreError.StoreError({ store: "chats", operation: "upsert", reason: "connection refused.", isRetryable })

describe("StoreError", () => {
  it("says which store failed in which operation, and what to do", () => {
    assert.strictEqual(
      error(true).message,
      `The chats store failed in operation "upsert": connection refused. ` +
        "The failure may be temporary: check that the database is reachable, then retry."
    )
    assert.strictEqual(
      error(false).message,
      `The chats store failed in operation "upsert": connection refused. ` +
        "A retry will fail the same way: check the database and the options of the store."
    )
  })
})
