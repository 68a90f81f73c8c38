import * as Effect from "effect/Effect"
import type * as SqlClient from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"
import { createWrite } from "./state/pgStates.ts"
import { createChange, createMove } from "./timers/pgTimers.ts"
import * as pgPlans from "./pgPlans.ts"
import { countSlots, tableNames } from "./sqlTables.ts"

/**
 * Names of the functions. A function whose parameters change gets a new name, because processes with another version of this
 * package may use the same database.
 */
export const functionNames = (table: string) => ({
  claim: `${table}_claim_4`,
  commit: `${table}_commit_3`,
  record: `${table}_record_1`,
  writeState: `${table}_write_state_2`,
  changeTimers: `${table}_change_timers_2`,
  moveTimers: `${table}_move_timers_2`
})

/** Returns the parts that the functions share. */
const partsOf = (sql: SqlClient.SqlClient, table: string) => {
  const names = tableNames(table)
  const [updates, partitions, counts, journal] = [names.updates, names.partitions, names.counts, names.journal].map(
    (name) => sql(name)
  )
  return {
    updates,
    partitions,
    counts,
    journal,
    names: functionNames(table),
    settings: pgPlans.functionSettings(sql),
    isQueued: pgPlans.isQueued(sql, "u"),
    findPartition: (key: string) => pgPlans.findBy(sql, "p.partition_key", key),
    findUpdate: (id: string) => pgPlans.findBy(sql, "u.id", id)
  }
}

const createClaim = (sql: SqlClient.SqlClient, table: string) => {
  const { findPartition, isQueued, journal, names, partitions, settings, updates } = partsOf(sql, table)
  const { claim, moveTimers } = names
  return sql`
      CREATE OR REPLACE FUNCTION ${sql(claim)}(
        claimer text, duration bigint, max_partitions bigint, max_updates bigint, beginning bigint,
        max_timers bigint
      ) RETURNS TABLE (
        id bigint, partition_key text, fingerprint text, received_at float8, "text" text, earlier text
      ) ${settings} AS $function$
      #variable_conflict use_column
      DECLARE
        now_at bigint;
        keys text[];
        held text[];
        crashed text;
      BEGIN
        -- A claim that is lost costs nothing, and the log is written in order, so whatever is committed later makes it durable.
        PERFORM set_config('synchronous_commit', 'off', true);
        IF max_timers > 0 THEN PERFORM ${sql(moveTimers)}(max_timers); END IF;
        LOOP
          now_at := (extract(epoch FROM clock_timestamp()) * 1000)::bigint;
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
            UPDATE ${updates} AS u SET attempts = COALESCE(u.attempts, 0) + 1, crashes = u.crashes + 1
            WHERE u.id = ANY (string_to_array(crashed, ',')::bigint[]) AND ${isQueued};
          END IF;
          WITH queued AS MATERIALIZED (
            SELECT k, ARRAY(
              SELECT u.id FROM ${updates} AS u WHERE ${pgPlans.queuedIn(sql, "u", "k")}
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
                  'attempts', COALESCE(f.attempts, 0), 'crashes', f.crashes, 'journal', (
                    SELECT json_agg(json_build_object('slot', j.slot, 'full_slot', j.full_slot, 'state', j.state, 'text', j.text))
                    FROM ${journal} AS j WHERE f.journaled = 1 AND j.update_id = f.id
                  )
                )::text END
              FROM unnest(held) AS k CROSS JOIN LATERAL (
                SELECT u.id, u.partition_key, u.fingerprint, u.received_at, u.text, u.attempts, u.crashes,
                  u.journaled
                FROM ${updates} AS u WHERE ${pgPlans.queuedIn(sql, "u", "k")} LIMIT max_updates
              ) AS f ORDER BY f.id;
            RETURN;
          END IF;
        END LOOP;
      END
      $function$`
}

