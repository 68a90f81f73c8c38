import * as Effect from "effect/Effect"
import * as Record from "effect/Record"
import type * as SqlClient from "effect/sql/SqlClient"
import { literal } from "effect/sql/Statement"
import { permanentStates } from "../../../base/internal/stores/sql.ts"
import * as plans from "./plans.ts"
import { now, slot, tableNames } from "./tables.ts"

export const functionNames = (table: string) => ({
  claim: `${table}_claim`,
  commit: `${table}_commit`,
  execute: `${table}_execute`,
  moveDue: `${table}_move_due`,
  write: `${table}_write`,
  writeRows: `${table}_write_rows`
})

/** The tables and the functions as parts of statements. */
export const partsOf = (sql: SqlClient.SqlClient, table: string) => ({
  sql,
  ...Record.map(tableNames(table), (name) => sql(name)),
  functions: Record.map(functionNames(table), (name) => sql(name))
})

export type Parts = ReturnType<typeof partsOf>

const isQueued = plans.isQueued("u")
const findPartition = (key: string) => plans.findBy("p.partition_key", key)
const findUpdate = (id: string) => plans.findBy("u.id", id)

/**
 * Creates the function that writes rows: key `k` of update `i`, with the revision `r` or `null` to delete the row. The rows of a
 * group `g` are written together, or none of them. Returns the groups with an unexpected revision, and whether a row is due
 * before all others. No key may occur twice. If `is_checked` is false, rows have no conditions, and none is deleted.
 *
 * A key without a row is locked by a row with an empty revision, which exists only within the transaction. Journals are locked by
 * their partitions.
 */
const createWriteRows = ({ functions, rows, sql }: Parts) => {
  const find = plans.findBy(["s.update_id", "s.key"], ["r.i", "r.k"])
  const isWritten = sql`(conflicts IS NULL OR r.g <> ALL (conflicts)) AND (r.e IS NULL OR r.e = COALESCE(s.revision, ''))`
  return sql`
    CREATE OR REPLACE FUNCTION ${functions.writeRows}(
      writes json, is_checked boolean, OUT conflicts text[], OUT is_first boolean
    ) ${plans.functionSettings} AS $function$
    DECLARE
      now_at bigint := ${now};
      first_due bigint;
    BEGIN
      IF is_checked THEN
        INSERT INTO ${rows} AS s (update_id, key, revision, text)
          SELECT 0, r.k, '', '' FROM json_to_recordset(writes) AS r(i bigint, k text COLLATE "C")
          WHERE r.i = 0 ORDER BY r.k
          ON CONFLICT (update_id, key) DO UPDATE SET revision = s.revision WHERE false;
        SELECT array_agg(DISTINCT r.g) INTO conflicts
          FROM json_to_recordset(writes) AS r(g text, i bigint, k text, e text, s int)
          LEFT JOIN ${rows} AS s ON ${find}
          WHERE r.s IS NULL AND r.e <> COALESCE(s.revision, '');
      END IF;
      WITH written AS (
        INSERT INTO ${rows} AS w (
          update_id, key, full_key, text, revision, expires_at, user_key, due_at, partition_key
        )
        SELECT r.i, r.k, r.f, r.t, r.r, r.x, r.u, COALESCE(r.d, now_at + r.a), r.p
        FROM json_to_recordset(writes) AS r(
          g text, i bigint, k text COLLATE "C", f text, e text, r text, t text, x bigint, u text, d bigint, a bigint, p text
        ) LEFT JOIN ${rows} AS s ON ${find}
        WHERE r.r IS NOT NULL AND ${isWritten} ORDER BY r.i, r.k
        ON CONFLICT (update_id, key) DO UPDATE SET full_key = excluded.full_key, text = excluded.text, revision = excluded.revision,
          expires_at = excluded.expires_at, user_key = excluded.user_key, due_at = excluded.due_at,
          partition_key = excluded.partition_key
        RETURNING w.due_at
      ) SELECT min(w.due_at) INTO first_due FROM written AS w;
      is_first := first_due IS NOT NULL AND first_due <= (
        SELECT s.due_at FROM ${rows} AS s WHERE s.due_at IS NOT NULL ORDER BY s.due_at, s.key LIMIT 1
      );
      IF is_checked THEN
        DELETE FROM ${rows} AS s
          USING json_to_recordset(writes) AS r(g text, i bigint, k text, e text, r text)
          WHERE ${find} AND (s.revision = '' OR r.r IS NULL AND ${isWritten});
      END IF;
    END
    $function$`
}

