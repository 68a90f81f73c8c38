import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"

/**
 * Fails if an effect exceeds a time limit. Does not wait for the interruption of the effect, because a database that
 * does not answer delays the interruption too. The limit is in real time, also with a test clock.
 */
export const withTimeLimit =
  <E2>(limit: Duration.Duration, onLimit: () => E2) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | E2, R> =>
    Effect.contextWith((context) =>
      Effect.callback<A, E | E2>((resume) => {
        const fiber = Effect.runForkWith(context)(effect)
        const exit = fiber.pollUnsafe()
        if (exit !== undefined) return resume(exit)
        const timer = setTimeout(() => {
          resume(Effect.fail(onLimit()))
          fiber.interruptUnsafe()
        }, Duration.toMillis(limit))
        fiber.addObserver((exit) => {
          clearTimeout(timer)
          resume(exit)
        })
        return Effect.suspend(() => {
          clearTimeout(timer)
          return Fiber.interrupt(fiber)
        })
      })
    )
