import type { TimerChange } from "@colloquy/core/inbox/HandlingStore"
import type { Batch, Claim, Commit, CommitResult } from "@colloquy/core/inbox/InboxStore"
import * as Effect from "effect/Effect"
import type * as SqlClient from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"
import * as sqliteJournals from "./journal/sqliteJournals.ts"
import * as sqlJournals from "./journal/sqlJournals.ts"
import * as sqliteStates from "./state/sqliteStates.ts"
import type { Dialect } from "../../base/internal/stores/sql.ts"
import { isId } from "../../base/internal/stores/values.ts"
import * as sqliteTimers from "./timers/sqliteTimers.ts"
import { changesOf, decidedOf, type DeathRow, type FailureRow, isHandled, type Located, locate } from "./sqlCommits.ts"
import type { Engine } from "./sqlEngine.ts"
import { toInserts } from "./sqliteInserts.ts"
import {
  candidatesOf,
  duplicatesSinceOf,
  fromBegun,
  markersOf,
  toBegun,
  toClaimed,
  toIdRows,
  toKeyRows,
  toPartitions
} from "./sqlRows.ts"
import { type NewUpdate, type QueuedRow, tableNames } from "./sqlTables.ts"

type Columns<A> = { readonly [K in keyof A]: "text" | "bigint" }

const deathColumns: Columns<DeathRow> = {
  partition_key: "text",
  id: "bigint",
  error: "text",
  attempts: "bigint",
  failed_at: "bigint"
}

/** A fingerprint that was received. */
type Seen = { readonly fingerprint: string; readonly seen_at: number }

const seenColumns: Columns<Seen> = { fingerprint: "text", seen_at: "bigint" }

const failureColumns: Columns<FailureRow> = { partition_key: "text", id: "bigint", count: "bigint" }

const maxRounds = 10

/** The columns that only dead letters have cost as much to insert as the others. */
const toQueued = ({ fingerprint, partition_key, received_at, text }: NewUpdate) => ({
  fingerprint,
  partition_key,
  received_at,
  text
})

