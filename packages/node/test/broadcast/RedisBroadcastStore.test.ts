import * as BroadcastStore from "@colloquy/core/broadcast/BroadcastStore"
import { RedisBroadcastStore } from "@colloquy/node"
import * as NodeRedis from "@effect/platform-node/NodeRedis"
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redis from "effect/persistence/Redis"
import { describeStore, missing, places, request } from "../support/broadcastStoreTests.ts"
import * as Databases from "../support/databases.ts"

describeStore("Redis")

describe.skipIf(missing.Redis)("RedisBroadcastStore", () => {
  it.effect("fails with a StoreError if a stored record is malformed", () =>
    Effect.gen(function* () {
      const prefix = yield* places["Redis"]!
      const context = yield* Layer.build(
        Layer.provideMerge(RedisBroadcastStore.layer({ prefix }), NodeRedis.layer({ url: Databases.redisUrl }))
      )
      const store = Context.get(context, BroadcastStore.BroadcastStore)
      yield* store.acquireLease(request)
      yield* Context.get(context, Redis.Redis).send("ZADD", `{${prefix}:broadcasts}:records:news`, "1", "not JSON")
      const error = yield* Effect.flip(store.records("news", { limit: 1 }))
      assert.deepStrictEqual([error._tag, error.operation, error.isRetryable], ["StoreError", "records", false])
    })
  )

  it.effect("fails with an error that is not retryable if a key has another type", () =>
    Effect.gen(function* () {
      const prefix = yield* places["Redis"]!
      const context = yield* Layer.build(
        Layer.provideMerge(RedisBroadcastStore.layer({ prefix }), NodeRedis.layer({ url: Databases.redisUrl }))
      )
      yield* Context.get(context, Redis.Redis).send("SET", `{${prefix}:broadcasts}:broadcast:news`, "taken")
      const error = yield* Effect.flip(Context.get(context, BroadcastStore.BroadcastStore).acquireLease(request))
      assert.isFalse(error.isRetryable)
      assert.include(error.message, "WRONGTYPE")
    })
  )
})
