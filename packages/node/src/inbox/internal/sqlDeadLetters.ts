import * as Effect from "effect/Effect"
import type * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import * as sqlJournals from "./journal/sqlJournals.ts"
import type { Dialect } from "../../base/internal/stores/sql.ts"
import { isId } from "../../base/internal/stores/values.ts"
import { type DeadLetterRow, toDeadLetter, toIdRows, toKeyRows } from "./sqlRows.ts"
import { tableNames } from "./sqlTables.ts"

interface Identified {
  readonly id: number | bigint
}

/** The operations on dead letters. `count` adds to the numbers of queued updates and dead letters. */
export const make = (
  sql: SqlClient.SqlClient,
  table: string,
  dialect: Dialect,
  count: (queued: number, deadLetters: number) => Effect.Effect<unknown, SqlError>
) => {
  const { lock, lockFree, rows } = dialect
  const names = tableNames(table)
  const updates = sql(names.updates)
  const partitions = sql(names.partitions)
  const flag = sql.literal(dialect.name === "pg" ? ", journaled" : "")
  const journals = sqlJournals.make(sql, table, dialect)

  const keysIn = (keys: ReadonlyArray<string>): Fragment =>
    sql`(SELECT r.partition_key FROM ${rows({ partition_key: "text" }, toKeyRows(keys))})`

  const idsIn = (ids: ReadonlyArray<string>): Fragment =>
    sql`(SELECT r.id FROM ${rows({ id: "bigint" }, toIdRows(ids))})`

  const page = (after: string, limit: number) =>
    Effect.map(
      sql<DeadLetterRow>`
        SELECT id, partition_key, fingerprint, received_at, text, error, attempts, failed_at FROM ${updates}
        WHERE failed_at IS NOT NULL AND id > ${BigInt(isId(after) ? after : "0")} ORDER BY id LIMIT ${limit}`,
      (found) => found.map(toDeadLetter)
    )

  const replay = Effect.fnUntraced(function* (ids: ReadonlyArray<string>) {
    const found = yield* sql<Identified & { partition_key: string }>`
      SELECT id, partition_key FROM ${updates}
      WHERE failed_at IS NOT NULL AND id IN ${idsIn(ids)} ORDER BY id ${lock}`
    if (found.length === 0) return 0
    const replayed = idsIn(found.map(({ id }) => String(id)))
    const added = yield* sql<Identified>`
      INSERT INTO ${updates} (fingerprint, partition_key, received_at, text, attempts${flag})
      SELECT fingerprint, partition_key, received_at, text, attempts${flag} FROM ${updates}
      WHERE id IN ${replayed} ORDER BY id RETURNING id`
    // The new ids are in the order of the old ids.
    const newIds = added.map(({ id }) => Number(id)).sort((a, b) => a - b)
    yield* journals.move(found.map(({ id }, index) => ({ id: String(id), to: String(newIds[index]) })))
    yield* sql`DELETE FROM ${updates} WHERE id IN ${replayed}`
    yield* sql`
      INSERT INTO ${partitions} AS p (partition_key, head_id)
      SELECT u.partition_key, min(u.id) FROM ${updates} AS u
      WHERE u.failed_at IS NULL AND u.partition_key IN ${keysIn(found.map(({ partition_key }) => partition_key))}
      GROUP BY u.partition_key ORDER BY u.partition_key
      ON CONFLICT (partition_key) DO UPDATE SET head_id = COALESCE(p.head_id, excluded.head_id)`
    yield* count(found.length, -found.length)
    return found.length
  })

  /** Deletes the journals of deleted dead letters. Returns how many there are. */
  const forget = Effect.fnUntraced(function* (dropped: ReadonlyArray<Identified>) {
    yield* journals.remove(dropped.map(({ id }) => String(id)))
    if (dropped.length > 0) yield* count(0, -dropped.length)
    return dropped.length
  })

  const drop = (ids: ReadonlyArray<string>) =>
    Effect.flatMap(
      sql<Identified>`
        DELETE FROM ${updates} WHERE failed_at IS NOT NULL AND id IN ${idsIn(ids)} RETURNING id`,
      forget
    )

  /** Deletes some dead letters that failed before a time. Returns how many. */
  const dropOld = (failedBefore: number, limit: number) =>
    Effect.flatMap(
      sql<Identified>`
        DELETE FROM ${updates} WHERE id IN (
          SELECT id FROM ${updates} WHERE failed_at < ${failedBefore} LIMIT ${limit} ${lockFree}
        ) RETURNING id`,
      forget
    )

  return { page, replay, drop, dropOld }
}
