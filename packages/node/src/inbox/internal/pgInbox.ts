import type { Batch, Claim, CommitResult } from "@colloquy/core/inbox/InboxStore"
import * as Effect from "effect/Effect"
import type * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import * as pgJournals from "./journal/pgJournals.ts"
import * as pgStates from "./state/pgStates.ts"
import * as sqlStates from "./state/sqlStates.ts"
import type { Dialect } from "../../base/internal/stores/sql.ts"
import * as pgTimers from "./timers/pgTimers.ts"
import * as sqlTimers from "./timers/sqlTimers.ts"
import { functionNames } from "./pgFunctions.ts"
import { findBy } from "./pgPlans.ts"
import { type ClaimedRow, keyOf, toClaimed } from "./pgRows.ts"
import { changesOf, decidedOf, isHandled, type Located, locate, type PartitionChange } from "./sqlCommits.ts"
import type { Engine } from "./sqlEngine.ts"
import { isId } from "../../base/internal/stores/values.ts"
import { candidatesOf, duplicatesSinceOf, markersOf, toBegun, toPartitions } from "./sqlRows.ts"
import { countSlots, tableNames } from "./sqlTables.ts"

const inputColumns = {
  place: "bigint",
  seen_at: "bigint",
  fingerprint: "text",
  partition_key: "text",
  received_at: "bigint",
  text: "text",
  error: "text",
  attempts: "bigint",
  failed_at: "bigint"
} as const

const toJson = (rows: ReadonlyArray<object>): string | null => (rows.length === 0 ? null : JSON.stringify(rows))

/**
 * A change as `commit` reads it: key, acknowledged, decided, begun, whether the partition is released, and the
 * updates that must be queued for its state and timers to apply. After a release, no update is begun.
 */
const toChangeRow = (change: PartitionChange, completed: string | undefined) => ({
  k: change.partition_key,
  a: change.acknowledged.join(","),
  d: change.isReleased ? undefined : decidedOf(change).join(","),
  b: change.isReleased ? undefined : toBegun(change.begun),
  x: change.isReleased ? 1 : 0,
  c: completed
})

const isKeys = (value: unknown): value is ReadonlyArray<string> => Array.isArray(value)

const keysOf = (json: string | null): ReadonlySet<string> => {
  const keys: unknown = json === null ? [] : JSON.parse(json)
  return new Set(isKeys(keys) ? keys : [])
}

/** The state values and timers that a call compares before its changes. Only one commit of a call may contain each. */
const subjectsOf = ({ commit: { timers = [], writes = [] } }: Located): ReadonlyArray<string> => [
  ...writes.map((write) => `state ${sqlStates.identify(write)}`),
  ...timers.map((timer) => `timer ${sqlTimers.identify(timer)}`)
]

/**
 * Divides commits into lists that are applied one after the other. In a list, a commit that writes state or changes
 * timers is the only commit of its partition, and no two commits concern the same state or timer. Usually, one list
 * contains all commits.
 */
const roundsOf = (commits: ReadonlyArray<Located>): ReadonlyArray<ReadonlyArray<Located>> => {
  if (!commits.some(({ commit }) => isHandled(commit))) return [commits]
  const rounds: Array<Array<Located>> = []
  let round: Array<Located> = []
  const partitions = new Map<string, boolean>()
  const subjects = new Set<string>()
  for (const located of commits) {
    const concerned = subjectsOf(located)
    const handled = isHandled(located.commit)
    const before = partitions.get(located.partition_key)
    const isNext =
      round.length === 0 ||
      before === true ||
      (before === false && handled) ||
      concerned.some((subject) => subjects.has(subject))
    if (isNext) {
      round = []
      rounds.push(round)
      partitions.clear()
      subjects.clear()
    }
    round.push(located)
    partitions.set(located.partition_key, handled)
    for (const subject of concerned) subjects.add(subject)
  }
  return rounds
}

