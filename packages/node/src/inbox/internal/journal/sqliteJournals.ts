import type { JournalEntry, JournalRecord, RecordResult } from "@colloquy/core/inbox/InboxStore"
import * as Effect from "effect/Effect"
import type * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import type { Dialect } from "../../../base/internal/stores/sql.ts"
import { encodeIndexed, isId } from "../../../base/internal/stores/values.ts"
import { toInserts } from "../sqliteInserts.ts"
import { tableNames } from "../sqlTables.ts"
import { combineRecords, toEntry } from "./sqlJournals.ts"

/** The journals in SQLite. */
export const make = (sql: SqlClient.SqlClient, table: string, { rows }: Dialect) => {
  const names = tableNames(table)
  const updates = sql(names.updates)
  const journal = sql(names.journal)

  /** The owners of the partitions of queued updates, by the ids of the updates. */
  const ownersOf = (records: ReadonlyArray<JournalRecord>) =>
    Effect.map(
      sql<{ id: number; owner: string }>`
        SELECT u.id, p.owner FROM ${rows(
          { id: "bigint", partition_key: "text" },
          records.flatMap(({ id, partitionKey }) =>
            isId(id) ? [{ id, partition_key: encodeIndexed(partitionKey) }] : []
          )
        )}
        CROSS JOIN ${updates} AS u ON u.id = r.id AND u.partition_key = r.partition_key AND u.failed_at IS NULL
        CROSS JOIN ${sql(names.partitions)} AS p ON p.partition_key = u.partition_key`,
      (found) => new Map(found.map(({ id, owner }) => [String(id), owner]))
    )

  const record = Effect.fnUntraced(function* (
    records: ReadonlyArray<JournalRecord>,
    ownerOf: (owner: string) => string
  ): Effect.fn.Return<ReadonlyArray<RecordResult>, SqlError> {
    const owners = yield* ownersOf(records)
    const isHeld = ({ id, owner }: JournalRecord) => owners.get(id) === ownerOf(owner)
    const all = combineRecords(records)
    const removals = all.removals.flatMap(({ place, slot }) =>
      isHeld(records[place]) ? [{ id: records[place].id, slot }] : []
    )
    if (removals.length > 0) {
      yield* sql`
        DELETE FROM ${journal} WHERE (update_id, slot) IN (
          SELECT r.id, r.slot FROM ${rows({ id: "bigint", slot: "text" }, removals)}
        )`
    }
    const puts = all.puts.flatMap(({ full_slot, place, slot, state, text }) =>
      isHeld(records[place]) ? [{ update_id: records[place].id, slot, full_slot, state, text }] : []
    )
    for (const entries of toInserts(puts)) {
      yield* sql`
        INSERT INTO ${journal} AS j ${sql.insert(entries)}
        ON CONFLICT (update_id, slot) DO UPDATE SET state = excluded.state, text = excluded.text
          WHERE excluded.state = 'done' OR j.state = 'started'`
    }
    return records.map((record) => (isHeld(record) ? "applied" : "leaseLost"))
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
