import { afterEach, assert, beforeEach, describe, it, vi } from "@effect/vitest"
import { makeDeadlines } from "../../src/base/internal/deadlines.ts"

describe("deadlines", () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it("pass in the order in which they were set, each after its time", () => {
    const deadlines = makeDeadlines(100)
    const passed: Array<string> = []
    deadlines.set(() => passed.push("first"))
    vi.advanceTimersByTime(60)
    deadlines.set(() => passed.push("second"))
    vi.advanceTimersByTime(40)
    assert.deepStrictEqual(passed, ["first"])
    vi.advanceTimersByTime(59)
    assert.deepStrictEqual(passed, ["first"])
    vi.advanceTimersByTime(1)
    assert.deepStrictEqual(passed, ["first", "second"])
  })

  it("do not pass after they were cleared, wherever they are in the order", () => {
    for (const cleared of [[0], [1], [2], [0, 1], [1, 2], [2, 0], [2, 1, 0], [1, 1]]) {
      const deadlines = makeDeadlines(100)
      const passed: Array<number> = []
      const set = [0, 1, 2].map((index) => deadlines.set(() => passed.push(index)))
      for (const index of cleared) deadlines.clear(set[index])
      vi.advanceTimersByTime(100)
      assert.deepStrictEqual(
        passed,
        [0, 1, 2].filter((index) => !cleared.includes(index))
      )
      deadlines.set(() => passed.push(3))
      vi.advanceTimersByTime(100)
      assert.strictEqual(passed.at(-1), 3)
    }
  })

  it("can be set and cleared when another one passes", () => {
    const deadlines = makeDeadlines(100)
    const passed: Array<string> = []
    deadlines.set(() => {
      passed.push("first")
      deadlines.clear(second)
      deadlines.set(() => passed.push("third"))
    })
    const second = deadlines.set(() => passed.push("second"))
    vi.advanceTimersByTime(100)
    assert.deepStrictEqual(passed, ["first"])
    vi.advanceTimersByTime(100)
    assert.deepStrictEqual(passed, ["first", "third"])
  })

  it("keep no request after it was cleared", () => {
    const deadlines = makeDeadlines(100)
    const earlier = deadlines.set(() => {})
    const one = deadlines.set(() => {})
    const later = deadlines.set(() => {})
    deadlines.clear(one)
    assert.isUndefined(one.next)
    assert.isUndefined(one.previous)
    assert.strictEqual(earlier.next, later)
    assert.strictEqual(later.previous, earlier)
  })
})
