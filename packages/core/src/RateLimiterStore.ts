/**
 * The store of a rate limiter that several processes share.
 *
 * A store counts the permits of all processes, holds the common pause, and keeps what the processes have learnt about the
 * real limit of the platform. `RateLimiter.layer` builds a rate limiter on a store; `RedisRateLimiterStore` of
 * `@colloquy/node` implements one with Redis. Implement this service to use another database. The cases of
 * `RateLimiterSuite` in `@colloquy/testing` check an implementation.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { StoreError } from "./StoreError.ts"

/**
 * A limit of at most `count` permits in any window.
 *
 * @category models
 * @since 0.1.0
 */
export interface Limit {
  /** Maximum number of permits in the window. */
  readonly count: number
  /** Length of the window, in milliseconds. It includes the margin of the rate limiter. */
  readonly window: number
}

/**
 * A request for one permit.
 *
 * @category models
 * @since 0.1.0
 */
export interface PermitRequest {
  /** The bucket that the permit counts in, with its limit, or `undefined` if only the limit of the host applies. */
  readonly bucket: (Limit & { readonly key: string }) | undefined
  /** Whether the permit is spread over the window of the host beyond a burst of a third of the limit. */
  readonly isPaced: boolean
}

/**
 * A granted permit.
 *
 * @category models
 * @since 0.1.0
 */
export interface Granted {
  /** Time at which the permit was granted, in milliseconds of the store's clock. */
  readonly at: number
  /** Time at which the permit counts in the windows. It is later than `at` if the request is expected to arrive late. */
  readonly countedAt: number
  /** How many permits the window of the host held before this one. */
  readonly used: number
  /** Whether this permit was the last one of its bucket, so that a 429 may come from the limit of the bucket. */
  readonly isBucketFull: boolean
}

/**
 * The result of a {@link PermitRequest}: the permit was granted, or the limit of the bucket or of the host is used up.
 * `retryAfter` is the time until the next permit may be granted, in milliseconds.
 *
 * @category models
 * @since 0.1.0
 */
export type PermitResult =
  | ({ readonly _tag: "Granted" } & Granted)
  | { readonly _tag: "BucketFull"; readonly retryAfter: number }
  | { readonly _tag: "HostFull"; readonly retryAfter: number }

/**
 * The host limit after its adaptation to 429 responses, and when it may be raised. All fields are numbers, so a store can
 * keep it as JSON. Times are milliseconds of the store's clock.
 *
 * @category models
 * @since 0.1.0
 */
export interface AdaptiveState {
  /** The current limit: how many permits the window of the host may hold. */
  readonly limit: number
  /** The limit before the last reduction. */
  readonly limitBefore: number
  /** The limit after the last reduction. */
  readonly limitAfter: number
  /** Time of the last reduction. A 429 of a request that was sent before belongs to this reduction. */
  readonly reducedAt: number
  /** Time from which a higher limit may be tried. */
  readonly raiseAt: number
  /** By how much the limit is raised next. */
  readonly raiseBy: number
  /** How long the next reduction delays the first raise. */
  readonly raiseDelay: number
}

/**
 * Counts the permits of all processes that share it.
 *
 * Each operation is atomic. Times are milliseconds of the store's own clock, so that the clocks of the processes do not
 * have to agree. An operation fails with `StoreError` if the store is unavailable; the rate limiter then does what its
 * option `onUnavailable` says.
 *
 * @category services
 * @since 0.1.0
 */
export class RateLimiterStore extends Context.Service<
  RateLimiterStore,
  {
    /**
     * Grants permits for as many of the requests as the limits allow, in the order of the requests. Returns one result for
     * each request, and the current limit of the host.
     *
     * If not all requests of a process are granted, the process waits for the host. Processes that have waited longer
     * come first: another process leaves one permit free for each of them.
     */
    readonly acquire: (options: {
      readonly requests: ReadonlyArray<PermitRequest>
      /** The configured limit of the host. The adaptive state may lower it. */
      readonly host: Limit
      /** How much later than now the granted permits count, in milliseconds. */
      readonly delay: number
    }) => Effect.Effect<{ readonly results: ReadonlyArray<PermitResult>; readonly hostLimit: number }, StoreError>
    /** Replaces the adaptive state by the result of `update`, which may be called more than once. */
    readonly updateAdaptiveState: (
      update: (state: AdaptiveState | undefined, now: number) => AdaptiveState
    ) => Effect.Effect<void, StoreError>
    /** Grants no permit for the given time, in milliseconds. The longest of several pauses applies. */
    readonly pause: (millis: number) => Effect.Effect<void, StoreError>
    /** Counts all permits of the bucket `from` in the bucket `to`, now and in the future. */
    readonly mergeBuckets: (from: string, to: string) => Effect.Effect<void, StoreError>
    /** Changes the time at which a permit counts, if the windows still hold the permit. */
    readonly postpone: (options: {
      /** The bucket of the permit, or `undefined` if only the limit of the host applied. */
      readonly bucket: string | undefined
      /** The time at which the permit counts now. */
      readonly from: number
      /** The time at which the permit shall count. */
      readonly to: number
    }) => Effect.Effect<void, StoreError>
  }
>()("@colloquy/core/RateLimiterStore") {}