const createCommit = (sql: SqlClient.SqlClient, table: string) => {
  const { counts, findPartition, findUpdate, isQueued, journal, names, partitions, settings, updates } = partsOf(
    sql,
    table
  )
  const { changeTimers, commit, writeState } = names
  const isAcknowledged = sql`
    u.id = ANY (ids) AND ${pgPlans.isAmong(sql, "u.partition_key", "keys")} AND ${isQueued}`
  /** Common case: all begun updates are decided, and only the updates that the commit begins remain. */
  const updateBegun = (which: Fragment) => sql`
    UPDATE ${partitions} AS p SET begun = CASE
      WHEN c.x = 1 THEN ''
      WHEN string_to_array(p.begun, ',') <@ c.decided THEN c.begun
      ELSE array_to_string(ARRAY(
        SELECT b FROM unnest(string_to_array(p.begun, ',')) AS b WHERE b <> ALL (c.decided)
      ) || string_to_array(c.begun, ','), ',')
    END
    FROM (
      SELECT r.k, string_to_array(r.d, ',') AS decided, r.b AS begun, r.x
      FROM unnest(keys, decisions, begun_ids, releases) AS r(k, d, b, x) WHERE ${which} ORDER BY r.k
    ) AS c WHERE ${findPartition("c.k")} AND ${pgPlans.isOwnedBy(sql, "p", "committer")}`
  return sql`
      CREATE OR REPLACE FUNCTION ${sql(commit)}(
        committer text, changes json, failures json, deaths json, writes json, timers json,
        OUT lost text, OUT conflicting text, OUT is_free boolean
      ) ${settings} AS $function$
      DECLARE
        keys text[];
        acknowledgements text[];
        decisions text[];
        begun_ids text[];
        releases int[];
        is_begun boolean;
        held text[];
        omitted text[] := '{}';
        repeated text[];
        conflicts text[];
        ids bigint[];
        acknowledged bigint := 0;
        journaled bigint[];
        dead bigint := 0;
      BEGIN
        is_free := false;
        SELECT array_agg(r.k), array_agg(NULLIF(r.a, '')), array_agg(r.d), array_agg(r.b), array_agg(r.x)
          INTO keys, acknowledgements, decisions, begun_ids, releases
          FROM json_to_recordset(changes) AS r(k text, a text, d text, b text, x int);
        is_begun := writes IS NULL AND timers IS NULL AND 0 = ANY (releases);
        IF is_begun THEN
          -- No state can conflict, so the locks of the partitions are those of their update.
          WITH updated AS (${updateBegun(sql.literal("true"))} RETURNING p.partition_key)
            SELECT COALESCE(array_agg(p.partition_key), '{}') INTO held FROM updated AS p;
        ELSE
          held := ARRAY(
            SELECT l.partition_key FROM (SELECT k FROM unnest(keys) AS k ORDER BY k) AS o CROSS JOIN LATERAL (
              SELECT p.partition_key FROM ${partitions} AS p
              WHERE ${findPartition("o.k")} AND ${pgPlans.isOwnedBy(sql, "p", "committer")} FOR UPDATE
            ) AS l
          );
        END IF;
        IF cardinality(held) < cardinality(keys) THEN
          omitted := ARRAY(SELECT k FROM unnest(keys) AS k WHERE k <> ALL (held));
          lost := array_to_json(omitted)::text;
        END IF;
        IF writes IS NOT NULL OR timers IS NOT NULL THEN
          repeated := ARRAY(
            SELECT r.k FROM json_to_recordset(changes) AS r(k text, c text) WHERE EXISTS (
              SELECT FROM unnest(string_to_array(r.c, ',')::bigint[]) AS i WHERE NOT EXISTS (
                SELECT FROM ${updates} AS u WHERE ${findUpdate("i")} AND u.partition_key = r.k AND ${isQueued}
              )
            )
          ) || omitted;
          writes := (
            SELECT json_agg(w) FROM json_array_elements(writes) AS w WHERE w ->> 'k' <> ALL (repeated)
          );
          IF writes IS NOT NULL THEN
            conflicts := ${sql(writeState)}(writes);
            IF conflicts IS NOT NULL THEN
              conflicting := array_to_json(conflicts)::text;
              omitted := omitted || conflicts;
              repeated := repeated || conflicts;
            END IF;
          END IF;
          timers := (
            SELECT json_agg(t) FROM json_array_elements(timers) AS t WHERE t ->> 'k' <> ALL (repeated)
          );
        END IF;
        IF cardinality(omitted) > 0 THEN
          SELECT array_agg(r.k), array_agg(r.a), array_agg(r.d), array_agg(r.b), array_agg(r.x)
            INTO keys, acknowledgements, decisions, begun_ids, releases
            FROM unnest(keys, acknowledgements, decisions, begun_ids, releases) AS r(k, a, d, b, x)
            WHERE r.k <> ALL (omitted);
          IF keys IS NULL THEN RETURN; END IF;
        END IF;
        ids := string_to_array(array_to_string(acknowledgements, ','), ',')::bigint[];
        DELETE FROM ${updates} AS u WHERE ${isAcknowledged} AND u.journaled = 0;
        GET DIAGNOSTICS acknowledged = ROW_COUNT;
        IF acknowledged < cardinality(ids) THEN
          WITH deleted AS (DELETE FROM ${updates} AS u WHERE ${isAcknowledged} RETURNING u.id)
            SELECT acknowledged + count(*), array_agg(d.id) INTO acknowledged, journaled FROM deleted AS d;
          DELETE FROM ${journal} AS j WHERE j.update_id = ANY (journaled);
        END IF;
        IF failures IS NOT NULL THEN
          UPDATE ${updates} AS u SET attempts = COALESCE(u.attempts, 0) + r.count
          FROM json_to_recordset(failures) AS r(k text, id bigint, count bigint)
          WHERE ${findUpdate("r.id")} AND u.partition_key = r.k AND r.k = ANY (keys) AND ${isQueued};
        END IF;
        IF deaths IS NOT NULL THEN
          UPDATE ${updates} AS u SET error = r.error, attempts = r.attempts, failed_at = r.failed_at
          FROM json_to_recordset(deaths) AS r(k text, id bigint, error text, attempts bigint, failed_at bigint)
          WHERE ${findUpdate("r.id")} AND u.partition_key = r.k AND r.k = ANY (keys) AND ${isQueued};
          GET DIAGNOSTICS dead = ROW_COUNT;
        END IF;
        IF NOT is_begun AND 0 = ANY (releases) THEN ${updateBegun(sql.literal("r.x = 0"))}; END IF;
        IF 1 = ANY (releases) THEN
          WITH rest AS MATERIALIZED (
            SELECT r.k, (
              SELECT u.id FROM ${updates} AS u WHERE ${pgPlans.queuedIn(sql, "u", "r.k")} LIMIT 1
            ) AS head_id FROM unnest(keys, releases) AS r(k, x) WHERE r.x = 1
          ), emptied AS (
            DELETE FROM ${partitions} AS p USING rest WHERE ${findPartition("rest.k")} AND rest.head_id IS NULL
          ), freed AS (
            UPDATE ${partitions} AS p SET owner = NULL, lease_until = 0, begun = '', head_id = rest.head_id
            FROM rest WHERE ${findPartition("rest.k")} AND rest.head_id IS NOT NULL RETURNING p.partition_key
          ) SELECT count(*) > 0 INTO is_free FROM freed;
        END IF;
        IF timers IS NOT NULL THEN PERFORM ${sql(changeTimers)}(timers); END IF;
        IF acknowledged + dead > 0 THEN
          UPDATE ${counts} AS c SET queued = c.queued - acknowledged - dead, dead_letters = c.dead_letters + dead
          WHERE c.slot = pg_backend_pid() % ${sql.literal(String(countSlots))};
        END IF;
      END
      $function$`
}

/**
 * Creates or replaces the functions that claim and commit in one round trip. Single statements do not work: only a
 * later statement sees the commits during the wait for a lock.
 */
export const createFunctions = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, table: string) {
  const { changeTimers, moveTimers, writeState } = functionNames(table)
  const settings = pgPlans.functionSettings(sql)
  yield* createWrite(sql, table, writeState, settings)
  yield* createChange(sql, table, changeTimers, settings)
  yield* createMove(sql, table, moveTimers, settings)
  yield* createClaim(sql, table)
  yield* createCommit(sql, table)
})
