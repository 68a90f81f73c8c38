import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type * as ApiError from "../../ApiError.ts"
import { failedOnce } from "../../Backoff.ts"
import type { RateLimiter } from "../../RateLimiter.ts"
import * as RetryPolicy from "../../RetryPolicy.ts"

/** The pause that the platform asked for, in milliseconds. */
const askedPause = (error: ApiError.ApiError): number => {
  const { retryAfter = 0 } =
    error._tag === "RateLimited"
      ? error
      : error._tag === "RequestFailed" && error.reason._tag === "UnexpectedStatus"
        ? error.reason
        : {}
  return Duration.toMillis(retryAfter)
}

const isPatient = ({ maxDelay: maxPause }: RetryPolicy.Policy, error: ApiError.ApiError): boolean =>
  askedPause(error) <= Duration.toMillis(maxPause)

const atLeastAsked = (duration: Duration.Duration, error: ApiError.ApiError): Duration.Duration =>
  Duration.millis(Math.max(Duration.toMillis(duration), askedPause(error)))

const isTransient =
  (policy: RetryPolicy.Policy, idempotent: boolean) =>
  (error: ApiError.ApiError): error is ApiError.RequestFailed =>
    error._tag === "RequestFailed" &&
    error.isRetryable &&
    isPatient(policy, error) &&
    (idempotent || policy.retryNonIdempotent || !error.maybeExecuted)

const isRefused = (error: ApiError.ApiError): error is ApiError.RateLimited =>
  error._tag === "RateLimited" && error.isSent !== false

const isBearable =
  (policy: RetryPolicy.Policy) =>
  (error: ApiError.ApiError): error is ApiError.RateLimited =>
    isRefused(error) && isPatient(policy, error)

const isNotReady = (error: ApiError.ApiError): error is ApiError.AttachmentNotReady =>
  error._tag === "AttachmentNotReady"

/** Shows how long a call waits for its files as a span beside those of its attempts. */
const waiting = <A, E extends ApiError.ApiError>(
  self: Effect.Effect<A, E>,
  repeated: (self: Effect.Effect<A, E>) => Effect.Effect<A, E>
): Effect.Effect<A, E> =>
  Effect.catch(self, (error) =>
    isNotReady(error)
      ? Effect.useSpan(`${error.endpoint} waits for its files`, () => repeated(failedOnce(self, Cause.fail(error))))
      : Effect.fail(error)
  )

/** What a 429 is told to: everybody pauses there, so its caller needs no pause of its own. */
export interface Limiter {
  readonly refused: (asked: Duration.Duration | undefined) => Effect.Effect<void>
  readonly pause: RateLimiter["Service"]["pause"]
}

/** The lesson of a 429, whether or not this call is repeated. */
const telling =
  (policy: RetryPolicy.Policy, limiter: Limiter) =>
  <E extends ApiError.ApiError>(error: E): Effect.Effect<never, E> =>
    isRefused(error)
      ? Effect.andThen(
          limiter.refused(error.retryAfter && Duration.min(error.retryAfter, policy.maxDelay)),
          Effect.fail(error)
        )
      : Effect.fail(error)

/**
 * Repeats an attempt by the policy in force. A success costs nothing: schedules are looked at after the first failure.
 * A 429 pauses everybody.
 */
export const retrying = <A, E extends ApiError.ApiError>(
  attempt: Effect.Effect<A, E>,
  idempotent: boolean,
  limiter: Limiter
): Effect.Effect<A, E> =>
  Effect.catch(attempt, (error) =>
    Effect.flatMap(RetryPolicy.RetryPolicy, (policy) => {
      const transient = policy.transient.pipe(
        Schedule.modifyDelay(({ duration, input }) => Effect.succeed(atLeastAsked(duration, input)))
      )
      const rateLimited = policy.rateLimited.pipe(
        // A schedule is asked before `while` is: errors that are none of its business must not pause anybody.
        Schedule.modifyDelay(({ duration, input }) => {
          if (!isBearable(policy)(input)) return Effect.succeed(duration)
          return Effect.as(limiter.pause(atLeastAsked(duration, input)), Duration.zero)
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
      return failedOnce(attempt, Cause.fail(error)).pipe(
        Effect.catch(telling(policy, limiter)),
        (self) => on(self, isTransient(policy, idempotent), transient),
        (self) => on(self, isBearable(policy), rateLimited),
        (self) => waiting(self, (after) => on(after, isNotReady, policy.attachmentNotReady))
      )
    })
  )
