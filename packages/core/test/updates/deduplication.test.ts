import { assert, describe, it } from "@effect/vitest"
import { Deduplication } from "../../src/internal/updates/deduplication.ts"

const day = 86_400_000

const noteAll = (recent: Deduplication, from: number, to: number, now = 0): number => {
  let fresh = 0
  for (let nth = from; nth < to; nth++) if (recent.add(`text ${nth}`, now, 0)) fresh++
  return fresh
}

describe("what came lately", () => {
  it("is known until the window has passed, from its first batch on", () => {
    const recent = new Deduplication()
    assert.strictEqual(recent.add("a", 1, 1 - day), true)
    assert.strictEqual(recent.add("b", 1, 1 - day), true)
    assert.strictEqual(recent.add("a", day, 0), false)
    assert.strictEqual(recent.add("a", day + 1, 1), false)
    assert.strictEqual(recent.add("a", day + 2, 2), true)
    assert.strictEqual(recent.add("a", day + 3, 3), false)
  })

  it("is the same as in a Map, for texts in any order that come again and again", () => {
    const recent = new Deduplication()
    const known = new Map<string, number>()
    let random = 1
    for (let now = 0; now < 100_000; now++) {
      random = (random * 48_271) % 0x7fffffff
      const text = `mid.${random % 40_000}`
      const since = now - 30_000
      const isNew = (known.get(text) ?? -Infinity) < since
      if (isNew) known.set(text, now)
      assert.strictEqual(recent.add(text, now, since), isNew)
    }
  })

  it("is the latest fifty thousand at least, and not all there ever was", () => {
    const recent = new Deduplication()
    assert.strictEqual(noteAll(recent, 0, 149_000), 149_000)
    assert.strictEqual(noteAll(recent, 99_000, 149_000), 0)
    assert.strictEqual(noteAll(recent, 0, 1000), 1000)
  })

  it("is forgotten when it is so old, whatever the window", () => {
    const recent = new Deduplication()
    noteAll(recent, 0, 50_001, 10)
    noteAll(recent, 60_000, 60_001, 20)
    recent.removeBefore(20)
    assert.strictEqual(noteAll(recent, 0, 50_001, 20), 50_001)
    assert.strictEqual(recent.add("text 60000", 20, 0), false)
  })
})
