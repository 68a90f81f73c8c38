/**
 * Which failed calls are retried, and when.
 *
 * API: Errors; Endpoints, POST /uploads; Limits.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { dual } from "effect/Function"
import * as Schedule from "effect/Schedule"
import type * as ApiError from "./ApiError.ts"
import * as Backoff from "../base/Backoff.ts"

/**
 * A retry policy: a schedule for each kind of failure.
 *
 * @category models
 * @since 0.1.0
 */
export interface Policy {
  /**
   * For failures of the network and of the server (5xx). A call that the platform may have executed is retried only if
   * idempotent: see `retryNonIdempotent`. Default: 5 retries, from 200 ms, doubling up to 10 seconds.
   */
  readonly transient: Schedule.Schedule<unknown, ApiError.RequestFailed>
  /** For 429 responses. Its delays pause all calls of the bot. Default: 6 retries, from 1 second, doubling up to 30 seconds. */
  readonly rateLimited: Schedule.Schedule<unknown, ApiError.RateLimited>
  /**
   * For a message whose attached file is still being processed. Default: for 1 hour, from 500 ms, growing by half up to
   * 30 seconds. The pauses are enough for a file of 4 GB.
   */
  readonly attachmentNotReady: Schedule.Schedule<unknown, ApiError.AttachmentNotReady>
  /**
   * Maximum delay that the platform may ask for with `Retry-After`. A shorter `Retry-After` is the minimum delay before
   * the retry; with a longer `Retry-After`, the call fails at once. Default: 5 minutes.
   */
  readonly maxDelay: Duration.Duration
  /**
   * Whether a call that is not idempotent is retried although the platform may have executed the call. A message can
   * then be sent twice. Default: `false`.
   */
  readonly retryNonIdempotent: boolean
}

/**
 * The default policy. {@link Policy} has its values. All delays vary by 20% at random.
 *
 * @category policies
 * @since 0.1.0
 */
export const defaults: Policy = {
  transient: Backoff.make(Backoff.pauses.request).pipe(Schedule.upTo({ times: 5 })),
  rateLimited: Backoff.make(Backoff.pauses.rateLimitedRequest).pipe(Schedule.upTo({ times: 6 })),
  attachmentNotReady: Backoff.make(Backoff.pauses.attachmentNotReady).pipe(Schedule.upTo({ duration: "1 hour" })),
  maxDelay: Duration.minutes(5),
  retryNonIdempotent: false
}

/**
 * A policy without retries.
 *
 * @category policies
 * @since 0.1.0
 */
export const none: Policy = {
  ...defaults,
  transient: Schedule.recurs(0),
  rateLimited: Schedule.recurs(0),
  attachmentNotReady: Schedule.recurs(0)
}

/**
 * The current policy. Default: {@link defaults}.
 *
 * **Example** (No retries in a program)
 *
 * ```ts
 * import { Me, RetryPolicy } from "@colloquy/core"
 * import { Effect } from "effect"
 *
 * const program = Me.get().pipe(Effect.provideService(RetryPolicy.RetryPolicy, RetryPolicy.none))
 * ```
 *
 * @category references
 * @since 0.1.0
 */
export const RetryPolicy = Context.Reference<Policy>("@colloquy/core/RetryPolicy", { defaultValue: () => defaults })

/**
 * Changes the policy of one call or of a part of a program. Properties that are not given keep their values.
 *
 * **Example** (Retry a message that may have been sent)
 *
 * ```ts
 * import { Chat, Messages, RetryPolicy } from "@colloquy/core"
 *
 * const message = Messages.send({ chat_id: Chat.ChatId.make(4242), text: "Hello" }).pipe(
 *   RetryPolicy.override({ retryNonIdempotent: true })
 * )
 * ```
 *
 * @category combinators
 * @since 0.1.0
 */
export const override: {
  (changes: Partial<Policy>): <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  <A, E, R>(self: Effect.Effect<A, E, R>, changes: Partial<Policy>): Effect.Effect<A, E, R>
} = dual(2, <A, E, R>(self: Effect.Effect<A, E, R>, changes: Partial<Policy>) =>
  Effect.updateService(self, RetryPolicy, (policy) => ({ ...policy, ...changes }))
)