/** Creates the function that writes rows, some of them of journals. Returns the groups whose updates are not queued in a partition of their owner. */
const createWrite = ({ functions, partitions, sql, updates }: Parts) => sql`
    CREATE OR REPLACE FUNCTION ${functions.write}(
      journals json, writes json, is_checked boolean, OUT lost text[], OUT conflicts text[], OUT is_first boolean
    ) ${plans.functionSettings} AS $function$
    DECLARE
      held text[];
      ids bigint[];
    BEGIN
      IF journals IS NOT NULL THEN
        PERFORM FROM (SELECT DISTINCT r.k FROM json_to_recordset(journals) AS r(k text COLLATE "C") ORDER BY r.k) AS o
          CROSS JOIN LATERAL (
            SELECT FROM ${partitions} AS p WHERE ${findPartition("o.k")} FOR UPDATE
          ) AS l;
        SELECT COALESCE(array_agg(r.g), '{}'), array_agg(u.id) INTO held, ids
          FROM json_to_recordset(journals) AS r(g text, k text, o text, i bigint)
          JOIN ${partitions} AS p ON ${findPartition("r.k")} AND ${plans.isOwnedBy("p", "r.o")}
          JOIN ${updates} AS u ON ${findUpdate("r.i")} AND u.partition_key = r.k AND ${isQueued};
        lost := ARRAY(SELECT r.g FROM json_to_recordset(journals) AS r(g text) WHERE r.g <> ALL (held));
        IF cardinality(lost) > 0 THEN
          writes := (SELECT json_agg(w) FROM json_array_elements(writes) AS w WHERE w ->> 'g' <> ALL (lost));
        END IF;
        UPDATE ${updates} AS u SET journaled = 1 WHERE u.id = ANY (ids) AND u.journaled = 0;
      END IF;
      IF writes IS NOT NULL THEN
        SELECT w.conflicts, w.is_first INTO conflicts, is_first FROM ${functions.writeRows}(writes, is_checked) AS w;
      END IF;
    END
    $function$`

/**
 * Creates the function that appends the updates of due rows. Like all transactions, the function locks partitions before
 * rows: it reads the due rows, locks their partitions, and then moves the due rows that no other transaction has
 * moved or changed.
 */
