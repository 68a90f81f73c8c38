import { Bot, Inbox, QueuedUpdate, type StoreError, Updates } from "@colloquy/core"
import * as InboxStore from "@colloquy/core/inbox/InboxStore"
import { NodeSqlite, SqlInboxStore } from "@colloquy/node"
import { Fixtures } from "@colloquy/testing"
import * as InboxSuite from "@colloquy/testing/stores/InboxSuite"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, describe, it, layer } from "@effect/vitest"
import { Cause, Clock, Context, Effect, Exit, Fiber, Latch, Layer, Result, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { contend } from "../support/contention.ts"
import { compareWithMemory } from "../support/inboxModel.ts"
import * as databases from "../support/databases.ts"
import * as Files from "../support/files.ts"
import { change, claim, enqueue, update as updateOf } from "../support/inboxRequests.ts"

const update = QueuedUpdate.fromStored({ fingerprint: "one", partitionKey: "chat", receivedAt: 0, text: "{}" })

describe("SqlInboxStore with SQLite", () => {
  const store = SqlInboxStore.layer().pipe(Layer.provide(NodeSqlite.layer({ filename: ":memory:" })))
  for (const { name, effect } of InboxSuite.cases) {
    it.effect(name, () => Effect.provide(effect, store))
  }

  for (const seed of [1, 2, 3, 4, 5, 6, 7, 8]) {
    it.effect(`returns the results of the store in memory in random operations (${seed})`, () =>
      Effect.provide(
        InboxStore.InboxStore.use((tested) => compareWithMemory(tested, seed, 400)),
        store
      )
    )
  }

  it.effect("fails with a StoreError that names the operation and the reason", () =>
    Effect.gen(function* () {
      const store = yield* InboxStore.InboxStore
      const sql = yield* SqlClient.SqlClient
      yield* sql`DROP TABLE colloquy_inbox_updates`
      const operations = {
        enqueue: store.enqueue({ updates: [update], deadLetters: [], now: 0, duplicatesSince: 0 }),
        stats: store.stats,
        updates: store.updates({ of: "queue", limit: 1 })
      }
      for (const [name, operation] of Object.entries(operations)) {
        const error = yield* Effect.flip<unknown, StoreError.StoreError, never>(operation)
        assert.strictEqual(error.operation, name)
        assert.include(error.message, "no such table: colloquy_inbox_updates")
      }
    }).pipe(Effect.provide(Layer.provideMerge(SqlInboxStore.layer(), NodeSqlite.layer({ filename: ":memory:" }))))
  )

  it.effect("returns updates and dead letters of rows with values of another type, so that they can be put aside", () =>
    Effect.gen(function* () {
      const store = yield* InboxStore.InboxStore
      const sql = yield* SqlClient.SqlClient
      yield* store.enqueue({ updates: [update], deadLetters: [], now: 0, duplicatesSince: 0 })
      const claim = { owner: "a", leaseDuration: 0, maxPartitions: 1, maxUpdates: 1, begin: 1 }
      yield* store.claim(claim)
      yield* sql`UPDATE colloquy_inbox_updates SET text = ${new Uint8Array([255])}`
      yield* sql`UPDATE colloquy_inbox_leases SET begun = ${new Uint8Array([255])}`
      const [{ updates }] = yield* store.claim(claim)
      assert.isTrue(Result.isFailure(updates[0].update.decoded))
      yield* store.commit([
        change("a", "chat", { completed: [{ id: updates[0].id, failure: { error: "?", attempts: 1, failedAt: 1 } }] })
      ])
      yield* sql`UPDATE colloquy_inbox_dead_letters SET error = ${new Uint8Array([255])}`
      const [deadLetter] = yield* store.updates({ of: "deadLetters", limit: 1 })
      assert.deepStrictEqual(deadLetter.failure, { error: "255", attempts: 1, failedAt: 1 })
    }).pipe(Effect.provide(Layer.provideMerge(SqlInboxStore.layer(), NodeSqlite.layer({ filename: ":memory:" }))))
  )

  it.effect("claims the updates of a chat once if its first updates were deleted by hand", () =>
    Effect.gen(function* () {
      const store = yield* InboxStore.InboxStore
      const sql = yield* SqlClient.SqlClient
      yield* enqueue(store, updateOf("a", 1), updateOf("a", 2), updateOf("b", 1))
      yield* sql`DELETE FROM colloquy_inbox_updates WHERE id IN (1, 3)`
      yield* enqueue(store, updateOf("b", 2))
      const claimed = yield* store.claim(claim("one"))
      assert.deepStrictEqual(
        claimed.map(({ key, updates }) => [key, ...updates.map(({ update }) => update.fingerprint)]),
        [
          ["a", "a:2"],
          ["b", "b:2"]
        ]
      )
      assert.deepStrictEqual(yield* store.claim(claim("two")), [])
    }).pipe(Effect.provide(Layer.provideMerge(SqlInboxStore.layer(), NodeSqlite.layer({ filename: ":memory:" }))))
  )

  it.effect("reads and writes rows in a transaction of the same client on the connection of the transaction", () =>
    Effect.gen(function* () {
      const store = yield* InboxStore.InboxStore
      const sql = yield* SqlClient.SqlClient
      const write = store.write([{ rows: [{ key: "counter", row: { text: "1" }, revision: "a" }] }])
      const read = store.read(["counter"])
      const expected = [{ key: "counter", text: "1", revision: "a" }]
      yield* Effect.flip(
        sql.withTransaction(
          Effect.gen(function* () {
            yield* write
            assert.deepStrictEqual(yield* read, expected)
            return yield* Effect.fail("undone")
          })
        )
      )
      assert.deepStrictEqual(yield* read, [undefined])
      assert.deepStrictEqual(yield* sql.withTransaction(Effect.andThen(write, read)), expected)
    }).pipe(Effect.provide(Layer.provideMerge(SqlInboxStore.layer(), NodeSqlite.layer({ filename: ":memory:" }))))
  )

  it.effect("creates its tables with names that begin with `prefix`", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const tables = yield* sql<{ name: string }>`SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name`
      assert.deepStrictEqual(
        tables.map(({ name }) => name).filter((name) => !name.startsWith("sqlite_")),
        [
          "bot_inbox_counts",
          "bot_inbox_dead_letters",
          "bot_inbox_fingerprints",
          "bot_inbox_free",
          "bot_inbox_leases",
          "bot_inbox_rows",
          "bot_inbox_updates"
        ]
      )
    }).pipe(
      Effect.provide(
        Layer.provideMerge(SqlInboxStore.layer({ prefix: "bot" }), NodeSqlite.layer({ filename: ":memory:" }))
      )
    )
  )

  it.live("handles each update once, in order, when several stores share a file", () =>
    Effect.scoped(
      Effect.flatMap(Files.file, (filename) =>
        contend(SqlInboxStore.layer().pipe(Layer.provide(NodeSqlite.layer({ filename, synchronous: "OFF" }))))
      )
    )
  )
})

