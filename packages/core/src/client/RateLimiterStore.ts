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
import type { AcquireOptions, AcquireResult, AdaptiveState } from "./RateLimiterProtocol.ts"
import type { StoreError } from "../base/StoreError.ts"

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
 * A store in memory, for several rate limiters of one process and for tests.
 *
 * **Example** (Two bots that share the limits of one token)
 *
 * ```ts
 * import { RateLimiter } from "@colloquy/core"
 * import * as RateLimiterStore from "@colloquy/core/client/RateLimiterStore"
 * import { Layer } from "effect"
 *
 * const limiter = RateLimiter.layer().pipe(Layer.provide(RateLimiterStore.layerMemory()))
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layerMemory = (): Layer.Layer<RateLimiterStore> => Layer.effect(RateLimiterStore, makeMemory)
