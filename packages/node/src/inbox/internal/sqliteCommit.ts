import type { Commit, CommitResult, TimerChange } from "@colloquy/core/inbox/InboxStore"
import * as Effect from "effect/Effect"
import { isId } from "../../base/internal/stores/values.ts"
import type * as sqlJournals from "./journal/sqlJournals.ts"
import { changesOf, decidedOf, type DeathRow, type FailureRow, isHandled, type Located, locate } from "./sqlCommits.ts"
import type { Columns, Tables } from "./sqliteTables.ts"
import { fromBegun, toBegun, toIdRows, toKeyRows } from "./sqlRows.ts"
import type * as sqliteStates from "./state/sqliteStates.ts"
import type * as sqliteTimers from "./timers/sqliteTimers.ts"

const deathColumns: Columns<DeathRow> = {
  partition_key: "text",
  id: "bigint",
  error: "text",
  attempts: "bigint",
  failed_at: "bigint"
}

const failureColumns: Columns<FailureRow> = { partition_key: "text", id: "bigint", count: "bigint" }

interface Parts {
  readonly journals: Pick<ReturnType<typeof sqlJournals.make>, "remove">
  readonly states: Pick<ReturnType<typeof sqliteStates.make>, "changes">
  readonly timers: Pick<ReturnType<typeof sqliteTimers.make>, "change">
}

/** The operation that applies commits. */
export const make = (
  { counts, deletePartitions, partitions, rows, sql, updates }: Tables,
  { journals, states, timers }: Parts
) => {
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

  return commit
}