const createMoveDue = ({ counts, functions, partitions, rows, sql, updates }: Parts) => sql`
    CREATE OR REPLACE FUNCTION ${functions.moveDue}(max_due bigint) RETURNS void ${plans.functionSettings} AS $function$
    DECLARE
      now_at bigint := ${now};
      keys text[] COLLATE "C";
      moved bigint;
    BEGIN
      SELECT array_agg(DISTINCT d.partition_key) INTO keys FROM (
        SELECT s.partition_key FROM ${rows} AS s WHERE s.due_at <= now_at ORDER BY s.due_at, s.key LIMIT max_due
      ) AS d;
      IF keys IS NULL THEN RETURN; END IF;
      INSERT INTO ${partitions} AS p (partition_key) SELECT k FROM unnest(keys) AS k ORDER BY k
        ON CONFLICT (partition_key) DO UPDATE SET owner = p.owner WHERE false;
      WITH due AS MATERIALIZED (
        SELECT s.key, s.partition_key, s.revision, s.due_at, s.text FROM ${rows} AS s
        WHERE s.due_at <= now_at AND s.partition_key = ANY (keys)
        ORDER BY s.due_at, s.key LIMIT max_due FOR UPDATE SKIP LOCKED
      ), taken AS (
        UPDATE ${rows} AS s SET due_at = NULL FROM due AS d
        WHERE ${plans.findBy(["s.update_id", "s.key"], ["0", "d.key"])}
      ), added AS (
        INSERT INTO ${updates} (fingerprint, partition_key, received_at, text)
        SELECT d.revision, d.partition_key, d.due_at, d.text FROM due AS d ORDER BY d.due_at, d.key
        RETURNING id, partition_key
      ), first AS (
        SELECT a.partition_key, min(a.id) AS id, count(*) AS added FROM added AS a GROUP BY a.partition_key
      ), headed AS (
        UPDATE ${partitions} AS p SET head_id = LEAST(p.head_id, f.id) FROM first AS f
        WHERE ${findPartition("f.partition_key")}
      ) SELECT sum(f.added) INTO moved FROM first AS f;
      DELETE FROM ${partitions} AS p WHERE p.partition_key = ANY (keys) AND p.owner IS NULL AND p.head_id IS NULL;
      IF moved > 0 THEN
        UPDATE ${counts} AS c SET queued = c.queued + moved WHERE c.slot = ${slot};
      END IF;
    END
    $function$`

const createClaim = ({ functions, partitions, rows, sql, updates }: Parts) => sql`
    CREATE OR REPLACE FUNCTION ${functions.claim}(
      claimer text, duration bigint, max_partitions bigint, max_updates bigint, beginning bigint, max_due bigint
    ) RETURNS TABLE (
      id bigint, partition_key text, fingerprint text, received_at float8, "text" text, earlier text
    ) ${plans.functionSettings} AS $function$
    #variable_conflict use_column
    DECLARE
      now_at bigint;
      keys text[] COLLATE "C";
      held text[] COLLATE "C";
      crashed text;
    BEGIN
      -- A claim that is lost costs nothing, and the log is written in order, so whatever is committed later makes it durable.
      PERFORM set_config('synchronous_commit', 'off', true);
      IF max_due > 0 THEN PERFORM ${functions.moveDue}(max_due); END IF;
      LOOP
        now_at := ${now};
        WITH expired AS (
          SELECT p.partition_key, p.head_id, p.begun FROM ${partitions} AS p
          WHERE p.owner IS NOT NULL AND p.lease_until <= now_at
          ORDER BY p.lease_until LIMIT max_partitions FOR UPDATE SKIP LOCKED
        ), free AS (
          SELECT p.partition_key, p.head_id, p.begun FROM ${partitions} AS p
          WHERE p.owner IS NULL ORDER BY p.head_id LIMIT max_partitions FOR UPDATE SKIP LOCKED
        ), chosen AS (
          SELECT * FROM (SELECT * FROM expired UNION ALL SELECT * FROM free) AS a ORDER BY a.head_id LIMIT max_partitions
        )
        SELECT array_agg(c.partition_key), string_agg(NULLIF(c.begun, ''), ',') INTO keys, crashed FROM chosen AS c;
        IF keys IS NULL THEN RETURN; END IF;
        IF crashed IS NOT NULL THEN
          UPDATE ${updates} AS u SET attempts = u.attempts + 1, crashes = u.crashes + 1
          WHERE u.id = ANY (string_to_array(crashed, ',')::bigint[]) AND ${isQueued};
        END IF;
        WITH queued AS MATERIALIZED (
          SELECT k, ARRAY(
            SELECT u.id FROM ${updates} AS u WHERE ${plans.queuedIn("u", "k")}
            LIMIT LEAST(GREATEST(beginning, 1), max_updates)
          ) AS ids FROM unnest(keys) AS k
        ), claimed AS (
          UPDATE ${partitions} AS p SET owner = claimer, lease_until = now_at + duration,
            begun = array_to_string(q.ids[1:beginning], ','), head_id = q.ids[1]
          FROM queued AS q WHERE ${findPartition("q.k")} AND q.ids <> '{}' RETURNING p.partition_key
        ) SELECT array_agg(c.partition_key) INTO held FROM claimed AS c;
        -- Partitions without updates are left behind by owners that ended before their release.
        IF held IS NULL OR cardinality(held) < cardinality(keys) THEN
          DELETE FROM ${partitions} AS p
          WHERE p.partition_key = ANY (ARRAY(SELECT unnest(keys) EXCEPT SELECT unnest(held)));
        END IF;
        IF held IS NOT NULL THEN
          RETURN QUERY
            SELECT f.id, f.partition_key, f.fingerprint, f.received_at::float8, f.text,
              CASE WHEN f.attempts > 0 OR f.crashes > 0 OR f.journaled = 1 THEN json_build_object(
                'attempts', f.attempts, 'crashes', f.crashes, 'journal', (
                  SELECT json_agg(json_build_object('key', COALESCE(s.full_key, s.key), 'text', s.text, 'revision', s.revision))
                  FROM ${rows} AS s WHERE f.journaled = 1 AND s.update_id = f.id
                )
              )::text END
            FROM unnest(held) AS k CROSS JOIN LATERAL (
              SELECT u.id, u.partition_key, u.fingerprint, u.received_at, u.text, u.attempts, u.crashes, u.journaled
              FROM ${updates} AS u WHERE ${plans.queuedIn("u", "k")} LIMIT max_updates
            ) AS f ORDER BY f.id;
          RETURN;
        END IF;
      END LOOP;
    END
    $function$`

