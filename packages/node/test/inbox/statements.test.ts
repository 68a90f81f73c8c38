import { Bot, Chat, Commit, Deliveries, Inbox, Journal, State, StoreError, type Update, Updates } from "@colloquy/core"
import * as InboxStore from "@colloquy/core/inbox/InboxStore"
import { NodeSqlite, SqlInboxStore } from "@colloquy/node"
import { Fixtures } from "@colloquy/testing"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { SqlClient } from "effect/sql/SqlClient"
import * as databases from "../support/databases.ts"

type Store = InboxStore.InboxStore["Service"]

const missing = await databases.missing()

const clients = {
  SQLite: () => NodeSqlite.layer({ filename: ":memory:" }),
  PostgreSQL: () => {
    const schema = databases.uniqueName("statements")
    const client = PgClient.layer({
      ...databases.postgresOptions,
      startupParameters: { search_path: schema, synchronous_commit: "off" }
    })
    return Layer.provideMerge(client, databases.postgresSchema(schema))
  }
}

const tables = {
  SQLite: "id INTEGER PRIMARY KEY AUTOINCREMENT",
  PostgreSQL: "id bigserial PRIMARY KEY"
}

type Kind = keyof typeof clients

/** The database with the table of the author, and a store of the inbox in the same database. */
const layerOf = (kind: Kind) =>
  SqlInboxStore.layer().pipe(
    Layer.provideMerge(
      Layer.effectDiscard(
        SqlClient.use((sql) =>
          Effect.andThen(
            sql.unsafe(`CREATE TABLE handled (${tables[kind]}, name text NOT NULL UNIQUE, step text)`),
            sql.unsafe("CREATE TABLE total (updates integer NOT NULL)")
          )
        )
      )
    ),
    Layer.provideMerge(clients[kind]())
  )

const started = (chat_id: number, timestamp: number): Inbox.Received => ({
  decoded: Result.succeed(Fixtures.botStarted({ chat_id: Chat.ChatId.make(chat_id), timestamp }))
})

const nameOf = (update: Update.Update) => {
  const { chat_id, timestamp } = update as Update.Of<"bot_started">
  return `${chat_id}:${timestamp}`
}

/** The updates of a process, whose store can be modified. */
const processWith = (
  options: Inbox.Options = {},
  modify: (store: Store) => Store = (store) => store,
  source: Effect.Effect<void> = Effect.void
) =>
  Layer.effect(
    Updates.Updates,
    Inbox.Inbox.use((inbox) => Effect.succeed(Updates.Updates.of({ inbox, source })))
  ).pipe(
    Layer.provideMerge(Layer.fresh(Inbox.layer(options))),
    Layer.provide(
      Layer.effect(
        InboxStore.InboxStore,
        InboxStore.InboxStore.use((store) => Effect.succeed(modify(store)))
      )
    )
  )

const receive = (updates: ReadonlyArray<Inbox.Received>) =>
  Inbox.Inbox.use(({ receive }) => receive(updates)).pipe(Effect.provide(processWith()))

const insert = (name: string, step = "") =>
  Effect.flatMap(SqlClient, (sql) => Commit.add(sql`INSERT INTO handled ${sql.insert({ name, step })}`))

const names = Effect.flatMap(SqlClient, (sql) =>
  Effect.map(sql<{ name: string }>`SELECT name FROM handled ORDER BY id`, (rows) => rows.map(({ name }) => name))
)

const deadLetters = Effect.provide(Stream.runCollect(Inbox.deadLetters), processWith())

const queued = Effect.map(
  InboxStore.InboxStore.use(({ stats }) => stats),
  ({ queued }) => queued
)

const once = Schedule.recurs(1)

const Count = State.make("count", Schema.Int, { of: "chat", initial: () => 0 })

const cut = new StoreError.StoreError({ store: "inbox", operation: "commit", reason: "cut off", isRetryable: true })

