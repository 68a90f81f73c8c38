import { BroadcastStore } from "@colloquy/core"
import { ChatId } from "@colloquy/core/Chat"
import { NodeSqlite, RedisBroadcastStore, SqlBroadcastStore } from "@colloquy/node"
import { BroadcastSuite } from "@colloquy/testing"
import * as NodeRedis from "@effect/platform-node/NodeRedis"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redis from "effect/persistence/Redis"
import type * as Scope from "effect/Scope"
import * as SqlClient from "effect/sql/SqlClient"
import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { stores } from "./support/broadcastStores.ts"
import * as Databases from "./support/databases.ts"

const missing = await Databases.missing()

const places = Databases.places("broadcasts")

const suite = (store: Effect.Effect<Layer.Layer<BroadcastStore.BroadcastStore, unknown>, unknown, Scope.Scope>) =>
  it.effect.each(BroadcastSuite.cases)("$name", ({ effect }) => Effect.provide(effect, Layer.unwrap(store)))

const claim = { name: "news", owner: "one", now: 0, leaseUntil: 1, create: true }

const served = (chat_id: number) => ({ chat_id: ChatId.make(chat_id), status: "Sent", at: 0 }) as const

const countOf = (store: BroadcastStore.BroadcastStore["Service"]) =>
  Effect.map(store.summary("news"), (standing) => Option.getOrThrow(standing).counts.Sent)

describe("a BroadcastStore in memory", () => {
  suite(Effect.succeed(BroadcastStore.layerMemory()))
})

describe.each(Object.entries(stores))("a BroadcastStore in %s", (name, makeStore) => {
  const place = places[name]!
  const writer = fileURLToPath(new URL("support/broadcastWriter.ts", import.meta.url))
  const storeAt = (at: string) => Effect.map(Layer.build(makeStore(at)), Context.get(BroadcastStore.BroadcastStore))

  describe.skipIf(missing[name as keyof typeof missing])("that answers", () => {
    suite(Effect.map(place, makeStore))

    it.effect("is made once when several processes begin at once", () =>
      Effect.gen(function* () {
        const at = yield* place
        const all = yield* Effect.all(
          Array.from({ length: 4 }, () => storeAt(at)),
          { concurrency: "unbounded" }
        )
        yield* all[0]!.acquireLease(claim)
        yield* Effect.forEach(all, (store, index) => store.addRecords("news", [served(index)]), {
          concurrency: "unbounded"
        })
        for (const store of all) assert.strictEqual(yield* countOf(store), 4)
      })
    )

    it.effect("remembers the broadcasts of an earlier process", () =>
      Effect.gen(function* () {
        const at = yield* place
        yield* Effect.scoped(
          Effect.flatMap(storeAt(at), (store) =>
            Effect.andThen(store.acquireLease(claim), store.addRecords("news", [served(1)]))
          )
        )
        const store = yield* storeAt(at)
        assert.strictEqual(yield* countOf(store), 1)
        assert.deepStrictEqual(yield* store.pending("news", [ChatId.make(1), ChatId.make(2)]), [ChatId.make(2)])
      })
    )

    it.effect(
      "is written by two processes at once, and counts each recipient once",
      () =>
        Effect.gen(function* () {
          const at = yield* place
          const store = yield* storeAt(at)
          yield* store.acquireLease(claim)
          const run = Effect.promise(() =>
            promisify(execFile)(process.execPath, ["--conditions=source", writer, name, at, "200"])
          )
          yield* Effect.all([run, run], { concurrency: 2 })
          assert.strictEqual(yield* countOf(store), 201)
          assert.lengthOf(yield* store.records("news", { limit: 1000 }), 201)
        }),
      60_000
    )

    it.effect("forgets for good what two are recording at that moment", () =>
      Effect.gen(function* () {
        const at = yield* place
        const [one, two] = [yield* storeAt(at), yield* storeAt(at)]
        for (let round = 0; round < 10; round++) {
          yield* one.acquireLease(claim)
          const recording = [one, two].map((store, first) =>
            Effect.forEach([0, 2, 4, 6], (id) => store.addRecords("news", [served(first + id)]))
          )
          yield* Effect.all([...recording, two.remove("news")], { concurrency: "unbounded", discard: true })
          assert.deepStrictEqual(yield* one.records("news", { limit: 10 }), [])
        }
      })
    )
  })
})

const sqlite = Effect.gen(function* () {
  const filename = yield* places["SQLite"]!
  return yield* Layer.build(Layer.provideMerge(SqlBroadcastStore.layer(), NodeSqlite.layer({ filename })))
})

describe("a BroadcastStore in SQL", () => {
  it.effect("says what is wrong, and whether trying again may help", () =>
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
      const away = yield* Effect.flip(Layer.build(SqlBroadcastStore.layer().pipe(Layer.provide(Nowhere))))
      assert.isTrue(away.isRetryable)
    })
  )

  it.effect("counts nothing where the record could not be written", () =>
    Effect.gen(function* () {
      const context = yield* sqlite
      const store = Context.get(context, BroadcastStore.BroadcastStore)
      const sql = Context.get(context, SqlClient.SqlClient)
      yield* store.acquireLease(claim)
      yield* sql`CREATE TRIGGER refuse BEFORE UPDATE OF sent ON colloquy_broadcasts BEGIN SELECT RAISE(ABORT, 'full'); END`
      const error = yield* Effect.flip(store.addRecords("news", [served(1)]))
      assert.include(error.message, "full")
      assert.deepStrictEqual(yield* store.records("news", { limit: 10 }), [])
    })
  )
})

describe.skipIf(missing.Redis)("a BroadcastStore in Redis", () => {
  it.effect("says what is wrong with a key that is not its own", () =>
    Effect.gen(function* () {
      const prefix = yield* places["Redis"]!
      const context = yield* Layer.build(
        Layer.provideMerge(RedisBroadcastStore.layer({ prefix }), NodeRedis.layer({ url: Databases.redisUrl }))
      )
      yield* Context.get(context, Redis.Redis).send("SET", `{${prefix}:broadcasts}:broadcast:news`, "taken")
      const error = yield* Effect.flip(Context.get(context, BroadcastStore.BroadcastStore).acquireLease(claim))
      assert.isFalse(error.isRetryable)
      assert.include(error.message, "WRONGTYPE")
    })
  )
})
