import { assert, describe, it } from "@effect/vitest"
import { makePlatformTime } from "../../src/client/internal/platformTime.ts"

const minute = 60_000

describe("the time of the platform", () => {
  it("is at most 10 minutes before that of the process as long as nothing was observed", () => {
    assert.strictEqual(makePlatformTime().atLeast(7, 100 * minute), 90 * minute)
  })

  it("is estimated by the observation with the shortest delay", () => {
    const time = makePlatformTime()
    time.observe(5000, 1000)
    time.observe(5090, 1100)
    time.observe(5100, 1105)
    assert.strictEqual(time.atLeast(1200, 0), 1200 + 4000)
  })

  it("never is later than the clock of the platform, whatever the difference of the clocks", () => {
    for (const difference of [-90 * minute, -1, 0, 1, 90 * minute]) {
      const time = makePlatformTime()
      let now = 1_000_000_000
      for (let step = 0; step < 200; step++) {
        const delay = (step * 7919) % 300
        time.observe(now + difference - delay, now)
        now += (step * 104_729) % 40_000
        assert.isAtMost(time.atLeast(now, 0), now + difference)
        assert.isAtLeast(time.atLeast(now, 0), now + difference - 300)
      }
    }
  })

  it("is read from the header Date of responses, which has whole seconds", () => {
    const time = makePlatformTime()
    time.observeDate(undefined, 100 * minute)
    time.observeDate("no date", 100 * minute)
    assert.strictEqual(time.atLeast(0, 100 * minute), 90 * minute)
    time.observeDate("Thu, 01 Jan 1970 00:00:05 GMT", 2000)
    time.observeDate("Thu, 01 Jan 1970 00:00:05 GMT", 2500)
    assert.strictEqual(time.atLeast(3000, 0), 6000)
  })

  it("forgets a difference within 20 minutes, because clocks do not run evenly", () => {
    const time = makePlatformTime()
    time.observe(100 * minute, 100 * minute)
    for (let now = 101; now <= 122; now++) time.observe((now - 1) * minute, now * minute)
    assert.strictEqual(time.atLeast(122 * minute, 0), 121 * minute)
  })
})
