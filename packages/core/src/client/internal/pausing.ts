import * as Effect from "effect/Effect"
import * as Result from "effect/Result"

/** A computation that pauses where other work may go on. */
export type Sliced<A> = Generator<undefined, A>

/** The time for which a computation may keep the event loop busy before a pause. */
const maxBusyNanos = 8_000_000n

/** Runs a computation, and serves the event loop at its pauses. Fails with the error that the computation throws. */
export const runSliced = <A>(make: () => Sliced<A>): Effect.Effect<A, unknown> =>
  Effect.clockWith((clock) => {
    const computation = make()
    const resume: Effect.Effect<A, unknown> = Effect.suspend(() => {
      const until = clock.monotonicTimeNanosUnsafe() + maxBusyNanos
      for (;;) {
        const next = Result.try(() => computation.next())
        if (Result.isFailure(next)) return Effect.fail(next.failure)
        if (next.success.done === true) return Effect.succeed(next.success.value)
        if (clock.monotonicTimeNanosUnsafe() >= until) return Effect.andThen(Effect.yieldNow, resume)
      }
    })
    return resume
  })