describe.skipIf(await databases.isMissing("PostgreSQL", 5432))("SqlInboxStore with PostgreSQL", () => {
  const prefix = databases.uniqueName()
  const store = SqlInboxStore.layer({ prefix }).pipe(
    Layer.provide(databases.pgTables(prefix)),
    Layer.provideMerge(databases.hastyPostgres)
  )
  const empty = SqlClient.SqlClient.use((sql) =>
    Effect.forEach(
      ["updates", "partitions", "fingerprints", "rows"],
      (name) => sql`DELETE FROM ${sql(`${prefix}_inbox_${name}`)}`
    ).pipe(Effect.andThen(sql`UPDATE ${sql(`${prefix}_inbox_counts`)} SET queued = 0, dead_letters = 0`))
  )

  layer(store, { excludeTestServices: true })((it) => {
    for (const { name, effect } of InboxSuite.cases) {
      it.effect(name, () => Effect.andThen(empty, effect))
    }

    for (const seed of [11, 12, 13, 14, 15, 16, 17, 18]) {
      it.effect(`returns the results of the store in memory in random operations (${seed})`, () =>
        Effect.andThen(
          empty,
          InboxStore.InboxStore.use((tested) => compareWithMemory(tested, seed, 400))
        )
      )
    }
  })

  it.live("handles each update once, in order, when several stores share a database", () => {
    const prefix = databases.uniqueName()
    return contend(Layer.provide(SqlInboxStore.layer({ prefix }), databases.hastyPostgres)).pipe(
      Effect.provide(Layer.provide(databases.pgTables(prefix), databases.hastyPostgres))
    )
  })

  /** Waits for a transaction with this statement to wait for a lock, and ends its connection. */
  const terminateWaiting = (prefix: string, statement: string) =>
    SqlClient.SqlClient.use(
      (sql) => sql<{ ended: boolean }>`
        SELECT pg_terminate_backend(pid) AS ended FROM pg_stat_activity
        WHERE wait_event_type = 'Lock' AND position(${prefix} in query) > 0 AND position(${statement} in query) > 0`
    ).pipe(Effect.repeat({ until: (rows) => rows.length > 0, schedule: Schedule.spaced("5 millis") }))

  /** Runs an effect while the partitions are locked, and ends its connection when its statement waits for the lock. */
  const losingConnection = <A, E, R>(prefix: string, statement: string, effect: Effect.Effect<A, E, R>) =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const fiber = yield* sql.withTransaction(
        Effect.gen(function* () {
          yield* sql`LOCK TABLE ${sql(`${prefix}_inbox_partitions`)}`
          const fiber = yield* Effect.forkDetach(Effect.exit(effect))
          yield* Effect.provide(terminateWaiting(prefix, statement), Layer.fresh(databases.Postgres))
          return fiber
        })
      )
      return yield* Fiber.join(fiber)
    }).pipe(Effect.provide(databases.Postgres))

  it.effect("fails with a retryable StoreError if an operation takes too long, in real time", () => {
    const prefix = databases.uniqueName()
    return Effect.gen(function* () {
      const store = yield* InboxStore.InboxStore
      // A client of its own. With the client of the store, the operations would belong to the transaction.
      const sql = Context.get(yield* Layer.build(Layer.fresh(databases.Postgres)), SqlClient.SqlClient)
      const claim = { owner: "one", leaseDuration: 60_000, maxPartitions: 1, maxUpdates: 1, begin: 1 }
      const commit = { owner: "one", partitionKey: "chat", completed: [], failed: [], begun: [], release: true }
      const operations = [
        ["enqueue", store.enqueue({ updates: [update], deadLetters: [], now: 0, duplicatesSince: 1 })],
        ["claim", store.claim(claim)],
        ["commit", store.commit([commit])],
        ["renew", store.renew("one", 60_000)],
        ["renew", store.renew("one", 0)],
        ["stats", store.stats]
      ] as const
      for (const [operation, effect] of operations) {
        yield* sql.withTransaction(
          Effect.gen(function* () {
            yield* sql`LOCK TABLE ${sql(`${prefix}_inbox_partitions`)}`
            const error = yield* Effect.flip<unknown, StoreError.StoreError, never>(effect)
            assert.deepInclude(error, { _tag: "StoreError", operation, isRetryable: true })
            assert.include(error.message, "the database did not answer within 200ms")
          })
        )
      }
      // The machine may be slow, so an operation without a lock may take too long as well.
      const last = Effect.retry(store.stats, { while: ({ isRetryable }) => isRetryable })
      assert.strictEqual((yield* last).deadLetters, 0)
    }).pipe(
      Effect.provide(
        SqlInboxStore.layer({ prefix, operationTimeout: "200 millis" }).pipe(
          Layer.provide(databases.pgTables(prefix)),
          Layer.provideMerge(databases.hastyPostgres)
        )
      )
    )
  })

  it.live(
    "counts leases by the clock of PostgreSQL, so that the clocks of the processes may be 10 minutes apart",
    () => {
      const prefix = databases.uniqueName()
      return Effect.gen(function* () {
        const store = yield* InboxStore.InboxStore
        const real = Clock.Clock.defaultValue()
        const shifted = (milliseconds: number) => {
          const millis = () => real.currentTimeMillisUnsafe() + milliseconds
          return Effect.provideService(Clock.Clock, {
            ...real,
            currentTimeMillisUnsafe: millis,
            currentTimeMillis: Effect.sync(millis),
            sleep: (duration) => real.sleep(duration)
          })
        }
        const late = shifted(600_000)
        const early = shifted(-600_000)
        const claim = (owner: string, leaseDuration = 60_000) =>
          store.claim({ owner, leaseDuration, maxPartitions: 1, maxUpdates: 1, begin: 0 })
        yield* late(store.enqueue({ updates: [update], deadLetters: [], now: 0, duplicatesSince: 0 }))
        assert.lengthOf(yield* early(claim("early")), 1)
        assert.lengthOf(yield* late(claim("late")), 0)
        const left = yield* late(store.untilNext)
        assert.isTrue(left !== undefined && left > 0 && left <= 60_000)
        assert.deepStrictEqual(yield* early(store.renew("early", 0)), ["chat"])
        assert.strictEqual(yield* early(store.untilNext), 0)
        assert.lengthOf(yield* late(claim("late")), 1)
        assert.lengthOf(yield* early(claim("early")), 0)
      }).pipe(
        Effect.provide(
          SqlInboxStore.layer({ prefix }).pipe(
            Layer.provide(Layer.provide(databases.pgTables(prefix), databases.hastyPostgres)),
            Layer.provide(databases.hastyPostgres)
          )
        )
      )
    }
  )

  it.live("counts again when it is opened, because rows may have been changed meanwhile", () => {
    const prefix = databases.uniqueName()
    const store = Layer.fresh(SqlInboxStore.layer({ prefix }))
    const stats = InboxStore.InboxStore.use((store) => store.stats)
    return Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const other = QueuedUpdate.fromStored({ ...update, fingerprint: "two" })
      const enqueue = InboxStore.InboxStore.use((store) =>
        store.enqueue({ updates: [update, other], deadLetters: [], now: 0, duplicatesSince: 0 })
      )
      yield* Effect.provide(enqueue, store)
      yield* sql`DELETE FROM ${sql(`${prefix}_inbox_updates`)} WHERE fingerprint = 'two'`
      assert.deepStrictEqual(yield* Effect.provide(stats, store), { queued: 1, oldestReceivedAt: 0, deadLetters: 0 })
    }).pipe(
      Effect.provide(
        Layer.provideMerge(Layer.provide(databases.pgTables(prefix), databases.hastyPostgres), databases.hastyPostgres)
      )
    )
  })

  it.live("listens again after its connection was lost, and wakes because it may have missed notifications", () => {
    const prefix = databases.uniqueName()
    return Effect.gen(function* () {
      const store = yield* InboxStore.InboxStore
      const sql = yield* SqlClient.SqlClient
      const woken = yield* Latch.make(false)
      yield* store.listen!(() => woken.openUnsafe())
      yield* Effect.repeat(
        sql<{ ended: boolean }>`
          SELECT pg_terminate_backend(pid) AS ended FROM pg_stat_activity
          WHERE application_name = ${prefix} AND query LIKE 'LISTEN%' AND pid <> pg_backend_pid()`,
        { until: (rows) => rows.length > 0, schedule: Schedule.spaced("5 millis") }
      )
      yield* woken.await
    }).pipe(
      Effect.scoped,
      Effect.provide(
        SqlInboxStore.layer({ prefix }).pipe(
          Layer.provide(databases.pgTables(prefix)),
          Layer.provideMerge(PgClient.layer({ ...databases.postgresOptions, applicationName: prefix }))
        )
      )
    )
  })

  it.live("locks the partitions of commits with statements in their order, as a renewal does", () => {
    const prefix = databases.uniqueName()
    return Effect.gen(function* () {
      const store = yield* InboxStore.InboxStore
      const sql = yield* SqlClient.SqlClient
      yield* enqueue(store, updateOf("a"), updateOf("b"))
      assert.lengthOf(yield* store.claim(claim("one")), 2)
      const statements = [{ sql: "SELECT 1", params: [] }]
      const partitions = sql(`${prefix}_inbox_partitions`)
      const isWaiting = sql<{ count: bigint }>`
        SELECT count(*) FROM pg_stat_activity WHERE application_name = ${prefix} AND wait_event_type = 'Lock'`
      const commit = yield* sql.withTransaction(
        Effect.gen(function* () {
          yield* sql`SELECT FROM ${partitions} WHERE partition_key = 'a' FOR UPDATE`
          const outside = <A, E>(effect: Effect.Effect<A, E>) =>
            Effect.updateContext(effect, (context: Context.Context<never>) =>
              Context.omit(sql.transactionService)(context)
            )
          const fiber = yield* Effect.forkDetach(
            outside(store.commit([change("one", "b", { statements }), change("one", "a", { statements })]))
          )
          // A transaction reads the activity once.
          yield* Effect.repeat(outside(isWaiting), {
            until: ([{ count }]) => count > 0n,
            schedule: Schedule.spaced("5 millis")
          })
          const free = yield* sql<{ partition_key: string }>`
            SELECT partition_key FROM ${partitions} ORDER BY partition_key FOR UPDATE SKIP LOCKED`
          assert.deepStrictEqual(
            free.map(({ partition_key }) => partition_key),
            ["a", "b"]
          )
          return fiber
        })
      )
      assert.deepStrictEqual(yield* Fiber.join(commit), ["applied", "applied"])
    }).pipe(
      Effect.provide(
        SqlInboxStore.layer({ prefix }).pipe(
          Layer.provide(databases.pgTables(prefix)),
          Layer.provideMerge(PgClient.layer({ ...databases.postgresOptions, applicationName: prefix }))
        )
      )
    )
  })

  it.live("fails with a retryable StoreError when the connection is lost inside a transaction", () => {
    const prefix = databases.uniqueName()
    return Effect.gen(function* () {
      const store = yield* InboxStore.InboxStore
      const claim = store.claim({ owner: "one", leaseDuration: 0, maxPartitions: 1, maxUpdates: 1, begin: 0 })
      const commit = {
        owner: "one",
        partitionKey: "chat",
        completed: [{ id: "1" }],
        failed: [],
        begun: [],
        release: true
      }
      const operations = [
        ["enqueue", store.enqueue({ updates: [update], deadLetters: [], now: 0, duplicatesSince: -1 })],
        ["claim", claim],
        ["commit", store.commit([commit])],
        ["commit", store.commit([{ ...commit, statements: [{ sql: "SELECT 1", params: [] }] }])],
        ["renew", store.renew("one", 2)],
        ["renew", store.renew("one", 0)]
      ] as const
      for (const [operation, effect] of operations) {
        const exit = yield* losingConnection(
          prefix,
          "_inbox_",
          Effect.asVoid<unknown, StoreError.StoreError, never>(effect)
        )
        assert.isTrue(Exit.isFailure(exit), operation)
        const error = Cause.squash((exit as Exit.Failure<void, StoreError.StoreError>).cause)
        assert.deepInclude(error, { _tag: "StoreError", operation, isRetryable: true })
      }
      assert.deepStrictEqual(yield* claim, [])
    }).pipe(
      Effect.provide(
        Layer.provide(SqlInboxStore.layer({ prefix }), databases.hastyPostgres).pipe(
          Layer.provide(Layer.provide(databases.pgTables(prefix), databases.hastyPostgres))
        )
      )
    )
  })

  it.live("handles an update once when the connection is lost during the commit", () => {
    const prefix = databases.uniqueName()
    return Effect.gen(function* () {
      const inbox = yield* Inbox.Inbox
      const handled: Array<string> = []
      const latch = yield* Latch.make(false)
      yield* inbox.receive([{ decoded: Result.succeed(Fixtures.botStarted()) }])
      const bot = Bot.run(({ update_type }) =>
        Effect.andThen(
          Effect.sync(() => void handled.push(update_type)),
          latch.await
        )
      ).pipe(Effect.provideService(Updates.Updates, Updates.Updates.of({ inbox, source: Effect.never })))
      const running = yield* Effect.forkScoped(bot)
      const until = <E>(condition: Effect.Effect<boolean, E>) =>
        Effect.repeat(condition, { until: (isMet) => isMet, schedule: Schedule.spaced("5 millis") })
      yield* until(Effect.sync(() => handled.length > 0))
      yield* losingConnection(prefix, "_inbox_commit", latch.open)
      yield* until(Effect.map(inbox.stats, ({ queued }) => queued === 0))
      assert.deepStrictEqual(handled, ["bot_started"])
      assert.isUndefined(running.pollUnsafe())
    }).pipe(
      Effect.scoped,
      Effect.provide(
        Inbox.layer().pipe(
          Layer.provide(SqlInboxStore.layer({ prefix })),
          Layer.provide(databases.hastyPostgres),
          Layer.provide(Layer.provide(databases.pgTables(prefix), databases.hastyPostgres))
        )
      )
    )
  })
})
