import * as InboxStore from "@colloquy/core/inbox/InboxStore"
import * as QueuedUpdate from "@colloquy/core/inbox/QueuedUpdate"
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as SqlClient from "effect/sql/SqlClient"
import * as pgStates from "../../src/inbox/internal/state/pgStates.ts"
import * as pgTimers from "../../src/inbox/internal/timers/pgTimers.ts"
import { functionNames } from "../../src/inbox/internal/pgFunctions.ts"
import * as SqlInboxStore from "../../src/inbox/SqlInboxStore.ts"
import * as databases from "../support/databases.ts"
import { change, claim } from "../support/inboxRequests.ts"

const batch = (first: number, keys: ReadonlyArray<string>): InboxStore.Batch => ({
  updates: keys.map((partitionKey, index) =>
    QueuedUpdate.fromStored({ fingerprint: String(first + index), partitionKey, receivedAt: 0, text: "{}" })
  ),
  deadLetters: [],
  now: 0,
  duplicatesSince: 0
})

const others = 20_000

/** A store whose statements have one connection, so that they have the plans of the statements before. */
const storesOf = (prefix: string) =>
  SqlInboxStore.layer({ prefix }).pipe(
    Layer.provide(databases.pgTables(prefix)),
    Layer.provideMerge(databases.onlyConnection)
  )

/** How many rows of updates and partitions the transaction of the connection has read. */
const readSoFar = Effect.fnUntraced(function* (prefix: string) {
  const sql = yield* SqlClient.SqlClient
  const [{ rows }] = yield* sql<{ readonly rows: bigint }>`
    SELECT sum(COALESCE(seq_tup_read, 0) + COALESCE(idx_tup_fetch, 0))::bigint AS rows FROM pg_stat_xact_user_tables
    WHERE relid IN (${`${prefix}_inbox_updates`}::regclass, ${`${prefix}_inbox_partitions`}::regclass)`
  return Number(rows)
})

/**
 * Claims partitions, acknowledges their updates and releases them. Returns how many rows of updates and partitions were read.
 * The functions are called directly, because the numbers of rows belong to the transaction of the connection.
 */
const rowsRead = Effect.fnUntraced(function* (prefix: string, maxPartitions: number) {
  const sql = yield* SqlClient.SqlClient
  const functions = functionNames(`${prefix}_inbox`)
  const measured = Effect.gen(function* () {
    const claimed = yield* sql<{ readonly id: bigint; readonly partition_key: string }>`
      SELECT * FROM ${sql(functions.claim)}(${"one"}, 60000, ${maxPartitions}, 16, 1, 0)`
    const changes = [...Map.groupBy(claimed, ({ partition_key }) => partition_key)].map(([k, updates]) => ({
      k,
      a: updates.map(({ id }) => id).join(","),
      d: "",
      b: "",
      x: 1
    }))
    assert.lengthOf(changes, maxPartitions)
    yield* sql`SELECT * FROM ${sql(functions.commit)}(${"one"}, ${JSON.stringify(changes)}::json, NULL, NULL, NULL, NULL)`
    return yield* readSoFar(prefix)
  })
  return yield* sql.withTransaction(measured)
})

