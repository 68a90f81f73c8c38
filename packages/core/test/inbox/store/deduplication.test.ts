import { assert, describe, it } from "@effect/vitest"
import { Deduplication } from "../../../src/inbox/internal/store/deduplication.ts"

const day = 86_400_000

const addAll = (deduplication: Deduplication, from: number, to: number, now = 0): number => {
  let added = 0
  for (let nth = from; nth < to; nth++) if (deduplication.add(`text ${nth}`, now, 0)) added++
  return added
}

describe("Deduplication", () => {
  it("recognizes a text until the window after its first addition has passed", () => {
    const deduplication = new Deduplication()
    assert.strictEqual(deduplication.add("a", 1, 1 - day), true)
    assert.strictEqual(deduplication.add("b", 1, 1 - day), true)
    assert.strictEqual(deduplication.add("a", day, 0), false)
    assert.strictEqual(deduplication.add("a", day + 1, 1), false)
    assert.strictEqual(deduplication.add("a", day + 2, 2), true)
    assert.strictEqual(deduplication.add("a", day + 3, 3), false)
  })

  it("returns the same results as a Map", () => {
    const deduplication = new Deduplication()
    const known = new Map<string, number>()
    const different: Array<string> = []
    let random = 1
    for (let now = 0; now < 100_000; now++) {
      random = (random * 48_271) % 0x7fffffff
      const text = `mid.${random % 40_000}`
      const since = now - 30_000
      const isNew = (known.get(text) ?? -Infinity) < since
      if (isNew) known.set(text, now)
      if (deduplication.add(text, now, since) !== isNew) different.push(text)
    }
    assert.deepStrictEqual(different, [])
  })

  it("remembers at least the latest 50,000 texts, and not all texts", () => {
    const deduplication = new Deduplication()
    assert.strictEqual(addAll(deduplication, 0, 149_000), 149_000)
    assert.strictEqual(addAll(deduplication, 99_000, 149_000), 0)
    assert.strictEqual(addAll(deduplication, 0, 1000), 1000)
  })

  it("removes texts that are older than the given time", () => {
    const deduplication = new Deduplication()
    addAll(deduplication, 0, 50_001, 10)
    addAll(deduplication, 60_000, 60_001, 20)
    deduplication.removeBefore(20)
    assert.strictEqual(addAll(deduplication, 0, 50_001, 20), 50_001)
    assert.strictEqual(deduplication.add("text 60000", 20, 0), false)
  })
})
