import { UploadCache } from "@colloquy/core"
import { NodeSqlite, RedisUploadCache, SqlUploadCache } from "@colloquy/node"
import { UploadCacheSuite } from "@colloquy/testing"
import * as NodeRedis from "@effect/platform-node/NodeRedis"
import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as SqlClient from "effect/sql/SqlClient"
import { randomUUID } from "node:crypto"

const {
  CI,
  POSTGRES_URL = "postgres://postgres@127.0.0.1:5432/test",
  REDIS_URL = "redis://127.0.0.1:6379"
} = process.env

const postgres = PgClient.layer({ url: Redacted.make(POSTGRES_URL), maxConnections: 4 })
const redis = NodeRedis.layer({ url: REDIS_URL })

/** Whether a server answers. Where CI runs there is one. */
const isThere = async <A>(name: string, layer: Layer.Layer<A, unknown>): Promise<boolean> => {
  const exit = await Effect.runPromiseExit(Effect.scoped(Layer.build(layer)))
  if (Exit.isFailure(exit) && CI !== "true") console.log(`skipped: no ${name} answers`)
  return Exit.isSuccess(exit) || CI === "true"
}

const hasPostgres = await isThere("PostgreSQL", postgres)
const hasRedis = await isThere("Redis", redis)

const unique = (name: string) => `test_${name}_${randomUUID().replaceAll("-", "")}`

describe("the cache of uploads in SQLite", () => {
  const cache = SqlUploadCache.layer().pipe(Layer.provide(NodeSqlite.layer({ filename: ":memory:" })))
  for (const { effect, name } of UploadCacheSuite.cases) it.live(name, () => Effect.provide(effect, cache))
})

describe.skipIf(!hasPostgres)("the cache of uploads in PostgreSQL", () => {
  const onNewTable = <A, E>(
    use: (table: string) => Effect.Effect<A, E, UploadCache.UploadCache | SqlClient.SqlClient>
  ) =>
    Effect.suspend(() => {
      const table = unique("uploads")
      const drop = SqlClient.SqlClient.use(
        (sql) => sql`DROP TABLE IF EXISTS ${sql(`${table}_uploads`)}, ${sql(`${table}_uploads_migrations`)}`
      )
      return Effect.ensuring(
        Effect.provide(use(table), SqlUploadCache.layer({ prefix: table })),
        Effect.orDie(drop)
      ).pipe(Effect.provide(postgres))
    })

  for (const { effect, name } of UploadCacheSuite.cases) it.live(name, () => onNewTable(() => effect))

  it.live("is made by many processes at once, and used by all of them", () =>
    onNewTable((table) =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sql`DROP TABLE ${sql(`${table}_uploads`)}, ${sql(`${table}_uploads_migrations`)}`
        const caches = yield* Effect.all(
          Array.from({ length: 4 }, () => Layer.build(Layer.fresh(SqlUploadCache.layer({ prefix: table })))),
          { concurrency: "unbounded" }
        )
        const cache = yield* UploadCache.UploadCache
        yield* cache.set("image a", "{}")
        for (const context of caches) {
          const other = yield* Effect.provideContext(UploadCache.UploadCache, context)
          assert.deepStrictEqual(yield* other.get("image a"), Option.some("{}"))
        }
      }).pipe(Effect.scoped)
    )
  )

  it.live("says when it cannot be reached", () =>
    onNewTable((table) =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const cache = yield* UploadCache.UploadCache
        yield* sql`DROP TABLE ${sql(`${table}_uploads`)}, ${sql(`${table}_uploads_migrations`)}`
        const errors = yield* Effect.all([
          Effect.flip(cache.get("a")),
          Effect.flip(cache.set("a", "b")),
          Effect.flip(cache.remove("a", "b"))
        ])
        assert.deepStrictEqual(
          errors.map(({ operation, store }) => [store, operation]),
          [
            ["uploads", "get"],
            ["uploads", "set"],
            ["uploads", "remove"]
          ]
        )
      })
    )
  )
})

describe.skipIf(!hasRedis)("the cache of uploads in Redis", () => {
  const onNewPrefix = <A, E>(
    use: Effect.Effect<A, E, UploadCache.UploadCache | NodeRedis.NodeRedis>,
    options: RedisUploadCache.Options = {}
  ) =>
    Effect.suspend(() => {
      const prefix = unique("uploads")
      const clean = NodeRedis.NodeRedis.use(({ use }) =>
        use(async (client) => {
          const keys = await client.keys(`{${prefix}:*`)
          if (keys.length > 0) await client.del(keys)
        })
      )
      return Effect.ensuring(
        Effect.provide(use, RedisUploadCache.layer({ prefix, ...options })),
        Effect.orDie(clean)
      ).pipe(Effect.provide(redis))
    })

  for (const { effect, name } of UploadCacheSuite.cases) it.live(name, () => onNewPrefix(effect))

  it.live("forgets what has not been used for long", () =>
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
