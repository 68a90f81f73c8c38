/**
 * Prints the time per row in microseconds of batches that a stream writes to PostgreSQL, of the same inserts by hand, of the
 * same inserts between claims and acknowledgements by hand, and of the same inserts from the smallest queue in the same
 * database, a table without chats, leases and attempts: `batchSink.ts postgres NAME`. The inbox is in the same database.
 */
import { Deliveries, Inbox, Update, Updates } from "@colloquy/core"
import * as Fingerprint from "@colloquy/core/model/Fingerprint"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as SqlClient from "effect/sql/SqlClient"
import { printCosts } from "../child.ts"
import { acknowledge } from "./commits.ts"
import * as places from "./places.ts"
import { fill, indexOf, layerFilled, pageOf } from "./traffic.ts"

const place = places.fromArguments(process.argv.slice(2))

/** V8 optimises the code of each stream anew, so the rows of a short stream take longer. */
const rows = 100_000

const chats = 5000

const batch = 500

/** A claim of this many updates of this many chats brings a batch. */
const maxUpdates = rows / chats
const maxPartitions = batch / maxUpdates

/** Concurrent inserts, of both sides. */
const concurrency = 4

const rounds = 3

const toRow = (update: Update.Update) => ({
  fingerprint: Fingerprint.of(update),
  chat_id: Update.chatOf(update)!,
  user_id: Update.userIdOf(update)!,
  update_type: update.update_type,
  sent_at: new Date(indexOf(update))
})

const program = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE sink (
      fingerprint text PRIMARY KEY,
      chat_id bigint NOT NULL,
      user_id bigint NOT NULL,
      update_type text NOT NULL,
      sent_at timestamptz NOT NULL
    )`
  yield* sql`CREATE TABLE queue (id bigserial PRIMARY KEY, fingerprint text NOT NULL, text text NOT NULL)`
  const insert = ([first, ...others]: ReadonlyArray<ReturnType<typeof toRow>>) =>
    sql`INSERT INTO sink ${sql.insert([first!, ...others])} ON CONFLICT (fingerprint) DO NOTHING`

  const stream = Updates.deliveries({ perChat: "unbounded" }).pipe(
    Deliveries.map(toRow),
    Deliveries.groupedWithin(batch, "1 second"),
    Deliveries.runForEach(insert, { concurrency }),
    Effect.provide(layerFilled)
  )

  const byHand = (updates: ReadonlyArray<Update.Update>) =>
    Effect.forEach(
      Array.from({ length: rows / batch }, (_, at) => at * batch),
      (first) => insert(updates.slice(first, first + batch).map(toRow)),
      { discard: true, concurrency }
    )

  /** Claims, inserts and acknowledges a batch, without the queue in memory of a stream. */
  const storeOnce = Effect.fnUntraced(function* ({ store }: Inbox.Inbox["Service"], owner: string) {
    const claimed = yield* store.claim({ owner, leaseDuration: 60_000, maxPartitions, maxUpdates, begin: maxUpdates })
    if (claimed.length === 0) return false
    yield* insert(
      claimed.flatMap(({ updates }) => updates.map(({ update }) => toRow(Result.getOrThrow(update.decoded))))
    )
    yield* store.commit(claimed.map((partition) => acknowledge(owner, partition)))
    return true
  })

  const byStore = Inbox.Inbox.use((inbox) =>
    Effect.forEach(
      Array.from({ length: concurrency }, (_, index) => `by hand ${index}`),
      (owner) => Effect.repeat(storeOnce(inbox, owner), { while: (isDone) => isDone }),
      { discard: true, concurrency }
    )
  )

  const toQueued = (update: Update.Update) => ({ fingerprint: Fingerprint.of(update), text: JSON.stringify(update) })

  const fillQueue = ([first, ...others]: ReadonlyArray<Update.Update>) =>
    sql`INSERT INTO queue ${sql.insert([toQueued(first!), ...others.map(toQueued)])}`

  /** Removes a batch from the queue and inserts it in one transaction. The rows of a chat are in no order. */
  const queueOnce = sql.withTransaction(
    Effect.gen(function* () {
      const queued = yield* sql<{ readonly fingerprint: string; readonly text: string }>`
        DELETE FROM queue WHERE id = ANY (ARRAY(SELECT id FROM queue ORDER BY id LIMIT ${batch} FOR UPDATE SKIP LOCKED))
        RETURNING fingerprint, text`
      if (queued.length === 0) return false
      yield* insert(queued.map(({ fingerprint, text }) => ({ ...toRow(JSON.parse(text)), fingerprint })))
      return true
    })
  )

  const byQueue = Effect.forEach(
    Array.from({ length: concurrency }),
    () => Effect.repeat(queueOnce, { while: (isDone) => isDone }),
    { discard: true, concurrency }
  )

  /** A stream that has ended has closed the inbox. */
  const refill = (first: number) =>
    Effect.andThen(
      Inbox.Inbox.use(({ open }) => open),
      fill(first, rows, chats)
    )

  const cost = <E, R>(write: Effect.Effect<void, E, R>) =>
    Effect.gen(function* () {
      const start = performance.now()
      yield* write
      const millis = performance.now() - start
      const [{ count }] = yield* sql<{ readonly count: bigint }>`SELECT count(*) AS count FROM sink`
      if (Number(count) !== rows) throw new Error(`${count} of ${rows} rows were written`)
      yield* sql`TRUNCATE sink`
      return (millis * 1000) / rows
    })

  const costs = {
    stream: Array<number>(),
    "by hand": Array<number>(),
    "by hand with the store": Array<number>(),
    queue: Array<number>()
  }
  for (let round = -1; round < rounds; round++) {
    const first = 2 * (round + 1) * rows
    yield* refill(first)
    const updates = pageOf(first, rows, chats).flatMap(({ decoded }) =>
      Result.isSuccess(decoded) ? [decoded.success] : []
    )
    const measured = [yield* cost(stream), yield* cost(byHand(updates))] as const
    yield* refill(first + rows)
    const ofStore = yield* cost(byStore)
    for (let from = 0; from < rows; from += 5000) yield* fillQueue(updates.slice(from, from + 5000))
    const ofQueue = yield* cost(byQueue)
    if (round < 0) continue
    costs.stream.push(measured[0])
    costs["by hand"].push(measured[1])
    costs["by hand with the store"].push(ofStore)
    costs["queue"].push(ofQueue)
  }
  printCosts(costs)
})

await Effect.runPromise(
  Effect.provide(
    program,
    Layer.merge(places.layerInbox(place, { capacity: 10_000_000, deduplicationWindow: 0 }), places.postgres(place.name))
  )
)
