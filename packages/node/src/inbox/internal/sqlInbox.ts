import type { BatchStore } from "@colloquy/core/inbox/InboxStore"
import type { StoreError } from "@colloquy/core/base/StoreError"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { beginNotDurable } from "../../base/internal/sqlite/database.ts"
import * as sqlStateStore from "./state/sqlStateStore.ts"
import * as sqlStates from "./state/sqlStates.ts"
import { makeStore, retryConflicts } from "../../base/internal/stores/sql.ts"
import { decodeBigInt, decodeText, isId } from "../../base/internal/stores/values.ts"
import * as SoonerTimers from "./timers/soonerTimers.ts"
import * as sqlTimers from "./timers/sqlTimers.ts"
import * as pgInbox from "./pgInbox.ts"
import * as pgWakeUps from "./pgWakeUps.ts"
import * as sqliteInbox from "./sqliteInbox.ts"
import * as sqliteWakeUps from "./sqliteWakeUps.ts"
import * as sqlOperations from "./sqlOperations.ts"
import * as sqlOwners from "./sqlOwners.ts"
import * as sqlQueries from "./sqlQueries.ts"
import * as sqlDeadLetters from "./sqlDeadLetters.ts"
import { migrations } from "./sqlSchema.ts"
import { toEntry } from "./sqlRows.ts"
import { tableNames } from "./sqlTables.ts"

/**
 * Minimum number of updates whose commits start another transaction while PostgreSQL applies commits (benchmark
 * `batch-sink-rate`).
 */
const minConcurrentCommits = 250

interface Options {
  readonly prefix: string | undefined
  readonly operationTimeout: Duration.Duration
}

/**
 * The store on SQLite or PostgreSQL. Locks are always taken in the same order (fingerprints, partitions by key, state by name
 * and scope, updates, journals, timers, their occurrences, markers and counts), so that transactions do not deadlock. A transaction that adds
 * updates to a partition or ends its lease holds the lock of the partition. Therefore an empty partition can be deleted safely.
 */
