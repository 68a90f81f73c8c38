import { assert, describe, it } from "@effect/vitest"
import { StoreError } from "../../src/index.ts"

const error = (isRetryable: boolean) =>
  new StoreError.StoreError({ store: "chats", operation: "upsert", reason: "connection refused.", isRetryable })

describe("StoreError", () => {
  it("names the store and the operation that failed, and the solution", () => {
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

describe("StoreError.reasonOf", () => {
  const refused = new Error("connect ECONNREFUSED 127.0.0.1:5432")

  it("adds the messages of the causes, which say why", () => {
    const inner = new Error("Failed to connect", { cause: refused })
    const outer = new Error("Failed to connect", { cause: inner })
    assert.strictEqual(StoreError.reasonOf(outer), "Failed to connect: connect ECONNREFUSED 127.0.0.1:5432")
    assert.strictEqual(StoreError.reasonOf(new Error("", { cause: "closed" })), "closed")
  })

  it("leaves out the text of an earlier message", () => {
    const outer = new Error(`cannot connect (${refused.message})`, { cause: refused })
    assert.strictEqual(StoreError.reasonOf(outer), "cannot connect (connect ECONNREFUSED 127.0.0.1:5432)")
  })

  it("leaves out the causes of a message that explains the error", () => {
    const explained = new Error("Nothing listens at this address: check the URL.", { cause: refused })
    assert.strictEqual(StoreError.reasonOf(explained), "Nothing listens at this address: check the URL.")
  })

  it("has the errors of an aggregate without a message, as Node reports each address of a host", () => {
    const other = new Error("connect ECONNREFUSED ::1:5432")
    assert.strictEqual(
      StoreError.reasonOf(new Error("", { cause: new AggregateError([other, refused]) })),
      "connect ECONNREFUSED ::1:5432: connect ECONNREFUSED 127.0.0.1:5432"
    )
  })

  it("ends for causes in a circle, and for a value that is not an error", () => {
    const circular: { readonly message: string; cause?: unknown } = { message: "circular" }
    circular.cause = circular
    assert.strictEqual(StoreError.reasonOf(circular), "circular")
    assert.strictEqual(StoreError.reasonOf("closed"), "closed")
    assert.strictEqual(StoreError.reasonOf(undefined), "undefined")
  })
})
