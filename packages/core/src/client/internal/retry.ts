import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { withSpan } from "../../base/internal/tracing.ts"
import * as ApiError from "../ApiError.ts"
import { failedOnce } from "../../base/internal/failedOnce.ts"
import type { RateLimiter } from "../RateLimiter.ts"
import * as RetryPolicy from "../RetryPolicy.ts"
import * as Outage from "../Outage.ts"

/**
 * The rate limiter to which a 429 response is reported. The limiter delays all calls, so the call itself needs no
 * delay.
 */
interface Limiter {
  readonly onRateLimited: (retryAfter: Duration.Duration | undefined) => Effect.Effect<void>
  readonly pause: RateLimiter["Service"]["pause"]
}

/** The delay that the platform asks for, in milliseconds. */
const retryAfterOf = (error: ApiError.ApiError): number => {
  const { retryAfter = 0 } =
    error._tag === "RateLimited"
      ? error
      : error._tag === "RequestFailed" && error.reason._tag === "UnexpectedStatus"
        ? error.reason
        : {}
  return Duration.toMillis(retryAfter)
}

const isWithinMaxDelay = ({ maxDelay }: RetryPolicy.Policy, error: ApiError.ApiError): boolean =>
  retryAfterOf(error) <= Duration.toMillis(maxDelay)

const atLeastRetryAfter = (delay: Duration.Duration, error: ApiError.ApiError): Duration.Duration =>
  Duration.millis(Math.max(Duration.toMillis(delay), retryAfterOf(error)))

const isTransient =
  (policy: RetryPolicy.Policy, idempotent: boolean) =>
  (error: ApiError.ApiError): error is ApiError.RequestFailed =>
    error._tag === "RequestFailed" &&
    error.isRetryable &&
    isWithinMaxDelay(policy, error) &&
    (idempotent || policy.retryNonIdempotent || !error.maybeExecuted)

const isRateLimited = (error: ApiError.ApiError): error is ApiError.RateLimited =>
  error._tag === "RateLimited" && error.isSent !== false

const isRetryableRateLimit =
  (policy: RetryPolicy.Policy) =>
  (error: ApiError.ApiError): error is ApiError.RateLimited =>
    isRateLimited(error) && isWithinMaxDelay(policy, error)

const isNotReady = (error: ApiError.ApiError): error is ApiError.AttachmentNotReady =>
  error._tag === "AttachmentNotReady"

/** Adds a span for the time in which a call waits for its attachments, beside the spans of its attempts. */
const withAttachmentSpan = <A, E extends ApiError.ApiError>(
  attempt: Effect.Effect<A, E>,
  retry: (self: Effect.Effect<A, E>) => Effect.Effect<A, E>
): Effect.Effect<A, E> =>
  Effect.catchIf(attempt, isNotReady, (error) =>
    withSpan(retry(failedOnce(attempt, error)), `${error.endpoint} waits for its files`)
  )

/** Reports a 429 response to the rate limiter, whether or not the call is retried. */
const reportRateLimit =
  (policy: RetryPolicy.Policy, limiter: Limiter) =>
  (error: ApiError.ApiError): Effect.Effect<void> =>
    isRateLimited(error)
      ? limiter.onRateLimited(error.retryAfter && Duration.min(error.retryAfter, policy.maxDelay))
      : Effect.void

/**
 * Retries an attempt by the current policy. The schedules start at the first failure, so that a success costs nothing
 * (`npm run bench`, the client).
 */
export const withRetries = <A, E extends ApiError.ApiError>(
  attempt: Effect.Effect<A, E>,
  idempotent: boolean,
  limiter: Limiter
): Effect.Effect<A, E> =>
  Effect.catch(attempt, (error) =>
    Effect.flatMap(RetryPolicy.RetryPolicy, (policy) => {
      const transient = policy.transient.pipe(
        Schedule.modifyDelay(({ duration, input }) => Effect.succeed(atLeastRetryAfter(duration, input)))
      )
      const rateLimited = policy.rateLimited.pipe(
        // `Effect.retry` runs the schedule before `while`, so other errors get here too and must not pause the limiter.
        Schedule.modifyDelay(({ duration, input }) => {
          if (!isRetryableRateLimit(policy)(input)) return Effect.succeed(duration)
          return Effect.as(limiter.pause(atLeastRetryAfter(duration, input)), Duration.zero)
        })
      )
      const retryOn = <F extends ApiError.ApiError>(
        self: Effect.Effect<A, E>,
        applies: (error: ApiError.ApiError) => error is F,
        schedule: Schedule.Schedule<unknown, F>
      ): Effect.Effect<A, E> =>
        Effect.retry(self, {
          schedule: schedule as unknown as Schedule.Schedule<unknown, E>,
          while: (error: E) => applies(error)
        })
      return failedOnce(attempt, error).pipe(
        Effect.tapError(reportRateLimit(policy, limiter)),
        (self) => retryOn(self, isTransient(policy, idempotent), transient),
        (self) => retryOn(self, isRetryableRateLimit(policy), rateLimited),
        (self) => withAttachmentSpan(self, (failed) => retryOn(failed, isNotReady, policy.attachmentNotReady))
      )
    })
  )

/**
 * The `transient` schedule of the current policy for errors of another kind. `reasonOf` returns the reason on which the
 * policy decides, or `undefined` for an error after which nothing is retried.
 */
export const transientFor = <E>(endpoint: string, reasonOf: (error: E) => ApiError.Reason | undefined) =>
  Effect.map(RetryPolicy.RetryPolicy, ({ transient }) =>
    Schedule.fromStep(
      Effect.map(Schedule.toStep(transient), (step) => (now: number, error: E) => {
        const reason = reasonOf(error)
        if (reason === undefined) return Cause.done<unknown>(undefined)
        return step(now, new ApiError.RequestFailed({ endpoint, reason }))
      })
    )
  )

const isTemporary = (error: unknown): boolean =>
  error instanceof ApiError.RateLimited ||
  (error instanceof ApiError.RequestFailed && (error.isRetryable || error.reason._tag === "InvalidResponse"))

/** Turns off the retries of the policy, for a call that the caller repeats or does not want to wait for. */
export const withoutRetries = RetryPolicy.override({ transient: Schedule.recurs(0) })

/** Creates a function that repeats a call until the platform answers with a success or a permanent failure. */
export const makePlatformOutage = () => {
  const { retry } = Outage.make("The platform")
  return <A, E, R>(call: Effect.Effect<A, E, R>): Effect.Effect<A, E | Outage.GaveUp, R> =>
    retry(withoutRetries(call), isTemporary)
}
