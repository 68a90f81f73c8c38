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
  it.effect("fails with a StoreError if a stored value is malformed", () =>
    Effect.gen(function* () {
      const prefix = yield* places["Redis"]!
      const context = yield* Layer.build(
        Layer.provideMerge(RedisChatStore.layer({ prefix }), NodeRedis.layer({ url: Databases.redisUrl }))
      )
      yield* Effect.provide(ChatStore.upsert([added(Fixtures.groupId)]), context)
      const key = `{${prefix}:chats}:chat:${Fixtures.groupId}`
      yield* Context.get(context, Redis.Redis).send("HSET", key, "rights", `{"is_admin":1}`)
      const error = yield* Effect.flip(Effect.provide(ChatStore.get(Fixtures.groupId), context))
      assert.deepStrictEqual([error._tag, error.operation, error.isRetryable], ["StoreError", "get", false])
    })
  )

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
