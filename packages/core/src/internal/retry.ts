import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type * as ApiError from "../ApiError.ts"
import type { RateLimiter } from "../RateLimiter.ts"
import * as RetryPolicy from "../RetryPolicy.ts"

const isTransient =
  (policy: RetryPolicy.Policy, repeatable: boolean) =>
  (error: ApiError.ApiError): error is ApiError.RequestFailed =>
    error._tag === "RequestFailed" &&
    error.isRetryable &&
    (repeatable || policy.repeatUncertain || !error.mayBeCarriedOut)

const isBearable =
  ({ maxPause }: RetryPolicy.Policy) =>
  (error: ApiError.ApiError): error is ApiError.RateLimited =>
    error._tag === "RateLimited" &&
    (error.retryAfter === undefined || Duration.isLessThanOrEqualTo(error.retryAfter, maxPause))

const isNotReady = (error: ApiError.ApiError): error is ApiError.AttachmentNotReady =>
  error._tag === "AttachmentNotReady"

/** Fails with `error` the first time; `attempt` is what follows. The first attempt has been made already. */
const after = <A, E>(error: E, attempt: Effect.Effect<A, E>): Effect.Effect<A, E> => {
  let isFirst = true
  return Effect.suspend(() => {
    if (!isFirst) return attempt
    isFirst = false
    return Effect.fail(error)
  })
}

/**
 * Repeats an attempt by the policy in force. A success costs nothing: schedules are looked at after the first failure.
 * A 429 pauses everybody.
 */
export const retrying = <A, E extends ApiError.ApiError>(
  attempt: Effect.Effect<A, E>,
  repeatable: boolean,
  limiter: RateLimiter["Service"]
): Effect.Effect<A, E> =>
  Effect.catch(attempt, (error) =>
    Effect.flatMap(RetryPolicy.RetryPolicy, (policy) => {
      const rateLimited = policy.rateLimited.pipe(
        // A schedule is asked before `while` is: errors that are none of its business must not pause anybody.
        Schedule.modifyDelay(({ duration, input }) => {
          if (!isBearable(policy)(input)) return Effect.succeed(duration)
          const pause = input.retryAfter === undefined ? duration : Duration.max(duration, input.retryAfter)
          return Effect.as(limiter.pause(pause), pause)
        })
      )
      const on = <F extends ApiError.ApiError>(
        self: Effect.Effect<A, E>,
        applies: (error: ApiError.ApiError) => error is F,
        schedule: Schedule.Schedule<unknown, F>
      ): Effect.Effect<A, E> =>
        Effect.retry(self, {
          schedule: schedule as unknown as Schedule.Schedule<unknown, E>,
          while: (error: E) => applies(error)
        })
      return after(error, attempt).pipe(
        (self) => on(self, isTransient(policy, repeatable), policy.transient),
        (self) => on(self, isBearable(policy), rateLimited),
        (self) => on(self, isNotReady, policy.notReady)
      )
    })
  )
