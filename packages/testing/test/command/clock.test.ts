import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { VirtualClock } from "../../src/internal/command/clock.ts"

describe("VirtualClock", () => {
  it.live("executes concurrent adjustments one after the other, and wakes every sleeping fiber at its time", () =>
    Effect.gen(function* () {
      const clock = new VirtualClock(yield* Effect.clockWith(Effect.succeed), 0)
      const times: Array<number> = []
      const wakeEach = Effect.gen(function* () {
        for (let i = 0; i < 10; i++) {
          yield* Effect.sleep("1 second")
          times.push(yield* Clock.currentTimeMillis)
        }
      })
      yield* Effect.forkChild(Effect.provideService(wakeEach, Clock.Clock, clock), { startImmediately: true })
      yield* Effect.all([clock.adjust("3 seconds"), clock.adjust("4 seconds"), clock.adjust("500 millis")], {
        concurrency: "unbounded"
      })
      assert.strictEqual(clock.currentTimeMillisUnsafe(), 7500)
      assert.deepStrictEqual(times, [1000, 2000, 3000, 4000, 5000, 6000, 7000])
    })
  )
})
