import type { InboxStore, Write, WriteResult } from "@colloquy/core/inbox/InboxStore"
import * as Effect from "effect/Effect"
import { retryConflicts } from "../../../base/internal/stores/sql.ts"
import { decodeText, encodeIndexed, isId } from "../../../base/internal/stores/values.ts"
import type { Parts } from "./functions.ts"
import { isChecked, rangeOf, type StoredRow, toJson, toKey, toRounds, toRow, toWrites } from "./rows.ts"
import { now } from "./tables.ts"

/** Maximum number of claimed partitions whose first updates are compared for the age of the oldest update. */
const comparedPartitions = 4000

type Store = InboxStore["Service"]

/** The statements on rows. */
export const makeRows = ({ functions, rows, sql }: Parts) => {
  const columns = sql.literal("COALESCE(full_key, key) AS key, text, revision, expires_at, due_at")

  const writeRound = (round: ReadonlyArray<Write>) => {
    const journals = round.flatMap(({ journal }, index) => {
      if (journal === undefined) return []
      const { id, owner, partitionKey } = journal
      return [{ g: `${index}`, k: encodeIndexed(partitionKey), o: encodeIndexed(owner), i: isId(id) ? id : "0" }]
    })
    const written = round.flatMap(({ journal, rows }, index) => toWrites(`${index}`, rows, journal?.id))
    return Effect.map(
      sql<{ lost: ReadonlyArray<string> | null; conflicts: ReadonlyArray<string> | null; is_first: boolean | null }>`
        SELECT * FROM ${functions.write}(
          ${toJson(journals)}::json, ${toJson(written)}::json, ${round.some(({ rows }) => isChecked(rows))}
        )`,
      ([{ conflicts, is_first, lost }]) => ({
        results: round.map((_, index): WriteResult =>
          lost?.includes(`${index}`) ? "leaseLost" : conflicts?.includes(`${index}`) ? "conflict" : "applied"
        ),
        wakes: is_first === true
      })
    )
  }

  const write = (writes: ReadonlyArray<Write>) =>
    Effect.map(
      Effect.forEach(
        toRounds(writes, (write) => write.rows.map(({ key }) => [`${write.journal?.id ?? 0} ${key}`, write] as const)),
        (round) => retryConflicts(writeRound(round))
      ),
      (rounds) => ({
        value: rounds.flatMap(({ results }) => results),
        wakes: rounds.some(({ wakes }) => wakes)
      })
    )

  const read = (keys: ReadonlyArray<string>) => {
    const indexed = keys.map((key) => toKey(key).k)
    return Effect.map(
      sql<StoredRow & { readonly indexed: string }>`
        SELECT key AS indexed, ${columns} FROM ${rows} WHERE update_id = 0 AND key = ANY (ARRAY(
          SELECT json_array_elements_text(${JSON.stringify(indexed)}::json)
        ))`,
      (found) => {
        const byKey = new Map(found.map((row) => [row.indexed, toRow(row)]))
        return indexed.map((key) => byKey.get(key))
      }
    )
  }

  const page = ({ after, by, limit, prefix }: Parameters<Store["rows"]>[0]) => {
    const [from, to] = rangeOf(prefix)
    const isDue = by === "due"
    const rest =
      after === undefined
        ? sql.literal("")
        : isDue
          ? sql`AND (due_at, key) > (${after.dueAt ?? 0}, ${toKey(after.key).k})`
          : sql`AND key > ${toKey(after.key).k}`
    return Effect.map(
      sql<StoredRow>`
        SELECT ${columns} FROM ${rows} AS s
        WHERE update_id = 0 AND key >= ${from} AND key < ${to} ${sql.literal(isDue ? "AND due_at IS NOT NULL" : "")} ${rest}
        ORDER BY ${sql.literal(isDue ? "due_at, s.key" : "s.key")} LIMIT ${limit}`,
      (found) => found.map(toRow)
    )
  }

  /** Locks the rows in the order of their keys. Returns how many were deleted. */
  const forget = ({ prefix, user }: Parameters<Store["forget"]>[0]) => {
    const [from, to] = rangeOf(prefix)
    return Effect.map(
      sql`
        WITH chosen AS MATERIALIZED (
          SELECT key FROM ${rows}
          WHERE update_id = 0 AND user_key IS NOT NULL AND user_key = ${encodeIndexed(user)} AND key >= ${from} AND key < ${to}
          ORDER BY key FOR UPDATE
        ) DELETE FROM ${rows} WHERE update_id = 0 AND key IN (SELECT key FROM chosen) RETURNING 1 AS deleted`,
      (deleted) => deleted.length
    )
  }

  /** Returns how many rows were deleted. */
  const dropOld = (expiredBefore: number, limit: number) =>
    Effect.map(
      sql`
        DELETE FROM ${rows} WHERE (update_id, key) IN (
          SELECT update_id, key FROM ${rows} WHERE expires_at < ${expiredBefore} LIMIT ${limit} FOR UPDATE SKIP LOCKED
        ) RETURNING 1 AS deleted`,
      (deleted) => deleted.length
    )

  return { write, read, page, forget, dropOld }
}

