/**
 * An upload cache in Redis, which several processes can share.
 *
 * @since 0.1.0
 */
import { UploadCache } from "@colloquy/core/endpoints/UploadCache"
import * as Settings from "@colloquy/core/client/Settings"
import type * as Config from "effect/Config"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redis from "effect/persistence/Redis"
import { withStoreErrors } from "../base/internal/stores/operations.ts"
import { keyPrefix, redisToStoreError } from "../base/internal/stores/redis.ts"

/**
 * Options of {@link layer}.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /**
   * The prefix of all keys, which begin with `{<prefix>:uploads}:` (one hash slot of a cluster). Use a different prefix
   * for each bot. Default: `"colloquy"`.
   */
  readonly prefix?: string | undefined
  /** How long an attachment is kept after its last use. Default: 30 days. */
  readonly timeToLive?: Duration.Input | undefined
}

const removeIfEqual = Redis.script((key: string, attachment: string) => [key, attachment], {
  lua: `if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`,
  numberOfKeys: 1
})

/**
 * Creates the cache. See {@link layer}.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make: (options?: Options) => Effect.Effect<UploadCache["Service"], never, Redis.Redis> = Effect.fnUntraced(
  function* (options: Options = {}) {
    const redis = yield* Redis.Redis
    const timeToLive = String(Duration.toMillis(Duration.fromInputUnsafe(options.timeToLive ?? "30 days")))
    const keyOf = (key: string) => `${keyPrefix("uploads", options.prefix)}:${key}`
    const remove = redis.eval(removeIfEqual)
    return withStoreErrors<UploadCache["Service"]>(redisToStoreError("uploads"), {
      get: (key) => Effect.map(redis.send<string | null>("GETEX", keyOf(key), "PX", timeToLive), Option.fromNullishOr),
      set: (key, attachment) => Effect.asVoid(redis.send("SET", keyOf(key), attachment, "PX", timeToLive)),
      remove: (key, attachment) => Effect.asVoid(remove(keyOf(key), attachment))
    })
  }
)

/**
 * Provides an `UploadCache` on the `Redis` of the program, such as `NodeRedis.layer` of `@effect/platform-node`.
 *
 * **Example** (A cache in Redis)
 *
 * ```ts
 * import { RedisUploadCache } from "@colloquy/node"
 * import { NodeRedis } from "@effect/platform-node"
 * import { Layer } from "effect"
 *
 * const cache = RedisUploadCache.layer({ prefix: "shop-bot" }).pipe(
 *   Layer.provide(NodeRedis.layer({ url: "redis://127.0.0.1:6379" }))
 * )
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options?: Options): Layer.Layer<UploadCache, never, Redis.Redis> =>
  Layer.effect(UploadCache, make(options))

/**
 * Like {@link layer}, with options from the configuration.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerConfig = (
  options: Config.Wrap<Options> = {}
): Layer.Layer<UploadCache, Settings.InvalidSettings, Redis.Redis> =>
  Layer.effect(UploadCache, Effect.flatMap(Settings.unwrap<Options>(options), make))