/** The operations of the inbox in SQLite, each of which runs in a transaction. */
export const make = (sql: SqlClient.SqlClient, table: string, dialect: Dialect): Engine => {
  const { rows } = dialect
  const names = tableNames(table)
  const states = sqliteStates.make(sql, table, dialect)
  const timers = sqliteTimers.make(sql, table, dialect)
  const journals = { ...sqlJournals.make(sql, table, dialect), ...sqliteJournals.make(sql, table, dialect) }
  const updates = sql(names.updates)
  const partitions = sql(names.partitions)
  const isJournaled = (id: Fragment) => sql`EXISTS (SELECT 1 FROM ${sql(names.journal)} AS j WHERE j.update_id = ${id})`

  const counts = sql(names.counts)

  const count = (queued: number, deadLetters: number) =>
    queued === 0 && deadLetters === 0
      ? Effect.void
      : sql`UPDATE ${counts} SET queued = queued + ${queued}, dead_letters = dead_letters + ${deadLetters}`

  /**
   * Returns the fingerprints that were not stored, or are older than `since`. `OR IGNORE` and `OR FAIL` avoid the
   * statement journal, for which SQLite copies each page before its change, to a file above 64 KiB (benchmark
   * `sqlite-over-bare`). A failed transaction is rolled back as a whole.
   */
  const remember = Effect.fnUntraced(function* (entries: ReadonlyArray<Seen>, since: number) {
    const fingerprints = sql(names.fingerprints)
    const fresh = yield* sql<{ fingerprint: string }>`
      INSERT OR IGNORE INTO ${fingerprints} (fingerprint, seen_at)
      SELECT r.fingerprint, r.seen_at FROM ${rows(seenColumns, entries)} RETURNING fingerprint`
    const unseen = new Set(fresh.map(({ fingerprint }) => fingerprint))
    if (unseen.size === entries.length) return unseen
    const known = entries.filter(({ fingerprint }) => !unseen.has(fingerprint))
    const expired = yield* sql<{ fingerprint: string }>`
      UPDATE ${fingerprints} AS f SET seen_at = r.seen_at FROM ${rows(seenColumns, known)}
      WHERE f.fingerprint = r.fingerprint AND f.seen_at < ${since} RETURNING fingerprint`
    for (const { fingerprint } of expired) unseen.add(fingerprint)
    return unseen
  })

  /** SQLite reads long texts from JSON many times slower than from parameters. */
  const insert = (values: ReadonlyArray<NewUpdate>) => {
    const isAnyDead = values.some(({ failed_at }) => failed_at !== null)
    return Effect.map(
      Effect.forEach(
        toInserts<Partial<NewUpdate>>(isAnyDead ? values : values.map(toQueued)),
        (rows) => sql<{ id: number }>`INSERT OR FAIL INTO ${updates} ${sql.insert(rows)} RETURNING id`
      ),
      (inserted) => inserted.flat()
    )
  }

  /** Adds updates to the ends of their partitions. Returns their ids, and whether one of the partitions is new. */
  const append = Effect.fnUntraced(function* (values: ReadonlyArray<NewUpdate>) {
    const ids = yield* insert(values)
    const heads = new Map<string, number>()
    let queued = 0
    for (const [index, row] of values.entries()) {
      if (row.failed_at !== null) continue
      queued++
      if (!heads.has(row.partition_key)) heads.set(row.partition_key, ids[index].id)
    }
    const created =
      heads.size === 0
        ? []
        : yield* sql`
          INSERT INTO ${partitions} (partition_key, head_id)
          SELECT r.partition_key, r.head_id FROM ${rows(
            { partition_key: "text", head_id: "bigint" },
            [...heads].map(([partition_key, head_id]) => ({ partition_key, head_id }))
          )} WHERE true
          ON CONFLICT (partition_key) DO NOTHING RETURNING head_id`
    yield* count(queued, values.length - queued)
    return { ids: ids.map(({ id }) => id), isFree: created.length > 0 }
  })

  const enqueue = Effect.fnUntraced(function* (batches: ReadonlyArray<Batch>) {
    const candidates = candidatesOf(batches)
    const entries = candidates.flatMap(({ row, seen_at }) =>
      seen_at === null ? [] : [{ fingerprint: row.fingerprint, seen_at }]
    )
    const unseen = entries.length === 0 ? new Set<string>() : yield* remember(entries, duplicatesSinceOf(batches))
    const accepted = candidates.filter(({ row, seen_at }) => seen_at === null || unseen.has(row.fingerprint))
    const { isFree } = yield* append(accepted.map(({ row }) => row))
    const markers = markersOf(batches)
    if (markers.length > 0) {
      yield* sql`
        INSERT INTO ${sql(names.markers)} (source, value)
        SELECT r.source, r.value FROM ${rows({ source: "text", value: "text" }, markers)} WHERE true
        ON CONFLICT (source) DO UPDATE SET value = excluded.value`
    }
    const added = batches.map(() => 0)
    for (const { batch } of accepted) added[batch]++
    return { added, isFree }
  })

  const firstUpdates = (keys: ReadonlyArray<string>, limit: number) => sql<QueuedRow & { journaled: number }>`
    SELECT u.id, u.partition_key, u.fingerprint, u.received_at, u.text, u.attempts, u.crashes,
      ${isJournaled(sql`u.id`)} AS journaled
    FROM ${rows({ partition_key: "text" }, toKeyRows(keys))}
    JOIN ${updates} AS u ON u.id IN (
      SELECT id FROM ${updates} WHERE partition_key = r.partition_key AND failed_at IS NULL ORDER BY id LIMIT ${limit}
    )
    ORDER BY u.id`

  interface Claimable {
    readonly partition_key: string
    readonly begun: string
    readonly head_id: number | null
  }

  const deletePartitions = (keys: ReadonlyArray<string>) =>
    sql`DELETE FROM ${partitions} WHERE partition_key IN (
      SELECT r.partition_key FROM ${rows({ partition_key: "text" }, toKeyRows(keys))}
    )`

  const claim = Effect.fnUntraced(function* (
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

  /** The queued updates that commits with state or timers complete: their partitions, by their ids. */
  const queuedOf = (handled: ReadonlyArray<Located>) =>
    Effect.map(
      sql<{ id: number; partition_key: string }>`
        SELECT u.id, u.partition_key FROM ${rows(
          { id: "bigint" },
          handled.flatMap(({ commit }) => toIdRows(commit.completed.map(({ id }) => id)))
        )} JOIN ${updates} AS u ON u.id = r.id AND u.failed_at IS NULL`,
      (queued) => new Map(queued.map(({ id, partition_key }) => [String(id), partition_key]))
    )

  /** Decides about commits with state or timers, and collects the state and timers of accepted commits. */
  const decideHandled = Effect.fnUntraced(function* (handled: ReadonlyArray<Located>) {
    const queued = yield* queuedOf(handled)
    const state = yield* states.changes(handled.flatMap(({ commit }) => commit.writes ?? []))
    const changed: Array<TimerChange> = []
    return {
      decide: ({ commit, partition_key }: Located, completed: ReadonlySet<string>): CommitResult => {
        const isQueued = ({ id }: { readonly id: string }) =>
          isId(id) && !completed.has(id) && queued.get(id) === partition_key
        if (!commit.completed.every(isQueued)) return "applied"
        if (!state.add(commit.writes ?? [])) return "stateConflict"
        changed.push(...(commit.timers ?? []))
        return "applied"
      },
      apply: (now: number) => Effect.andThen(state.apply, timers.change(changed, now))
    }
  })

  const commit = Effect.fnUntraced(function* (
    commits: ReadonlyArray<Commit>,
    ownerOf: (owner: string) => string,
    now: number
  ) {
    const located = locate(commits, ownerOf)
    const owned = yield* sql<{ partition_key: string; owner: string; begun: string }>`
      SELECT partition_key, owner, begun FROM ${partitions} WHERE owner IS NOT NULL AND partition_key IN (
        SELECT r.partition_key FROM ${rows({ partition_key: "text" }, located)}
      )`
    const byKey = new Map(owned.map((row) => [row.partition_key, row]))
    const handled = located.filter(({ commit }) => isHandled(commit))
    const handling = handled.length === 0 ? undefined : yield* decideHandled(handled)
    const { changes, decisions } = changesOf(located, (located, completed) => {
      if (byKey.get(located.partition_key)?.owner !== located.owner) return "leaseLost"
      return handling !== undefined && isHandled(located.commit) ? handling.decide(located, completed) : "applied"
    })
    if (handling !== undefined) yield* handling.apply(now)
    const acknowledged = changes.flatMap(({ acknowledged, partition_key }) =>
      acknowledged.map((id) => ({ partition_key, id }))
    )
    const failures = changes.flatMap(({ failures }) => failures)
    const deaths = changes.flatMap(({ deaths }) => deaths)
    if (acknowledged.length > 0) {
      yield* sql`
        DELETE FROM ${updates} WHERE failed_at IS NULL AND (id, partition_key) IN (
          SELECT r.id, r.partition_key FROM ${rows({ id: "bigint", partition_key: "text" }, acknowledged)}
        )`
      yield* sql`UPDATE ${counts} SET queued = queued - changes()`
      yield* journals.remove(acknowledged.map(({ id }) => id))
    }
    if (failures.length > 0) {
      yield* sql`
        UPDATE ${updates} AS u SET attempts = COALESCE(u.attempts, 0) + r.count FROM ${rows(failureColumns, failures)}
        WHERE u.id = r.id AND u.partition_key = r.partition_key AND u.failed_at IS NULL`
    }
    if (deaths.length > 0) {
      yield* sql`
        UPDATE ${updates} AS u SET error = r.error, attempts = r.attempts, failed_at = r.failed_at
        FROM ${rows(deathColumns, deaths)}
        WHERE u.id = r.id AND u.partition_key = r.partition_key AND u.failed_at IS NULL`
      yield* sql`UPDATE ${counts} SET queued = queued - changes(), dead_letters = dead_letters + changes()`
    }
    const kept = changes.flatMap((change) => {
      const { begun, isReleased, partition_key } = change
      if (isReleased) return []
      const decided = new Set(decidedOf(change))
      const before = fromBegun(byKey.get(partition_key)?.begun ?? "").filter((id) => !decided.has(id))
      return [{ partition_key, begun: toBegun([...before, ...begun]) }]
    })
    if (kept.length > 0) {
      yield* sql`
        UPDATE ${partitions} AS p SET begun = r.begun FROM ${rows({ partition_key: "text", begun: "text" }, kept)}
        WHERE p.partition_key = r.partition_key`
    }
    const released = changes.filter(({ isReleased }) => isReleased)
    const isFree = released.length > 0 && (yield* free(released.map(({ partition_key }) => partition_key)))
    return { results: decisions.map(({ result }) => result), isFree }
  })

  /** Ends the leases of partitions. Returns whether one of them has updates. */
  const free = Effect.fnUntraced(function* (keys: ReadonlyArray<string>) {
    const rest = yield* sql<{ partition_key: string; head_id: number | null }>`
      SELECT r.partition_key, (
        SELECT u.id FROM ${updates} AS u
        WHERE u.partition_key = r.partition_key AND u.failed_at IS NULL ORDER BY u.id LIMIT 1
      ) AS head_id FROM ${rows({ partition_key: "text" }, toKeyRows(keys))}`
    const empty = rest.filter(({ head_id }) => head_id === null)
    const freed = rest.filter(({ head_id }) => head_id !== null)
    if (empty.length > 0) yield* deletePartitions(empty.map(({ partition_key }) => partition_key))
    if (freed.length > 0) {
      yield* sql`
        UPDATE ${partitions} AS p SET owner = NULL, lease_until = 0, begun = '', head_id = r.head_id
        FROM ${rows({ partition_key: "text", head_id: "bigint" }, freed)} WHERE p.partition_key = r.partition_key`
    }
    return freed.length > 0
  })

  return {
    enqueue,
    claim,
    commit,
    record: journals.record,
    writeState: states.write,
    changeTimers: timers.change
  }
}
