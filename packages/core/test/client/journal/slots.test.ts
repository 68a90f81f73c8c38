import { assert, describe, it } from "@effect/vitest"
import { makeSlots } from "../../../src/client/internal/journal/slots.ts"

describe("the slots of the calls of an attempt", () => {
  it("take a time that is linear in the number of calls with one name, also of those that failed", () => {
    const { fail, take } = makeSlots()
    let last = ""
    for (let index = 0; index < 200_000; index++) {
      last = take("row")
      const failed = take("other", index)
      fail(failed, "other", index)
    }
    assert.strictEqual(last, "row 200000")
    assert.strictEqual(take("other", 199_999), "other 200000")
    assert.strictEqual(take("other", "new"), "other 200001")
  })
})
