import type { StateWrite } from "@colloquy/core/inbox/InboxStore"
import * as Effect from "effect/Effect"
import type * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import { encodeText } from "../../../base/internal/stores/values.ts"
import { findBy } from "../pgPlans.ts"
import { tableNames } from "../sqlTables.ts"
import { identify, toStateRow } from "./sqlStates.ts"

/** Locks keys in their order. A key without a value gets a row with an empty revision, which exists only within the transaction. */
const insertMissing = (sql: SqlClient.SqlClient, table: string, keys: Fragment) => sql`
  INSERT INTO ${sql(tableNames(table).states)} AS s (name, scope, revision, version, text)
    SELECT DISTINCT r.n, r.s, '', 0, '' FROM ${keys} ORDER BY r.n, r.s
    ON CONFLICT (name, scope) DO UPDATE SET revision = s.revision WHERE false`

/**
 * Creates the function that writes state. The writes of a group `k` apply together, or none of them. Returns the groups
 * with an unexpected revision. No key may be in two groups. The function locks all keys first.
 */
export const createWrite = (
  sql: SqlClient.SqlClient,
  table: string,
  name: string,
  settings: Fragment
): Effect.Effect<unknown, SqlError> => {
  const states = sql(tableNames(table).states)
  const findState = findBy(sql, ["s.name", "s.scope"], ["r.n", "r.s"])
  return sql`
    CREATE OR REPLACE FUNCTION ${sql(name)}(writes json, OUT conflicts text[]) ${settings} AS $function$
    BEGIN
      ${insertMissing(sql, table, sql.literal("json_to_recordset(writes) AS r(n text, s text)"))};
      SELECT array_agg(DISTINCT r.k) INTO conflicts
        FROM json_to_recordset(writes) AS r(k text, n text, s text, e text)
        JOIN ${states} AS s ON ${findState}
        WHERE s.revision <> COALESCE(r.e, '');
      UPDATE ${states} AS s
        SET revision = r.r, version = r.v, expires_at = r.x, user_scope = r.u, text = r.t
        FROM json_to_recordset(writes) AS r(k text, n text, s text, r text, v bigint, x bigint, u text, t text)
        WHERE ${findState} AND (conflicts IS NULL OR r.k <> ALL (conflicts));
      DELETE FROM ${states} AS s USING json_to_recordset(writes) AS r(n text, s text)
        WHERE ${findState} AND s.revision = '';
    END
    $function$`
}

/**
 * Locks keys during an effect of a transaction, in the order in which the function locks them, and in the same way: a key without a
 * value gets a row, because another transaction could write its first value.
 */
export const locked = <A>(
  sql: SqlClient.SqlClient,
  table: string,
  rows: ReturnType<typeof toWriteRows>,
  effect: Effect.Effect<A, SqlError>
): Effect.Effect<A, SqlError> => {
  if (rows.length === 0) return effect
  const states = sql(tableNames(table).states)
  const keys = sql`json_to_recordset(${JSON.stringify(rows.map(({ n, s }) => ({ n, s })))}::json) AS r(n text, s text)`
  const unlock = sql`
    DELETE FROM ${states} AS s USING ${keys} WHERE ${findBy(sql, ["s.name", "s.scope"], ["r.n", "r.s"])} AND s.revision = ''`
  return Effect.andThen(
    insertMissing(sql, table, keys),
    Effect.tap(effect, () => unlock)
  )
}

/** No value has this revision. */
const noRevision = "none"

/** The writes of a group as the function reads them. */
export const toWriteRows = (group: string, writes: ReadonlyArray<StateWrite>) => {
  const byKey = new Map<string, StateWrite>()
  for (const write of writes) {
    const before = byKey.get(identify(write))
    const isPossible = before === undefined || before.expected === write.expected
    byKey.set(identify(write), isPossible ? write : { ...write, expected: noRevision })
  }
  return [...byKey.values()].map((write) => {
    const { expires_at, name, revision, scope, text, user_scope, version } = toStateRow(write)
    const expected = write.expected === undefined ? null : encodeText(write.expected)
    return { k: group, n: name, s: scope, e: expected, r: revision, v: version, x: expires_at, u: user_scope, t: text }
  })
}

export const makeWrite =
  (sql: SqlClient.SqlClient, name: string) =>
  (writes: ReadonlyArray<StateWrite>): Effect.Effect<boolean, SqlError> =>
    Effect.map(
      sql<{ is_applied: boolean }>`
        SELECT conflicts IS NULL AS is_applied FROM ${sql(name)}(${JSON.stringify(toWriteRows("", writes))}::json)`,
      ([{ is_applied }]) => is_applied
    )
