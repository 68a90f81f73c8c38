import { assert, describe, it } from "@effect/vitest"
import { Journal, PermanentError, StoreError } from "../../src/index.ts"

describe("PermanentError.mark", () => {
  it("marks the errors of the library, also those that may be retried", () => {
    const error = new StoreError.StoreError({ store: "inbox", operation: "add", reason: "down", isRetryable: true })
    assert.isFalse(PermanentError.isPermanentError(error))
    assert.strictEqual(PermanentError.mark(error), error)
    assert.isTrue(PermanentError.isPermanentError(error))
  })

  it("leaves the mark of an error of the library out of its fields", () => {
    const error = new Journal.InvalidStepResult({ step: "charge", problem: "must be a string" })
    assert.isTrue(PermanentError.isPermanentError(error))
    assert.deepStrictEqual(Object.keys(error).sort(), ["_tag", "problem", "step"])
  })

  it("marks an error twice", () => {
    const error = PermanentError.mark(PermanentError.mark(new TypeError("of another library")))
    assert.isTrue(PermanentError.isPermanentError(error))
  })
})
