import * as BroadcastStore from "@colloquy/core/broadcast/BroadcastStore"
import { ChatId } from "@colloquy/core/model/Chat"
import { NodeSqlite, SqlBroadcastStore } from "@colloquy/node"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as SqlClient from "effect/sql/SqlClient"
import { describeStore, places, request, sent } from "../support/broadcastStoreTests.ts"
import * as Databases from "../support/databases.ts"

describeStore("SQLite")

describeStore("PostgreSQL")

const sqlite = Effect.gen(function* () {
  const filename = yield* places["SQLite"]!
  return yield* Layer.build(Layer.provideMerge(SqlBroadcastStore.layer(), NodeSqlite.layer({ filename })))
})

describe("SqlBroadcastStore", () => {
  it.effect("fails with a StoreError that says whether a retry may help", () =>
    Effect.gen(function* () {
      const context = yield* sqlite
      const store = Context.get(context, BroadcastStore.BroadcastStore)
      const sql = Context.get(context, SqlClient.SqlClient)
      yield* sql`DROP TABLE colloquy_broadcasts_records`
      const error = yield* Effect.flip(store.pending("news", [ChatId.make(1)]))
      assert.strictEqual(error._tag, "StoreError")
      assert.isFalse(error.isRetryable)
      assert.include(error.message, "no such table: colloquy_broadcasts_records")
      const Nowhere = PgClient.layer({ ...Databases.postgresOptions, port: 1 })
      const unreachable = yield* Effect.flip(Layer.build(SqlBroadcastStore.layer().pipe(Layer.provide(Nowhere))))
      assert.isTrue(unreachable.isRetryable)
    })
  )

  it.effect("fails with a StoreError if a stored value is malformed", () =>
    Effect.gen(function* () {
      const context = yield* sqlite
      const store = Context.get(context, BroadcastStore.BroadcastStore)
      const sql = Context.get(context, SqlClient.SqlClient)
      yield* store.acquireLease(request)
      yield* store.addRecords("news", [sent(1)])
      yield* sql`UPDATE colloquy_broadcasts_records SET status = 'Lost'`
      yield* sql`UPDATE colloquy_broadcasts SET total = 'many'`
      const errors = [
        yield* Effect.flip(store.records("news", { limit: 1 })),
        yield* Effect.flip(store.summary("news"))
      ]
      assert.deepStrictEqual(
        errors.map(({ _tag, operation, isRetryable }) => [_tag, operation, isRetryable]),
        [
          ["StoreError", "records", false],
          ["StoreError", "summary", false]
        ]
      )
    })
  )

  it.effect("counts nothing if the records cannot be written", () =>
    Effect.gen(function* () {
      const context = yield* sqlite
      const store = Context.get(context, BroadcastStore.BroadcastStore)
      const sql = Context.get(context, SqlClient.SqlClient)
      yield* store.acquireLease(request)
      yield* sql`CREATE TRIGGER refuse BEFORE UPDATE OF sent ON colloquy_broadcasts BEGIN SELECT RAISE(ABORT, 'full'); END`
      const error = yield* Effect.flip(store.addRecords("news", [sent(1)]))
      assert.include(error.message, "full")
      assert.deepStrictEqual(yield* store.records("news", { limit: 10 }), [])
    })
  )
})
