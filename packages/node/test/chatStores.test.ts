import { ChatStore } from "@colloquy/core"
import { ChatId } from "@colloquy/core/Chat"
import { NodeSqlite, RedisChatStore, SqlChatStore } from "@colloquy/node"
import { ChatStoreSuite, Fixtures } from "@colloquy/testing"
import * as NodeRedis from "@effect/platform-node/NodeRedis"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redis from "effect/persistence/Redis"
import type * as Scope from "effect/Scope"
import * as SqlClient from "effect/sql/SqlClient"
import * as Stream from "effect/Stream"
import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { stores } from "./support/chatStores.ts"
import * as Databases from "./support/databases.ts"

const missing = await Databases.missing()

const places = Databases.places("chats")

const added = (chat_id: ChatId) =>
  ({ update_type: "bot_added", timestamp: Fixtures.timestamp, chat_id, user: Fixtures.user() }) as const

const suite = (store: Effect.Effect<Layer.Layer<ChatStore.ChatStore, unknown>, unknown, Scope.Scope>) =>
  it.effect.each(ChatStoreSuite.cases)("$name", ({ effect }) => Effect.provide(effect, Layer.unwrap(store)))

describe("a ChatStore in memory", () => {
  suite(Effect.sync(ChatStore.layerMemory))
})

describe.each(Object.entries(stores))("a ChatStore in %s", (name, makeStore) => {
  const place = places[name]!
  const writer = fileURLToPath(new URL("support/chatWriter.ts", import.meta.url))

  describe.skipIf(missing[name as keyof typeof missing])("that answers", () => {
    suite(Effect.map(place, makeStore))

    it.effect("is made once when several processes begin at once", () =>
      Effect.gen(function* () {
        const at = yield* place
        const all = yield* Effect.all(
          Array.from({ length: 4 }, () => Layer.build(makeStore(at))),
          { concurrency: "unbounded" }
        )
        yield* Effect.forEach(all, (context, index) =>
          Effect.provide(ChatStore.upsert([added(ChatId.make(index + 1))]), context)
        )
        for (const context of all) assert.strictEqual(yield* Effect.provide(ChatStore.count(), context), 4)
      })
    )

    it.effect("remembers the chats of an earlier process", () =>
      Effect.gen(function* () {
        const at = yield* place
        yield* Effect.provide(ChatStore.upsert([added(Fixtures.groupId)]), makeStore(at))
        assert.isTrue(yield* Effect.provide(ChatStore.has(Fixtures.groupId), makeStore(at)))
      })
    )

    it.effect(
      "is written by two processes at once, and holds what both told",
      () =>
        Effect.gen(function* () {
          const at = yield* place
          const run = (first: string) =>
            Effect.promise(() =>
              promisify(execFile)(process.execPath, ["--conditions=source", writer, name, at, first, "400"])
            )
          yield* Effect.all([run("0"), run("1")], { concurrency: 2 })
          const chats = yield* Effect.provide(Stream.runCollect(ChatStore.stream()), makeStore(at))
          const { timestamp } = Fixtures
          assert.deepStrictEqual(
            chats,
            Array.from({ length: 20 }, (_, index) => ({
              chat_id: ChatId.make(index - 10),
              title: `Title ${380 + index}`,
              first_seen: timestamp + index,
              last_seen: timestamp + 380 + index,
              data: { count: 20 }
            }))
          )
        }),
      60_000
    )
  })
})

const sqlite = Effect.gen(function* () {
  const filename = yield* places["SQLite"]!
  return yield* Layer.build(Layer.provideMerge(SqlChatStore.layer(), NodeSqlite.layer({ filename })))
})

describe("a ChatStore in SQL", () => {
  it.effect("learns as part of the transaction that it is used in", () =>
    Effect.gen(function* () {
      const context = yield* sqlite
      const sql = Context.get(context, SqlClient.SqlClient)
      const upsert = ChatStore.upsert([added(Fixtures.groupId)])
      yield* Effect.gen(function* () {
        yield* Effect.flip(sql.withTransaction(Effect.andThen(upsert, Effect.fail("undone"))))
        assert.isFalse(yield* ChatStore.has(Fixtures.groupId))
        yield* sql.withTransaction(upsert)
        assert.isTrue(yield* ChatStore.has(Fixtures.groupId))
      }).pipe(Effect.provide(context))
    })
  )

  it.effect("says what is wrong when it cannot read what is there", () =>
    Effect.gen(function* () {
      const context = yield* sqlite
      const sql = Context.get(context, SqlClient.SqlClient)
      yield* Effect.gen(function* () {
        yield* ChatStore.upsert([added(Fixtures.groupId)])
        yield* sql`UPDATE colloquy_chats SET data = 'no json'`
        const error = yield* Effect.flip(ChatStore.get(Fixtures.groupId))
        assert.strictEqual(error._tag, "StoreError")
        assert.strictEqual(error.operation, "get")
        assert.isFalse(error.isRetryable)
        yield* sql`DROP TABLE colloquy_chats`
        const gone = yield* Effect.flip(ChatStore.upsert([added(Fixtures.groupId)]))
        assert.include(gone.message, "no such table: colloquy_chats")
        assert.include(gone.message, "check the database")
      }).pipe(Effect.provide(context))
    })
  )

  it.effect("cannot be made over a table that is not its own", () =>
    Effect.gen(function* () {
      const context = yield* sqlite
      const sql = Context.get(context, SqlClient.SqlClient)
      yield* sql`CREATE TABLE taken_chats (id INTEGER)`
      const error = yield* Effect.flip(
        Layer.build(SqlChatStore.layer({ prefix: "taken" }).pipe(Layer.provide(Layer.succeedContext(context))))
      )
      assert.strictEqual(error.operation, "migrate")
      assert.include(error.message, "already exists")
    })
  )

  it.effect("that does not answer says that trying again may help", () =>
    Effect.gen(function* () {
      const Nowhere = PgClient.layer({ ...Databases.postgresOptions, port: 1 })
      const error = yield* Effect.flip(Layer.build(SqlChatStore.layer().pipe(Layer.provide(Nowhere))))
      assert.isTrue(error.isRetryable)
    })
  )
})

describe.skipIf(missing.Redis)("a ChatStore in Redis", () => {
  it.effect("says what is wrong with a key that is not its own", () =>
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
