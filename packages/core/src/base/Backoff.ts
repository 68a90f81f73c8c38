/**
 * Retry schedules whose delays grow exponentially up to a maximum.
 *
 * For authors of stores. Bots configure `RetryPolicy`.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { dual } from "effect/Function"
import * as Schedule from "effect/Schedule"
import { failedOnce } from "./internal/failedOnce.ts"

/**
 * Options of {@link make}.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** The first pause. */
  readonly first: Duration.Input
  /** The longest pause. */
  readonly cap: Duration.Input
  /** The factor by which each pause is longer than the pause before. Default: 2. */
  readonly factor?: number | undefined
}

/**
 * The pauses between the attempts of the library.
 *
 * @category constants
 * @since 0.1.0
 */
export const pauses = {
  /** A request after a transient failure (`RetryPolicy`). */
  request: { first: "200 millis", cap: "10 seconds" },
  /** A request after a 429 without `Retry-After` (`RetryPolicy`). */
  rateLimitedRequest: { first: "1 second", cap: "30 seconds" },
  /** A message whose attachment is being processed (`RetryPolicy`). */
  attachmentNotReady: { first: "500 millis", cap: "30 seconds", factor: 1.5 },
  /** An operation of a store that is unavailable (`Outage`). */
  storeUnavailable: { first: "200 millis", cap: "10 seconds" },
  /** A write of a state whose answer was lost. */
  uncertainWrite: { first: "200 millis", cap: "2 seconds" },
  /** An update that a full inbox does not accept. Fast handlers empty the inbox within milliseconds. */
  fullInbox: { first: "5 millis", cap: "250 millis" },
  /** A connection for the messages of a database. */
  subscription: { first: "500 millis", cap: "10 seconds" },
  /** A transaction that the database rolled back because of a concurrent transaction. */
  conflict: { first: "5 millis", cap: "1 second" },
  /** A file of SQLite that another connection has locked. */
  lockedFile: { first: "1 millis", cap: "25 millis", factor: 1.5 },
  /** The clock of a store of a rate limiter, while the store is unavailable. */
  rateLimiterStore: { first: "500 millis", cap: "500 millis", factor: 1 }
} as const satisfies Record<string, Options>

/**
 * Creates an endless schedule of exponentially growing pauses. Each pause is between 80% and 120% of its nominal length
 * at random, so that processes that failed together do not retry together.
 *
 * **Example** (At most 8 attempts, with pauses from 5 ms up to 1 second)
 *
 * ```ts
 * import * as Backoff from "@colloquy/core/base/Backoff"
 * import { Schedule } from "effect"
 *
 * const schedule = Backoff.make({ first: "5 millis", cap: "1 second" }).pipe(Schedule.upTo({ times: 8 }))
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = ({ cap, factor = 2, first }: Options): Schedule.Schedule<Duration.Duration> => {
  const longest = Duration.fromInputUnsafe(cap)
  return Schedule.exponential(first, factor).pipe(
    Schedule.modifyDelay(({ duration }) => Effect.succeed(Duration.min(duration, longest))),
    Schedule.jittered
  )
}

/**
 * Options of {@link retry}.
 *
 * @category models
 * @since 0.1.0
 */
export interface RetryOptions<E> {
  /** The pauses between attempts. The effect fails when the schedule ends. */
  readonly schedule: Schedule.Schedule<unknown, E>
  /** Whether to retry after this error. Default: after every error. */
  readonly while?: ((error: E) => boolean) | undefined
  /** The clock of the pauses. Default: the clock of the caller. */
  readonly clock?: Clock.Clock | undefined
}

/**
 * Retries an effect, like `Effect.retry`. An effect that succeeds at once costs no more than with `Effect.catch`, because
 * only a failure starts the schedule.
 *
 * **Example** (Retry a transaction after a conflict)
 *
 * ```ts
 * import * as Backoff from "@colloquy/core/base/Backoff"
 * import { Effect, Schedule } from "effect"
 * import { SqlError } from "effect/sql"
 *
 * const retryConflicts = <A, R>(transaction: Effect.Effect<A, SqlError.SqlError, R>) =>
 *   Backoff.retry(transaction, {
 *     schedule: Schedule.upTo(Backoff.make({ first: "5 millis", cap: "1 second" }), { times: 8 }),
 *     while: (error) => error.reason._tag === "DeadlockError"
 *   })
 * ```
 *
 * @category combinators
 * @since 0.1.0
 */
export const retry: {
  <E>(options: RetryOptions<E>): <A, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  <A, E, R>(self: Effect.Effect<A, E, R>, options: RetryOptions<E>): Effect.Effect<A, E, R>
} = dual(2, <A, E, R>(self: Effect.Effect<A, E, R>, options: RetryOptions<E>): Effect.Effect<A, E, R> => {
  const { clock, schedule } = options
  const isRetried = options.while ?? (() => true)
  return Effect.catchIf(self, isRetried, (error: E) => {
    const retried: Effect.Effect<A, E, R> = Effect.retry(failedOnce(self, error), { schedule, while: isRetried })
    return clock === undefined ? retried : Effect.provideService(retried, Clock.Clock, clock)
  })
})
