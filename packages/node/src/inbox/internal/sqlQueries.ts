import * as Effect from "effect/Effect"
import type * as SqlClient from "effect/sql/SqlClient"
import type { Dialect } from "../../base/internal/stores/sql.ts"
import { encodeIndexed } from "../../base/internal/stores/values.ts"
import { countSlots, type TableNames, type UpdateRow } from "./sqlTables.ts"

/** Maximum number of claimed partitions whose first updates are compared for the age of the oldest update. */
const comparedPartitions = 4000

/** The statements that SQLite and PostgreSQL share. */
export const make = (sql: SqlClient.SqlClient, table: TableNames, dialect: Dialect) => {
  const { lock, lockFree } = dialect
  const updates = sql(table.updates)
  const partitions = sql(table.partitions)
  const fingerprints = sql(table.fingerprints)
  const counts = sql(table.counts)
  const isPg = dialect.name === "pg"

  const count = (queued: number, deadLetters: number) => sql`
    UPDATE ${counts} SET queued = queued + ${queued}, dead_letters = dead_letters + ${deadLetters}
    WHERE slot = ${isPg ? sql.literal(`pg_backend_pid() % ${countSlots}`) : sql.literal("0")}`

  /** Rows may have been changed outside of the library while no process was running. */
  const recount = Effect.gen(function* () {
    yield* sql`SELECT slot FROM ${counts} ORDER BY slot ${lock}`
    yield* sql`
        UPDATE ${counts} SET
          queued = CASE slot WHEN 0 THEN (SELECT count(*) FROM ${updates} WHERE failed_at IS NULL) ELSE 0 END,
          dead_letters = CASE slot WHEN 0 THEN (SELECT count(*) FROM ${updates} WHERE failed_at IS NOT NULL) ELSE 0 END`
  })

  /** The partitions of an owner, locked in the order in which all transactions lock them. */
  const ownedBy = (owner: string) => sql`
    WITH owned AS MATERIALIZED (
      SELECT partition_key FROM ${partitions}
      WHERE owner IS NOT NULL AND owner = ${owner} ${isPg ? sql.literal("ORDER BY partition_key") : sql.literal("")} ${lock}
    )`

  const renew = (owner: string, leaseDuration: number, clock: number) => sql<{ partition_key: string }>`
    ${ownedBy(owner)}
    UPDATE ${partitions} SET lease_until = ${dialect.now(clock)} + ${leaseDuration}
    WHERE partition_key IN (SELECT partition_key FROM owned) RETURNING partition_key`

  /** Ends the begun attempts of an owner, and returns the partitions of the owner. */
  const endAttempts = (owner: string) => sql<{ partition_key: string }>`
    ${ownedBy(owner)}
    UPDATE ${partitions} SET begun = '' WHERE partition_key IN (SELECT partition_key FROM owned) RETURNING partition_key`

  /** Ends the leases of a process that has ended. The next claim counts the begun attempts of the process. */
  const endLeasesOf = (id: string) => sql`
    UPDATE ${partitions} SET lease_until = 0
    WHERE owner IS NOT NULL AND substr(owner, 1, ${id.length + 1}) = ${`${id}:`}`

  const untilClaimable = (clock: number) => sql<{ first: number | bigint | null }>`
    SELECT min(at) - ${dialect.now(clock)} AS first FROM (
      SELECT * FROM (SELECT 0 AS at FROM ${partitions} WHERE owner IS NULL LIMIT 1) AS free
      UNION ALL SELECT * FROM (
        -- Processes that are gone are found by claims.
        SELECT ${sql.literal(isPg ? "lease_until" : "0")} AS at FROM ${partitions}
        WHERE owner IS NOT NULL ORDER BY lease_until LIMIT 1
      ) AS owned
      UNION ALL SELECT * FROM (SELECT due_at AS at FROM ${sql(table.timers)} ORDER BY due_at LIMIT 1) AS due
    ) AS a`

  const queuedAfter = (partitionKey: string, after: string, limit: number) => sql<UpdateRow>`
    SELECT id, partition_key, fingerprint, received_at, text, attempts FROM ${updates}
    WHERE partition_key = ${encodeIndexed(partitionKey)} AND failed_at IS NULL AND id > ${after} ORDER BY id LIMIT ${limit}`

  const queued = (after: string, limit: number) => sql<UpdateRow>`
    SELECT id, partition_key, fingerprint, received_at, text, attempts FROM ${updates}
    WHERE failed_at IS NULL AND id > ${after} ORDER BY id LIMIT ${limit}`

  const stats = sql<{ queued: number | bigint; oldest: number | bigint | null; dead_letters: number | bigint }>`
    SELECT
      (SELECT sum(queued) FROM ${counts}) AS queued,
      (SELECT sum(dead_letters) FROM ${counts}) AS dead_letters,
      (SELECT received_at FROM ${updates} WHERE id = (
        SELECT min(a.id) FROM (
          SELECT min(p.head_id) AS id FROM ${partitions} AS p WHERE p.owner IS NULL
          UNION ALL
          SELECT min((
            SELECT u.id FROM ${updates} AS u
            WHERE u.partition_key >= h.partition_key AND u.partition_key <= h.partition_key AND u.failed_at IS NULL
            ORDER BY u.partition_key, u.id LIMIT 1
          )) AS id FROM (
            SELECT p.partition_key FROM ${partitions} AS p
            WHERE p.owner IS NOT NULL ORDER BY p.lease_until LIMIT ${sql.literal(String(comparedPartitions))}
          ) AS h
        ) AS a
      )) AS oldest`

  const marker = (source: string) =>
    sql<{ value: string }>`SELECT value FROM ${sql(table.markers)} WHERE source = ${encodeIndexed(source)}`

  const forgetOld = (seenBefore: number, max: number) =>
    Effect.map(
      sql`
        DELETE FROM ${fingerprints} WHERE fingerprint IN (
          SELECT fingerprint FROM ${fingerprints} WHERE seen_at < ${seenBefore} LIMIT ${max} ${lockFree}
        ) RETURNING seen_at`,
      (forgotten) => forgotten.length
    )

  return {
    count,
    recount,
    renew,
    endAttempts,
    endLeasesOf,
    untilClaimable,
    queuedAfter,
    queued,
    stats,
    marker,
    forgetOld
  }
}
