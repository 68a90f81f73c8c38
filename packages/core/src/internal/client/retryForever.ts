import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as ApiError from "../../ApiError.ts"
import * as Backoff from "../../Backoff.ts"
import * as RetryPolicy from "../../RetryPolicy.ts"

const isTemporary = (error: unknown): boolean =>
  error instanceof ApiError.RateLimited ||
  (error instanceof ApiError.RequestFailed && (error.isRetryable || error.reason._tag === "InvalidResponse"))

/** Turns off the retries of the policy, for a call that the caller repeats or does not want to wait for. */
export const withoutRetries = RetryPolicy.override({ transient: Schedule.recurs(0) })

export const pauses = Backoff.make({ first: "500 millis", cap: "30 seconds" })

/** Repeats a call until it succeeds or fails permanently. Every temporary failure is logged after `whatFollows`. */
export const retryForever =
  (whatFollows: string) =>
  <A, E extends Error, R>(call: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.retry(withoutRetries(call), {
      schedule: pauses.pipe(
        Schedule.setInputType<E>(),
        // `Effect.retry` asks the schedule before `while`.
        Schedule.tap(({ input }) =>
          isTemporary(input) ? Effect.logWarning(`${whatFollows} ${input.message}`) : Effect.void
        )
      ),
      while: isTemporary
    })
