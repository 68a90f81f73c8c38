import * as InboxStore from "@colloquy/core/InboxStore"
import * as QueuedUpdate from "@colloquy/core/QueuedUpdate"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as SqlClient from "effect/sql/SqlClient"
import { functionNames } from "../../src/internal/updates/pgFunctions.ts"
import * as SqlInboxStore from "../../src/SqlInboxStore.ts"
import * as databases from "../support/databases.ts"

const batch = (first: number, keys: ReadonlyArray<string>): InboxStore.Batch => ({
  updates: keys.map((partitionKey, index) =>
    QueuedUpdate.fromStored({ fingerprint: String(first + index), partitionKey, receivedAt: 0, text: "{}" })
  ),
  deadLetters: [],
  now: 0,
  duplicatesSince: 0
})

const others = 20_000

describe.skipIf(await databases.isMissing("PostgreSQL", 5432))("pgFunctions", () => {
  const prefix = databases.uniqueName()
  const functions = functionNames(`${prefix}_inbox`)
  const stores = SqlInboxStore.layer({ prefix }).pipe(
    Layer.provide(databases.pgTables(prefix)),
    Layer.provideMerge(databases.hastyPostgres)
  )

  it.live("Claims and commits read few rows, also if the statistics are from a time with one chat", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const store = yield* InboxStore.InboxStore
      const updates = sql(`${prefix}_inbox_updates`)
      yield* store.enqueue(batch(0, Array<string>(300).fill("first")))
      yield* sql`ALTER TABLE ${updates} SET (autovacuum_enabled = false)`
      yield* sql`ANALYZE ${updates}`
      yield* store.enqueue(
        batch(
          1000,
          Array.from({ length: others }, (_, index) => `chat ${index}`)
        )
      )
      // The functions are called directly, because the numbers of rows belong to the transaction of the connection.
      const rowsRead = sql.withTransaction(
        Effect.gen(function* () {
          const claimed = yield* sql<{ readonly id: bigint; readonly partition_key: string }>`
            SELECT * FROM ${sql(functions.claim)}(${"one"}, 60000, 50, 16, 1, 0)`
          const changes = [...new Set(claimed.map(({ partition_key }) => partition_key))].map((k) => ({
            k,
            a: claimed.flatMap(({ id, partition_key }) => (partition_key === k ? [String(id)] : [])).join(","),
            d: "",
            b: "",
            x: 1
          }))
          assert.lengthOf(changes, 50)
          yield* sql`SELECT * FROM ${sql(functions.commit)}(${"one"}, ${JSON.stringify(changes)}::json, NULL, NULL, NULL, NULL)`
          const [{ rows }] = yield* sql<{ readonly rows: bigint }>`
            SELECT COALESCE(seq_tup_read, 0) + COALESCE(idx_tup_fetch, 0) AS rows FROM pg_stat_xact_user_tables
            WHERE relid = ${`${prefix}_inbox_updates`}::regclass`
          return Number(rows)
        })
      )
      assert.isAtMost(yield* rowsRead, 1000)
      assert.strictEqual((yield* store.stats).queued, others + 300 - 16 - 49)
    }).pipe(Effect.provide(stores), Effect.scoped)
  )
})
