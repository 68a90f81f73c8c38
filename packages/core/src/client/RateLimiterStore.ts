/**
 * The store of a rate limiter that several processes share.
 *
 * A store counts the permits of all processes, holds the common pause, and keeps the knowledge of the processes about
 * the real limit of the platform. `RateLimiter.layer` builds a rate limiter on a store; `RedisRateLimiterStore` of
 * `@colloquy/node` is a store in Redis. Implement this service to use another database. The cases of `RateLimiterSuite`
 * in `@colloquy/testing` check an implementation.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as memoryStore from "./internal/rateLimiter/memoryStore.ts"
import type { StoreError } from "../base/StoreError.ts"
import * as turns from "./internal/rateLimiter/turns.ts"

/**
 * Time that a waiting process may be late with its next request before the process loses its place, in milliseconds.
 *
 * @category constants
 * @since 0.1.0
 */
export const gracePeriod: number = turns.gracePeriod

/**
 * Time for which a process waits for each earlier process to take a permit, in milliseconds.
 *
 * @category constants
 * @since 0.1.0
 */
export const turn: number = turns.turn

/**
 * Time that a process waits while all permits of the host are reserved for absent members, in milliseconds.
 *
 * @category constants
 * @since 0.1.0
 */
export const reservedRetryAfter: number = turns.reservedRetryAfter

/**
 * A limit of at most `count` permits in any window.
 *
 * @category models
 * @since 0.1.0
 */
export interface Limit {
  /** Maximum number of permits in the window. */
  readonly count: number
  /** Length of the window, in milliseconds, including the margin of the rate limiter. */
  readonly window: number
}

/**
 * A request for one permit.
 *
 * @category models
 * @since 0.1.0
 */
