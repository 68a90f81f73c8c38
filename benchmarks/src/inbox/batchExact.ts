/**
 * Prints the time per row in microseconds of batches that a stream writes to PostgreSQL in the transactions that acknowledge
 * their updates, and of the same inserts from the smallest queue that writes each row once: `batchExact.ts postgres NAME`. The
 * queue is a table in the same database, without chats, order, leases and attempts.
 */
import { Commit, Deliveries, Update, Updates } from "@colloquy/core"
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"
import { printCosts } from "../child.ts"
import * as places from "./places.ts"
import { indexOf, layerFilled, pageOf, refill } from "./traffic.ts"

const place = places.fromArguments(process.argv.slice(2))

/** V8 optimises the code of each stream anew, so the rows of a short stream take longer. */
const rows = 100_000

const chats = 5000

const batch = 500

/** Concurrent batches, of both sides. */
const concurrency = 4

const rounds = 3

const toRow = (update: Update.Update) => ({
  chat_id: Update.chatOf(update)!,
  user_id: Update.userIdOf(update)!,
  update_type: update.update_type,
  sent_at: new Date(indexOf(update))
})

const program = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE sink (
      id bigserial PRIMARY KEY,
      chat_id bigint NOT NULL,
      user_id bigint NOT NULL,
      update_type text NOT NULL,
      sent_at timestamptz NOT NULL
    )`
  yield* sql`CREATE TABLE queue (id bigserial PRIMARY KEY, text text NOT NULL)`
  const insert = ([first, ...others]: ReadonlyArray<ReturnType<typeof toRow>>) =>
    sql`INSERT INTO sink ${sql.insert([first!, ...others])}`

  const stream = Updates.deliveries({ perChat: "unbounded" }).pipe(
    Deliveries.map(toRow),
    Deliveries.groupedWithin(batch, "1 second"),
    Deliveries.runForEach((all) => Commit.add(insert(all)), { concurrency }),
    Effect.provide(layerFilled)
  )

  const toQueued = (update: Update.Update) => ({ text: JSON.stringify(update) })

  const fillQueue = ([first, ...others]: ReadonlyArray<Update.Update>) =>
    sql`INSERT INTO queue ${sql.insert([toQueued(first!), ...others.map(toQueued)])}`

  /** Removes a batch from the queue and inserts the batch in one transaction. */
  const queueOnce = sql.withTransaction(
    Effect.gen(function* () {
      const queued = yield* sql<{ readonly text: string }>`
        DELETE FROM queue WHERE id = ANY (ARRAY(SELECT id FROM queue ORDER BY id LIMIT ${batch} FOR UPDATE SKIP LOCKED))
        RETURNING text`
      if (queued.length === 0) return false
      yield* insert(queued.map(({ text }) => toRow(JSON.parse(text))))
      return true
    })
  )

  const queue = Effect.forEach(
    Array.from({ length: concurrency }),
    () => Effect.repeat(queueOnce, { while: (isDone) => isDone }),
    { discard: true, concurrency }
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

  const costs = { stream: Array<number>(), queue: Array<number>() }
  for (let round = -1; round < rounds; round++) {
    const first = (round + 1) * rows
    const updates = pageOf(first, rows, chats).flatMap(({ decoded }) =>
      decoded._tag === "Success" ? [decoded.success] : []
    )
    yield* refill(first, rows, chats)
    const ofStream = yield* cost(stream)
    for (let from = 0; from < rows; from += 5000) yield* fillQueue(updates.slice(from, from + 5000))
    const ofQueue = yield* cost(queue)
    if (round < 0) continue
    costs.stream.push(ofStream)
    costs.queue.push(ofQueue)
  }
  printCosts(costs)
})

await Effect.runPromise(
  Effect.provide(program, places.layerRows(place, { capacity: 10_000_000, deduplicationWindow: 0 }))
)
