import { assert, describe, it } from "@effect/vitest"
import { makeAllCreated } from "../../../src/client/internal/journal/created.ts"

const chat_id = 7

describe("the messages that calls have created", () => {
  it("belong to their calls", () => {
    const created = makeAllCreated()
    created.add({ id: "a", at: 1, chat_id }, "one")
    created.add({ id: "b", at: 1, chat_id }, undefined)
    assert.deepStrictEqual(
      ["a", "b", "c"].map((id) => created.isOfAnother(id, "one")),
      [false, true, false]
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
    assert.deepStrictEqual([created.isOfAnother("a", "two"), created.isOfAnother("b", "one")], [false, false])
    assert.deepStrictEqual([created.isOfAnother("a", "one"), created.isOfAnother("b", "two")], [true, true])
  })

  it("are forgotten after 10,000 others", () => {
    const created = makeAllCreated()
    for (let index = 0; index <= 10_000; index++) created.add({ id: `${index}`, at: index, chat_id }, `call ${index}`)
    assert.isFalse(created.isOfAnother("0", "another"))
    assert.isTrue(created.isOfAnother("1", "another"))
    created.add({ id: "again", at: 20_000, chat_id }, "call 0")
    assert.isTrue(created.isOfAnother("again", "another"))
  })
})