/** The statements on partitions, fingerprints and counts. */
export const makeQueries = ({ counts, fingerprints, partitions, rows, sql, updates }: Parts) => {
  /** Rows may have been changed outside of the library while no process was running. */
  const recount = Effect.gen(function* () {
    yield* sql`SELECT slot FROM ${counts} ORDER BY slot FOR UPDATE`
    yield* sql`
      UPDATE ${counts} SET
        queued = CASE slot WHEN 0 THEN (SELECT count(*) FROM ${updates} WHERE failed_at IS NULL) ELSE 0 END,
        dead_letters = CASE slot WHEN 0 THEN (SELECT count(*) FROM ${updates} WHERE failed_at IS NOT NULL) ELSE 0 END`
  })

  const keysOf = (found: ReadonlyArray<{ readonly partition_key: string }>) =>
    found.map(({ partition_key }) => decodeText(partition_key))

  const isOwned = (owner: string) => sql`owner IS NOT NULL AND owner = ${encodeIndexed(owner)}`

  /** Returns the partitions of an owner. */
  const owned = (owner: string) =>
    Effect.map(
      sql<{ readonly partition_key: string }>`SELECT partition_key FROM ${partitions} WHERE ${isOwned(owner)}`,
      keysOf
    )

  /** Locks the partitions in the order in which all transactions lock them. */
  const renew = (owner: string, leaseDuration: number) =>
    Effect.map(
      sql<{ readonly partition_key: string }>`
        WITH owned AS MATERIALIZED (
          SELECT partition_key FROM ${partitions} WHERE ${isOwned(owner)} ORDER BY partition_key FOR UPDATE
        )
        UPDATE ${partitions} SET lease_until = ${now} + ${leaseDuration}
        WHERE partition_key IN (SELECT partition_key FROM owned) RETURNING partition_key`,
      keysOf
    )

  const untilNext = Effect.map(
    sql<{ readonly first: bigint | null }>`
      SELECT min(at) - ${now} AS first FROM (
        SELECT * FROM (SELECT 0 AS at FROM ${partitions} WHERE owner IS NULL LIMIT 1) AS free
        UNION ALL SELECT * FROM (
          SELECT lease_until AS at FROM ${partitions} WHERE owner IS NOT NULL ORDER BY lease_until LIMIT 1
        ) AS owned
        UNION ALL SELECT * FROM (
          SELECT due_at AS at FROM ${rows} WHERE due_at IS NOT NULL ORDER BY due_at, key LIMIT 1
        ) AS due
      ) AS a`,
    ([{ first }]) => (first === null ? undefined : Math.max(0, Number(first)))
  )

  const stats = Effect.map(
    sql<{ readonly queued: bigint; readonly oldest: bigint | null; readonly dead_letters: bigint }>`
      SELECT
        (SELECT sum(queued)::bigint FROM ${counts}) AS queued,
        (SELECT sum(dead_letters)::bigint FROM ${counts}) AS dead_letters,
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
        )) AS oldest`,
    ([{ dead_letters, oldest, queued }]) => ({
      queued: Number(queued),
      oldestReceivedAt: oldest === null ? undefined : Number(oldest),
      deadLetters: Number(dead_letters)
    })
  )

  const forgetOld = (seenBefore: number, limit: number) =>
    Effect.map(
      sql`
        DELETE FROM ${fingerprints} WHERE fingerprint IN (
          SELECT fingerprint FROM ${fingerprints} WHERE seen_at < ${seenBefore} LIMIT ${limit} FOR UPDATE SKIP LOCKED
        ) RETURNING 1 AS deleted`,
      (deleted) => deleted.length
    )

  return { recount, owned, renew, untilNext, stats, forgetOld }
}
