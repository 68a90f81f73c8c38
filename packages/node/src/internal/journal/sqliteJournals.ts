import type { JournalEntry, JournalRecord, RecordResult } from "@colloquy/core/HandlingStore"
import * as Effect from "effect/Effect"
import type * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import type { Dialect } from "../stores/sql.ts"
import { encodeIndexed, isId } from "../stores/values.ts"
import { toInserts } from "../updates/sqliteInserts.ts"
import { tableNames } from "../updates/sqlTables.ts"
import { combineRecords, toEntry } from "./sqlJournals.ts"

/** The journals in SQLite. */
export const make = (sql: SqlClient.SqlClient, table: string, { rows }: Dialect) => {
  const names = tableNames(table)
  const updates = sql(names.updates)
  const journal = sql(names.journal)

  /** The places of the records whose owners hold the partitions of queued updates. */
  const heldOf = (records: ReadonlyArray<JournalRecord>, ownerOf: (owner: string) => string) =>
    sql<{ place: number; id: number }>`
      SELECT r.place, u.id FROM ${rows(
        { place: "bigint", partition_key: "text", owner: "text", id: "bigint" },
        records.flatMap(({ id, owner, partitionKey }, place) =>
          isId(id) ? [{ place, partition_key: encodeIndexed(partitionKey), owner: ownerOf(owner), id }] : []
        )
      )}
      JOIN ${sql(names.partitions)} AS p ON p.partition_key = r.partition_key AND p.owner = r.owner
      JOIN ${updates} AS u ON u.id = r.id AND u.partition_key = r.partition_key AND u.failed_at IS NULL`

  const record = Effect.fnUntraced(function* (
    records: ReadonlyArray<JournalRecord>,
    ownerOf: (owner: string) => string
  ): Effect.fn.Return<ReadonlyArray<RecordResult>, SqlError> {
    const held = new Map((yield* heldOf(records, ownerOf)).map((row) => [row.place, row]))
    const all = combineRecords(records)
    const removals = all.removals.flatMap(({ place, slot }) => {
      const row = held.get(place)
      return row === undefined ? [] : [{ id: row.id, slot }]
    })
    if (removals.length > 0) {
      yield* sql`
        DELETE FROM ${journal} WHERE (update_id, slot) IN (
          SELECT r.id, r.slot FROM ${rows({ id: "bigint", slot: "text" }, removals)}
        )`
    }
    const puts = all.puts.flatMap(({ place, ...entry }) => {
      const row = held.get(place)
      return row === undefined ? [] : [{ update_id: row.id, ...entry }]
    })
    for (const entries of toInserts(puts)) {
      yield* sql`
        INSERT INTO ${journal} AS j ${sql.insert(entries)}
        ON CONFLICT (update_id, slot) DO UPDATE SET state = excluded.state, text = excluded.text
          WHERE excluded.state = 'done' OR j.state = 'started'`
    }
    return all.places.map((place) => (held.has(place) ? "applied" : "leaseLost"))
  })

  /** The journals of updates, by their ids. */
  const read = (ids: ReadonlyArray<string>) =>
    Effect.map(
      sql<{ update_id: number; slot: string; full_slot: string | null; state: string; text: string }>`
        SELECT j.update_id, j.slot, j.full_slot, j.state, j.text
        FROM ${rows(
          { id: "bigint" },
          ids.map((id) => ({ id }))
        )} JOIN ${journal} AS j ON j.update_id = r.id`,
      (entries): ReadonlyMap<string, ReadonlyArray<JournalEntry>> =>
        new Map(
          [...Map.groupBy(entries, ({ update_id }) => String(update_id))].map(([id, rows]) => [id, rows.map(toEntry)])
        )
    )

  return { record, read }
}
