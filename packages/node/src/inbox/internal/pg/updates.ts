import type { Batch, Claim, ClaimedUpdate, Partition, StoredUpdate } from "@colloquy/core/inbox/InboxStore"
import * as QueuedUpdate from "@colloquy/core/inbox/QueuedUpdate"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { decodeText, encodeIndexed, encodeText, isId } from "../../../base/internal/stores/values.ts"
import type { Parts } from "./functions.ts"
import { isChecked, JournalRow, toJournalRow, toWrites } from "./rows.ts"
import { slot } from "./tables.ts"

/** An update to insert: a dead letter if `failed_at` is set. */
const toInput = (update: QueuedUpdate.QueuedUpdate, error: string | undefined, { duplicatesSince, now }: Batch) => ({
  fingerprint: encodeIndexed(update.fingerprint),
  partition_key: encodeIndexed(update.partitionKey),
  received_at: update.receivedAt,
  text: encodeText(update.text),
  error: error === undefined ? null : encodeText(error),
  failed_at: error === undefined ? null : now,
  /** When the fingerprint was received, unless the update is inserted also if its fingerprint is stored. */
  seen_at: duplicatesSince <= now ? now : null
})

/** The updates of batches in order, without duplicates between the batches. */
const inputOf = (batches: ReadonlyArray<Batch>) => {
  const seen = new Set<string>()
  return batches
    .flatMap((batch, index) =>
      [
        ...batch.updates.map((update) => toInput(update, undefined, batch)),
        ...batch.deadLetters.map(({ error, update }) => toInput(update, error, batch))
      ].map((row) => ({ ...row, batch: index }))
    )
    .filter(({ fingerprint, seen_at }) => {
      const isNew = seen_at === null || !seen.has(fingerprint)
      seen.add(fingerprint)
      return isNew
    })
    .map((row, place) => ({ ...row, place }))
}

/** The last rows that batches write. */
const rowsOf = (batches: ReadonlyArray<Batch>) => [
  ...new Map(batches.flatMap(({ rows = [] }) => rows.map((row) => [row.key, row] as const))).values()
]

/**
 * An update as `claim` returns it. Rows are lists, and the columns are the fewest possible, because each member of an object
 * and each column takes time for every update (benchmark `batch-exact-rate`).
 */
type ClaimedRow = readonly [
  id: bigint,
  partition_key: string,
  fingerprint: string,
  received_at: number,
  text: string,
  /** The data of earlier attempts, as JSON, or `null`. */
  earlier: string | null
]

const Earlier = Schema.Struct({
  attempts: Schema.Int,
  crashes: Schema.Int,
  journal: Schema.NullOr(Schema.Array(JournalRow))
})

const decodeEarlier = Schema.decodeUnknownSync(Schema.fromJsonString(Earlier))

const toUpdate = (fingerprint: string, partitionKey: string, receivedAt: number | bigint, text: string) =>
  QueuedUpdate.fromStored({
    fingerprint: decodeText(fingerprint),
    partitionKey,
    receivedAt: Number(receivedAt),
    text: decodeText(text)
  })

const toClaimed = (row: ClaimedRow, partitionKey: string): ClaimedUpdate => {
  const [rowId, , fingerprint, received_at, text, earlier] = row
  const id = String(rowId)
  const update = toUpdate(fingerprint, partitionKey, received_at, text)
  if (earlier === null) return { id, update, attempts: 0, crashes: 0 }
  const { attempts, crashes, journal } = decodeEarlier(earlier)
  return { id, update, attempts, crashes, journal: journal?.map(toJournalRow) }
}

/** The claimed updates by their partitions, which are ordered by their first update. The rows are ordered by id. */
const toPartitions = (rows: ReadonlyArray<ClaimedRow>): ReadonlyArray<Partition> => {
  const byKey = new Map<string, { readonly key: string; readonly updates: Array<ClaimedUpdate> }>()
  for (const row of rows) {
    let partition = byKey.get(row[1])
    if (partition === undefined) {
      partition = { key: decodeText(row[1]), updates: [] }
      byKey.set(row[1], partition)
    }
    partition.updates.push(toClaimed(row, partition.key))
  }
  return [...byKey.values()]
}

