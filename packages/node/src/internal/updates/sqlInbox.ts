import * as Backoff from "@colloquy/core/Backoff"
import type { Arrival, Claim, BatchStore, Settlement } from "@colloquy/core/InboxStore"
import * as Letter from "@colloquy/core/Letter"
import type { StoreError } from "@colloquy/core/StoreError"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Semaphore from "effect/Semaphore"
import * as SqlClient from "effect/sql/SqlClient"
import { SqlError } from "effect/sql/SqlError"
import type { Fragment, Statement } from "effect/sql/Statement"
import { ofSql } from "../stores/failure.ts"
import { fromPlain, isId, toName } from "./plain.ts"
import * as Dialect from "./sqlDialect.ts"
import { candidatesOf, planOf } from "./sqlPlan.ts"
import * as Tables from "./sqlTables.ts"

interface DeadRow extends Dialect.LetterRow {
  readonly problem: string
  readonly attempts: number | bigint
  readonly died_at: number | bigint
}

const toStored = ({ id, key, fingerprint, received_at, text }: Dialect.LetterRow): Letter.Stored => ({
  id: String(id),
  letter: Letter.fromStored({
    fingerprint: fromPlain(fingerprint),
    key: fromPlain(key),
    receivedAt: Number(received_at),
    text: fromPlain(text)
  })
})

const toDead = (row: DeadRow): Letter.Dead => ({
  ...toStored(row),
  problem: fromPlain(row.problem),
  attempts: Number(row.attempts),
  diedAt: Number(row.died_at)
})

const failure = ofSql("inbox")

const sweepChunk = 1000

const toIdRows = (ids: ReadonlyArray<string>) => ids.filter(isId).map((id) => ({ id }))

const collisions = new Set(["DeadlockError", "SerializationError", "LockTimeoutError"])

const isCollision = (error: unknown) => error instanceof SqlError && collisions.has(error.reason._tag)

const collisionPauses = Backoff.make({ first: "5 millis", cap: "1 second" }).pipe(Schedule.upTo({ times: 8 }))

export interface Options {
  readonly tablePrefix: string
}

/**
 * The transactions of the inbox. They take their locks in one order (fingerprints, mailboxes by key, letters, markers),
 * so that they do not wait for each other in a circle. Who adds to or removes from the letters of a key holds the lock
 * of its mailbox: a mailbox goes only when nobody can add to it, and letters of a key have their ids in the order in
 * which they are committed.
 */
