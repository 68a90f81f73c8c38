import { Emulator } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { KeptMap } from "../../../src/emulator/internal/platform/keptMap.ts"
import { asBot, inEmulator } from "../../support/control.ts"
import { midOf } from "../../support/scene.ts"

describe("KeptMap", () => {
  it("removes the oldest entries above its weight, and says which", () => {
    const removed: Array<string> = []
    const map = new KeptMap<number, string>({ weight: 1000, weigh: ({ length }) => length }, (values) =>
      removed.push(...values)
    )
    const textOf = (key: number) => String(key).padEnd(10, ".")
    for (let key = 0; key < 500; key++) map.set(key, textOf(key))
    assert.isAtMost(map.size, 100)
    assert.isAtLeast(map.size, 87)
    assert.deepStrictEqual(
      [...removed, ...map.values()],
      Array.from({ length: 500 }, (_, key) => textOf(key))
    )
    assert.deepStrictEqual([map.get(0), map.get(499)], [undefined, textOf(499)])
    map.delete(499)
    assert.isFalse(map.has(499))
    map.set(500, "a".repeat(5000))
    assert.deepStrictEqual([...map.values()], ["a".repeat(5000)])
  })

  it("counts the weight of an entry that changes", () => {
    const map = new KeptMap<string, { text: string }>({ weight: 100, weigh: ({ text }) => text.length })
    const first = { text: "a" }
    map.set("first", first)
    map.change(first, () => {
      first.text = "a".repeat(60)
    })
    map.set("second", { text: "b".repeat(50) })
    assert.deepStrictEqual([map.has("first"), map.has("second")], [false, true])
  })
})

describe("the messages of the emulator", () => {
  it.effect("are removed above their size, the oldest first, and are counted nevertheless", () =>
    inEmulator(
      Effect.gen(function* () {
        const ann = yield* Emulator.user("Ann")
        const chat = yield* Emulator.chat({ owner: ann, bot: { admin: true } })
        const count = 17_000
        const sent = yield* Effect.replicateEffect(ann.send(chat, "a".repeat(3900)), count)
        const kept = yield* Emulator.messages(chat)
        assert.isBelow(kept.length, count)
        assert.deepStrictEqual(kept.map(midOf), sent.slice(-kept.length).map(midOf))
        assert.strictEqual((yield* asBot("GET", `/chats/${chat.chat_id}`)).body.messages_count, count)
        assert.strictEqual((yield* asBot("GET", `/messages/${midOf(sent[0])}`)).body.code, "message.not.found")
        assert.strictEqual((yield* asBot("GET", `/messages/${midOf(sent[count - 1])}`)).status, 200)
      })
    )
  )
})