describe.each(Object.keys(clients) as ReadonlyArray<Kind>)("The rows of an author in %s", (kind) => {
  const live = (name: string, effect: Effect.Effect<void, unknown, Layer.Success<ReturnType<typeof layerOf>>>) =>
    it.live.skipIf(missing[kind])(name, () => Effect.provide(effect, Layer.fresh(layerOf(kind))))

  live(
    "are committed with the update, in the order of each chat",
    Effect.gen(function* () {
      yield* receive(Array.from({ length: 20 }, (_, index) => started(1 + (index % 4), index)))
      yield* Bot.run((update) =>
        Effect.gen(function* () {
          yield* insert(nameOf(update))
          yield* Effect.sleep(Math.random() * 5)
          assert.notInclude(yield* names, nameOf(update))
          yield* insert(`${nameOf(update)} again`)
        })
      ).pipe(Effect.provide(processWith()))
      const stored = yield* names
      for (let chat = 1; chat <= 4; chat++) {
        assert.deepStrictEqual(
          stored.filter((name) => name.startsWith(`${chat}:`)),
          Array.from({ length: 5 }, (_, index) => `${chat}:${chat - 1 + 4 * index}`).flatMap((name) => [
            name,
            `${name} again`
          ])
        )
      }
      assert.strictEqual(yield* queued, 0)
    })
  )

  live(
    "are not stored if one statement fails, and the update becomes a dead letter with the error",
    Effect.gen(function* () {
      yield* receive([started(1, 1), started(1, 2), started(2, 3)])
      let attempts = 0
      yield* Bot.run(
        (update) =>
          Effect.gen(function* () {
            yield* Count.update((count) => count + 1)
            yield* insert(nameOf(update))
            if (nameOf(update) === "1:1") {
              attempts++
              yield* insert(nameOf(update))
            }
          }),
        { retry: once }
      ).pipe(Effect.provide(processWith()))
      assert.strictEqual(attempts, 2)
      assert.sameMembers(yield* names, ["1:2", "2:3"])
      const [letter, ...others] = yield* deadLetters
      assert.lengthOf(others, 0)
      assert.deepInclude(letter, { attempts: 2 })
      assert.include(letter?.error, "SqlError")
      const count = Count.at({ chat_id: Chat.ChatId.make(1) }).get
      assert.strictEqual(yield* Effect.provide(count, processWith()), 1)
    })
  )

  live(
    "are written again with new values if another chat has changed what the handler has read",
    Effect.gen(function* () {
      const sql = yield* SqlClient
      yield* sql`INSERT INTO total (updates) VALUES (0)`
      yield* receive(Array.from({ length: 12 }, (_, index) => started(1 + index, index)))
      yield* Bot.run((update) =>
        Effect.gen(function* () {
          const [{ updates }] = yield* sql<{ updates: number }>`SELECT updates FROM total`
          yield* Effect.sleep("2 millis")
          const changed = sql`UPDATE total SET updates = ${updates + 1} WHERE updates = ${updates}`
          yield* Commit.add(changed, { expectedRows: 1 })
          yield* insert(nameOf(update))
        })
      ).pipe(Effect.provide(processWith()))
      assert.deepStrictEqual(yield* sql`SELECT updates FROM total`, [{ updates: 12 }])
      assert.lengthOf(yield* names, 12)
    })
  )

  live(
    "are stored once if the answers of commits are lost",
    Effect.gen(function* () {
      yield* receive(Array.from({ length: 10 }, (_, index) => started(1 + (index % 3), index)))
      let calls = 0
      const lossy = (store: Store): Store => ({
        ...store,
        commit: (commits) =>
          Effect.flatMap(store.commit(commits), (results) =>
            calls++ % 2 === 0 ? Effect.fail(cut) : Effect.succeed(results)
          )
      })
      yield* Updates.deliveries({ perChat: "unbounded" }).pipe(
        Deliveries.map(nameOf),
        Deliveries.groupedWithin(4, "10 millis"),
        Deliveries.runForEach((all) => Effect.forEach(all, (name) => insert(name), { discard: true })),
        Effect.provide(processWith({}, lossy))
      )
      const stored = yield* names
      assert.lengthOf(stored, 10)
      assert.strictEqual(new Set(stored).size, 10)
      assert.lengthOf(yield* deadLetters, 0)
    })
  )

  live(
    "are stored by the next process if a process dies before its commit, and its steps do not run again",
    Effect.gen(function* () {
      yield* receive([started(1, 1)])
      let steps = 0
      const handler = (update: Update.Update) =>
        Effect.gen(function* () {
          const step = yield* Journal.step(
            "step",
            Schema.Int,
            Effect.sync(() => ++steps)
          )
          yield* insert(nameOf(update), String(step))
        })
      const options = { leaseDuration: "300 millis" } as const
      let isDead = false
      const mortal = (store: Store): Store => ({
        ...store,
        commit: (commits) => {
          isDead ||= commits.some(({ statements }) => statements !== undefined)
          return isDead ? Effect.never : store.commit(commits)
        },
        renew: (owner, duration) => (isDead ? Effect.never : store.renew(owner, duration))
      })
      yield* Effect.forkDetach(Effect.provide(Bot.run(handler), processWith(options, mortal)))
      while (!isDead) yield* Effect.sleep("10 millis")
      assert.deepStrictEqual(yield* names, [])
      const next = yield* Effect.forkChild(
        Bot.run(handler).pipe(Effect.provide(processWith(options, (store) => store, Effect.never)))
      )
      yield* Effect.repeat(Effect.delay(queued, "20 millis"), { until: (left) => left === 0 })
      yield* Fiber.interrupt(next)
      const sql = yield* SqlClient
      assert.deepStrictEqual(yield* sql`SELECT name, step FROM handled`, [{ name: "1:1", step: "1" }])
    })
  )

  live(
    "are not stored for a batch with a chat that another process has taken, and once in the end",
    Effect.gen(function* () {
      const store = yield* InboxStore.InboxStore
      const updates = [started(1, 1), started(2, 2), started(3, 3)]
      yield* receive(updates)
      let owner = ""
      const spied = (store: Store): Store => ({
        ...store,
        claim: (claim) => {
          owner = claim.owner
          return store.claim(claim)
        }
      })
      const batches: Array<ReadonlyArray<string>> = []
      const claim = { owner: "thief", leaseDuration: 60_000, maxPartitions: 1, maxUpdates: 1, begin: 0 }
      // The first process may claim its chats again before the thief.
      const theft = Effect.suspend(() => store.renew(owner, 1)).pipe(
        Effect.andThen(Effect.sleep("3 millis")),
        Effect.andThen(store.claim(claim)),
        Effect.repeat({ until: (claimed) => claimed.length > 0 })
      )
      const pipeline = Updates.deliveries().pipe(
        Deliveries.map(nameOf),
        Deliveries.groupedWithin(3, "50 millis"),
        Deliveries.runForEach((all) =>
          Effect.gen(function* () {
            if (batches.push(all) === 1) yield* Effect.orDie(theft)
            yield* Effect.forEach(all, (name) => insert(name), { discard: true })
          })
        )
      )
      const fiber = yield* Effect.forkChild(
        Effect.provide(pipeline, processWith({ leaseDuration: "1 second" }, spied, Effect.never))
      )
      yield* Effect.repeat(Effect.delay(queued, "20 millis"), { until: (left) => left === 1 })
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(batches[0], ["1:1", "2:2", "3:3"])
      assert.sameMembers(yield* names, ["2:2", "3:3"])
      yield* store.renew("thief", 0)
      const next = yield* Effect.forkChild(
        Effect.provide(
          pipeline,
          processWith({}, (store) => store, Effect.never)
        )
      )
      yield* Effect.repeat(Effect.delay(queued, "20 millis"), { until: (left) => left === 0 })
      yield* Fiber.interrupt(next)
      assert.deepStrictEqual((yield* names).slice(2), ["1:1"])
    })
  )
})
