import * as Layer from "effect/Layer"
import { UploadCache } from "@colloquy/core"
import { RedisUploadCache } from "@colloquy/node"
import * as UploadCacheSuite from "@colloquy/testing/stores/UploadCacheSuite"
import { describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Databases from "../support/databases.ts"

describe.skipIf(await Databases.isMissing("Redis", 6379))("RedisUploadCache", () => {
  const onNewPrefix = <A, E>(
    use: Effect.Effect<A, E, UploadCache.UploadCache>,
    options: RedisUploadCache.Options = {}
  ) =>
    Effect.suspend(() => {
      const prefix = Databases.uniqueName("uploads")
      const cache = RedisUploadCache.layer({ prefix, ...options })
      return Effect.provide(use, Layer.provideMerge(cache, Databases.redisPrefix(`{${prefix}:`)))
    })

  for (const { effect, name } of UploadCacheSuite.cases) it.live(name, () => onNewPrefix(effect))

  it.live("removes an attachment that was not used for the time to live", () =>
    onNewPrefix(
      Effect.gen(function* () {
        const cache = yield* UploadCache.UploadCache
        yield* cache.set("image a", "{}")
        while (Option.isSome(yield* cache.get("image a"))) yield* Effect.sleep("60 millis")
      }),
      { timeToLive: "50 millis" }
    )
  )
})
