import type { StateStore } from "@colloquy/core/inbox/HandlingStore"
import type { BatchStore } from "@colloquy/core/inbox/InboxStore"
import { StoreError } from "@colloquy/core/base/StoreError"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Semaphore from "effect/Semaphore"
import * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import { beginNotDurable } from "../../base/internal/sqlite/database.ts"
import * as sqlStates from "./state/sqlStates.ts"
import { batchReads } from "./state/batchedReads.ts"
import { makeStore, retryConflicts, withTransaction } from "../../base/internal/stores/sql.ts"
import { withTimeLimit } from "../../base/internal/stores/timeLimit.ts"
import { decodeBigInt, decodeText, encodeIndexed, isId } from "../../base/internal/stores/values.ts"
import * as SoonerTimers from "./timers/soonerTimers.ts"
import * as sqlTimers from "./timers/sqlTimers.ts"
import * as pgInbox from "./pgInbox.ts"
import * as pgWakeUps from "./pgWakeUps.ts"
import * as ProcessLock from "./processLock.ts"
import * as sqliteInbox from "./sqliteInbox.ts"
import * as sqliteWakeUps from "./sqliteWakeUps.ts"
import * as sqlDeadLetters from "./sqlDeadLetters.ts"
import { migrations } from "./sqlSchema.ts"
import { toEntry } from "./sqlRows.ts"
import { countSlots, tableNames, type UpdateRow } from "./sqlTables.ts"

const cleanupChunk = 1000

/**
 * Minimum number of updates whose commits start another transaction while PostgreSQL applies commits (benchmark
 * `batch-sink-rate`).
 */
const minConcurrentCommits = 250

