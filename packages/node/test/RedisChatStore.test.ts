import { ChatStore } from "@colloquy/core"
import { RedisChatStore } from "@colloquy/node"
import { Fixtures } from "@colloquy/testing"
import * as NodeRedis from "@effect/platform-node/NodeRedis"
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redis from "effect/persistence/Redis"
import { added, describeStore, missing, places } from "./support/chatStoreTests.ts"
import * as Databases from "./support/databases.ts"

describeStore("Redis")

describe.skipIf(missing.Redis)("RedisChatStore", () => {
  it.effect("fails with an error that is not retryable if a key has another type", () =>
    Effect.gen(function* () {
      const prefix = yield* places["Redis"]!
      const context = yield* Layer.build(
        Layer.provideMerge(RedisChatStore.layer({ prefix }), NodeRedis.layer({ url: Databases.redisUrl }))
      )
      yield* Context.get(context, Redis.Redis).send("SET", `{${prefix}:chats}:known`, "taken")
      const error = yield* Effect.flip(Effect.provide(ChatStore.upsert([added(Fixtures.groupId)]), context))
      assert.isFalse(error.isRetryable)
      assert.include(error.message, "WRONGTYPE")
    })
  )
})
