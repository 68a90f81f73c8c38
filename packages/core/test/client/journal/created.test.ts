import { assert, describe, it } from "@effect/vitest"
import { makeAllCreated } from "../../../src/client/internal/journal/created.ts"

const chat_id = 7

describe("the messages that calls have created", () => {
  it("belong to their calls", () => {
    const created = makeAllCreated()
    created.add({ id: "a", at: 1, chat_id }, "one")
    created.add({ id: "b", at: 1, chat_id }, undefined)
    assert.deepStrictEqual(
      ["a", "b", "c"].map((id) => [created.isOf(id, "one"), created.isOfAnother(id, "one")]),
      [
        [true, false],
        [false, true],
        [false, false]
      ]
    )
  })

  it("are free if another process has taken another message as the result of their call", () => {
    const created = makeAllCreated()
    created.add({ id: "a", at: 1, chat_id }, "one")
    created.add({ id: "b", at: 2, chat_id }, "two")
    // An equal call: another process has looked up "two" before "one".
    created.add({ id: "a", at: 1, chat_id }, "two")
    assert.isTrue(created.isOfAnother("a", "one"))
    assert.isFalse(created.isOfAnother("b", "one"))
    created.add({ id: "b", at: 2, chat_id }, "one")
    assert.isTrue(created.isOf("a", "two"))
    assert.isTrue(created.isOf("b", "one"))
  })

  it("are forgotten after 10,000 others", () => {
    const created = makeAllCreated()
    for (let index = 0; index <= 10_000; index++) created.add({ id: `${index}`, at: index, chat_id }, `call ${index}`)
    assert.isFalse(created.isOf("0", "call 0"))
    assert.isTrue(created.isOf("1", "call 1"))
    created.add({ id: "again", at: 20_000, chat_id }, "call 0")
    assert.isTrue(created.isOf("again", "call 0"))
  })
})
