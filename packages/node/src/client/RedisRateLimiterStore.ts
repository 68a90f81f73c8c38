/**
 * The rate limiter store in Redis: several processes share the limits of one bot.
 *
 * @since 0.1.0
 */
import { gracePeriod, RateLimiterStore, reservedRetryAfter, turn } from "@colloquy/core/client/RateLimiterStore"
import type { StoreError } from "@colloquy/core/base/StoreError"
import * as Settings from "@colloquy/core/client/Settings"
import type * as Config from "effect/Config"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redis from "effect/persistence/Redis"
import * as scripts from "./internal/rateLimiter/redisScripts.ts"
import { keyPrefix, redisToStoreError } from "../base/internal/stores/redis.ts"

/**
 * The options of the store.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /**
   * The prefix of all keys, which begin with `{<prefix>:rateLimiter}:` (one hash slot of a cluster). Processes with the
   * same prefix share the limits, so use a different prefix for each bot. Default: `"colloquy"`.
   */
  readonly prefix?: string | undefined
  /** Time after which the store counts as unavailable if Redis does not answer. Default: 1 second. */
  readonly timeout?: Duration.Input | undefined
}

const toStoreError = redisToStoreError("rateLimiter")

/**
 * Creates the store on the Redis connection of the context. See {@link layer}.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function* (
  options: Options = {}
): Effect.fn.Return<RateLimiterStore["Service"], never, Redis.Redis> {
  const redis = yield* Redis.Redis
  const timeout = Duration.fromInputUnsafe(options.timeout ?? "1 second")
  const keys = scripts.keysOf(keyPrefix("rateLimiter", options.prefix))

  const run = <A, E>(operation: string, effect: Effect.Effect<A, E>): Effect.Effect<A, StoreError> =>
    Effect.timeout(effect, timeout).pipe(
      Effect.mapError(toStoreError(operation)),
      // A malformed value in Redis must not end the rate limiter.
      Effect.catchDefect((cause) => Effect.fail(toStoreError(operation)(cause)))
    )

  const time = redis.eval(scripts.time)
  const acquire = redis.eval(scripts.acquire)
  const leave = redis.eval(scripts.leave)
  const exchangeState = redis.eval(scripts.exchangeState)
  const pause = redis.eval(scripts.pause)
  const mergeBuckets = redis.eval(scripts.mergeBuckets)
  const move = redis.eval(scripts.move)

  const updateAdaptiveState: RateLimiterStore["Service"]["updateAdaptiveState"] = (update) => {
    const attempt: Effect.Effect<void, unknown> = Effect.gen(function* () {
      const [now, stored] = yield* exchangeState(keys, "", "", 0)
      const state = yield* scripts.decodeState(stored)
      const next = update(state, Number(now))
      if (next === state) return
      const [, , isReplaced] = yield* exchangeState(keys, stored, JSON.stringify(next), next.limit)
      if (isReplaced === 0) yield* attempt
    })
    return run("updateAdaptiveState", attempt)
  }

  return RateLimiterStore.of({
    time: run("time", Effect.map(time(keys), Number)),
    acquire: (options) =>
      run(
        "acquire",
        Effect.map(acquire({ ...options, keys, gracePeriod, reservedRetryAfter, turn }), scripts.resultOf)
      ),
    leave: (process) => run("leave", leave(keys, process)),
    updateAdaptiveState,
    pause: (millis) => run("pause", pause(keys, millis)),
    mergeBuckets: (from, to) => run("mergeBuckets", mergeBuckets(keys, from, to)),
    move: ({ bucket, id, to }) => run("move", move(keys, bucket, id, to))
  })
})

/**
 * A rate limiter store in Redis, for `RateLimiter.layer`.
 *
 * Permits are counted by the clock of the Redis server, in one atomic script. All keys expire when the bot sends nothing.
 *
 * **Example** (Share the limits of one bot by Redis)
 *
 * ```ts
 * import { RateLimiter } from "@colloquy/core"
 * import { RedisRateLimiterStore } from "@colloquy/node"
 * import { NodeRedis } from "@effect/platform-node"
 * import { Layer } from "effect"
 *
 * const limiter = RateLimiter.layer().pipe(
 *   Layer.provide(RedisRateLimiterStore.layer({ prefix: "my-bot" })),
 *   Layer.provide(NodeRedis.layer({ url: "redis://127.0.0.1:6379" }))
 * )
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options?: Options): Layer.Layer<RateLimiterStore, never, Redis.Redis> =>
  Layer.effect(RateLimiterStore, make(options))

/**
 * {@link layer} with options from `Config`. No setting is read by default.
 *
 * **Example** (Read the prefix from a setting)
 *
 * ```ts
 * import { RedisRateLimiterStore } from "@colloquy/node"
 * import { Config } from "effect"
 *
 * const store = RedisRateLimiterStore.layerConfig({ prefix: Config.String("BOT_NAME") })
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layerConfig = (
  options: Config.Wrap<Options> = {}
): Layer.Layer<RateLimiterStore, Settings.InvalidSettings, Redis.Redis> =>
  Layer.effect(RateLimiterStore, Effect.flatMap(Settings.unwrap<Options>(options), make))
