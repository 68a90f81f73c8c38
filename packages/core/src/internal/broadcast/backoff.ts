import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as ApiError from "../../ApiError.ts"
import * as RetryPolicy from "../../RetryPolicy.ts"

const isPassing = (error: unknown): boolean =>
  error instanceof ApiError.RateLimited ||
  (error instanceof ApiError.RequestFailed && (error.isRetryable || error.reason._tag === "InvalidResponse"))

/** For a call that has pauses of its own, or is not to wait. */
export const withoutRetries = RetryPolicy.override({ transient: Schedule.recurs(0) })

/** Pauses that grow to half a minute. */
export const growing = Schedule.min([Schedule.exponential("500 millis"), Schedule.spaced("30 seconds")]).pipe(
  Schedule.jittered
)

/** Repeats a call until it fails with what does not pass by itself, and says so from the first pause on. */
export const patiently =
  (said: string) =>
  <A, E extends Error, R>(call: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.retry(withoutRetries(call), {
      schedule: growing.pipe(
        Schedule.setInputType<E>(),
        // A schedule is asked before `while` is.
        Schedule.tap(({ input }) => (isPassing(input) ? Effect.logWarning(`${said} ${input.message}`) : Effect.void))
      ),
      while: isPassing
    })
