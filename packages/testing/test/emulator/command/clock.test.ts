import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { StoppableClock } from "../../../src/emulator/internal/command/clock.ts"

describe("a stopped StoppableClock", () => {
  it.live("executes concurrent adjustments one after the other, and wakes every sleeping fiber at its time", () =>
    Effect.gen(function* () {
      const clock = new StoppableClock(yield* Effect.clockWith(Effect.succeed), 0, false)
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

describe("StoppableClock", () => {
  const makeClock = Effect.clockWith((system) =>
    Effect.sync(() => new StoppableClock(system, system.currentTimeMillisUnsafe() - 1_000_000))
  )

  const sleepOn = (clock: StoppableClock, duration: Duration.Input) =>
    Effect.forkChild(Effect.provideService(Effect.sleep(duration), Clock.Clock, clock), { startImmediately: true })

  it.live("wakes a sleeping fiber in real time while it runs", () =>
    Effect.gen(function* () {
      const clock = yield* makeClock
      yield* Effect.all([Fiber.join(yield* sleepOn(clock, 20)), Fiber.join(yield* sleepOn(clock, 5))])
      assert.isTrue(clock.isRunning)
    })
  )

  it.live("wakes nobody while it is stopped, and moves on from the time at which it was stopped", () =>
    Effect.gen(function* () {
      const clock = yield* makeClock
      const sleeping = yield* sleepOn(clock, 10)
      yield* clock.setRunning(false)
      const stoppedAt = clock.currentTimeMillisUnsafe()
      yield* Effect.sleep(30)
      assert.strictEqual(clock.currentTimeMillisUnsafe(), stoppedAt)
      assert.isUndefined(sleeping.pollUnsafe())
      yield* clock.setRunning(true)
      yield* Fiber.join(sleeping)
    })
  )

  it.live("moves by hours while it runs, and runs on", () =>
    Effect.gen(function* () {
      const clock = yield* makeClock
      const start = clock.currentTimeMillisUnsafe()
      const sleeping = yield* sleepOn(clock, "8 hours")
      yield* clock.adjust("8 hours")
      yield* Fiber.join(sleeping)
      assert.isTrue(clock.isRunning)
      yield* Fiber.join(yield* sleepOn(clock, 5))
      assert.isAtLeast(clock.currentTimeMillisUnsafe() - start, 8 * 3_600_000 + 5)
    })
  )
})