/**
 * Creates the function that commits the changes of partitions. With `is_check`, the function changes nothing, and locks the partitions.
 * Returns the partitions that their owners do not hold, the partitions whose updates `c` are not all queued, the partitions whose
 * rows conflict, and whether other processes have to be woken up.
 */
const createCommit = ({ counts, functions, partitions, rows, sql, updates }: Parts) => {
  const isAcknowledged = sql`u.id = ANY (ids) AND ${plans.isAmong("u.partition_key", "keys")} AND ${isQueued}`
  /** Common case: all begun updates are decided, and only the updates that the commit begins remain. */
  const updateBegun = (which: string) => sql`
    UPDATE ${partitions} AS p SET begun = CASE
      WHEN c.x = 1 THEN ''
      WHEN string_to_array(p.begun, ',') <@ c.decided THEN c.begun
      ELSE array_to_string(ARRAY(
        SELECT b FROM unnest(string_to_array(p.begun, ',')) AS b WHERE b <> ALL (c.decided)
      ) || string_to_array(c.begun, ','), ',')
    END
    FROM (
      SELECT r.k, r.o, string_to_array(r.d, ',') AS decided, r.b AS begun, r.x
      FROM unnest(keys, owners, decisions, begun_ids, releases) AS r(k, o, d, b, x) WHERE ${literal(which)} ORDER BY r.k
    ) AS c WHERE ${findPartition("c.k")} AND ${plans.isOwnedBy("p", "c.o")}`
  return sql`
    CREATE OR REPLACE FUNCTION ${functions.commit}(
      changes json, failures json, deaths json, writes json, is_checked boolean, is_check boolean,
      OUT lost text[], OUT repeated text[], OUT conflicts text[], OUT wakes boolean
    ) ${plans.functionSettings} AS $function$
    DECLARE
      keys text[] COLLATE "C";
      owners text[];
      acknowledgements text[];
      decisions text[];
      begun_ids text[];
      releases int[];
      is_begun boolean;
      held text[];
      omitted text[];
      ids bigint[];
      acknowledged bigint := 0;
      journaled bigint[];
      dead bigint := 0;
      is_free boolean := false;
    BEGIN
      wakes := false;
      SELECT array_agg(r.k), array_agg(r.o), array_agg(NULLIF(r.a, '')), array_agg(r.d), array_agg(r.b), array_agg(r.x)
        INTO keys, owners, acknowledgements, decisions, begun_ids, releases
        FROM json_to_recordset(changes) AS r(k text, o text, a text, d text, b text, x int);
      is_begun := writes IS NULL AND NOT is_check AND 0 = ANY (releases);
      IF is_begun THEN
        -- No row can conflict, so the locks of the partitions are those of their update.
        WITH updated AS (${updateBegun("true")} RETURNING p.partition_key)
          SELECT COALESCE(array_agg(p.partition_key), '{}') INTO held FROM updated AS p;
      ELSE
        held := ARRAY(
          SELECT l.partition_key FROM (SELECT r.k, r.o FROM unnest(keys, owners) AS r(k, o) ORDER BY r.k) AS c
          CROSS JOIN LATERAL (
            SELECT p.partition_key FROM ${partitions} AS p
            WHERE ${findPartition("c.k")} AND ${plans.isOwnedBy("p", "c.o")} FOR UPDATE
          ) AS l
        );
      END IF;
      IF cardinality(held) < cardinality(keys) THEN
        lost := ARRAY(SELECT k FROM unnest(keys) AS k WHERE k <> ALL (held));
      END IF;
      IF writes IS NOT NULL OR is_check THEN
        repeated := ARRAY(
          SELECT r.k FROM json_to_recordset(changes) AS r(k text, c text) WHERE EXISTS (
            SELECT FROM unnest(string_to_array(r.c, ',')::bigint[]) AS i WHERE NOT EXISTS (
              SELECT FROM ${updates} AS u WHERE ${findUpdate("i")} AND u.partition_key = r.k AND ${isQueued}
            )
          )
        );
        IF is_check THEN RETURN; END IF;
        omitted := repeated || lost;
        IF cardinality(omitted) > 0 THEN
          writes := (SELECT json_agg(w) FROM json_array_elements(writes) AS w WHERE w ->> 'g' <> ALL (omitted));
        END IF;
        IF writes IS NOT NULL THEN
          SELECT w.conflicts, w.is_first INTO conflicts, wakes FROM ${functions.writeRows}(writes, is_checked) AS w;
        END IF;
      END IF;
      omitted := lost || conflicts;
      IF cardinality(omitted) > 0 THEN
        SELECT array_agg(r.k), array_agg(r.o), array_agg(r.a), array_agg(r.d), array_agg(r.b), array_agg(r.x)
          INTO keys, owners, acknowledgements, decisions, begun_ids, releases
          FROM unnest(keys, owners, acknowledgements, decisions, begun_ids, releases) AS r(k, o, a, d, b, x)
          WHERE r.k <> ALL (omitted);
        IF keys IS NULL THEN RETURN; END IF;
      END IF;
      ids := string_to_array(array_to_string(acknowledgements, ','), ',')::bigint[];
      DELETE FROM ${updates} AS u WHERE ${isAcknowledged} AND u.journaled = 0;
      GET DIAGNOSTICS acknowledged = ROW_COUNT;
      IF acknowledged < cardinality(ids) THEN
        WITH deleted AS (DELETE FROM ${updates} AS u WHERE ${isAcknowledged} RETURNING u.id)
          SELECT acknowledged + count(*), array_agg(d.id) INTO acknowledged, journaled FROM deleted AS d;
        DELETE FROM ${rows} AS s WHERE s.update_id = ANY (journaled);
      END IF;
      IF failures IS NOT NULL THEN
        UPDATE ${updates} AS u SET attempts = u.attempts + r.count
        FROM json_to_recordset(failures) AS r(k text, id bigint, count bigint)
        WHERE ${findUpdate("r.id")} AND u.partition_key = r.k AND r.k = ANY (keys) AND ${isQueued};
      END IF;
      IF deaths IS NOT NULL THEN
        UPDATE ${updates} AS u SET error = r.error, attempts = r.attempts, failed_at = r.failed_at
        FROM json_to_recordset(deaths) AS r(k text, id bigint, error text, attempts bigint, failed_at bigint)
        WHERE ${findUpdate("r.id")} AND u.partition_key = r.k AND r.k = ANY (keys) AND ${isQueued};
        GET DIAGNOSTICS dead = ROW_COUNT;
      END IF;
      IF NOT is_begun AND 0 = ANY (releases) THEN ${updateBegun("r.x = 0")}; END IF;
      IF 1 = ANY (releases) THEN
        WITH rest AS MATERIALIZED (
          SELECT r.k, (
            SELECT u.id FROM ${updates} AS u WHERE ${plans.queuedIn("u", "r.k")} LIMIT 1
          ) AS head_id FROM unnest(keys, releases) AS r(k, x) WHERE r.x = 1
        ), emptied AS (
          DELETE FROM ${partitions} AS p USING rest WHERE ${findPartition("rest.k")} AND rest.head_id IS NULL
        ), freed AS (
          UPDATE ${partitions} AS p SET owner = NULL, lease_until = 0, begun = '', head_id = rest.head_id
          FROM rest WHERE ${findPartition("rest.k")} AND rest.head_id IS NOT NULL RETURNING p.partition_key
        ) SELECT count(*) > 0 INTO is_free FROM freed;
        wakes := wakes OR is_free;
      END IF;
      IF acknowledged + dead > 0 THEN
        UPDATE ${counts} AS c SET queued = c.queued - acknowledged - dead, dead_letters = c.dead_letters + dead
        WHERE c.slot = ${slot};
      END IF;
    END
    $function$`
}

