import { UploadCache } from "@colloquy/core"
import { NodeSqlite, SqlUploadCache } from "@colloquy/node"
import * as UploadCacheSuite from "@colloquy/testing/stores/UploadCacheSuite"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as SqlClient from "effect/sql/SqlClient"
import * as Databases from "../support/databases.ts"

describe("SqlUploadCache in SQLite", () => {
  const cache = SqlUploadCache.layer().pipe(Layer.provide(NodeSqlite.layer({ filename: ":memory:" })))
  for (const { effect, name } of UploadCacheSuite.cases) it.live(name, () => Effect.provide(effect, cache))
})

describe.skipIf(await Databases.isMissing("PostgreSQL", 5432))("SqlUploadCache in PostgreSQL", () => {
  const onNewTables = <A, E>(
    use: (prefix: string) => Effect.Effect<A, E, UploadCache.UploadCache | SqlClient.SqlClient>
  ) =>
    Effect.suspend(() => {
      const prefix = Databases.uniqueName("uploads")
      const drop = SqlClient.SqlClient.use(
        (sql) => sql`DROP TABLE IF EXISTS ${sql(`${prefix}_uploads`)}, ${sql(`${prefix}_uploads_migrations`)}`
      )
      return Effect.ensuring(Effect.provide(use(prefix), SqlUploadCache.layer({ prefix })), Effect.orDie(drop)).pipe(
        Effect.provide(Databases.Postgres)
      )
    })

  for (const { effect, name } of UploadCacheSuite.cases) it.live(name, () => onNewTables(() => effect))

  it.live("is created once by processes that start at the same time", () =>
    onNewTables((prefix) =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sql`DROP TABLE ${sql(`${prefix}_uploads`)}, ${sql(`${prefix}_uploads_migrations`)}`
        const caches = yield* Effect.all(
          Array.from({ length: 4 }, () => Layer.build(Layer.fresh(SqlUploadCache.layer({ prefix })))),
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

  it.live("fails with a StoreError that has the operation", () =>
    onNewTables((prefix) =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const cache = yield* UploadCache.UploadCache
        yield* sql`DROP TABLE ${sql(`${prefix}_uploads`)}, ${sql(`${prefix}_uploads_migrations`)}`
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
