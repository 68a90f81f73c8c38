import type { JournalRecord, RecordResult } from "@colloquy/core/inbox/InboxStore"
import * as Effect from "effect/Effect"
import type * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import { encodeIndexed, isId } from "../../../base/internal/stores/values.ts"
import { findBy, isOwnedBy, isQueued } from "../pgPlans.ts"
import { tableNames } from "../sqlTables.ts"
import { combineRecords } from "./sqlJournals.ts"

/**
 * Creates the function that writes records in one round trip. The function returns the places of updates that are not
 * queued in a partition of their owner, separated by commas, and skips these updates.
 */
export const createRecord = (
  sql: SqlClient.SqlClient,
  table: string,
  name: string,
  settings: Fragment
): Effect.Effect<unknown, SqlError> => {
  const { journal, partitions, updates } = tableNames(table)
  return sql`
    CREATE OR REPLACE FUNCTION ${sql(name)}(records json, removals json, puts json, OUT lost text) ${settings} AS $function$
    DECLARE
      places bigint[];
      ids bigint[];
    BEGIN
      PERFORM FROM (SELECT DISTINCT r.k FROM json_to_recordset(records) AS r(k text) ORDER BY r.k) AS o
        CROSS JOIN LATERAL (
          SELECT FROM ${sql(partitions)} AS p WHERE ${findBy(sql, "p.partition_key", "o.k")} FOR UPDATE
        ) AS l;
      SELECT array_agg(r.p), array_agg(u.id) INTO places, ids
        FROM json_to_recordset(records) AS r(p bigint, k text, o text, i bigint)
        JOIN ${sql(partitions)} AS p ON ${findBy(sql, "p.partition_key", "r.k")} AND ${isOwnedBy(sql, "p", "r.o")}
        JOIN ${sql(updates)} AS u ON ${findBy(sql, "u.id", "r.i")} AND u.partition_key = r.k AND ${isQueued(sql, "u")};
      places := COALESCE(places, '{}');
      lost := (
        SELECT string_agg(r.p::text, ',') FROM json_to_recordset(records) AS r(p bigint) WHERE r.p <> ALL (places)
      );
      UPDATE ${sql(updates)} AS u SET journaled = 1 WHERE u.id = ANY (ids) AND u.journaled = 0;
      IF removals IS NOT NULL THEN
        DELETE FROM ${sql(journal)} AS j USING json_to_recordset(removals) AS r(p bigint, i bigint, s text)
          WHERE r.p = ANY (places) AND ${findBy(sql, ["j.update_id", "j.slot"], ["r.i", "r.s"])};
      END IF;
      IF puts IS NOT NULL THEN
        INSERT INTO ${sql(journal)} AS j (update_id, slot, full_slot, state, text)
          SELECT r.i, r.s, r.f, r.e, r.t
          FROM json_to_recordset(puts) AS r(p bigint, i bigint, s text, f text, e text, t text)
          WHERE r.p = ANY (places)
          ON CONFLICT (update_id, slot) DO UPDATE SET state = excluded.state, text = excluded.text
            WHERE excluded.state = 'done' OR j.state = 'started';
      END IF;
    END
    $function$`
}

const toJson = (rows: ReadonlyArray<object>): string | null => (rows.length === 0 ? null : JSON.stringify(rows))

export const makeRecord =
  (sql: SqlClient.SqlClient, name: string) =>
  (
    records: ReadonlyArray<JournalRecord>,
    ownerOf: (owner: string) => string
  ): Effect.Effect<ReadonlyArray<RecordResult>, SqlError> => {
    const { places, puts, removals } = combineRecords(records)
    const groups = [...new Set(places)].flatMap((p) => {
      const { id, owner, partitionKey } = records[p]
      return isId(id) ? [{ p, k: encodeIndexed(partitionKey), o: ownerOf(owner), i: id }] : []
    })
    const isIn = new Set(groups.map(({ p }) => p))
    const idOf = (place: number) => records[place].id
    return Effect.map(
      sql<{ lost: string | null }>`
        SELECT lost FROM ${sql(name)}(
          ${JSON.stringify(groups)}::json,
          ${toJson(removals.filter(({ place }) => isIn.has(place)).map(({ place, slot }) => ({ p: place, i: idOf(place), s: slot })))}::json,
          ${toJson(
            puts
              .filter(({ place }) => isIn.has(place))
              .map(({ full_slot, place, slot, state, text }) => ({
                p: place,
                i: idOf(place),
                s: slot,
                f: full_slot,
                e: state,
                t: text
              }))
          )}::json
        )`,
      ([{ lost }]) => {
        const isLost = new Set(lost === null ? [] : lost.split(",").map(Number))
        return places.map((place) => (isIn.has(place) && !isLost.has(place) ? "applied" : "leaseLost"))
      }
    )
  }
