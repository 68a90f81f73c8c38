import { QueuedUpdate, type StoreError } from "@colloquy/core"
import * as InboxStore from "@colloquy/core/InboxStore"
import { NodeSqlite, SqlInboxStore } from "@colloquy/node"
import * as InboxSuite from "@colloquy/testing/InboxSuite"
import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { contend } from "./support/contention.ts"
import * as databases from "./support/databases.ts"
import * as Files from "./support/files.ts"

const update = QueuedUpdate.fromStored({ fingerprint: "one", partitionKey: "chat", receivedAt: 0, text: "{}" })

describe("SqlInboxStore with SQLite", () => {
  const store = SqlInboxStore.layer().pipe(Layer.provide(NodeSqlite.layer({ filename: ":memory:" })))
  for (const { name, effect } of InboxSuite.cases) {
    it.effect(name, () => Effect.provide(effect, store))
  }

  it.effect("fails with a StoreError that names the operation and the reason", () =>
    Effect.gen(function* () {
      const store = yield* InboxStore.InboxStore
      const sql = yield* SqlClient.SqlClient
      yield* sql`DROP TABLE colloquy_inbox_updates`
      const operations = {
        enqueue: store.enqueue({ updates: [update], deadLetters: [], now: 0, duplicatesSince: 0 }),
        stats: store.stats,
        deadLetters: store.deadLetters({ limit: 1 }),
        replay: store.replay(["1"]),
        drop: store.drop(["1"])
      }
      for (const [name, operation] of Object.entries(operations)) {
        const error = yield* Effect.flip<unknown, StoreError.StoreError, never>(operation)
        assert.strictEqual(error.operation, name)
        assert.include(error.message, "no such table: colloquy_inbox_updates")
      }
    }).pipe(Effect.provide(Layer.provideMerge(SqlInboxStore.layer(), NodeSqlite.layer({ filename: ":memory:" }))))
  )

  it.effect("creates its tables with names that begin with `prefix`", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const tables = yield* sql<{ name: string }>`SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name`
      assert.deepStrictEqual(
        tables.map(({ name }) => name).filter((name) => !name.startsWith("sqlite_")),
        [
          "bot_inbox_fingerprints",
          "bot_inbox_markers",
          "bot_inbox_migrations",
          "bot_inbox_partitions",
          "bot_inbox_updates"
        ]
      )
    }).pipe(
      Effect.provide(
        Layer.provideMerge(SqlInboxStore.layer({ prefix: "bot" }), NodeSqlite.layer({ filename: ":memory:" }))
      )
    )
  )

  it.live(
    "handles each update once, in order, when several stores share a file",
    () =>
      Effect.scoped(
        Effect.flatMap(Files.file, (filename) =>
          contend(SqlInboxStore.layer().pipe(Layer.provide(NodeSqlite.layer({ filename, synchronous: "OFF" }))))
        )
      ),
    60_000
  )
})

describe.skipIf(await databases.isMissing("PostgreSQL", 5432))("SqlInboxStore with PostgreSQL", () => {
  const prefix = databases.uniqueName()
  const store = SqlInboxStore.layer({ prefix }).pipe(
    Layer.provide(databases.pgTables(prefix)),
    Layer.provideMerge(databases.hastyPostgres)
  )
  const empty = SqlClient.SqlClient.use((sql) =>
    Effect.forEach(
      ["updates", "partitions", "fingerprints", "markers"],
      (name) => sql`DELETE FROM ${sql(`${prefix}_inbox_${name}`)}`
    )
  )

  layer(store, { excludeTestServices: true })((it) => {
    for (const { name, effect } of InboxSuite.cases) {
      it.effect(name, () => Effect.andThen(empty, effect))
    }
  })

  it.live(
    "handles each update once, in order, when several stores share a database",
    () => {
      const prefix = databases.uniqueName()
      return contend(Layer.provide(SqlInboxStore.layer({ prefix }), databases.hastyPostgres)).pipe(
        Effect.provide(Layer.provide(databases.pgTables(prefix), databases.hastyPostgres))
      )
    },
    60_000
  )
})