describe.skipIf(await databases.isMissing("PostgreSQL", 5432))("pgFunctions", () => {
  it.live("Commits that follow each other in a transaction do not deadlock on state that does not exist yet", () => {
    const prefix = databases.uniqueName()
    const write = (name: string): InboxStore.StateWrite => ({
      name,
      scope: "bot",
      value: { text: "1", version: 1, expiresAt: undefined },
      expected: undefined,
      revision: name
    })
    return Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const store = yield* InboxStore.InboxStore
      yield* store.enqueue(batch(0, ["chat", "chat"]))
      const [{ updates }] = yield* store.claim(claim("one"))
      const commits = updates.map(({ id }, index) =>
        change("one", "chat", { completed: [{ id }], writes: [write(index === 0 ? "b" : "a")] })
      )
      const isWaiting = Effect.map(
        sql<{ readonly count: bigint }>`
          SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE ${`%${prefix}%`}`,
        ([{ count }]) => Number(count) > 0
      )
      const other = Context.get(yield* Layer.build(Layer.fresh(databases.Postgres)), SqlClient.SqlClient)
      const writeOther = (name: string) =>
        other`SELECT * FROM ${other(functionNames(`${prefix}_inbox`).writeState)}(
          ${JSON.stringify(pgStates.toWriteRows("", [write(name)]))}::json)`
      const committed = yield* other.withTransaction(
        Effect.gen(function* () {
          // The commits hold nothing that this transaction has to wait for.
          yield* other`SET LOCAL lock_timeout = '100ms'`
          yield* writeOther("a")
          const fiber = yield* Effect.forkDetach(store.commit(commits))
          yield* Effect.repeat(isWaiting, { until: (waits) => waits, schedule: Schedule.spaced("10 millis") })
          yield* writeOther("b")
          return fiber
        })
      )
      assert.deepStrictEqual(yield* Fiber.join(committed), ["stateConflict", "stateConflict"])
      const stored = yield* store.state.get([write("a"), write("b"), write("c")])
      assert.deepStrictEqual(
        stored.map((value) => value?.revision),
        ["a", "b", undefined]
      )
    }).pipe(
      Effect.provide(
        SqlInboxStore.layer({ prefix }).pipe(
          Layer.provide(databases.pgTables(prefix)),
          Layer.provideMerge(databases.Postgres)
        )
      ),
      Effect.scoped
    )
  })

  it.live("Processes that set the same timers in different orders do not deadlock, and keep their orders", () => {
    const prefix = databases.uniqueName()
    const timersOf = (keys: ReadonlyArray<string>) =>
      keys.map((key): InboxStore.TimerChange => ({
        name: "later",
        key,
        set: { due: { at: 0 }, partitionKey: "chat", fingerprint: key, text: key }
      }))
    return Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { timers } = yield* InboxStore.InboxStore
      const other = Context.get(yield* Layer.build(Layer.fresh(databases.Postgres)), SqlClient.SqlClient)
      const set = (sql: SqlClient.SqlClient, keys: ReadonlyArray<string>) =>
        sql`SELECT ${sql(functionNames(`${prefix}_inbox`).changeTimers)}(
          ${JSON.stringify(pgTimers.toTimerRows("", timersOf(keys)))}::json)`
      const areWaiting = Effect.map(
        sql<{ readonly count: bigint }>`
          SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE ${`%${prefix}%`}`,
        ([{ count }]) => Number(count) === 2
      )
      yield* timers.change([])
      const orders = [
        ["b", "middle", "a"],
        ["a", "middle", "b"]
      ]
      const setting = yield* other.withTransaction(
        Effect.gen(function* () {
          yield* set(other, ["middle"])
          const all = Effect.all(
            orders.map((keys) => set(sql, keys)),
            { concurrency: 2 }
          )
          const fiber = yield* Effect.forkDetach(all)
          yield* Effect.repeat(areWaiting, { until: (are) => are, schedule: Schedule.spaced("10 millis") })
          return fiber
        })
      )
      yield* Fiber.join(setting)
      const stored = yield* timers.page({ after: undefined, limit: 10 })
      assert.include(
        orders.map((order) => order.join()),
        stored.map(({ text }) => text).join()
      )
    }).pipe(
      Effect.provide(
        SqlInboxStore.layer({ prefix }).pipe(
          Layer.provide(databases.pgTables(prefix)),
          Layer.provideMerge(databases.Postgres)
        )
      ),
      Effect.scoped
    )
  })

  it.live("Claims do not wait for the disk, but commits do", () => {
    const prefix = databases.uniqueName()
    return Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const store = yield* InboxStore.InboxStore
      const { claim, commit } = functionNames(`${prefix}_inbox`)
      yield* store.enqueue(batch(0, ["first"]))
      const settingAfter = <E>(statement: Effect.Effect<unknown, E>) =>
        sql.withTransaction(
          Effect.gen(function* () {
            yield* sql`SET LOCAL synchronous_commit = 'on'`
            yield* statement
            const [{ setting }] = yield* sql<{ readonly setting: string }>`
              SELECT current_setting('synchronous_commit') AS setting`
            return setting
          })
        )
      assert.strictEqual(yield* settingAfter(sql`SELECT * FROM ${sql(claim)}(${"one"}, 60000, 1, 1, 1, 0)`), "off")
      const changes = JSON.stringify([{ k: "first", a: "", d: "", b: "", x: 1 }])
      const released = sql`SELECT * FROM ${sql(commit)}(${"one"}, ${changes}::json, NULL, NULL, NULL, NULL)`
      assert.strictEqual(yield* settingAfter(released), "on")
    }).pipe(Effect.provide(storesOf(prefix)), Effect.scoped)
  })

  it.live("Claims and commits read few rows, also if the statistics are from a time with one chat", () => {
    const prefix = databases.uniqueName()
    return Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const store = yield* InboxStore.InboxStore
      const updates = sql(`${prefix}_inbox_updates`)
      yield* store.enqueue(batch(0, Array<string>(300).fill("first")))
      yield* sql`ALTER TABLE ${updates} SET (autovacuum_enabled = false)`
      yield* sql`ANALYZE ${updates}`
      yield* store.enqueue(
        batch(
          1000,
          Array.from({ length: others }, (_, index) => `chat ${index}`)
        )
      )
      assert.isAtMost(yield* rowsRead(prefix, 50), 1000)
      assert.strictEqual((yield* store.stats).queued, others + 300 - 16 - 49)
    }).pipe(Effect.provide(storesOf(prefix)), Effect.scoped)
  })

  it.live("Claims and commits read few rows, also if their connection planned them when there was one update", () => {
    const prefix = databases.uniqueName()
    return Effect.gen(function* () {
      const store = yield* InboxStore.InboxStore
      yield* store.enqueue(batch(0, ["first"]))
      yield* rowsRead(prefix, 1)
      yield* store.enqueue(
        batch(
          1000,
          Array.from({ length: others }, (_, index) => `chat ${index % 1000}`)
        )
      )
      // Nothing of the first updates of the partitions is left, so the next ones are released with the rest of their updates.
      for (const _ of [1, 2]) assert.isAtMost(yield* rowsRead(prefix, 10), 1000)
      assert.strictEqual((yield* store.stats).queued, others - 320)
    }).pipe(Effect.provide(storesOf(prefix)), Effect.scoped)
  })

  it.live(
    "A commit reads each partition that it keeps and each update once, also if it releases another partition",
    () => {
      const prefix = databases.uniqueName()
      return Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const store = yield* InboxStore.InboxStore
        const keys = Array.from({ length: 10 }, (_, index) => `chat ${index}`)
        yield* store.enqueue(batch(0, [...keys, ...keys]))
        const claimed = yield* store.claim({
          owner: "one",
          leaseDuration: 60_000,
          maxPartitions: 10,
          maxUpdates: 2,
          begin: 1
        })
        const changes = claimed.map(({ key, updates: [first, second] }, index) =>
          index === 0
            ? { k: key, a: first.id, x: 1 }
            : { k: key, a: first.id, d: `${first.id},${second.id}`, b: second.id, x: 0 }
        )
        const { commit } = functionNames(`${prefix}_inbox`)
        const read = yield* sql.withTransaction(
          Effect.gen(function* () {
            const before = yield* readSoFar(prefix)
            yield* sql`SELECT * FROM ${sql(commit)}(${"one"}, ${JSON.stringify(changes)}::json, NULL, NULL, NULL, NULL)`
            return (yield* readSoFar(prefix)) - before
          })
        )
        // The partition that is released is read once more, and so is what is left of it.
        assert.strictEqual(read, 20 + 2)
        const begun = yield* sql<{
          readonly begun: string
        }>`SELECT begun FROM ${sql(`${prefix}_inbox_partitions`)} ORDER BY head_id`
        assert.deepStrictEqual(
          begun.map(({ begun }) => begun),
          [...claimed.slice(1).map(({ updates }) => updates[1].id), ""]
        )
        assert.strictEqual((yield* store.stats).queued, 10)
      }).pipe(Effect.provide(storesOf(prefix)), Effect.scoped)
    }
  )

  it.live(
    "A commit deletes updates with and without a journal, and the journals, but nothing of partitions that are lost",
    () => {
      const prefix = databases.uniqueName()
      return Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const store = yield* InboxStore.InboxStore
        yield* store.enqueue(batch(0, ["held", "held", "held", "lost", "lost"]))
        const [held, lost] = yield* Effect.forEach(["one", "two"], (owner) =>
          Effect.map(
            store.claim({ owner, leaseDuration: 60_000, maxPartitions: 1, maxUpdates: 3, begin: 3 }),
            ([partition]) => partition
          )
        )
        const record = (owner: string, partitionKey: string, id: string) =>
          store.journal.record([{ owner, partitionKey, id, entries: [{ slot: "a", state: "done", text: "{}" }] }])
        yield* record("one", held.key, held.updates[0].id)
        yield* record("two", lost.key, lost.updates[0].id)
        const acknowledge = (partitionKey: string, ids: ReadonlyArray<string>): InboxStore.Commit => ({
          owner: "one",
          partitionKey,
          completed: ids.map((id) => ({ id })),
          failed: [],
          begun: [],
          release: false
        })
        const ids = held.updates.slice(0, 2).map(({ id }) => id)
        const results = yield* store.commit([
          acknowledge(held.key, ids),
          acknowledge(
            lost.key,
            lost.updates.map(({ id }) => id)
          )
        ])
        assert.deepStrictEqual(results, ["applied", "leaseLost"])
        assert.strictEqual((yield* store.stats).queued, 3)
        const journaled = yield* sql<{
          readonly update_id: bigint
        }>`SELECT update_id FROM ${sql(`${prefix}_inbox_journal`)}`
        assert.deepStrictEqual(
          journaled.map(({ update_id }) => String(update_id)),
          [lost.updates[0].id]
        )
        const begun = yield* sql<{ readonly begun: string }>`
        SELECT begun FROM ${sql(`${prefix}_inbox_partitions`)} WHERE partition_key = 'held'`
        assert.deepStrictEqual(begun, [{ begun: held.updates[2].id }])
      }).pipe(Effect.provide(storesOf(prefix)), Effect.scoped)
    }
  )

  it.live(
    "New updates of a partition that has an owner do not write the partition, and are found by its release",
    () => {
      const prefix = databases.uniqueName()
      return Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const store = yield* InboxStore.InboxStore
        const claim = (owner: string) =>
          store.claim({ owner, leaseDuration: 60_000, maxPartitions: 2, maxUpdates: 2, begin: 1 })
        const version = Effect.map(
          sql<{ readonly version: string }>`
          SELECT ctid::text AS version FROM ${sql(`${prefix}_inbox_partitions`)} WHERE partition_key = 'held'`,
          ([row]) => row.version
        )
        yield* store.enqueue(batch(0, ["held"]))
        const [{ updates }] = yield* claim("one")
        const before = yield* version
        yield* store.enqueue(batch(1, ["held", "free"]))
        assert.strictEqual(yield* version, before)
        yield* store.commit([
          {
            owner: "one",
            partitionKey: "held",
            completed: updates.map(({ id }) => ({ id })),
            failed: [],
            begun: [],
            release: true
          }
        ])
        const claimed = yield* claim("two")
        assert.deepStrictEqual(
          claimed.map(({ key, updates }) => [key, ...updates.map(({ update }) => update.fingerprint)]),
          [
            ["held", "1"],
            ["free", "2"]
          ]
        )
      }).pipe(Effect.provide(storesOf(prefix)), Effect.scoped)
    }
  )
})
