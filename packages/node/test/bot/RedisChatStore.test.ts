import { ChatStore, Recipient } from "@colloquy/core"
import * as ChatRecord from "@colloquy/core/bot/ChatRecord"
import { RedisChatStore } from "@colloquy/node"
import { Fixtures } from "@colloquy/testing"
import * as NodeRedis from "@effect/platform-node/NodeRedis"
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redis from "effect/persistence/Redis"
import * as Stream from "effect/Stream"
import { added, describeStore, missing, places } from "../support/chatStoreTests.ts"
import * as Databases from "../support/databases.ts"

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

  it.effect("returns the counts and the pages of the store in memory after random changes, for every filter", () =>
    Effect.gen(function* () {
      const prefix = yield* places["Redis"]!
      const context = yield* Layer.build(
        Layer.provide(RedisChatStore.layer({ prefix }), NodeRedis.layer({ url: Databases.redisUrl }))
      )
      const stored = Context.get(context, ChatStore.ChatStore)
      const inMemory = yield* ChatStore.makeMemory()
      const both = <A, E>(use: (store: typeof stored) => Effect.Effect<A, E>) =>
        Effect.all([use(stored), use(inMemory)])
      let seed = 1
      const random = (count: number) => {
        seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) | 0
        return Math.floor(((seed >>> 0) / 2 ** 32) * count)
      }
      const idOf = (index: number) => Recipient.ChatId.make((index % 2 === 0 ? 1 : -1) * (9e15 - index))
      const types = [undefined, "chat", "channel", "dialog", "chat \0 new"] as const
      const activeSinces = [undefined, 0, 3000, 9000, 9990, 10_001]
      const chats = 3000
      for (let round = 0; round < 40; round++) {
        const records = Array.from({ length: 300 }, () => {
          const at = random(10_000)
          const facts = random(10) === 0 ? { left_at: at } : { member_at: at }
          return ChatRecord.make(idOf(random(chats)), at, { ...facts, type: types[random(types.length)] })
        })
        yield* both((store) => store.upsert(records))
        const removed = idOf(random(chats))
        const [before, after] = yield* both((store) => store.remove(removed))
        assert.strictEqual(before, after)
        if (round % 13 !== 0) continue
        for (const type of [...types, ""]) {
          for (const activeSince of activeSinces) {
            const filter = {
              ...(type === undefined ? {} : { type }),
              ...(activeSince === undefined ? {} : { activeSince })
            }
            const [counted, expected] = yield* both((store) => store.count(filter))
            assert.strictEqual(counted, expected, JSON.stringify(filter))
            const read = ChatStore.stream(filter).pipe(Stream.runCollect)
            const [listed, known] = yield* both((store) => Effect.provideService(read, ChatStore.ChatStore, store))
            assert.deepStrictEqual(listed, known)
            assert.lengthOf(listed, expected)
          }
        }
      }
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
