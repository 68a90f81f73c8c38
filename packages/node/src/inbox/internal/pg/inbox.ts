import { type BatchStore, InboxStore, withWriteBatching } from "@colloquy/core/inbox/InboxStore"
import type { StoreError } from "@colloquy/core/base/StoreError"
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import { byTransaction, makeStore, retryConflicts, withTransaction } from "../../../base/internal/stores/sql.ts"
import { batchReads } from "../batchedReads.ts"
import type { Options } from "../../SqlInboxStore.ts"
import * as SqlOperations from "../sqlOperations.ts"
import * as commits from "./commits.ts"
import { partsOf } from "./functions.ts"
import { makeQueries, makeRows } from "./queries.ts"
import { migrations } from "./schema.ts"
import * as updates from "./updates.ts"
import * as WakeUps from "./wakeUps.ts"

/**
 * Minimum number of updates whose commits start another transaction while PostgreSQL applies commits (benchmark
 * `batch-exact-rate`).
 */
const minConcurrentCommits = 250

const cleanupChunk = 1000

/**
 * The store on PostgreSQL. Locks are always taken in the same order, so that transactions do not deadlock: fingerprints, partitions
 * by key, rows of authors, rows by key, updates and their journals, counts. Fingerprints and rows of the same kind are locked in
 * the order of their keys. A transaction that adds updates to a partition or ends its lease holds the lock of the partition.
 * Therefore an empty partition can be deleted safely, and the lock of a partition is also that of its queued updates and their
 * journals.
 */
export const make = Effect.fnUntraced(function* (options: Options) {
  const { migrate, sql, table, toStoreError } = yield* makeStore({ store: "inbox", prefix: options.prefix, migrations })
  const parts = partsOf(sql, table)
  const rows = makeRows(parts)
  const queries = makeQueries(parts)
  const updateQueries = updates.make(parts)
  const wakeUps = yield* WakeUps.make(sql, table)

  // Each statement sees all earlier commits, so a read after a lock returns the current rows.
  const begin = "BEGIN ISOLATION LEVEL READ COMMITTED"
  const transact = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E | SqlError> =>
    retryConflicts(Effect.provideService(withTransaction(sql)(effect), SqlClient.BeginTransaction, begin))

  const commit = commits.make({ ...parts, transact, wake: wakeUps.notify })

  const { ready, run } = yield* SqlOperations.make(
    options,
    // Rows may have been changed outside of the library while no process was running.
    Effect.andThen(migrate, transact(queries.recount)).pipe(
      Effect.withTracerEnabled(false),
      Effect.mapError(toStoreError("migrate"))
    )
  )

  const operation =
    (name: string) =>
    <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, StoreError> =>
      run(name, effect).pipe(
        Effect.mapError(toStoreError(name)),
        // Most operations belong to no handler, and an idle inbox would fill the traces of a bot.
        Effect.withTracerEnabled(false)
      )

  /** An operation of one statement. */
  const statement = <A, E>(name: string, effect: Effect.Effect<A, E>) => operation(name)(retryConflicts(effect))

  const waking = <A, E>(effect: Effect.Effect<{ readonly value: A; readonly wakes: boolean }, E>) =>
    Effect.map(effect, ({ value, wakes }) => {
      if (wakes) wakeUps.notify()
      return value
    })

  /** Deletes rows in several transactions, so that none of them holds its locks for long. */
  const inChunks = (deleteAtMost: (max: number) => Effect.Effect<number, SqlError>) =>
    Effect.repeat(Effect.tap(statement("cleanup", deleteAtMost(cleanupChunk)), Effect.yieldNow), {
      while: (deleted) => deleted === cleanupChunk
    })

  const read: BatchStore["read"] = (keys) =>
    keys.length === 0 ? Effect.succeed([]) : operation("read")(rows.read(keys))

  const release = Effect.fnUntraced(function* (owner: string) {
    const keys = yield* queries.owned(owner)
    const end = { owner, completed: [], failed: [], begun: [], release: true }
    yield* commit(keys.map((partitionKey) => ({ ...end, partitionKey })))
    return keys
  })

  const store: BatchStore = {
    isShared: true,
    executesStatements: true,
    minConcurrentCommits,
    enqueueAll: (batches) =>
      waking(
        statement(
          "enqueue",
          Effect.suspend(() => updateQueries.enqueue(batches))
        )
      ),
    claim: (claim) => statement("claim", updateQueries.claim(claim)),
    commit: (all) => (all.length === 0 ? Effect.succeed([]) : operation("commit")(commit(all))),
    renew: (owner, leaseDuration) =>
      leaseDuration > 0
        ? statement("renew", queries.renew(owner, leaseDuration))
        : operation("renew")(retryConflicts(release(owner))),
    write: (writes) =>
      writes.length === 0 ? Effect.succeed([]) : waking(operation("write")(Effect.suspend(() => rows.write(writes)))),
    read,
    rows: (page) => operation("rows")(rows.page(page)),
    forget: (options) => statement("forget", rows.forget(options)),
    updates: ({ after = "0", limit, of, partitionKey }) =>
      operation("updates")(updateQueries.page(of, partitionKey, after, limit)),
    takeDeadLetters: ({ ids, replay }) =>
      replay
        ? waking(statement("takeDeadLetters", updateQueries.replay(ids)))
        : statement("takeDeadLetters", updateQueries.drop(ids)),
    stats: operation("stats")(queries.stats),
    cleanup: ({ deadLettersBefore, fingerprintsBefore, rowsBefore }) =>
      Effect.all(
        [
          inChunks((chunk) => queries.forgetOld(fingerprintsBefore, chunk)),
          inChunks((chunk) => updateQueries.dropOld(deadLettersBefore, chunk)),
          inChunks((chunk) => rows.dropOld(rowsBefore, chunk))
        ],
        { discard: true }
      ),
    untilNext: operation("untilNext")(queries.untilNext),
    ...(wakeUps.listen === undefined ? {} : { listen: wakeUps.listen })
  }
  const batched = yield* withWriteBatching(store)
  return {
    store: InboxStore.of({
      ...batched,
      write: byTransaction(sql, store.write, batched.write),
      read: byTransaction(sql, read, batchReads(read))
    }),
    ready
  }
})
