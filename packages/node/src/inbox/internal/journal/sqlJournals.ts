import type { JournalEntry, JournalRecord } from "@colloquy/core/inbox/InboxStore"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import { type Dialect } from "../../../base/internal/stores/sql.ts"
import { decodeText, encodeIndexed, encodeText } from "../../../base/internal/stores/values.ts"
import { tableNames } from "../sqlTables.ts"

/** An entry in the table. `full_slot` is a slot that is too long for the index. */
export const EntryRow = Schema.Struct({
  slot: Schema.String,
  full_slot: Schema.NullOr(Schema.String),
  state: Schema.String,
  text: Schema.String
})

/** An entry to store. `place` is the index of the first record of its update. */
type Put = typeof EntryRow.Type & { readonly place: number }

/** An entry to delete. */
type Removal = { readonly place: number; readonly slot: string }

const toRow = (place: number, { slot, state, text }: JournalEntry): Put => {
  const indexed = encodeIndexed(slot)
  const full = encodeText(slot)
  return { place, slot: indexed, full_slot: full === indexed ? null : full, state, text: encodeText(text) }
}

export const toEntry = ({ full_slot, slot, state, text }: typeof EntryRow.Type): JournalEntry => ({
  slot: decodeText(full_slot ?? slot),
  state: state === "done" ? "done" : "started",
  text: decodeText(text)
})

/** Names an update, its partition and the owner that writes its journal. */
const groupOf = ({ id, owner, partitionKey }: JournalRecord): string =>
  `${id.length} ${owner.length} ${id}${owner}${partitionKey}`

/**
 * Combines the entries of records, in their order. The removals apply first. A new entry replaces the entry of its
 * slot, except that `started` does not replace `done`.
 */
export const combineRecords = (records: ReadonlyArray<JournalRecord>) => {
  const places = new Map<string, number>()
  const removals = new Map<string, Removal>()
  const puts = new Map<string, Put>()
  const placeOf = (record: JournalRecord, index: number): number => {
    const group = groupOf(record)
    const known = places.get(group)
    if (known === undefined) places.set(group, index)
    return known ?? index
  }
  const placed = records.map(placeOf)
  for (const [index, { entries }] of records.entries()) {
    const place = placed[index]
    for (const entry of entries) {
      const key = `${place}:${entry.slot}`
      if (entry.state === "removed") {
        removals.set(key, { place, slot: encodeIndexed(entry.slot) })
        puts.delete(key)
      } else if (entry.state === "done" || puts.get(key)?.state !== "done") puts.set(key, toRow(place, entry))
    }
  }
  return {
    /** The place of the update of each record. */
    places: placed,
    removals: [...removals.values()],
    puts: [...puts.values()]
  }
}

export const createJournal = (
  sql: SqlClient.SqlClient,
  table: string,
  { clustered, integer, name, text }: Dialect
): Effect.Effect<void, SqlError> =>
  Effect.gen(function* () {
    const { journal, updates } = tableNames(table)
    // In SQLite, a lookup of the entries is faster than an update of a row.
    if (name === "pg") yield* sql`ALTER TABLE ${sql(updates)} ADD COLUMN journaled ${integer} NOT NULL DEFAULT 0`
    yield* sql`CREATE TABLE ${sql(journal)} (
      update_id ${integer} NOT NULL,
      slot ${text} NOT NULL,
      full_slot ${text},
      state ${text} NOT NULL,
      text ${text} NOT NULL,
      PRIMARY KEY (update_id, slot)
    ) ${clustered}`
  })

/** The operations on journals that SQLite and PostgreSQL share. */
export const make = (sql: SqlClient.SqlClient, table: string, { rows }: Dialect) => {
  const names = tableNames(table)
  const journal = sql(names.journal)

  return {
    /**
     * Deletes the journals of deleted updates. An update that still exists, such as a dead letter, keeps its journal.
     */
    remove: (ids: ReadonlyArray<string>): Effect.Effect<unknown, SqlError> =>
      ids.length === 0
        ? Effect.void
        : sql`DELETE FROM ${journal} WHERE update_id IN (
            SELECT r.id FROM ${rows(
              { id: "bigint" },
              ids.map((id) => ({ id }))
            )}
          ) AND NOT EXISTS (SELECT 1 FROM ${sql(names.updates)} AS u WHERE u.id = update_id)`,
    /** Gives journals to the updates with the ids `to`. */
    move: (moves: ReadonlyArray<{ readonly id: string; readonly to: string }>): Effect.Effect<unknown, SqlError> =>
      moves.length === 0
        ? Effect.void
        : sql`UPDATE ${journal} SET update_id = r."to" FROM ${rows({ id: "bigint", to: "bigint" }, moves)}
            WHERE update_id = r.id`
  }
}
