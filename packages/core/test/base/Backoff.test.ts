import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Schedule from "effect/Schedule"
import * as TestClock from "effect/testing/TestClock"
import * as Backoff from "../../src/base/Backoff.ts"

/** Fails a number of times, and records the times of its runs. */
const failing = (times: number, error = "busy") => {
  const runs: Array<number> = []
  const effect = Effect.flatMap(Clock.currentTimeMillis, (now) =>
    runs.push(now) > times ? Effect.succeed(runs.length) : Effect.fail(error)
  )
  return { effect, runs }
}

const inTime = <A, E>(effect: Effect.Effect<A, E>) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(effect, { startImmediately: true })
    yield* TestClock.adjust("1 hour")
    return yield* Fiber.join(fiber)
  })

describe("Backoff.make", () => {
  it.effect("doubles the pause up to the cap, each between 80% and 120% of its length", () =>
    Effect.gen(function* () {
      const { effect, runs } = failing(6)
      yield* inTime(Effect.retry(effect, Backoff.make({ first: "100 millis", cap: "1 second" })))
      const pauses = runs.slice(1).map((at, index) => at - runs[index]!)
      for (const [index, nominal] of [100, 200, 400, 800, 1000, 1000].entries()) {
        assert.isAtLeast(pauses[index]!, nominal * 0.8)
        assert.isAtMost(pauses[index]!, nominal * 1.2)
      }
    })
  )
})

describe("Backoff.retry", () => {
  const schedule = Schedule.spaced("1 second").pipe(Schedule.upTo({ times: 3 }))

  it.effect("pauses before every attempt after the first", () =>
    Effect.gen(function* () {
      const { effect, runs } = failing(2)
      assert.strictEqual(yield* inTime(Backoff.retry(effect, { schedule })), 3)
      assert.deepStrictEqual(runs, [0, 1000, 2000])
    })
  )

  it.effect("fails with the last error when the schedule ends", () =>
    Effect.gen(function* () {
      const { effect, runs } = failing(10)
      assert.strictEqual(yield* Effect.flip(inTime(effect.pipe(Backoff.retry({ schedule })))), "busy")
      assert.lengthOf(runs, 4)
    })
  )

  it.effect("fails at once with an error that it does not retry", () =>
    Effect.gen(function* () {
      const { effect, runs } = failing(10, "full")
      const retried = Backoff.retry(effect, { schedule, while: (error) => error === "busy" })
      assert.strictEqual(yield* Effect.flip(retried), "full")
      assert.lengthOf(runs, 1)
    })
  )

  it.effect("pauses by the clock that it was given", () =>
    Effect.gen(function* () {
      const { effect, runs } = failing(2)
      const immediately = Schedule.spaced("1 milli")
      yield* Backoff.retry(effect, { schedule: immediately, clock: Clock.Clock.defaultValue() })
      assert.lengthOf(runs, 3)
    })
  )
})
