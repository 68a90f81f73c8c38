import * as InboxStore from "@colloquy/core/inbox/InboxStore"
import * as QueuedUpdate from "@colloquy/core/inbox/QueuedUpdate"
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as SqlClient from "effect/sql/SqlClient"
import { functionNames } from "../../src/inbox/internal/pg/functions.ts"
import { toWrites } from "../../src/inbox/internal/pg/rows.ts"
import * as SqlInboxStore from "../../src/inbox/SqlInboxStore.ts"
import * as databases from "../support/databases.ts"

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
      o: "one",
      a: updates.map(({ id }) => id).join(","),
      d: "",
      b: "",
      x: 1
    }))
    assert.lengthOf(changes, maxPartitions)
    yield* sql`SELECT * FROM ${sql(functions.commit)}(${JSON.stringify(changes)}::json, NULL, NULL, NULL, false, false)`
    return yield* readSoFar(prefix)
  })
  return yield* sql.withTransaction(measured)
})

describe.skipIf(await databases.isMissing("PostgreSQL", 5432))("pgFunctions", () => {
  for (const expected of [null, undefined]) {
    const condition = expected === null ? " on the condition that they do not exist" : ""
    it.live(`Processes that write the same rows in different orders${condition} do not deadlock`, () => {
      const prefix = databases.uniqueName()
      return Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const store = yield* InboxStore.InboxStore
        const other = Context.get(yield* Layer.build(Layer.fresh(databases.Postgres)), SqlClient.SqlClient)
        const write = (sql: SqlClient.SqlClient, revision: string, keys: ReadonlyArray<string>) =>
          sql<{ readonly conflicts: ReadonlyArray<string> | null }>`
            SELECT * FROM ${sql(functionNames(`${prefix}_inbox`).writeRows)}(${JSON.stringify(
              toWrites(
                "",
                keys.map((key) => ({ key, row: { text: revision }, revision, expected }))
              )
            )}::json, ${expected === null})`
        const areWaiting = Effect.map(
          sql<{ readonly count: bigint }>`
            SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE ${`%${prefix}%`}`,
          ([{ count }]) => Number(count) === 2
        )
        const writing = yield* other.withTransaction(
          Effect.gen(function* () {
            yield* write(other, "middle", ["middle"])
            const all = Effect.all([write(sql, "one", ["b", "middle", "a"]), write(sql, "two", ["a", "middle", "b"])], {
              concurrency: 2
            })
            const fiber = yield* Effect.forkDetach(all)
            yield* Effect.repeat(areWaiting, { until: (are) => are, schedule: Schedule.spaced("10 millis") })
            return fiber
          })
        )
        const results = yield* Fiber.join(writing)
        const stored = yield* store.read(["a", "b", "middle"])
        const revisions = stored.map((row) => row?.revision)
        if (expected === null) {
          assert.isTrue(results.every(([{ conflicts }]) => conflicts?.length === 1))
          assert.deepStrictEqual(revisions, [undefined, undefined, "middle"])
        } else assert.include(["one one one", "two two two"], revisions.join(" "))
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
  }

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
      const changes = JSON.stringify([{ k: "first", o: "one", a: "", d: "", b: "", x: 1 }])
      const released = sql`SELECT * FROM ${sql(commit)}(${changes}::json, NULL, NULL, NULL, false, false)`
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
            ? { k: key, o: "one", a: first.id, x: 1 }
            : { k: key, o: "one", a: first.id, d: `${first.id},${second.id}`, b: second.id, x: 0 }
        )
        const { commit } = functionNames(`${prefix}_inbox`)
        const read = yield* sql.withTransaction(
          Effect.gen(function* () {
            const before = yield* readSoFar(prefix)
            yield* sql`SELECT * FROM ${sql(commit)}(${JSON.stringify(changes)}::json, NULL, NULL, NULL, false, false)`
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
          store.write([
            { journal: { owner, partitionKey, id }, rows: [{ key: "a", row: { text: "{}" }, revision: "1" }] }
          ])
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
        }>`SELECT update_id FROM ${sql(`${prefix}_inbox_rows`)}`
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
