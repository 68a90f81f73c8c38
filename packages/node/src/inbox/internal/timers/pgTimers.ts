import type { TimerChange } from "@colloquy/core/inbox/InboxStore"
import * as Effect from "effect/Effect"
import type * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import { findBy } from "../pgPlans.ts"
import { countSlots, tableNames } from "../sqlTables.ts"
import { combineTimers, type TimerRow } from "./sqlTimers.ts"

/**
 * Creates the function that sets and cancels timers. Timers are locked and added in the order of their names and keys. New timers
 * get their ids in the order of the changes, which is the order in which timers of the same time become updates.
 */
export const createChange = (
  sql: SqlClient.SqlClient,
  table: string,
  name: string,
  settings: Fragment
): Effect.Effect<unknown, SqlError> => {
  const names = tableNames(table)
  const timers = sql(names.timers)
  const occurrences = sql(names.occurrences)
  const [identifier] = sql`${timers}`.compile()
  const quoted = sql.literal(`'${identifier.replaceAll("'", "''")}'`)
  const findTimer = findBy(sql, ["t.name", "t.timer_key"], ["r.n", "r.y"])
  const findOccurrences = findBy(sql, ["o.name", "o.timer_key"], ["r.n", "r.y"])
  return sql`
    CREATE OR REPLACE FUNCTION ${sql(name)}(changes json) RETURNS void ${settings} AS $function$
    DECLARE
      now_at bigint := (extract(epoch FROM clock_timestamp()) * 1000)::bigint;
      ids regclass := pg_get_serial_sequence(${quoted}, 'id');
      going bigint[];
    BEGIN
      PERFORM FROM ${timers} AS t JOIN json_to_recordset(changes) AS r(n text, y text) ON ${findTimer}
        ORDER BY t.name, t.timer_key FOR UPDATE OF t;
      PERFORM FROM ${occurrences} AS o JOIN json_to_recordset(changes) AS r(n text, y text)
        ON ${findOccurrences} ORDER BY o.update_id FOR UPDATE OF o;
      WITH ended AS (
        DELETE FROM ${occurrences} AS o USING json_to_recordset(changes) AS r(u bigint) WHERE ${findBy(sql, "o.update_id", "r.u")}
        RETURNING o.update_id, o.cancelled
      ) SELECT COALESCE(array_agg(e.update_id), '{}') INTO going FROM ended AS e WHERE e.cancelled = 0;
      UPDATE ${occurrences} AS o SET cancelled = 1 FROM json_to_recordset(changes) AS r(n text, y text, u bigint)
        WHERE r.u IS NULL AND ${findOccurrences} AND o.cancelled = 0;
      DELETE FROM ${timers} AS t USING json_to_recordset(changes) AS r(n text, y text, p text, u bigint)
        WHERE r.p IS NULL AND r.u IS NULL AND ${findTimer};
      WITH numbered AS MATERIALIZED (
        SELECT nextval(ids) AS id, r.* FROM (
          SELECT * FROM json_to_recordset(changes) AS r(
            i bigint, n text, y text, d bigint, a bigint, p text, f text, t text, s text, u bigint
          )
          WHERE r.p IS NOT NULL AND (r.u IS NULL OR r.u = ANY (going)) ORDER BY r.i
        ) AS r
      )
      INSERT INTO ${timers} (id, name, timer_key, due_at, partition_key, fingerprint, text, user_scope)
        SELECT r.id, r.n, r.y, COALESCE(r.d, now_at + r.a), r.p, r.f, r.t, r.s FROM numbered AS r ORDER BY r.n, r.y
        ON CONFLICT (name, timer_key) DO UPDATE SET id = excluded.id, due_at = excluded.due_at,
          partition_key = excluded.partition_key, fingerprint = excluded.fingerprint, text = excluded.text,
          user_scope = excluded.user_scope;
    END
    $function$`
}

/**
 * Creates the function that moves due timers to the queue. Like all transactions, the function locks partitions before
 * timers: it reads the due timers, locks their partitions, and then moves the due timers that no other transaction has
 * moved or changed.
 */
