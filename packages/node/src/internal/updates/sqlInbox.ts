import type { Batch, BatchStore, Claim, ClaimedUpdate, Commit } from "@colloquy/core/InboxStore"
import type { StoreError } from "@colloquy/core/StoreError"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Semaphore from "effect/Semaphore"
import * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment, Statement } from "effect/sql/Statement"
import { makeStore, retryConflicts, withTransaction } from "../stores/sql.ts"
import { decodeBigInt, decodeText, encodeIndexed, isId } from "../stores/values.ts"
import * as ProcessLock from "./processLock.ts"
import {
  candidatesOf,
  changesOf,
  deadLetterColumns,
  type DeadLetterRow,
  fromBegun,
  toBegun,
  toClaimed,
  toDeadLetter,
  toIdRows
} from "./sqlRows.ts"
import { makeDialect, migrations, tableNames, toKeyRows } from "./sqlSchema.ts"

const cleanupChunk = 1000

/**
 * The transactions of the inbox. Locks are always taken in the same order (fingerprints, partitions by key, updates,
 * markers), so that transactions do not deadlock. A transaction that adds updates to a partition or removes them holds
 * the lock of the partition. Therefore an empty partition can be deleted safely, and the ids of a partition follow the
 * order of its commits.
 */
export const make = Effect.fnUntraced(function* (prefix: string | undefined) {
  const { migrate, sql, toStoreError, ...common } = yield* makeStore({
    store: "inbox",
    prefix,
    migrations
  })
  const dialect = makeDialect(sql, common.dialect)
  const { lock, lockFree, rows } = dialect
  const table = tableNames(common.table)
  const updates = sql(table.updates)
  const partitions = sql(table.partitions)
  const fingerprints = sql(table.fingerprints)
  const markers = sql(table.markers)

  /** Where SQLite has a file, owners begin with the id of their process, so that others notice when it is gone. */
  let processLock: ProcessLock.ProcessLock | undefined
  // Batches that are still being written when the scope closes are written with the lock.
  yield* Effect.addFinalizer(() => Effect.sync(() => processLock?.close()))
  const lockProcess =
    dialect.name === "pg"
      ? Effect.void
      : Effect.map(sql<{ name: string; file: string | null }>`PRAGMA database_list`, (databases) => {
          const file = databases.find(({ name }) => name === "main")?.file
          if (file) processLock = ProcessLock.make(file, common.table)
        })

  const ownerOf = (owner: string): string =>
    processLock === undefined ? encodeIndexed(owner) : `${processLock.id}:${encodeIndexed(owner)}`

  const migrationLock = yield* Semaphore.make(1)
  let isMigrated = false
  const migrateOnce = migrationLock.withPermit(
    Effect.suspend(() =>
      isMigrated
        ? Effect.void
        : Effect.map(Effect.andThen(migrate, lockProcess), () => {
            isMigrated = true
          })
    )
  )

  const operation =
    (name: string) =>
    <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, StoreError> =>
      Effect.suspend(() => (isMigrated ? effect : Effect.andThen(migrateOnce, effect))).pipe(
        Effect.mapError(toStoreError(name)),
        // Most operations belong to no handler, and an idle inbox would fill the traces of a bot.
        Effect.withTracerEnabled(false)
      )

  const transaction = (name: string) => {
    const named = operation(name)
    return <A>(effect: Effect.Effect<A, SqlError>): Effect.Effect<A, StoreError> =>
      named(
        retryConflicts(
          Effect.provideService(withTransaction(sql)(effect), SqlClient.BeginTransaction, dialect.beginTransaction)
        )
      )
  }

  const keysIn = (keys: ReadonlyArray<string>): Fragment =>
    sql`(SELECT r.partition_key FROM ${rows({ partition_key: "text" }, toKeyRows(keys))})`

  const idsIn = (ids: ReadonlyArray<{ readonly id: string }>): Fragment =>
    sql`(SELECT r.id FROM ${rows({ id: "bigint" }, ids)})`

  /** Stores fingerprints, and returns those that were not stored since the given time. */
  const remember = (entries: ReadonlyArray<{ fingerprint: string; seen_at: number }>, since: number) =>
    sql<{ fingerprint: string }>`
      INSERT INTO ${fingerprints} AS f (fingerprint, seen_at)
      SELECT r.fingerprint, r.seen_at FROM ${rows({ fingerprint: "text", seen_at: "bigint" }, entries)}
      WHERE true ORDER BY r.fingerprint
      ON CONFLICT (fingerprint) DO UPDATE SET seen_at = excluded.seen_at WHERE f.seen_at < ${since}
      RETURNING fingerprint`

  /** Creates missing partitions, and locks all of them until the transaction ends. */
  const lockPartitions = (keys: ReadonlyArray<string>) =>
    sql`
      INSERT INTO ${partitions} (partition_key)
      SELECT r.partition_key FROM ${rows({ partition_key: "text" }, toKeyRows(keys))}
      WHERE true ORDER BY r.partition_key
      ON CONFLICT (partition_key) DO UPDATE SET partition_key = excluded.partition_key`

  const firstUpdate = sql`(
    SELECT min(u.id) FROM ${updates} AS u WHERE u.partition_key = p.partition_key AND u.failed_at IS NULL
  )`

  const setHeads = (keys: ReadonlyArray<string>) => sql`
    UPDATE ${partitions} AS p SET head_id = ${firstUpdate}
    WHERE p.head_id IS NULL AND p.partition_key IN ${keysIn(keys)}`

  const enqueue = Effect.fnUntraced(function* (batches: ReadonlyArray<Batch>) {
    const candidates = candidatesOf(batches)
    const deduplicated = candidates.filter(({ isDeduplicated }) => isDeduplicated)
    const unseen = new Set<string>()
    if (deduplicated.length > 0) {
      const since = Math.min(...batches.map(({ duplicatesSince }) => duplicatesSince))
      const entries = deduplicated.map(({ row, now }) => ({ fingerprint: row.fingerprint, seen_at: now }))
      for (const { fingerprint } of yield* remember(entries, since)) unseen.add(fingerprint)
    }
    const added = candidates.filter(({ isDeduplicated, row }) => !isDeduplicated || unseen.has(row.fingerprint))
    const keys = [...new Set(added.flatMap(({ row }) => (row.failed_at === null ? [row.partition_key] : [])))]
    if (keys.length > 0) yield* lockPartitions(keys)
    if (added.length > 0) {
      yield* dialect.insert(
        updates,
        added.map(({ row }) => row)
      )
    }
    if (keys.length > 0) yield* setHeads(keys)
    const read = new Map(batches.flatMap(({ marker }) => (marker === undefined ? [] : [[marker.source, marker.value]])))
    if (read.size > 0) {
      const values = [...read].map(([source, value]) => ({ source: encodeIndexed(source), value: String(value) }))
      yield* sql`
        INSERT INTO ${markers} (source, value)
        SELECT r.source, r.value FROM ${rows({ source: "text", value: "text" }, values)}
        WHERE true ORDER BY r.source
        ON CONFLICT (source) DO UPDATE SET value = excluded.value`
    }
    const counts = batches.map(() => 0)
    for (const { batch } of added) counts[batch]++
    return counts
  })

  /** Counts the updates that were begun by owners that did not end their lease. */
  const countCrashes = (ids: ReadonlyArray<string>) => sql`
    UPDATE ${updates} SET attempts = COALESCE(attempts, 0) + 1, crashes = crashes + 1
    WHERE failed_at IS NULL AND id IN ${idsIn(toIdRows(ids))}`

  const claim = Effect.fnUntraced(function* (
    { owner, leaseDuration, maxPartitions, maxUpdates, begin }: Claim,
    clock: number
  ) {
    const now = dialect.now(clock)
    const free = yield* sql<{ partition_key: string; begun: string }>`
      SELECT partition_key, begun FROM ${partitions} WHERE head_id IS NOT NULL AND lease_until <= ${now}
      ORDER BY head_id LIMIT ${maxPartitions} ${lockFree}`
    if (free.length === 0) return []
    const crashed = free.flatMap(({ begun }) => fromBegun(begun))
    if (crashed.length > 0) yield* countCrashes(crashed)
    const byKey = new Map(free.map(({ partition_key }): [string, Array<ClaimedUpdate>] => [partition_key, []]))
    for (const row of yield* dialect.firstUpdates(updates, [...byKey.keys()], maxUpdates)) {
      byKey.get(row.partition_key)!.push(toClaimed(row))
    }
    const claimed = [...byKey].map(([partition_key, updates]) => ({
      partition_key,
      begun: toBegun(updates.slice(0, begin).map(({ id }) => id))
    }))
    yield* sql`
      UPDATE ${partitions} AS p SET owner = ${ownerOf(owner)}, lease_until = ${now} + ${leaseDuration}, begun = r.begun
      FROM ${rows({ partition_key: "text", begun: "text" }, claimed)} WHERE p.partition_key = r.partition_key`
    return [...byKey].map(([key, updates]) => ({ key: decodeText(key), updates }))
  })

  const commit = Effect.fnUntraced(function* (commits: ReadonlyArray<Commit>) {
    const keys = [...new Set(commits.map(({ partitionKey }) => encodeIndexed(partitionKey)))]
    const rowsOfHeld = yield* sql<{ partition_key: string; owner: string; begun: string }>`
      SELECT partition_key, owner, begun FROM ${partitions}
      WHERE owner IS NOT NULL AND partition_key IN ${keysIn(keys)} ORDER BY partition_key ${lock}`
    const held = new Map(rowsOfHeld.map((row) => [row.partition_key, row]))
    const changes = changesOf(commits, held, ownerOf)
    if (changes.partitions.length === 0) return changes.results
    if (changes.acknowledged.length > 0) {
      yield* sql`
        DELETE FROM ${updates} WHERE id IN (
          SELECT u.id FROM ${rows({ partition_key: "text", id: "bigint" }, changes.acknowledged)}
          JOIN ${updates} AS u ON u.id = r.id AND u.partition_key = r.partition_key AND u.failed_at IS NULL
        )`
    }
    if (changes.failures.length > 0) {
      yield* sql`
        UPDATE ${updates} AS u SET attempts = COALESCE(u.attempts, 0) + r.count
        FROM ${rows({ partition_key: "text", id: "bigint", count: "bigint" }, changes.failures)}
        WHERE u.id = r.id AND u.partition_key = r.partition_key AND u.failed_at IS NULL`
    }
    if (changes.deadLetters.length > 0) {
      yield* sql`
        UPDATE ${updates} AS u SET error = r.error, attempts = r.attempts, failed_at = r.failed_at
        FROM ${rows(deadLetterColumns, changes.deadLetters)}
        WHERE u.id = r.id AND u.partition_key = r.partition_key AND u.failed_at IS NULL`
    }
    yield* sql`
      UPDATE ${partitions} AS p SET
        head_id = ${firstUpdate},
        begun = r.begun,
        owner = CASE WHEN r.released = 1 THEN NULL ELSE p.owner END,
        lease_until = CASE WHEN r.released = 1 THEN 0 ELSE p.lease_until END
      FROM ${rows({ partition_key: "text", begun: "text", released: "bigint" }, changes.partitions)}
      WHERE p.partition_key = r.partition_key`
    const released = changes.partitions.flatMap(({ partition_key, released }) =>
      released === 1 ? [partition_key] : []
    )
    if (released.length > 0) {
      yield* sql`
        DELETE FROM ${partitions}
        WHERE head_id IS NULL AND owner IS NULL AND partition_key IN ${keysIn(released)}`
    }
    return changes.results
  })

  /** The partitions of an owner, locked in the order in which all transactions lock them. */
  const heldBy = (owner: string) =>
    sql`WITH held AS MATERIALIZED (
      SELECT partition_key FROM ${partitions} WHERE owner = ${ownerOf(owner)} ORDER BY partition_key ${lock}
    )`

  const renew = (owner: string, leaseDuration: number, clock: number) => sql<{ partition_key: string }>`
    ${heldBy(owner)}
    UPDATE ${partitions} SET lease_until = ${dialect.now(clock)} + ${leaseDuration}
    WHERE partition_key IN (SELECT partition_key FROM held) RETURNING partition_key`

  const release = Effect.fnUntraced(function* (owner: string) {
    const released = yield* sql<{ partition_key: string; head_id: number | bigint | null }>`
      ${heldBy(owner)}
      UPDATE ${partitions} SET owner = NULL, lease_until = 0, begun = ''
      WHERE partition_key IN (SELECT partition_key FROM held) RETURNING partition_key, head_id`
    const empty = released.flatMap(({ head_id, partition_key }) => (head_id === null ? [partition_key] : []))
    if (empty.length > 0) yield* sql`DELETE FROM ${partitions} WHERE partition_key IN ${keysIn(empty)}`
  })

  /** Ends the leases of a process that is gone. What it has begun is counted by the next claim. */
  const endLeasesOf = (id: string) =>
    sql`UPDATE ${partitions} SET lease_until = 0 WHERE substr(owner, 1, ${id.length + 1}) = ${`${id}:`}`

  const stats = sql<{ queued: number | bigint; oldest: number | bigint | null; dead_letters: number | bigint }>`
    SELECT
      (SELECT count(*) FROM ${updates} WHERE failed_at IS NULL) AS queued,
      (SELECT u.received_at FROM ${partitions} AS p JOIN ${updates} AS u ON u.id = p.head_id
        WHERE p.head_id IS NOT NULL ORDER BY p.head_id LIMIT 1) AS oldest,
      (SELECT count(*) FROM ${updates} WHERE failed_at IS NOT NULL) AS dead_letters`

  const marker = (source: string) =>
    sql<{ value: string }>`SELECT value FROM ${markers} WHERE source = ${encodeIndexed(source)}`

  const deadLetters = (after: string, limit: number) => sql<DeadLetterRow>`
    SELECT id, partition_key, fingerprint, received_at, text, error, attempts, failed_at FROM ${updates}
    WHERE failed_at IS NOT NULL AND id > ${BigInt(after)} ORDER BY id LIMIT ${limit}`

  const replay = Effect.fnUntraced(function* (ids: ReadonlyArray<{ readonly id: string }>) {
    const found = yield* sql<{ id: number | bigint; partition_key: string }>`
      SELECT id, partition_key FROM ${updates} WHERE failed_at IS NOT NULL AND id IN ${idsIn(ids)} ORDER BY id ${lock}`
    if (found.length === 0) return 0
    const keys = [...new Set(found.map(({ partition_key }) => partition_key))]
    const replayed = idsIn(found.map(({ id }) => ({ id: String(id) })))
    yield* lockPartitions(keys)
    yield* sql`
      INSERT INTO ${updates} (fingerprint, partition_key, received_at, text, attempts)
      SELECT fingerprint, partition_key, received_at, text, attempts FROM ${updates} WHERE id IN ${replayed} ORDER BY id`
    yield* sql`DELETE FROM ${updates} WHERE id IN ${replayed}`
    yield* setHeads(keys)
    return found.length
  })

  const drop = (ids: ReadonlyArray<{ readonly id: string }>) =>
    sql`DELETE FROM ${updates} WHERE failed_at IS NOT NULL AND id IN ${idsIn(ids)} RETURNING id`

  const inChunks = <A>(statement: Statement<A>) =>
    Effect.repeat(Effect.tap(statement, Effect.yieldNow), { while: (deleted) => deleted.length === cleanupChunk })

  const limit = sql.literal(`LIMIT ${cleanupChunk}`)

  const cleanup = Effect.fnUntraced(function* (fingerprintsBefore: number, deadLettersBefore: number) {
    yield* inChunks(sql`
      DELETE FROM ${fingerprints} WHERE fingerprint IN (
        SELECT fingerprint FROM ${fingerprints} WHERE seen_at < ${fingerprintsBefore} ${limit} ${lockFree}
      ) RETURNING seen_at`)
    yield* inChunks(sql`
      DELETE FROM ${updates} WHERE id IN (
        SELECT id FROM ${updates} WHERE failed_at < ${deadLettersBefore} ${limit} ${lockFree}
      ) RETURNING id`)
    yield* inChunks(sql`
      DELETE FROM ${partitions} WHERE partition_key IN (
        SELECT partition_key FROM ${partitions}
        WHERE head_id IS NULL AND lease_until < ${fingerprintsBefore} ${limit} ${lockFree}
      ) RETURNING partition_key`)
  })

  const store: BatchStore = {
    isShared: true,
    enqueueAll: (batches) => transaction("enqueue")(enqueue(batches)),
    claim: (options) =>
      Effect.suspend(() => {
        const gone: Array<ProcessLock.GoneProcess> = []
        const claimed = Effect.suspend(() => {
          if (processLock !== undefined) gone.push(...processLock.findGone())
          const ended = Effect.forEach(gone, ({ id }) => endLeasesOf(id), { discard: true })
          return Effect.andThen(
            ended,
            Effect.clockWith((clock) => claim(options, clock.currentTimeMillisUnsafe()))
          )
        })
        return Effect.onExit(transaction("claim")(claimed), (exit) =>
          Effect.sync(() => gone.forEach(({ keep, remove }) => (Exit.isSuccess(exit) ? remove() : keep())))
        )
      }),
    commit: (commits) => (commits.length === 0 ? Effect.succeed([]) : transaction("commit")(commit(commits))),
    renew: (owner, leaseDuration) =>
      Effect.map(
        transaction("renew")(Effect.clockWith((clock) => renew(owner, leaseDuration, clock.currentTimeMillisUnsafe()))),
        (held) => held.map(({ partition_key }) => decodeText(partition_key))
      ),
    release: (owner) => transaction("release")(Effect.suspend(() => release(owner))),
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
    deadLetters: ({ after = "0", limit }) =>
      Effect.map(operation("deadLetters")(deadLetters(isId(after) ? after : "0", limit)), (rows) =>
        rows.map(toDeadLetter)
      ),
    replay: (ids) => transaction("replay")(replay(toIdRows(ids))),
    drop: (ids) => Effect.map(operation("drop")(drop(toIdRows(ids))), (dropped) => dropped.length),
    cleanup: ({ fingerprintsBefore, deadLettersBefore }) =>
      operation("cleanup")(cleanup(fingerprintsBefore, deadLettersBefore))
  }
  return { store, ready: operation("migrate")(Effect.void) }
})
