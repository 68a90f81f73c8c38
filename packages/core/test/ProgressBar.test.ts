import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import { ProgressBar } from "../src/index.ts"

describe("a progress bar", () => {
  it("shows the share, the counts, the rate and the time left", () => {
    const progress = { done: 750, total: 1000, rate: 29.7, timeLeft: Duration.seconds(3661) }
    assert.strictEqual(ProgressBar.render(progress, { width: 8 }), "[######--]  75% 750/1000 30/s 01:01:01 left")
  })

  it("is full only when all is done", () => {
    assert.strictEqual(ProgressBar.render({ done: 999, total: 1000 }, { width: 4 }), "[###-]  99% 999/1000")
    assert.strictEqual(ProgressBar.render({ done: 1000, total: 1000 }, { width: 4 }), "[####] 100% 1000/1000")
    assert.strictEqual(ProgressBar.render({ done: 1200, total: 1000 }, { width: 4 }), "[####] 100% 1200/1000")
  })

  it("shows the count alone where the total is not known, and numbers as they are to be written", () => {
    const format = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`
    assert.strictEqual(ProgressBar.render({ done: 2_500_000, rate: 1e6 }, { format }), "2.5 MB 1.0 MB/s")
  })
})
