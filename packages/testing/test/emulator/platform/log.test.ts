import { assert, describe, it } from "@effect/vitest"
import { Log } from "../../../src/emulator/internal/platform/log.ts"

describe("Log", () => {
  it("keeps at least the last entries, and their positions", () => {
    const log = new Log<number>({ entries: 100 })
    for (let entry = 0; entry < 1000; entry++) {
      log.append(entry)
      const kept = log.from(0)
      assert.strictEqual(kept.at(-1), entry)
      assert.isAtMost(kept.length, 200)
      assert.isAtLeast(kept.length, Math.min(entry + 1, 100))
      assert.deepStrictEqual(log.from(entry), [entry])
      assert.strictEqual(log.start, kept[0])
    }
    assert.strictEqual(log.end, 1000)
  })

  it("stays within its weight, except for the last entry", () => {
    const log = new Log<string>({ entries: 5, weight: 1000, weigh: ({ length }) => length })
    const kept = () => log.from(0).reduce((weight, { length }) => weight + length, 0)
    for (let entry = 0; entry < 200; entry++) {
      log.append("a".repeat(entry))
      assert.strictEqual(log.from(0).at(-1)?.length, entry)
      assert.strictEqual(log.start, log.end - log.from(0).length)
      assert.isAtMost(kept(), 1000)
    }
    log.append("a".repeat(5000))
    assert.lengthOf(log.from(0), 1)
    log.clear()
    log.append("a".repeat(900))
    log.append("a".repeat(90))
    assert.lengthOf(log.from(0), 2)
  })

  it("keeps all entries that are needed, whatever their number and weight, and removes them later", () => {
    let neededFrom = 0
    const options = { entries: 10, weight: 1000, weigh: () => 10, neededFrom: () => neededFrom }
    const log = new Log<number>(options)
    for (let entry = 0; entry < 1000; entry++) log.append(entry)
    assert.lengthOf(log.from(0), 1000)
    neededFrom = 990
    log.append(1000)
    assert.isAtMost(log.from(0).length, 100)
    assert.deepStrictEqual(
      log.from(neededFrom),
      Array.from({ length: 11 }, (_, index) => 990 + index)
    )
  })
})
