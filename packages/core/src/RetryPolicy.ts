/**
 * Which failures are tried again, and how.
 *
 * API: Errors; Endpoints, POST /uploads (growing intervals); Limits.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { dual } from "effect/Function"
import * as Schedule from "effect/Schedule"
import type * as ApiError from "./ApiError.ts"
import * as Backoff from "./Backoff.ts"

/**
 * How a call is repeated.
 *
 * - `transient`: failures of the network and of the server (5xx). What may have been carried out already is repeated
 *   only where that does no harm: not a POST, unless `retryNonIdempotent` says so.
 * - `rateLimited`: 429. The pause holds for all callers.
 * - `attachmentNotReady`: the attached file is still being processed.
 *
 * Where an answer has `Retry-After`, that is the least length of the pause; beyond `maxDelay` the call fails at once
 * instead of waiting.
 *
 * @category models
 * @since 0.1.0
 */
export interface Policy {
  readonly transient: Schedule.Schedule<unknown, ApiError.RequestFailed>
  readonly rateLimited: Schedule.Schedule<unknown, ApiError.RateLimited>
  readonly attachmentNotReady: Schedule.Schedule<unknown, ApiError.AttachmentNotReady>
  readonly maxDelay: Duration.Duration
  readonly retryNonIdempotent: boolean
}

const maxDelay = Duration.minutes(5)

/**
 * The default policy: transient failures five times, from 200 ms doubling up to 10 s; 429 six times, from 1 s doubling
 * up to 30 s, and no pause beyond 5 minutes; a file that is being processed for up to an hour, from 500 ms growing by
 * half up to 30 s, which is enough for one of 4 GB. All pauses vary by a fifth at random.
 *
 * @category policies
 * @since 0.1.0
 */
export const defaults: Policy = {
  transient: Backoff.make({ first: "200 millis", cap: "10 seconds" }).pipe(Schedule.upTo({ times: 5 })),
  rateLimited: Backoff.make({ first: "1 second", cap: "30 seconds" }).pipe(Schedule.upTo({ times: 6 })),
  attachmentNotReady: Backoff.make({ first: "500 millis", cap: "30 seconds", factor: 1.5 }).pipe(
    Schedule.upTo({ duration: "1 hour" })
  ),
  maxDelay,
  retryNonIdempotent: false
}

/**
 * A policy that repeats nothing.
 *
 * @category policies
 * @since 0.1.0
 */
export const none: Policy = {
  transient: Schedule.recurs(0),
  rateLimited: Schedule.recurs(0),
  attachmentNotReady: Schedule.recurs(0),
  maxDelay,
  retryNonIdempotent: false
}

/**
 * The policy in force.
 *
 * **Example** (for a whole program)
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
 * Changes the policy for one call or for a part of the program; what is left out stays as it was.
 *
 * **Example**
 *
 * ```ts
 * import { Chat, Messages, RetryPolicy } from "@colloquy/core"
 *
 * const insistent = Messages.send({ chat_id: Chat.ChatId.make(4242), text: "Hello" }).pipe(
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