/** Maximum number of claimed partitions whose first updates are compared for the age of the oldest update. */
const comparedPartitions = 4000

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
  const { lock, lockFree } = dialect
  const table = tableNames(common.table)
  const updates = sql(table.updates)
  const partitions = sql(table.partitions)
  const fingerprints = sql(table.fingerprints)
  const counts = sql(table.counts)
  const isPg = dialect.name === "pg"

  const inTransaction = <A>(
    effect: Effect.Effect<A, SqlError>,
    begin = dialect.beginTransaction
  ): Effect.Effect<A, SqlError> =>
    Effect.provideService(withTransaction(sql)(effect), SqlClient.BeginTransaction, begin)

  const engine = isPg
    ? pgInbox.make(sql, common.table, dialect, inTransaction)
    : sqliteInbox.make(sql, common.table, dialect)

  /**
   * With a SQLite file, the name of an owner begins with the id of its process, so that other processes detect its end.
   */
  let processLock: ProcessLock.ProcessLock | undefined
  // The finalizer runs after the last writes of batches, so that these writes have the lock.
  yield* Effect.addFinalizer(() => Effect.sync(() => processLock?.close()))
  const lockProcess = isPg
    ? Effect.void
    : Effect.map(sql<{ name: string; file: string | null }>`PRAGMA database_list`, (databases) => {
        const file = databases.find(({ name }) => name === "main")?.file
        if (file) processLock = ProcessLock.make(file, common.table)
      })

  const ownerOf = (owner: string): string =>
    processLock === undefined ? encodeIndexed(owner) : `${processLock.id}:${encodeIndexed(owner)}`

  const count = (queued: number, deadLetters: number) => sql`
    UPDATE ${counts} SET queued = queued + ${queued}, dead_letters = dead_letters + ${deadLetters}
    WHERE slot = ${isPg ? sql.literal(`pg_backend_pid() % ${countSlots}`) : sql.literal("0")}`

  /** Rows may have been changed outside of the library while no process was running. */
  const recount = inTransaction(
    Effect.gen(function* () {
      yield* sql`SELECT slot FROM ${counts} ORDER BY slot ${lock}`
      yield* sql`
        UPDATE ${counts} SET
          queued = CASE slot WHEN 0 THEN (SELECT count(*) FROM ${updates} WHERE failed_at IS NULL) ELSE 0 END,
          dead_letters = CASE slot WHEN 0 THEN (SELECT count(*) FROM ${updates} WHERE failed_at IS NOT NULL) ELSE 0 END`
    })
  )

  const migrationLock = yield* Semaphore.make(1)
  let isMigrated = false
  const migrateOnce = migrationLock
    .withPermit(
      Effect.suspend(() =>
        isMigrated
          ? Effect.void
          : Effect.map(Effect.andThen(migrate, Effect.andThen(retryConflicts(recount), lockProcess)), () => {
              isMigrated = true
            })
      )
    )
    .pipe(Effect.withTracerEnabled(false))

  /** Does not run an effect before the tables exist. */
  const migrated = <A, E>(effect: Effect.Effect<A, E>) =>
    Effect.suspend(() =>
      isMigrated ? effect : Effect.andThen(Effect.mapError(migrateOnce, toStoreError("migrate")), effect)
    )

  const wakeUps = isPg
    ? yield* pgWakeUps.make(sql, common.table)
    : yield* sqliteWakeUps.make(() => processLock, migrated(Effect.void))

  const operation = (name: string) => {
    const reason = `the database did not answer within ${Duration.format(operationTimeout)}`
    const limited = withTimeLimit(
      operationTimeout,
      () => new StoreError({ store: "inbox", operation: name, reason, isRetryable: true })
    )
    return <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, StoreError> =>
      migrated(limited(effect)).pipe(
        Effect.mapError(toStoreError(name)),
        // Most operations belong to no handler, and an idle inbox would fill the traces of a bot.
        Effect.withTracerEnabled(false)
      )
  }

  const transaction =
    (name: string, begin = dialect.beginTransaction) =>
    <A>(effect: Effect.Effect<A, SqlError>): Effect.Effect<A, StoreError> =>
      operation(name)(retryConflicts(inTransaction(effect, begin)))

  /** PostgreSQL executes the operations of the engine as one statement. */
  const statement =
    (name: string, begin = dialect.beginTransaction) =>
    <A>(effect: Effect.Effect<A, SqlError>): Effect.Effect<A, StoreError> =>
      isPg ? operation(name)(retryConflicts(effect)) : transaction(name, begin)(effect)

  const atTime = <A, E>(use: (now: number) => Effect.Effect<A, E>): Effect.Effect<A, E> =>
    Effect.clockWith((clock) => use(clock.currentTimeMillisUnsafe()))

  /** The partitions of an owner, locked in the order in which all transactions lock them. */
  const ownedBy = (owner: string) => sql`
    WITH owned AS MATERIALIZED (
      SELECT partition_key FROM ${partitions}
      WHERE owner IS NOT NULL AND owner = ${ownerOf(owner)} ${isPg ? sql.literal("ORDER BY partition_key") : sql.literal("")} ${lock}
    )`

  const renew = (owner: string, leaseDuration: number, clock: number) => sql<{ partition_key: string }>`
    ${ownedBy(owner)}
    UPDATE ${partitions} SET lease_until = ${dialect.now(clock)} + ${leaseDuration}
    WHERE partition_key IN (SELECT partition_key FROM owned) RETURNING partition_key`

  const release = Effect.fnUntraced(function* (owner: string, clock: number) {
    const owned = yield* sql<{ partition_key: string }>`
      ${ownedBy(owner)}
      UPDATE ${partitions} SET begun = '' WHERE partition_key IN (SELECT partition_key FROM owned) RETURNING partition_key`
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

  /** Ends the leases of a process that has ended. The next claim counts the begun attempts of the process. */
  const endLeasesOf = (id: string) => sql`
    UPDATE ${partitions} SET lease_until = 0
    WHERE owner IS NOT NULL AND substr(owner, 1, ${id.length + 1}) = ${`${id}:`}`

  const claim: BatchStore["claim"] = (options) =>
    Effect.suspend(() => {
      const gone: Array<ProcessLock.GoneProcess> = []
      const claimed = Effect.suspend(() => {
        if (processLock !== undefined) gone.push(...processLock.findGone())
        const ended = Effect.forEach(gone, ({ id }) => endLeasesOf(id), { discard: true })
        const claimed = atTime((now) => engine.claim({ ...options, owner: ownerOf(options.owner) }, now))
        return gone.length === 0 ? claimed : Effect.andThen(ended, claimed)
      })
      return Effect.onExit(statement("claim", beginNotDurable)(claimed), (exit) =>
        Effect.sync(() => gone.forEach(({ keep, remove }) => (Exit.isSuccess(exit) ? remove() : keep())))
      )
    })

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

  const deadLetters = sqlDeadLetters.make(sql, common.table, dialect, count)
  const states = sqlStates.make(sql, common.table, dialect)
  const timers = sqlTimers.make(sql, common.table, dialect)

  const getStates: StateStore["get"] = (keys) =>
    keys.length === 0 ? Effect.succeed([]) : operation("getState")(states.get(keys))

  const getBatched = batchReads(getStates)

  const forgetOld = (seenBefore: number) =>
    Effect.map(
      sql`
        DELETE FROM ${fingerprints} WHERE fingerprint IN (
          SELECT fingerprint FROM ${fingerprints} WHERE seen_at < ${seenBefore} LIMIT ${cleanupChunk} ${lockFree}
        ) RETURNING seen_at`,
      (forgotten) => forgotten.length
    )

  const inChunks = (name: string, chunk: Effect.Effect<number, SqlError>) =>
    Effect.asVoid(
      Effect.repeat(Effect.tap(transaction(name)(chunk), Effect.yieldNow), {
        while: (deleted) => deleted === cleanupChunk
      })
    )

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
    claim,
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
      Effect.map(statement("renew", beginNotDurable)(atTime((now) => renew(owner, leaseDuration, now))), (owned) =>
        owned.map(({ partition_key }) => decodeText(partition_key))
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
    untilClaimable: Effect.map(operation("untilClaimable")(atTime(untilClaimable)), ([{ first }]) =>
      first === null ? undefined : Math.max(0, Number(first))
    ),
    queuedAfter: ({ after, limit, partitionKey }) =>
      Effect.map(operation("queuedAfter")(queuedAfter(partitionKey, isId(after) ? after : "0", limit)), (rows) =>
        rows.map(toEntry)
      ),
    queued: ({ after = "0", limit }) =>
      Effect.map(operation("queued")(queued(isId(after) ? after : "0", limit)), (rows) => rows.map(toEntry)),
    stats: Effect.map(operation("stats")(stats), ([{ queued, oldest, dead_letters }]) => ({
      queued: Number(queued),
      oldestReceivedAt: oldest === null ? undefined : Number(oldest),
      deadLetters: Number(dead_letters)
    })),
    marker: (source) =>
      operation("marker")(
        Effect.flatMap(marker(source), ([row]) =>
          row === undefined ? Effect.succeed(undefined) : decodeBigInt(row.value)
        )
      ),
    deadLetters: ({ after = "0", limit }) => operation("deadLetters")(deadLetters.page(after, limit)),
    replay: (ids) => transaction("replay")(deadLetters.replay(ids)),
    drop: (ids) => transaction("drop")(deadLetters.drop(ids)),
    cleanup: ({ fingerprintsBefore, deadLettersBefore }) =>
      Effect.andThen(
        inChunks("cleanup", forgetOld(fingerprintsBefore)),
        inChunks("cleanup", deadLetters.dropOld(deadLettersBefore, cleanupChunk))
      ),
    journal: {
      record: (records) =>
        records.length === 0
          ? Effect.succeed([])
          : statement("record")(Effect.suspend(() => engine.record(records, ownerOf)))
    },
    state: {
      // In a transaction of the caller, the values are read on its connection.
      get: (keys) =>
        Effect.withFiber(({ context }) =>
          Option.isNone(Context.getOption(context, sql.transactionService)) ? getBatched(keys) : getStates(keys)
        ),
      write: (writes) =>
        writes.length === 0
          ? Effect.succeed(true)
          : statement("writeState")(Effect.suspend(() => engine.writeState(writes))),
      page: ({ after, limit, name }) => operation("pageState")(states.page(name, after, limit)),
      forget: (user) => transaction("forgetState")(states.forget(user)),
      cleanup: (expiredBefore) => inChunks("cleanupState", states.cleanup(expiredBefore, cleanupChunk))
    },
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
