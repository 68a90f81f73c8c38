import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { runSliced } from "../../src/client/internal/pausing.ts"

/** A clock whose monotonic time advances by some milliseconds whenever it is read. */
const withClock =
  (millis: number) =>
  <A, E>(self: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    Effect.flatMap(Clock.Clock, (clock) => {
      let now = 0n
      const ticking = Object.assign(Object.create(clock) as typeof clock, {
        monotonicTimeNanosUnsafe: () => (now += BigInt(millis) * 1_000_000n)
      })
      return Effect.provideService(self, Clock.Clock, ticking)
    })

function* steps(log: Array<string>) {
  for (let step = 1; step <= 3; step++) {
    log.push(`step ${step}`)
    yield
  }
  return "done"
}

const run = (millis: number) =>
  Effect.gen(function* () {
    const log: Array<string> = []
    const other = yield* Effect.forkChild(Effect.sync(() => void log.push("other")))
    log.push(yield* runSliced(() => steps(log)))
    yield* Fiber.join(other)
    return log
  }).pipe(withClock(millis))

describe("A sliced computation", () => {
  it.effect("lets other work go on at its pauses if it takes long", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* run(10), ["step 1", "other", "step 2", "step 3", "done"])
    })
  )

  it.effect("does not pause if it is fast", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* run(1), ["step 1", "step 2", "step 3", "done", "other"])
    })
  )

  it.effect("fails with the thrown exception", () =>
    Effect.gen(function* () {
      const thrown = new Error("no")
      const error = yield* Effect.flip(
        runSliced(function* () {
          yield
          throw thrown
        })
      )
      assert.strictEqual(error, thrown)
    })
  )
})
