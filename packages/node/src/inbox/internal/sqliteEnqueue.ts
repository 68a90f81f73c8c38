import type { Batch } from "@colloquy/core/inbox/InboxStore"
import * as Effect from "effect/Effect"
import { toInserts } from "./sqliteInserts.ts"
import type { Columns, Tables } from "./sqliteTables.ts"
import { candidatesOf, duplicatesSinceOf, markersOf } from "./sqlRows.ts"
import type { NewUpdate } from "./sqlTables.ts"

/** A fingerprint that was received. */
type Seen = { readonly fingerprint: string; readonly seen_at: number }

const seenColumns: Columns<Seen> = { fingerprint: "text", seen_at: "bigint" }

/** The columns that only dead letters have cost as much to insert as the others. */
const toQueued = ({ fingerprint, partition_key, received_at, text }: NewUpdate) => ({
  fingerprint,
  partition_key,
  received_at,
  text
})

/** The operations that add updates. */
export const make = ({ counts, names, partitions, rows, sql, updates }: Tables) => {
  const count = (queued: number, deadLetters: number) =>
    queued === 0 && deadLetters === 0
      ? Effect.void
      : sql`UPDATE ${counts} SET queued = queued + ${queued}, dead_letters = dead_letters + ${deadLetters}`

  /**
   * Returns the fingerprints that were not stored, or are older than `since`. `OR IGNORE` and `OR FAIL` avoid the
   * statement journal, for which SQLite copies each page before its change, to a file above 64 KiB (benchmark
   * `sqlite-over-bare`). A failed transaction is rolled back as a whole.
   */
  const remember = Effect.fnUntraced(function* (entries: ReadonlyArray<Seen>, since: number) {
    const fingerprints = sql(names.fingerprints)
    const fresh = yield* sql<{ fingerprint: string }>`
      INSERT OR IGNORE INTO ${fingerprints} (fingerprint, seen_at)
      SELECT r.fingerprint, r.seen_at FROM ${rows(seenColumns, entries)} RETURNING fingerprint`
    const unseen = new Set(fresh.map(({ fingerprint }) => fingerprint))
    if (unseen.size === entries.length) return unseen
    const known = entries.filter(({ fingerprint }) => !unseen.has(fingerprint))
    const expired = yield* sql<{ fingerprint: string }>`
      UPDATE ${fingerprints} AS f SET seen_at = r.seen_at FROM ${rows(seenColumns, known)}
      WHERE f.fingerprint = r.fingerprint AND f.seen_at < ${since} RETURNING fingerprint`
    for (const { fingerprint } of expired) unseen.add(fingerprint)
    return unseen
  })

  /** SQLite reads long texts from JSON many times slower than from parameters. */
  const insert = (values: ReadonlyArray<NewUpdate>) => {
    const isAnyDead = values.some(({ failed_at }) => failed_at !== null)
    return Effect.map(
      Effect.forEach(
        toInserts<Partial<NewUpdate>>(isAnyDead ? values : values.map(toQueued)),
        (rows) => sql<{ id: number }>`INSERT OR FAIL INTO ${updates} ${sql.insert(rows)} RETURNING id`
      ),
      (inserted) => inserted.flat()
    )
  }

  /** Adds updates to the ends of their partitions. Returns their ids, and whether one of the partitions is new. */
  const append = Effect.fnUntraced(function* (values: ReadonlyArray<NewUpdate>) {
    const ids = yield* insert(values)
    const heads = new Map<string, number>()
    let queued = 0
    for (const [index, row] of values.entries()) {
      if (row.failed_at !== null) continue
      queued++
      if (!heads.has(row.partition_key)) heads.set(row.partition_key, ids[index].id)
    }
    const created =
      heads.size === 0
        ? []
        : yield* sql`
          INSERT INTO ${partitions} (partition_key, head_id)
          SELECT r.partition_key, r.head_id FROM ${rows(
            { partition_key: "text", head_id: "bigint" },
            [...heads].map(([partition_key, head_id]) => ({ partition_key, head_id }))
          )} WHERE true
          ON CONFLICT (partition_key) DO NOTHING RETURNING head_id`
    yield* count(queued, values.length - queued)
    return { ids: ids.map(({ id }) => id), isFree: created.length > 0 }
  })

  const enqueue = Effect.fnUntraced(function* (batches: ReadonlyArray<Batch>) {
    const candidates = candidatesOf(batches)
    const entries = candidates.flatMap(({ row, seen_at }) =>
      seen_at === null ? [] : [{ fingerprint: row.fingerprint, seen_at }]
    )
    const unseen = entries.length === 0 ? new Set<string>() : yield* remember(entries, duplicatesSinceOf(batches))
    const accepted = candidates.filter(({ row, seen_at }) => seen_at === null || unseen.has(row.fingerprint))
    const { isFree } = yield* append(accepted.map(({ row }) => row))
    const markers = markersOf(batches)
    if (markers.length > 0) {
      yield* sql`
        INSERT INTO ${sql(names.markers)} (source, value)
        SELECT r.source, r.value FROM ${rows({ source: "text", value: "text" }, markers)} WHERE true
        ON CONFLICT (source) DO UPDATE SET value = excluded.value`
    }
    const added = batches.map(() => 0)
    for (const { batch } of accepted) added[batch]++
    return { added, isFree }
  })

  return { append, enqueue }
}