export const createMove = (
  sql: SqlClient.SqlClient,
  table: string,
  name: string,
  settings: Fragment
): Effect.Effect<unknown, SqlError> => {
  const names = tableNames(table)
  const [counts, occurrences, partitions, timers, updates] = [
    names.counts,
    names.occurrences,
    names.partitions,
    names.timers,
    names.updates
  ].map((name) => sql(name))
  return sql`
    CREATE OR REPLACE FUNCTION ${sql(name)}(max_timers bigint) RETURNS void ${settings} AS $function$
    DECLARE
      now_at bigint := (extract(epoch FROM clock_timestamp()) * 1000)::bigint;
      keys text[];
      moved bigint;
    BEGIN
      SELECT array_agg(DISTINCT d.partition_key) INTO keys FROM (
        SELECT t.partition_key FROM ${timers} AS t WHERE t.due_at <= now_at ORDER BY t.due_at, t.id LIMIT max_timers
      ) AS d;
      IF keys IS NULL THEN RETURN; END IF;
      INSERT INTO ${partitions} AS p (partition_key) SELECT k FROM unnest(keys) AS k ORDER BY k
        ON CONFLICT (partition_key) DO UPDATE SET owner = p.owner WHERE false;
      WITH due AS MATERIALIZED (
        SELECT t.* FROM ${timers} AS t WHERE t.due_at <= now_at AND t.partition_key = ANY (keys)
        ORDER BY t.due_at, t.id LIMIT max_timers FOR UPDATE SKIP LOCKED
      ), taken AS (
        DELETE FROM ${timers} AS t USING due AS d WHERE ${findBy(sql, "t.id", "d.id")}
      ), added AS (
        INSERT INTO ${updates} (fingerprint, partition_key, received_at, text)
        SELECT d.fingerprint, d.partition_key, d.due_at, d.text FROM due AS d ORDER BY d.due_at, d.id
        RETURNING id, partition_key
      ), remembered AS (
        -- The ids are in the order of the timers.
        INSERT INTO ${occurrences} (update_id, name, timer_key, user_scope)
        SELECT a.id, d.name, d.timer_key, d.user_scope
        FROM (SELECT a.id, row_number() OVER (ORDER BY a.id) AS place FROM added AS a) AS a
        JOIN (SELECT d.*, row_number() OVER (ORDER BY d.due_at, d.id) AS place FROM due AS d) AS d ON d.place = a.place
      ), first AS (
        SELECT a.partition_key, min(a.id) AS id, count(*) AS added FROM added AS a GROUP BY a.partition_key
      ), headed AS (
        UPDATE ${partitions} AS p SET head_id = LEAST(p.head_id, f.id) FROM first AS f
        WHERE ${findBy(sql, "p.partition_key", "f.partition_key")}
      ) SELECT sum(f.added) INTO moved FROM first AS f;
      DELETE FROM ${partitions} AS p WHERE p.partition_key = ANY (keys) AND p.owner IS NULL AND p.head_id IS NULL;
      IF moved > 0 THEN
        UPDATE ${counts} AS c SET queued = c.queued + moved
        WHERE c.slot = pg_backend_pid() % ${sql.literal(String(countSlots))};
      END IF;
    END
    $function$`
}

/** Changes as the function reads them. `k` is the partition of the commit. */
export const toTimerRows = (group: string, changes: ReadonlyArray<TimerChange>) => {
  const { ends, keys, set } = combineTimers(changes)
  const isSet = new Set(set.map(({ name, timer_key }) => JSON.stringify([name, timer_key])))
  const cancelled = keys.filter(({ name, timer_key }) => !isSet.has(JSON.stringify([name, timer_key])))
  return [
    ...cancelled.map(({ name, timer_key }) => ({ k: group, n: name, y: timer_key })),
    ...ends.map(({ next, update_id }, i) => ({ k: group, ...(next && toSetRow(next, i)), u: update_id })),
    ...set.map((timer, i) => ({ k: group, ...toSetRow(timer, ends.length + i) }))
  ]
}

const toSetRow = (
  { after, due_at, fingerprint, name, partition_key, text, timer_key, user_scope }: TimerRow,
  place: number
) => ({
  i: place,
  n: name,
  y: timer_key,
  d: due_at,
  a: after,
  p: partition_key,
  f: fingerprint,
  t: text,
  s: user_scope
})

export const makeChange =
  (sql: SqlClient.SqlClient, name: string) =>
  (changes: ReadonlyArray<TimerChange>): Effect.Effect<void, SqlError> =>
    Effect.asVoid(sql`SELECT ${sql(name)}(${JSON.stringify(toTimerRows("", changes))}::json)`)