export const make = Effect.fnUntraced(function* ({ tablePrefix }: Options) {
  const sql = (yield* SqlClient.SqlClient).withoutTransforms()
  const dialect = Dialect.make(sql)
  const { lock, lockFree, rows } = dialect
  const table = Tables.names(tablePrefix)
  const letters = sql(table.letters)
  const mailboxes = sql(table.mailboxes)
  const seen = sql(table.seen)
  const markers = sql(table.markers)

  // A database is outside the program: it does not run in virtual time.
  const retryCollisions = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Backoff.retry(effect, { schedule: collisionPauses, while: isCollision, clock: Clock.Clock.defaultValue() })

  const gate = yield* Semaphore.make(1)
  let isMigrated = false
  const migrateOnce = gate.withPermit(
    Effect.suspend(() =>
      isMigrated
        ? Effect.void
        : Effect.map(
            Effect.provideService(retryCollisions(Tables.migrate(tablePrefix, dialect)), SqlClient.SqlClient, sql),
            () => {
              isMigrated = true
            }
          )
    )
  )

  const operation =
    (name: string) =>
    <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, StoreError> =>
      Effect.mapError(
        Effect.suspend(() => (isMigrated ? effect : Effect.andThen(migrateOnce, effect))),
        failure(name)
      )

  const transaction = (name: string) => {
    const named = operation(name)
    return <A>(effect: Effect.Effect<A, SqlError>): Effect.Effect<A, StoreError> =>
      named(
        retryCollisions(
          Effect.provideService(sql.withTransaction(effect), SqlClient.BeginTransaction, dialect.isolation)
        )
      )
  }

  const keysIn = (keys: ReadonlyArray<string>): Fragment =>
    sql`(SELECT r.key FROM ${rows(
      { key: "text" },
      keys.map((key) => ({ key }))
    )})`

  const idsIn = (ids: ReadonlyArray<{ readonly id: string }>): Fragment =>
    sql`(SELECT r.id FROM ${rows({ id: "bigint" }, ids)})`

  /** Gives the fingerprints that are new, and are not any more. */
  const remember = (fingerprints: ReadonlyArray<{ fingerprint: string; at: number }>, since: number) =>
    sql<{ fingerprint: string }>`
      INSERT INTO ${seen} AS s (fingerprint, at)
      SELECT r.fingerprint, r.at FROM ${rows({ fingerprint: "text", at: "bigint" }, fingerprints)}
      WHERE true ORDER BY r.fingerprint
      ON CONFLICT (fingerprint) DO UPDATE SET at = excluded.at WHERE s.at < ${since}
      RETURNING fingerprint`

  /** Makes the mailboxes that are missing, and keeps others from all of them until the transaction ends. */
  const open = (keys: ReadonlyArray<string>) =>
    sql`
      INSERT INTO ${mailboxes} (key)
      SELECT r.key FROM ${rows(
        { key: "text" },
        keys.map((key) => ({ key }))
      )}
      WHERE true ORDER BY r.key
      ON CONFLICT (key) DO UPDATE SET key = excluded.key`

  const firstLetter = sql`(SELECT min(l.id) FROM ${letters} AS l WHERE l.key = m.key AND l.died_at IS NULL)`

  const setHeads = (keys: ReadonlyArray<string>) =>
    sql`UPDATE ${mailboxes} AS m SET head = ${firstLetter} WHERE m.head IS NULL AND m.key IN ${keysIn(keys)}`

  const putAll = Effect.fnUntraced(function* (arrivals: ReadonlyArray<Arrival>) {
    const candidates = candidatesOf(arrivals)
    const recognised = candidates.filter(({ isRecognised }) => isRecognised)
    const fresh = new Set<string>()
    if (recognised.length > 0) {
      const since = Math.min(...arrivals.map(({ duplicatesSince }) => duplicatesSince))
      const asked = recognised.map(({ row, at }) => ({ fingerprint: row.fingerprint, at }))
      for (const { fingerprint } of yield* remember(asked, since)) fresh.add(fingerprint)
    }
    const accepted = candidates.filter(({ isRecognised, row }) => !isRecognised || fresh.has(row.fingerprint))
    const keys = [...new Set(accepted.flatMap(({ row }) => (row.died_at === null ? [row.key] : [])))]
    if (keys.length > 0) yield* open(keys)
    if (accepted.length > 0) {
      yield* dialect.insert(
        letters,
        accepted.map(({ row }) => row)
      )
    }
    if (keys.length > 0) yield* setHeads(keys)
    const read = new Map(
      arrivals.flatMap(({ marker }) => (marker === undefined ? [] : [[marker.source, marker.value]]))
    )
    if (read.size > 0) {
      const values = [...read].map(([source, value]) => ({ source: toName(source), value: String(value) }))
      yield* sql`
        INSERT INTO ${markers} (source, value)
        SELECT r.source, r.value FROM ${rows({ source: "text", value: "text" }, values)}
        WHERE true ORDER BY r.source
        ON CONFLICT (source) DO UPDATE SET value = excluded.value`
    }
    const counts = arrivals.map(() => 0)
    for (const { arrival } of accepted) counts[arrival]++
    return counts
  })

  const claim = Effect.fnUntraced(function* ({ owner, now, leaseUntil, mailboxes: count, letters: perMailbox }: Claim) {
    const claimed = yield* sql<{ key: string; head: number | bigint }>`
      WITH free AS MATERIALIZED (
        SELECT key FROM ${mailboxes} WHERE head IS NOT NULL AND lease_until <= ${now}
        ORDER BY head LIMIT ${count} ${lockFree}
      )
      UPDATE ${mailboxes} SET owner = ${toName(owner)}, lease_until = ${leaseUntil}
      WHERE key IN (SELECT key FROM free)
      RETURNING key, head`
    if (claimed.length === 0) return []
    const keys = [...claimed].sort((a, b) => (a.head < b.head ? -1 : 1)).map(({ key }) => key)
    const boxes = new Map(keys.map((key): [string, Array<Letter.Stored>] => [key, []]))
    for (const row of yield* dialect.firstLetters(letters, keys, perMailbox)) boxes.get(row.key)!.push(toStored(row))
    return [...boxes].map(([key, letters]) => ({ key: fromPlain(key), letters }))
  })

  const settle = Effect.fnUntraced(function* (settlements: ReadonlyArray<Settlement>) {
    const keys = [...new Set(settlements.map(({ key }) => toName(key)))]
    const held = yield* sql<{ key: string; owner: string }>`
      SELECT key, owner FROM ${mailboxes} WHERE owner IS NOT NULL AND key IN ${keysIn(keys)} ORDER BY key ${lock}`
    const { handled, died, touched } = planOf(settlements, new Map(held.map(({ key, owner }) => [key, owner])))
    if (touched.length === 0) return
    if (handled.length > 0) yield* sql`DELETE FROM ${letters} WHERE died_at IS NULL AND id IN ${idsIn(handled)}`
    if (died.length > 0) {
      yield* sql`
        UPDATE ${letters} AS l SET problem = r.problem, attempts = r.attempts, died_at = r.at
        FROM ${rows({ id: "bigint", problem: "text", attempts: "bigint", at: "bigint" }, died)}
        WHERE l.id = r.id AND l.died_at IS NULL`
    }
    yield* sql`
      UPDATE ${mailboxes} AS m SET
        head = ${firstLetter},
        owner = CASE WHEN r.released = 1 THEN NULL ELSE m.owner END,
        lease_until = CASE WHEN r.released = 1 THEN 0 ELSE m.lease_until END
      FROM ${rows({ key: "text", released: "bigint" }, touched)}
      WHERE m.key = r.key`
    const released = touched.flatMap(({ key, released }) => (released === 1 ? [key] : []))
    if (released.length > 0) {
      yield* sql`DELETE FROM ${mailboxes} WHERE head IS NULL AND owner IS NULL AND key IN ${keysIn(released)}`
    }
  })

  const extend = (owner: string, leaseUntil: number) => sql`
    WITH held AS MATERIALIZED (SELECT key FROM ${mailboxes} WHERE owner = ${toName(owner)} ORDER BY key ${lock})
    UPDATE ${mailboxes} SET lease_until = ${leaseUntil} WHERE key IN (SELECT key FROM held)`

  const stats = sql<{ waiting: number | bigint; oldest: number | bigint | null; dead: number | bigint }>`
    SELECT
      (SELECT count(*) FROM ${letters} WHERE died_at IS NULL) AS waiting,
      (SELECT l.received_at FROM ${mailboxes} AS m JOIN ${letters} AS l ON l.id = m.head
        WHERE m.head IS NOT NULL ORDER BY m.head LIMIT 1) AS oldest,
      (SELECT count(*) FROM ${letters} WHERE died_at IS NOT NULL) AS dead`

  const marker = (source: string) =>
    sql<{ value: string }>`SELECT value FROM ${markers} WHERE source = ${toName(source)}`

  const dead = (after: string, limit: number) => sql<DeadRow>`
    SELECT id, key, fingerprint, received_at, text, problem, attempts, died_at FROM ${letters}
    WHERE died_at IS NOT NULL AND id > ${BigInt(after)} ORDER BY id LIMIT ${limit}`

  const replay = Effect.fnUntraced(function* (ids: ReadonlyArray<{ readonly id: string }>) {
    const found = yield* sql<{ id: number | bigint; key: string }>`
      SELECT id, key FROM ${letters} WHERE died_at IS NOT NULL AND id IN ${idsIn(ids)} ORDER BY id ${lock}`
    if (found.length === 0) return 0
    const keys = [...new Set(found.map(({ key }) => key))]
    const again = idsIn(found.map(({ id }) => ({ id: String(id) })))
    yield* open(keys)
    yield* sql`
      INSERT INTO ${letters} (fingerprint, key, received_at, text)
      SELECT fingerprint, key, received_at, text FROM ${letters} WHERE id IN ${again} ORDER BY id`
    yield* sql`DELETE FROM ${letters} WHERE id IN ${again}`
    yield* setHeads(keys)
    return found.length
  })

  const drop = (ids: ReadonlyArray<{ readonly id: string }>) =>
    sql`DELETE FROM ${letters} WHERE died_at IS NOT NULL AND id IN ${idsIn(ids)} RETURNING id`

  const inChunks = <A>(statement: Statement<A>) =>
    Effect.repeat(Effect.tap(statement, Effect.yieldNow), { while: (deleted) => deleted.length === sweepChunk })

  const limit = sql.literal(`LIMIT ${sweepChunk}`)

  const sweep = Effect.fnUntraced(function* (seenBefore: number, diedBefore: number) {
    yield* inChunks(sql`
      DELETE FROM ${seen} WHERE fingerprint IN (
        SELECT fingerprint FROM ${seen} WHERE at < ${seenBefore} ${limit} ${lockFree}
      ) RETURNING at`)
    yield* inChunks(sql`
      DELETE FROM ${letters} WHERE id IN (
        SELECT id FROM ${letters} WHERE died_at < ${diedBefore} ${limit} ${lockFree}
      ) RETURNING id`)
    yield* inChunks(sql`
      DELETE FROM ${mailboxes} WHERE key IN (
        SELECT key FROM ${mailboxes} WHERE head IS NULL AND lease_until < ${seenBefore} ${limit} ${lockFree}
      ) RETURNING key`)
  })

  const store: BatchStore = {
    isShared: true,
    putAll: (arrivals) => transaction("put")(putAll(arrivals)),
    claim: (asked) => transaction("claim")(claim(asked)),
    settle: (settlements) => (settlements.length === 0 ? Effect.void : transaction("settle")(settle(settlements))),
    extend: (owner, leaseUntil) => Effect.asVoid(transaction("extend")(extend(owner, leaseUntil))),
    stats: Effect.map(operation("stats")(stats), ([{ waiting, oldest, dead }]) => ({
      waiting: Number(waiting),
      oldest: oldest === null ? undefined : Number(oldest),
      dead: Number(dead)
    })),
    marker: (source) =>
      Effect.map(operation("marker")(marker(source)), ([row]) => (row === undefined ? undefined : BigInt(row.value))),
    dead: ({ after = "0", limit }) =>
      Effect.map(operation("dead")(dead(isId(after) ? after : "0", limit)), (rows) => rows.map(toDead)),
    replay: (ids) => transaction("replay")(replay(toIdRows(ids))),
    drop: (ids) => Effect.map(operation("drop")(drop(toIdRows(ids))), (dropped) => dropped.length),
    sweep: ({ seenBefore, diedBefore }) => operation("sweep")(sweep(seenBefore, diedBefore))
  }
  return { store, ready: operation("migrate")(Effect.void) }
})
