import { ChatStore } from "@colloquy/core"
import { NodeSqlite, SqlChatStore } from "@colloquy/node"
import { Fixtures } from "@colloquy/testing"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, describe, it } from "@effect/vitest"
import * as Config from "effect/Config"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as SqlClient from "effect/sql/SqlClient"
import { added, describeStore, places } from "../support/chatStoreTests.ts"
import * as Databases from "../support/databases.ts"

describeStore("SQLite")

describeStore("PostgreSQL")

const sqlite = Effect.gen(function* () {
  const filename = yield* places["SQLite"]!
  return yield* Layer.build(Layer.provideMerge(SqlChatStore.layer(), NodeSqlite.layer({ filename })))
})

describe("SqlChatStore", () => {
  it.effect("reads its options from the configuration", () =>
    Effect.gen(function* () {
      const context = yield* Layer.build(
        SqlChatStore.layerConfig({ prefix: Config.String("BOT_NAME") }).pipe(
          Layer.provideMerge(NodeSqlite.layer({ filename: ":memory:" })),
          Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({ BOT_NAME: "shop" })))
        )
      )
      yield* Effect.provide(ChatStore.upsert([added(Fixtures.groupId)]), context)
      const sql = Context.get(context, SqlClient.SqlClient)
      assert.deepStrictEqual(yield* sql`SELECT chat_id FROM shop_chats`, [{ chat_id: Fixtures.groupId }])
    })
  )

  it.effect("upserts as part of the transaction of the caller", () =>
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

  it.effect("fails with a StoreError if a stored value is malformed or the table is missing", () =>
    Effect.gen(function* () {
      const context = yield* sqlite
      const sql = Context.get(context, SqlClient.SqlClient)
      yield* Effect.gen(function* () {
        yield* ChatStore.upsert([added(Fixtures.groupId)])
        yield* sql`UPDATE colloquy_chats SET rights = 'no json'`
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

  it.effect("fails if a table of another program has its name", () =>
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

  it.effect("fails with a retryable error if the database cannot be reached", () =>
    Effect.gen(function* () {
      const Nowhere = PgClient.layer({ ...Databases.postgresOptions, port: 1 })
      const error = yield* Effect.flip(Layer.build(SqlChatStore.layer().pipe(Layer.provide(Nowhere))))
      assert.isTrue(error.isRetryable)
    })
  )
})
