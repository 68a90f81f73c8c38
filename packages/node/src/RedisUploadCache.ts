/**
 * The cache of uploads in Redis, shared by all processes that use it.
 *
 * @since 0.1.0
 */
import { UploadCache } from "@colloquy/core/UploadCache"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redis from "effect/persistence/Redis"
import { ofRedis } from "./internal/stores/failure.ts"

/**
 * `prefix` stands before every key, `colloquy:uploads:` unless told. An attachment that has not been used for
 * `timeToLive` is forgotten, 30 days unless told.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly prefix?: string | undefined
  readonly timeToLive?: Duration.Input | undefined
}

const failing = (operation: string) => Effect.mapError(ofRedis("uploads")(operation))

const removeIfSame = Redis.script((key: string, attachment: string) => [key, attachment], {
  lua: `if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`,
  numberOfKeys: 1
})

/**
 * A cache on the `Redis` of the program, as `NodeRedis` gives it.
 *
 * **Example**
 *
 * ```ts
 * import { RedisUploadCache } from "@colloquy/node"
 * import { NodeRedis } from "@effect/platform-node"
 * import { Layer } from "effect"
 *
 * const cache = RedisUploadCache.layer({ prefix: "my-bot:uploads:" }).pipe(
 *   Layer.provide(NodeRedis.layer({ url: "redis://127.0.0.1:6379" }))
 * )
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: Options = {}): Layer.Layer<UploadCache, never, Redis.Redis> =>
  Layer.effect(
    UploadCache,
    Effect.gen(function* () {
      const redis = yield* Redis.Redis
      const { prefix = "colloquy:uploads:" } = options
      const millis = String(Duration.toMillis(Duration.fromInputUnsafe(options.timeToLive ?? "30 days")))
      const remove = redis.eval(removeIfSame)
      return UploadCache.of({
        get: (key) =>
          redis
            .send<string | null>("GETEX", prefix + key, "PX", millis)
            .pipe(Effect.map(Option.fromNullishOr), failing("get")),
        set: (key, attachment) =>
          redis.send("SET", prefix + key, attachment, "PX", millis).pipe(Effect.asVoid, failing("set")),
        remove: (key, attachment) => remove(prefix + key, attachment).pipe(Effect.asVoid, failing("remove"))
      })
    })
  )
