import * as Effect from "effect/Effect"
import type * as SqlClient from "effect/sql/SqlClient"
import { tableNames } from "./tables.ts"

/**
 * Lets the ids of updates go on from the current time in microseconds when the server has changed. After a crash, and in a replica
 * that replaces the primary database, the sequence of the ids can lack the last ids, whose updates a process may still handle.
 * With the same ids, its commits would acknowledge other updates. `server` has the start time of the server that has assigned the last
 * id. A sequence is written at once, so that transactions do not wait for each other.
 */
export const renewIds = (sql: SqlClient.SqlClient, table: string) => {
  const names = tableNames(table)
  const [renew, server, updates] = [`${table}_renew_ids`, names.server, names.updates].map((name) => sql(name))
  return Effect.all(
    [
      sql`CREATE SEQUENCE ${server} OWNED BY ${updates}.id`,
      sql`
        CREATE FUNCTION ${renew}() RETURNS trigger LANGUAGE plpgsql AS $function$
        DECLARE
          started bigint := (extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint;
          ids regclass;
        BEGIN
          IF (SELECT s.last_value FROM ${server} AS s) = started THEN RETURN NULL; END IF;
          PERFORM pg_advisory_xact_lock(TG_RELID::bigint);
          IF (SELECT s.last_value FROM ${server} AS s) = started THEN RETURN NULL; END IF;
          ids := pg_get_serial_sequence(TG_RELID::regclass::text, 'id')::regclass;
          PERFORM setval(ids, GREATEST(nextval(ids), (extract(epoch FROM clock_timestamp()) * 1000000)::bigint));
          PERFORM setval(s.tableoid::regclass, started) FROM ${server} AS s;
          RETURN NULL;
        END
        $function$`,
      sql`CREATE TRIGGER renew_ids BEFORE INSERT OR UPDATE OF id ON ${updates} FOR EACH STATEMENT EXECUTE FUNCTION ${renew}()`
    ],
    { discard: true }
  )
}
