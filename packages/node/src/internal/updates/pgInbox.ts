import type { Batch, Claim, Commit } from "@colloquy/core/InboxStore"
import * as Effect from "effect/Effect"
import type * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import * as pgJournals from "../journal/pgJournals.ts"
import type { Dialect } from "../stores/sql.ts"
import { functionNames } from "./pgFunctions.ts"
import { changesOf, type PartitionChange } from "./sqlCommits.ts"
import type { Engine } from "./sqlEngine.ts"
import { candidatesOf, duplicatesSinceOf, markersOf, toBegun, toPartitions } from "./sqlRows.ts"
import { countSlots, type QueuedRow, tableNames } from "./sqlTables.ts"

const inputColumns = {
  place: "bigint",
  seen_at: "bigint",
  fingerprint: "text",
  partition_key: "text",
  received_at: "bigint",
  text: "text",
  error: "text",
  attempts: "bigint",
  failed_at: "bigint"
} as const

const toJson = (rows: ReadonlyArray<object>): string | null => (rows.length === 0 ? null : JSON.stringify(rows))

/** A change as `commit` reads it: key, acknowledged, decided, begun, and whether the partition is released. */
const toChangeRow = ({ acknowledged, begun, decided, isReleased, partition_key }: PartitionChange) => ({
  k: partition_key,
  a: acknowledged.join(","),
  d: toBegun(decided),
  b: toBegun(begun),
  x: isReleased ? 1 : 0
})

const isKeys = (value: unknown): value is ReadonlyArray<string> => Array.isArray(value)

const keysOf = (json: string | null): ReadonlySet<string> => {
  const keys: unknown = json === null ? [] : JSON.parse(json)
  return new Set(isKeys(keys) ? keys : [])
}

/** The operations of the inbox in PostgreSQL, each in one round trip. */
export const make = (
  sql: SqlClient.SqlClient,
  table: string,
  { rows }: Dialect,
  transaction: <A>(effect: Effect.Effect<A, SqlError>) => Effect.Effect<A, SqlError>
): Engine => {
  const names = tableNames(table)
  const functions = functionNames(table)
  const updates = sql(names.updates)
  const partitions = sql(names.partitions)
  const slot = sql.literal(`pg_backend_pid() % ${countSlots}`)

  const enqueue = (batches: ReadonlyArray<Batch>) => {
    const candidates = candidatesOf(batches)
    const input = candidates.map(({ row, seen_at }, place) => ({ place, seen_at, ...row }))
    const columns = sql.literal("fingerprint, partition_key, received_at, text, error, attempts, failed_at")
    const enqueued = sql<{ places: string | null; is_free: boolean }>`
      WITH input AS MATERIALIZED (
        SELECT * FROM ${rows(inputColumns, input)}
      ), fresh AS (
        INSERT INTO ${sql(names.fingerprints)} AS f (fingerprint, seen_at)
        SELECT i.fingerprint, i.seen_at FROM input AS i WHERE i.seen_at IS NOT NULL ORDER BY i.fingerprint
        ON CONFLICT (fingerprint) DO UPDATE SET seen_at = excluded.seen_at
          WHERE f.seen_at < ${duplicatesSinceOf(batches)}
        RETURNING f.fingerprint
      ), accepted AS MATERIALIZED (
        SELECT i.* FROM input AS i WHERE i.seen_at IS NULL OR i.fingerprint IN (SELECT fingerprint FROM fresh)
      ), inserted AS (
        INSERT INTO ${updates} (${columns}) SELECT ${columns} FROM accepted ORDER BY place
        RETURNING id, partition_key, failed_at
      ), touched AS (
        INSERT INTO ${partitions} AS p (partition_key, head_id)
        SELECT partition_key, min(id) FROM inserted WHERE failed_at IS NULL GROUP BY partition_key ORDER BY partition_key
        ON CONFLICT (partition_key) DO UPDATE SET head_id = LEAST(p.head_id, excluded.head_id)
        RETURNING p.owner
      ), counted AS (
        UPDATE ${sql(names.counts)} AS c SET queued = c.queued + i.queued, dead_letters = c.dead_letters + i.dead
        FROM (
          SELECT count(*) FILTER (WHERE failed_at IS NULL) AS queued, count(failed_at) AS dead FROM inserted
        ) AS i WHERE c.slot = ${slot}
      ), marked AS (
        INSERT INTO ${sql(names.markers)} (source, value)
        SELECT r.source, r.value FROM ${rows({ source: "text", value: "text" }, markersOf(batches))} ORDER BY r.source
        ON CONFLICT (source) DO UPDATE SET value = excluded.value
      )
      SELECT (SELECT string_agg(place::text, ',') FROM accepted) AS places,
        EXISTS (SELECT FROM touched WHERE owner IS NULL) AS is_free`
    return Effect.map(enqueued, ([{ is_free, places }]) => {
      const added = batches.map(() => 0)
      if (places !== null) for (const place of places.split(",")) added[candidates[Number(place)].batch]++
      return { added, isFree: is_free }
    })
  }

  const claim = ({ begin, leaseDuration, maxPartitions, maxUpdates, owner }: Claim) =>
    Effect.map(
      sql<QueuedRow & { journal: string | null }>`
        SELECT * FROM ${sql(functions.claim)}(
          ${owner}, ${leaseDuration}, ${maxPartitions}, ${maxUpdates}, ${begin}
        )`,
      (rows) => toPartitions(rows, pgJournals.journalsOf(rows))
    )

  const commitOf = (owner: string, changes: ReadonlyArray<PartitionChange>) =>
    Effect.map(
      sql<{ lost: string | null; is_free: boolean }>`
        SELECT * FROM ${sql(functions.commit)}(
          ${owner}, ${JSON.stringify(changes.map(toChangeRow))}::json,
          ${toJson(changes.flatMap(({ failures }) => failures.map(({ partition_key, ...row }) => ({ k: partition_key, ...row }))))}::json,
          ${toJson(changes.flatMap(({ deaths }) => deaths.map(({ partition_key, ...row }) => ({ k: partition_key, ...row }))))}::json
        )`,
      ([{ is_free, lost }]) => ({ lost: keysOf(lost), isFree: is_free })
    )

  const commit = (commits: ReadonlyArray<Commit>, ownerOf: (owner: string) => string) => {
    const { changes, resultsOf } = changesOf(commits, ownerOf)
    const byOwner = Map.groupBy(changes, ({ owner }) => owner)
    const each = Effect.forEach(byOwner, ([owner, changes]) => commitOf(owner, changes))
    return Effect.map(byOwner.size > 1 ? transaction(each) : each, (outcomes) => {
      const lost = new Map([...byOwner.keys()].map((owner, index) => [owner, outcomes[index].lost]))
      return {
        results: resultsOf(({ owner, partition_key }) => lost.get(owner)?.has(partition_key) === false),
        isFree: outcomes.some(({ isFree }) => isFree)
      }
    })
  }

  return { enqueue, claim, commit, record: pgJournals.makeRecord(sql, functions.record) }
}
