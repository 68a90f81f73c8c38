import { assert, describe, it } from "@effect/vitest"
import { Log } from "../src/internal/log.ts"

describe("a log", () => {
  it("keeps at least its last entries, and their positions", () => {
    const log = new Log<number>(100)
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
})
