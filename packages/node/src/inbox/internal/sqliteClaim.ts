import type { Claim } from "@colloquy/core/inbox/InboxStore"
import * as Effect from "effect/Effect"
import type { Fragment } from "effect/sql/Statement"
import type * as sqliteJournals from "./journal/sqliteJournals.ts"
import type * as sqliteEnqueue from "./sqliteEnqueue.ts"
import type { Tables } from "./sqliteTables.ts"
import { fromBegun, toBegun, toClaimed, toIdRows, toKeyRows, toPartitions } from "./sqlRows.ts"
import type { QueuedRow } from "./sqlTables.ts"
import type * as sqliteTimers from "./timers/sqliteTimers.ts"

const maxRounds = 10

interface Claimable {
  readonly partition_key: string
  readonly begun: string
  readonly head_id: number | null
}

interface Parts {
  readonly append: ReturnType<typeof sqliteEnqueue.make>["append"]
  readonly journals: Pick<ReturnType<typeof sqliteJournals.make>, "read">
  readonly timers: Pick<ReturnType<typeof sqliteTimers.make>, "moveDue">
}

/** The operation that claims partitions. */
export const make = (
  { deletePartitions, names, partitions, rows, sql, updates }: Tables,
  { append, journals, timers }: Parts
) => {
  const isJournaled = (id: Fragment) => sql`EXISTS (SELECT 1 FROM ${sql(names.journal)} AS j WHERE j.update_id = ${id})`

  const firstUpdates = (keys: ReadonlyArray<string>, limit: number) => sql<QueuedRow & { journaled: number }>`
    SELECT u.id, u.partition_key, u.fingerprint, u.received_at, u.text, u.attempts, u.crashes,
      ${isJournaled(sql`u.id`)} AS journaled
    FROM ${rows({ partition_key: "text" }, toKeyRows(keys))}
    JOIN ${updates} AS u ON u.id IN (
      SELECT id FROM ${updates} WHERE partition_key = r.partition_key AND failed_at IS NULL ORDER BY id LIMIT ${limit}
    )
    ORDER BY u.id`

  return Effect.fnUntraced(function* (
    { begin, leaseDuration, maxPartitions, maxTimers = 0, maxUpdates, owner }: Claim,
    now: number
  ) {
    if (maxTimers > 0) {
      yield* timers.moveDue(now, maxTimers, (updates) => Effect.map(append(updates), ({ ids }) => ids))
    }
    // A second round is needed only if all partitions of the first round have no updates.
    for (let round = 0; round < maxRounds; round++) {
      const claimable = yield* sql<Claimable>`
        SELECT * FROM (
          SELECT * FROM (
            SELECT partition_key, begun, head_id FROM ${partitions}
            WHERE owner IS NOT NULL AND lease_until <= ${now} ORDER BY lease_until LIMIT ${maxPartitions}
          ) UNION ALL SELECT * FROM (
            SELECT partition_key, begun, head_id FROM ${partitions}
            WHERE owner IS NULL ORDER BY head_id LIMIT ${maxPartitions}
          )
        ) ORDER BY head_id LIMIT ${maxPartitions}`
      if (claimable.length === 0) return []
      const crashed = claimable.flatMap(({ begun }) => fromBegun(begun))
      if (crashed.length > 0) {
        yield* sql`
          UPDATE ${updates} SET attempts = COALESCE(attempts, 0) + 1, crashes = crashes + 1
          WHERE failed_at IS NULL AND id IN (SELECT r.id FROM ${rows({ id: "bigint" }, toIdRows(crashed))})`
      }
      const keys = claimable.map(({ partition_key }) => partition_key)
      const claimed = yield* firstUpdates(keys, maxUpdates)
      const begun = new Map<string, Array<string>>()
      for (const { id, partition_key } of claimed) {
        const ids = begun.get(partition_key) ?? []
        if (ids.length < begin) ids.push(String(id))
        begun.set(partition_key, ids)
      }
      const owned = [...begun].map(([partition_key, ids]) => ({ partition_key, begun: toBegun(ids) }))
      yield* sql`
        UPDATE ${partitions} AS p SET owner = ${owner}, lease_until = ${now + leaseDuration}, begun = r.begun
        FROM ${rows({ partition_key: "text", begun: "text" }, owned)} WHERE p.partition_key = r.partition_key`
      // Partitions without updates are left behind by owners that ended before their release.
      if (begun.size < keys.length) yield* deletePartitions(keys.filter((key) => !begun.has(key)))
      const journaled = claimed.flatMap(({ id, journaled }) => (journaled === 0 ? [] : [String(id)]))
      const read = journaled.length === 0 ? undefined : yield* journals.read(journaled)
      if (claimed.length > 0) return toPartitions(claimed, ({ partition_key }) => partition_key, toClaimed(read))
    }
    return []
  })
}