export const make = Effect.fnUntraced(function* ({ operationTimeout, prefix }: Options) {
  const { migrate, sql, toStoreError, dialect, ...common } = yield* makeStore({ store: "inbox", prefix, migrations })
  const queries = sqlQueries.make(sql, tableNames(common.table), dialect)
  const isPg = dialect.name === "pg"
  const inTransaction = sqlOperations.inTransaction(sql, dialect)

  const engine = isPg
    ? pgInbox.make(sql, common.table, dialect, inTransaction)
    : sqliteInbox.make(sql, common.table, dialect)

  const owners = yield* sqlOwners.make(sql, common.table, dialect)
  const { ownerOf } = owners

  const operations = yield* sqlOperations.make({
    sql,
    dialect,
    operationTimeout,
    toStoreError,
    migrate,
    // Rows may have been changed outside of the library while no process was running.
    prepare: Effect.andThen(retryConflicts(inTransaction(queries.recount)), owners.lockProcess)
  })

  const { inChunks, migrated, operation, statement, transaction } = operations

  const wakeUps = isPg
    ? yield* pgWakeUps.make(sql, common.table)
    : yield* sqliteWakeUps.make(owners.processLock, migrated(Effect.void))

  const atTime = <A, E>(use: (now: number) => Effect.Effect<A, E>): Effect.Effect<A, E> =>
    Effect.clockWith((clock) => use(clock.currentTimeMillisUnsafe()))

  const release = Effect.fnUntraced(function* (owner: string, clock: number) {
    const owned = yield* queries.endAttempts(ownerOf(owner))
    const commits = owned.map(({ partition_key }) => ({
      owner,
      partitionKey: decodeText(partition_key),
      completed: [],
      failed: [],
      begun: [],
      release: true
    }))
    return commits.length === 0 ? false : (yield* engine.commit(commits, ownerOf, clock)).isFree
  })

  const deadLetters = sqlDeadLetters.make(sql, common.table, dialect, queries.count)
  const state = sqlStateStore.make({
    states: sqlStates.make(sql, common.table, dialect),
    write: engine.writeState,
    operations,
    isInTransaction: (context) => Option.isSome(Context.getOption(context, sql.transactionService))
  })
  const timers = sqlTimers.make(sql, common.table, dialect)

  const waking = <A extends { readonly isFree: boolean }>(effect: Effect.Effect<A, StoreError>) =>
    Effect.map(effect, (result) => {
      if (result.isFree) wakeUps.notify()
      return result
    })

  const wakingForTimers = SoonerTimers.make(Effect.sync(wakeUps.notify))

  /**
   * SQLite writes one transaction at a time, so batches, records and commits share a transaction, and wait for the disk
   * once.
   */
  const writeAll: NonNullable<BatchStore["writeAll"]> = (batches, commits, records) => {
    const write = Effect.gen(function* () {
      const stored = batches.length === 0 ? undefined : yield* engine.enqueue(batches)
      const recorded = records.length === 0 ? [] : yield* engine.record(records, ownerOf)
      const applied = commits.length === 0 ? undefined : yield* atTime((now) => engine.commit(commits, ownerOf, now))
      return {
        added: stored?.added ?? [],
        results: applied?.results ?? [],
        recorded,
        isFree: stored?.isFree === true || applied?.isFree === true
      }
    })
    const written = transaction(batches.length > 0 ? "enqueue" : commits.length > 0 ? "commit" : "record")(write)
    return wakingForTimers(waking(written), SoonerTimers.changedBy(commits))
  }

  const store: BatchStore = {
    isShared: true,
    ...(isPg ? { minConcurrentCommits } : { writeAll }),
    enqueueAll: (batches) =>
      Effect.map(waking(statement("enqueue")(Effect.suspend(() => engine.enqueue(batches)))), ({ added }) => added),
    claim: (options) =>
      owners.endingLeases(queries.endLeasesOf, statement("claim", beginNotDurable), () =>
        atTime((now) => engine.claim({ ...options, owner: ownerOf(options.owner) }, now))
      ),
    commit: (commits) =>
      commits.length === 0
        ? Effect.succeed([])
        : Effect.map(
            wakingForTimers(
              waking(statement("commit")(atTime((now) => engine.commit(commits, ownerOf, now)))),
              SoonerTimers.changedBy(commits)
            ),
            ({ results }) => results
          ),
    renew: (owner, leaseDuration) =>
      Effect.map(
        statement("renew", beginNotDurable)(atTime((now) => queries.renew(ownerOf(owner), leaseDuration, now))),
        (owned) => owned.map(({ partition_key }) => decodeText(partition_key))
      ),
    release: (owner) =>
      Effect.asVoid(
        waking(
          Effect.map(
            transaction("release", isPg ? undefined : beginNotDurable)(atTime((now) => release(owner, now))),
            (isFree) => ({ isFree })
          )
        )
      ),
    ...(wakeUps.listen === undefined ? {} : { listen: wakeUps.listen }),
    untilClaimable: Effect.map(operation("untilClaimable")(atTime(queries.untilClaimable)), ([{ first }]) =>
      first === null ? undefined : Math.max(0, Number(first))
    ),
    queuedAfter: ({ after, limit, partitionKey }) =>
      Effect.map(
        operation("queuedAfter")(queries.queuedAfter(partitionKey, isId(after) ? after : "0", limit)),
        (rows) => rows.map(toEntry)
      ),
    queued: ({ after = "0", limit }) =>
      Effect.map(operation("queued")(queries.queued(isId(after) ? after : "0", limit)), (rows) => rows.map(toEntry)),
    stats: Effect.map(operation("stats")(queries.stats), ([{ queued, oldest, dead_letters }]) => ({
      queued: Number(queued),
      oldestReceivedAt: oldest === null ? undefined : Number(oldest),
      deadLetters: Number(dead_letters)
    })),
    marker: (source) =>
      operation("marker")(
        Effect.flatMap(queries.marker(source), ([row]) =>
          row === undefined ? Effect.succeed(undefined) : decodeBigInt(row.value)
        )
      ),
    deadLetters: ({ after = "0", limit }) => operation("deadLetters")(deadLetters.page(after, limit)),
    replay: (ids) => transaction("replay")(deadLetters.replay(ids)),
    drop: (ids) => transaction("drop")(deadLetters.drop(ids)),
    cleanup: ({ fingerprintsBefore, deadLettersBefore }) =>
      Effect.andThen(
        inChunks("cleanup", (chunk) => queries.forgetOld(fingerprintsBefore, chunk)),
        inChunks("cleanup", (chunk) => deadLetters.dropOld(deadLettersBefore, chunk))
      ),
    journal: {
      record: (records) =>
        records.length === 0
          ? Effect.succeed([])
          : statement("record")(Effect.suspend(() => engine.record(records, ownerOf)))
    },
    state,
    timers: {
      change: (changes) =>
        changes.length === 0
          ? Effect.void
          : wakingForTimers(statement("changeTimers")(atTime((now) => engine.changeTimers(changes, now))), changes),
      untilNext: operation("untilNext")(atTime(timers.untilNext)),
      isCancelled: (occurrence) => operation("isCancelled")(timers.isCancelled(occurrence)),
      page: (page) => operation("pageTimers")(timers.page(page)),
      forget: (user) => transaction("forgetTimers")(timers.forget(user))
    }
  }
  return { store, ready: migrated(Effect.void) }
})