/** The state and timers of a commit, unless a completed update of the commit cannot be queued. */
const partsOf = ({ commit, partition_key }: Located) => {
  const { completed, timers = [], writes = [] } = commit
  return completed.every(({ id }) => isId(id))
    ? {
        completed: [[partition_key, completed.map(({ id }) => id).join(",")] as const],
        writes: pgStates.toWriteRows(partition_key, writes),
        timers: pgTimers.toTimerRows(partition_key, timers)
      }
    : { completed: [], writes: [], timers: [] }
}

/** The operations of the inbox in PostgreSQL, each in one round trip. */
export const make = (
  sql: SqlClient.SqlClient,
  table: string,
  { rows }: Dialect,
  transaction: <A>(effect: Effect.Effect<A, SqlError>) => Effect.Effect<A, SqlError>
): Engine => {
  const names = tableNames(table)
  const functions = functionNames(table)
  const updates = sql(names.updates)
  const partitions = sql(names.partitions)
  const slot = sql.literal(`pg_backend_pid() % ${countSlots}`)

  const enqueue = (batches: ReadonlyArray<Batch>) => {
    const candidates = candidatesOf(batches)
    const input = candidates.map(({ row, seen_at }, place) => ({ place, seen_at, ...row }))
    const columns = sql.literal("fingerprint, partition_key, received_at, text, error, attempts, failed_at")
    const enqueued = sql<{ places: string | null; is_free: boolean }>`
      WITH input AS MATERIALIZED (
        SELECT * FROM ${rows(inputColumns, input)}
      ), fresh AS (
        INSERT INTO ${sql(names.fingerprints)} AS f (fingerprint, seen_at)
        SELECT i.fingerprint, i.seen_at FROM input AS i WHERE i.seen_at IS NOT NULL ORDER BY i.fingerprint
        ON CONFLICT (fingerprint) DO UPDATE SET seen_at = excluded.seen_at
          WHERE f.seen_at < ${duplicatesSinceOf(batches)}
        RETURNING f.fingerprint
      ), accepted AS MATERIALIZED (
        SELECT i.* FROM input AS i WHERE i.seen_at IS NULL OR i.fingerprint IN (SELECT fingerprint FROM fresh)
      ), inserted AS (
        INSERT INTO ${updates} (${columns}) SELECT ${columns} FROM accepted ORDER BY place
        RETURNING id, partition_key, failed_at
      ), touched AS (
        INSERT INTO ${partitions} AS p (partition_key, head_id)
        SELECT partition_key, min(id) FROM inserted WHERE failed_at IS NULL GROUP BY partition_key ORDER BY partition_key
        -- A partition that has an owner is locked as well, but not written: its release finds the first update.
        ON CONFLICT (partition_key) DO UPDATE SET head_id = LEAST(p.head_id, excluded.head_id) WHERE p.owner IS NULL
        RETURNING p.partition_key
      ), counted AS (
        UPDATE ${sql(names.counts)} AS c SET queued = c.queued + i.queued, dead_letters = c.dead_letters + i.dead
        FROM (
          SELECT count(*) FILTER (WHERE failed_at IS NULL) AS queued, count(failed_at) AS dead FROM inserted
        ) AS i WHERE c.slot = ${slot}
      ), marked AS (
        INSERT INTO ${sql(names.markers)} (source, value)
        SELECT r.source, r.value FROM ${rows({ source: "text", value: "text" }, markersOf(batches))} ORDER BY r.source
        ON CONFLICT (source) DO UPDATE SET value = excluded.value
      )
      SELECT (SELECT string_agg(place::text, ',') FROM accepted) AS places,
        -- All partitions are locked before the counts. EXISTS would stop at the first partition.
        (SELECT count(*) FROM touched) > 0 AS is_free`
    return Effect.map(enqueued, ([{ is_free, places }]) => {
      const added = batches.map(() => 0)
      if (places !== null) for (const place of places.split(",")) added[candidates[Number(place)].batch]++
      return { added, isFree: is_free }
    })
  }

  const claim = ({ begin, leaseDuration, maxPartitions, maxTimers = 0, maxUpdates, owner }: Claim) =>
    Effect.map(
      sql`
        SELECT id, partition_key, fingerprint, received_at, text, earlier FROM ${sql(functions.claim)}(
          ${owner}, ${leaseDuration}, ${maxPartitions}, ${maxUpdates}, ${begin}, ${maxTimers}
        )`.values,
      (rows) => toPartitions(rows as ReadonlyArray<ClaimedRow>, keyOf, toClaimed)
    )

  const commitOf = (owner: string, changes: ReadonlyArray<PartitionChange>, handled: ReadonlyArray<Located>) => {
    const parts = handled.map(partsOf)
    const completed = new Map(parts.flatMap(({ completed }) => completed))
    return Effect.map(
      sql<{ lost: string | null; conflicting: string | null; is_free: boolean }>`
        SELECT * FROM ${sql(functions.commit)}(
          ${owner},
          ${JSON.stringify(changes.map((change) => toChangeRow(change, completed.get(change.partition_key))))}::json,
          ${toJson(changes.flatMap(({ failures }) => failures.map(({ partition_key, ...row }) => ({ k: partition_key, ...row }))))}::json,
          ${toJson(changes.flatMap(({ deaths }) => deaths.map(({ partition_key, ...row }) => ({ k: partition_key, ...row }))))}::json,
          ${toJson(parts.flatMap(({ writes }) => writes))}::json,
          ${toJson(parts.flatMap(({ timers }) => timers))}::json
        )`,
      ([{ conflicting, is_free, lost }]) => ({
        lost: keysOf(lost),
        conflicting: keysOf(conflicting),
        isFree: is_free
      })
    )
  }

  const commitRound = (commits: ReadonlyArray<Located>) => {
    const { changes, decisions } = changesOf(commits)
    const byOwner = [...Map.groupBy(changes, ({ owner }) => owner)]
    const handled = Map.groupBy(
      commits.filter(({ commit }) => isHandled(commit)),
      ({ owner }) => owner
    )
    const each = Effect.forEach(byOwner, ([owner, changes]) => commitOf(owner, changes, handled.get(owner) ?? []))
    return Effect.map(each, (outcomes) => {
      const byName = new Map(byOwner.map(([owner], index) => [owner, outcomes[index]]))
      return {
        results: decisions.map(({ change, result }): CommitResult => {
          const outcome = byName.get(change.owner)
          if (result !== "applied" || outcome?.lost.has(change.partition_key) !== false) return "leaseLost"
          return outcome.conflicting.has(change.partition_key) ? "stateConflict" : "applied"
        }),
        isFree: outcomes.some(({ isFree }) => isFree)
      }
    })
  }

  /** Calls that follow each other in one transaction would lock partitions after state, and not in their order. */
  const lockAll = <A>(commits: ReadonlyArray<Located>, effect: Effect.Effect<A, SqlError>) => {
    const keys = [...new Set(commits.map(({ partition_key }) => partition_key))]
    const states = commits.flatMap(({ commit }) => pgStates.toWriteRows("", commit.writes ?? []))
    const lockPartitions = sql`
      SELECT count(*) FROM (SELECT k FROM json_array_elements_text(${JSON.stringify(keys)}::json) AS k ORDER BY k) AS o
      CROSS JOIN LATERAL (
        SELECT FROM ${partitions} AS p WHERE ${findBy(sql, "p.partition_key", "o.k")} FOR UPDATE
      ) AS l`
    return Effect.andThen(lockPartitions, pgStates.locked(sql, table, states, effect))
  }

  const commit: Engine["commit"] = (commits, ownerOf) => {
    const located = locate(commits, ownerOf)
    const rounds = roundsOf(located)
    if (rounds.length === 1 && located.every(({ owner }) => owner === located[0].owner)) return commitRound(located)
    const all = lockAll(located, Effect.forEach(rounds, commitRound))
    return Effect.map(transaction(all), (outcomes) => ({
      results: outcomes.flatMap(({ results }) => results),
      isFree: outcomes.some(({ isFree }) => isFree)
    }))
  }

  return {
    enqueue,
    claim,
    commit,
    record: pgJournals.makeRecord(sql, functions.record),
    writeState: pgStates.makeWrite(sql, functions.writeState),
    changeTimers: pgTimers.makeChange(sql, functions.changeTimers)
  }
}