export interface PermitRequest {
  /** Id of the permit, unique among the permits of all processes. */
  readonly id: string
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
  /**
   * Time at which the permit was granted, in milliseconds of the store's clock. The request leaves no earlier. A permit
   * that was granted in advance has a time later than the call of the store.
   */
  readonly at: number
  /** Time at which the permit counts in the windows. Later than `at` if the request is expected to arrive late. */
  readonly countedAt: number
  /** The number of permits in the window of the host before this permit. */
  readonly used: number
  /** Whether this permit was the last permit of its bucket, so that a 429 may come from the limit of the bucket. */
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
 * A process that shares the limits. A process with a share is a member of the store: while a member is absent, the
 * store reserves the share of the member, because the member may send its share without the store.
 *
 * @category models
 * @since 0.1.0
 */
export interface Process {
  /** Id of the process. A process that restarts gets a new id. */
  readonly id: string
  /** Share of the limit of the host that the process may send without the store. 0 if calls then wait. */
  readonly share: number
  /** A member that has not called `acquire` for this time is absent, in milliseconds. */
  readonly absentAfter: number
  /** The share of an absent member is reserved for this time after its last call of `acquire`, in milliseconds. */
  readonly reserveFor: number
  /** `epoch` of the last result of `acquire`, or `undefined` before the first result. */
  readonly epoch: string | undefined
  /** `reserved` of the last result of `acquire`, or 0 if the reservation has expired. */
  readonly reserved: number
  /** `reservedForOthers` of the last result of `acquire`. */
  readonly reservedForOthers: number
}

/**
 * A request that a process sent while the store was unreachable.
 *
 * @category models
 * @since 0.1.0
 */
export interface SentAlone {
  /** Id of the permit. The store counts a permit once, however often the permit is reported. */
  readonly id: string
  /** The bucket that the request counts in, with its limit, or `undefined` if only the limit of the host applies. */
  readonly bucket: (Limit & { readonly key: string }) | undefined
  /** Minimum time since the request was sent, in milliseconds. */
  readonly age: number
}

/**
 * The options of `acquire`.
 *
 * @category models
 * @since 0.1.0
 */
export interface AcquireOptions {
  /** The process that asks. */
  readonly process: Process
  /** The requested permits, the most urgent first. Without any, the call only renews the membership of the process. */
  readonly requests: ReadonlyArray<PermitRequest>
  /** The configured limit of the host. The adaptive state and reserved shares may lower this limit. */
  readonly host: Limit
  /** The delay between the time of a permit and the time at which the permit counts, in milliseconds. */
  readonly delay: number
  /** A permit that is free within this time is granted in advance, in milliseconds. */
  readonly advance: number
  /** Maximum sum of `delay` and `advance` of all processes, in milliseconds. */
  readonly maxDelay: number
  /** Time of the store's clock after which the call does nothing, because the process no longer waits for the call. */
  readonly deadline: number
  /** Granted permits whose requests were not sent. The store removes them first. */
  readonly unused: ReadonlyArray<{ readonly id: string; readonly bucket: string | undefined }>
  /** The requests that the process sent without the store. The store counts these requests first. */
  readonly sentAlone: ReadonlyArray<SentAlone>
}

/**
 * The result of `acquire`, or `Late` if the deadline was over and the call did nothing.
 *
 * @category models
 * @since 0.1.0
 */
export type AcquireResult =
  | {
      readonly _tag: "Acquired"
      /** Time of the store's clock, in milliseconds. */
      readonly now: number
      /** The results of the requests, in their order. */
      readonly results: ReadonlyArray<PermitResult>
      /** The limit of the host after reductions. Reservations for absent members are not subtracted. */
      readonly hostLimit: number
      /** Id of the contents of the store. A store that lost its contents has another id. */
      readonly epoch: string
      /** Number of permits in a window that are reserved for the process while the process is absent. */
      readonly reserved: number
      /**
       * Number of permits in a window that are reserved for the other members, in case the other members are absent.
       */
      readonly reservedForOthers: number
    }
  | { readonly _tag: "Late"; readonly now: number }

/**
 * The host limit after its adaptation to 429 responses, and the plan of the next raises. All fields are numbers, so a
 * store can keep the state as JSON. Times are milliseconds of the store's clock.
 *
 * @category models
 * @since 0.1.0
 */
export interface AdaptiveState {
  /** The current limit: the maximum number of permits in the window of the host. */
  readonly limit: number
  /** The limit before the last reduction. */
  readonly limitBefore: number
  /** The limit after the last reduction. */
  readonly limitAfter: number
  /** Time of the last reduction. A 429 of a request that was sent before belongs to this reduction. */
  readonly reducedAt: number
  /** Time from which a higher limit may be tried. */
  readonly raiseAt: number
  /** The size of the next raise. */
  readonly raiseBy: number
  /** The time between the next reduction and the first raise. */
  readonly raiseDelay: number
}

/**
 * Counts the permits of all processes that share the store.
 *
 * Each operation is atomic. Times are milliseconds of the store's own clock, so the clocks of the processes do not have
 * to agree. The store's clock never goes back. An operation fails with `StoreError` if the store is unavailable; the
 * option `onUnavailable` of the rate limiter then decides.
 *
 * @category services
 * @since 0.1.0
 */
export class RateLimiterStore extends Context.Service<
  RateLimiterStore,
  {
    /** Returns the time of the store's clock, and changes nothing. */
    readonly time: Effect.Effect<number, StoreError>
    /**
     * Renews the membership of the process, and grants permits for as many of the requests as the limits allow, in the
     * order of the requests.
     *
     * - The shares of absent members are subtracted from the limit of the host, for `reserveFor` plus one window after
     *   their last call.
     * - A process gets no more than its share of the limit reserved, and all members together no more than the limit.
     * - A store without contents grants no permit for one window plus `maxDelay`, because permits may have been granted
     *   before the contents were lost. The store then reserves the permits that the first returning process reports as
     *   reserved for others, less the reservations of the processes that have returned since.
     * - If not all requests of a process are granted, the process waits for the host. Processes that have waited longer
     *   come first, if their next call is expected within one `turn` for each waiting process: another process leaves
     *   one permit free for each process before it, and asks again one `turn` later for each.
     */
    readonly acquire: (options: AcquireOptions) => Effect.Effect<AcquireResult, StoreError>
    /** Ends the membership of a process that sends nothing any more. */
    readonly leave: (process: string) => Effect.Effect<void, StoreError>
    /** Replaces the adaptive state by the result of `update`, which may be called more than once. */
    readonly updateAdaptiveState: (
      update: (state: AdaptiveState | undefined, now: number) => AdaptiveState
    ) => Effect.Effect<void, StoreError>
    /** Grants no permit for the given time, in milliseconds. The longest of several pauses applies. */
    readonly pause: (millis: number) => Effect.Effect<void, StoreError>
    /** Counts all permits of the bucket `from` in the bucket `to`. */
    readonly mergeBuckets: (from: string, to: string) => Effect.Effect<void, StoreError>
    /** Moves the time at which a permit counts to another time, if the windows still hold the permit. */
    readonly move: (options: {
      /** Id of the permit. */
      readonly id: string
      /** The bucket of the permit, or `undefined` if only the limit of the host applied. */
      readonly bucket: string | undefined
      /** The time at which the permit shall count. */
      readonly to: number
    }) => Effect.Effect<void, StoreError>
  }
>()("@colloquy/core/RateLimiterStore") {}

/**
 * Creates a store in memory. See {@link layerMemory}.
 *
 * @category constructors
 * @since 0.1.0
 */
export const makeMemory: Effect.Effect<RateLimiterStore["Service"]> = memoryStore.make

/**
 * A store in memory, for several rate limiters of one process and for tests. Each program has a store of its own, and
 * `Layer.fresh` makes a further store in one program.
 *
 * **Example** (Two bots that share the limits of one token)
 *
 * ```ts
 * import { RateLimiter } from "@colloquy/core"
 * import * as RateLimiterStore from "@colloquy/core/client/RateLimiterStore"
 * import { Layer } from "effect"
 *
 * const limiter = RateLimiter.layer().pipe(Layer.provide(RateLimiterStore.layerMemory))
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layerMemory: Layer.Layer<RateLimiterStore> = Layer.effect(RateLimiterStore, makeMemory)