interface UpdateRow {
  readonly id: bigint
  readonly partition_key: string
  readonly fingerprint: string
  readonly received_at: bigint
  readonly text: string
  readonly attempts: bigint
  readonly error: string | null
  readonly failed_at: bigint | null
}

const toStored = (row: UpdateRow): StoredUpdate => {
  const { attempts, error, failed_at, fingerprint, id, partition_key, received_at, text } = row
  const entry = { id: String(id), update: toUpdate(fingerprint, decodeText(partition_key), received_at, text) }
  if (failed_at === null) return entry
  return { ...entry, failure: { error: decodeText(error), attempts: Number(attempts), failedAt: Number(failed_at) } }
}

/** The statements on queued updates and dead letters. */
export const make = ({ counts, fingerprints, functions, partitions, rows, sql, updates }: Parts) => {
  /** Appends updates to partitions. A partition that has an owner is locked as well, but not written: its release finds the first update. */
  const touch = (from: "inserted" | "moved") => sql`
    INSERT INTO ${partitions} AS p (partition_key, head_id)
    SELECT partition_key, min(id) FROM ${sql.literal(from)} WHERE failed_at IS NULL
    GROUP BY partition_key ORDER BY partition_key
    ON CONFLICT (partition_key) DO UPDATE SET head_id = LEAST(p.head_id, excluded.head_id) WHERE p.owner IS NULL
    RETURNING p.partition_key`

  const enqueue = (batches: ReadonlyArray<Batch>) => {
    const input = inputOf(batches)
    const written = rowsOf(batches)
    const columns = sql.literal("fingerprint, partition_key, received_at, text, error, failed_at")
    // All partitions are locked before the rows, and the rows before the counts. EXISTS would stop at the first partition.
    const wakes = sql`(SELECT count(*) FROM touched) > 0 AS is_free`
    const statement = sql<{
      readonly places: string | null
      readonly is_free: boolean
      readonly is_first: boolean | null
    }>`
      WITH input AS MATERIALIZED (
        SELECT * FROM json_to_recordset(${JSON.stringify(input)}::json) AS r(
          place bigint, seen_at bigint, fingerprint text COLLATE "C", partition_key text, received_at bigint, text text,
          error text, failed_at bigint
        )
      ), fresh AS (
        INSERT INTO ${fingerprints} AS f (fingerprint, seen_at)
        SELECT i.fingerprint, i.seen_at FROM input AS i WHERE i.seen_at IS NOT NULL ORDER BY i.fingerprint
        ON CONFLICT (fingerprint) DO UPDATE SET seen_at = excluded.seen_at
          WHERE f.seen_at < ${Math.min(...batches.map(({ duplicatesSince }) => duplicatesSince))}
        RETURNING f.fingerprint
      ), accepted AS MATERIALIZED (
        SELECT i.* FROM input AS i WHERE i.seen_at IS NULL OR i.fingerprint IN (SELECT fingerprint FROM fresh)
      ), inserted AS (
        INSERT INTO ${updates} (${columns}) SELECT ${columns} FROM accepted ORDER BY place
        RETURNING id, partition_key, failed_at
      ), touched AS (${touch("inserted")}), counted AS (
        UPDATE ${counts} AS c SET queued = c.queued + i.queued, dead_letters = c.dead_letters + i.dead
        FROM (
          SELECT count(*) FILTER (WHERE failed_at IS NULL) AS queued, count(failed_at) AS dead FROM inserted
        ) AS i WHERE c.slot = ${slot}
      )
      SELECT (SELECT string_agg(place::text, ',') FROM accepted) AS places, ${wakes}, ${
        written.length === 0
          ? sql.literal("NULL::boolean AS is_first")
          : sql`(SELECT w.is_first FROM ${functions.writeRows}(
              ${JSON.stringify(toWrites("", written))}::json, ${isChecked(written)}
            ) AS w) AS is_first`
      }`
    return Effect.map(statement, ([{ is_first, is_free, places }]) => {
      const added = batches.map(() => 0)
      if (places !== null) for (const place of places.split(",")) added[input[Number(place)].batch]++
      return { value: added, wakes: is_free || is_first === true }
    })
  }

  const claim = ({ begin, leaseDuration, maxDue = 0, maxPartitions, maxUpdates, owner }: Claim) =>
    Effect.map(
      sql`
        SELECT id, partition_key, fingerprint, received_at, text, earlier FROM ${functions.claim}(
          ${encodeIndexed(owner)}, ${leaseDuration}, ${maxPartitions}, ${maxUpdates}, ${begin}, ${maxDue}
        )`.values,
      (rows) => toPartitions(rows as ReadonlyArray<ClaimedRow>)
    )

  const page = (of: "queue" | "deadLetters", partitionKey: string | undefined, after: string, limit: number) => {
    const partition =
      partitionKey === undefined ? sql.literal("") : sql`AND partition_key = ${encodeIndexed(partitionKey)}`
    return Effect.map(
      sql<UpdateRow>`
        SELECT id, partition_key, fingerprint, received_at, text, attempts, error, failed_at FROM ${updates}
        WHERE failed_at ${sql.literal(of === "queue" ? "IS NULL" : "IS NOT NULL")} ${partition}
          AND id > ${BigInt(isId(after) ? after : "0")} ORDER BY id LIMIT ${limit}`,
      (found) => found.map(toStored)
    )
  }

  const letters = (ids: ReadonlyArray<string>) =>
    sql`failed_at IS NOT NULL AND id = ANY (string_to_array(${ids.filter(isId).join(",")}, ',')::bigint[])`

  /** The moved updates keep their order. The new ids are taken after the trigger of the update has renewed the sequence. */
  const replay = (ids: ReadonlyArray<string>) => {
    const [name] = sql`${updates}`.compile()
    return Effect.map(
      sql<{ readonly count: bigint; readonly free: bigint }>`
        WITH found AS MATERIALIZED (
          SELECT id FROM ${updates} WHERE ${letters(ids)} ORDER BY id FOR UPDATE
        ), numbered AS MATERIALIZED (
          SELECT f.id, nextval(pg_get_serial_sequence(${name}, 'id')) AS new_id FROM (SELECT id FROM found ORDER BY id) AS f
        ), moved AS (
          UPDATE ${updates} AS u SET id = n.new_id, error = NULL, failed_at = NULL, crashes = 0
          FROM numbered AS n WHERE u.id = n.id RETURNING u.id, u.partition_key, u.failed_at
        ), journals AS (
          UPDATE ${rows} AS s SET update_id = n.new_id FROM numbered AS n WHERE s.update_id = n.id
        ), touched AS (${touch("moved")}), counted AS (
          UPDATE ${counts} AS c SET queued = c.queued + m.count, dead_letters = c.dead_letters - m.count
          FROM (SELECT count(*) AS count FROM moved) AS m WHERE m.count > 0 AND c.slot = ${slot}
        ) SELECT (SELECT count(*) FROM moved) AS count, (SELECT count(*) FROM touched) AS free`,
      ([{ count, free }]) => ({ value: Number(count), wakes: free > 0n })
    )
  }

  /** Deletes dead letters with their journals. Returns how many. */
  const drop = (which: ReturnType<typeof letters>) =>
    Effect.map(
      sql<{ readonly count: bigint }>`
        WITH dropped AS (DELETE FROM ${updates} WHERE ${which} RETURNING id), journals AS (
          DELETE FROM ${rows} AS s USING dropped AS d WHERE s.update_id = d.id
        ), counted AS (
          UPDATE ${counts} AS c SET dead_letters = c.dead_letters - d.count
          FROM (SELECT count(*) AS count FROM dropped) AS d WHERE d.count > 0 AND c.slot = ${slot}
        ) SELECT count(*) FROM dropped`,
      ([{ count }]) => Number(count)
    )

  const dropOld = (failedBefore: number, limit: number) =>
    drop(sql`id IN (
      SELECT id FROM ${updates} WHERE failed_at < ${failedBefore} LIMIT ${limit} FOR UPDATE SKIP LOCKED
    )`)

  return { enqueue, claim, page, replay, drop: (ids: ReadonlyArray<string>) => drop(letters(ids)), dropOld }
}