/**
 * Creates the function that commits changes with statements: texts `q` that must change or return `n` rows, of the commit with the
 * index `u` in the partition `k`. If a commit is refused, nothing is changed, and the function returns the index, or -1 if the
 * commit is unknown. The statements are planned with the settings of the connection.
 */
const createExecute = ({ functions, sql }: Parts) => sql`
    CREATE OR REPLACE FUNCTION ${functions.execute}(
      statements json, changes json, failures json, deaths json, writes json, is_checked boolean,
      OUT lost text[], OUT wakes boolean, OUT refused int
    ) LANGUAGE plpgsql AS $function$
    DECLARE
      omitted text[];
      conflicts text[];
      statement record;
      changed bigint;
    BEGIN
      SELECT c.lost || c.repeated INTO omitted FROM ${functions.commit}(changes, NULL, NULL, NULL, false, true) AS c;
      FOR statement IN
        SELECT r.u, r.q, r.n FROM json_to_recordset(statements) AS r(u int, k text, q text, n bigint)
        WHERE omitted IS NULL OR r.k <> ALL (omitted)
      LOOP
        refused := statement.u;
        EXECUTE statement.q;
        GET DIAGNOSTICS changed = ROW_COUNT;
        IF changed <> statement.n THEN RAISE EXCEPTION 'A statement has changed another number of rows.'; END IF;
      END LOOP;
      refused := -1;
      SET CONSTRAINTS ALL IMMEDIATE;
      refused := NULL;
      SELECT c.lost, c.conflicts, c.wakes INTO lost, conflicts, wakes
        FROM ${functions.commit}(changes, failures, deaths, writes, is_checked, false) AS c;
      refused := (SELECT min(r.u) FROM json_to_recordset(statements) AS r(u int, k text) WHERE r.k = ANY (conflicts));
      IF refused IS NOT NULL THEN RAISE EXCEPTION 'A row conflicts.'; END IF;
    EXCEPTION WHEN OTHERS THEN
      IF refused IS NULL OR SQLSTATE !~ ${literal(`'${permanentStates.source}'`)} THEN RAISE; END IF;
      lost := NULL;
      wakes := false;
    END
    $function$`

/**
 * Creates the functions that execute an operation in one round trip. Single statements do not work: only a later statement
 * sees the commits during the wait for a lock.
 */
export const createFunctions = (parts: Parts) =>
  Effect.forEach(
    [createWriteRows, createWrite, createMoveDue, createClaim, createCommit, createExecute],
    (create) => create(parts),
    { discard: true }
  )
