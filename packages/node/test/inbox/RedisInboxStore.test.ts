import { Bot, Chat, Inbox, type StoreError, Update, Updates } from "@colloquy/core"
import * as InboxStore from "@colloquy/core/inbox/InboxStore"
import { RedisInboxStore } from "@colloquy/node"
import { Fixtures } from "@colloquy/testing"
import * as InboxSuite from "@colloquy/testing/stores/InboxSuite"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Latch, Layer, Logger, Result, Schedule, Stream } from "effect"
import { Redis } from "effect/persistence"
import { contend } from "../support/contention.ts"
import { compareWithMemory } from "../support/inboxModel.ts"
import * as databases from "../support/databases.ts"

/** A Redis server with the given answers. */
const server = (answer: (command: string, args: ReadonlyArray<string>) => Effect.Effect<unknown, Redis.RedisError>) =>
  Layer.effect(
    Redis.Redis,
    Redis.make({
      send: <A>(command: string, ...args: ReadonlyArray<string>) =>
        answer(command, args) as Effect.Effect<A, Redis.RedisError>,
      subscribe: () => Effect.die("not implemented"),
      connect: Effect.die("not implemented")
    })
  )

const warningsOf = Effect.fnUntraced(function* (persistence: string, memory: string) {
  const warnings: Array<string> = []
  const log = Logger.layer([Logger.make(({ message }) => void warnings.push(String(message)))])
  const info = server((_, [section]) => Effect.succeed(section === "memory" ? memory : persistence))
  yield* Effect.scoped(Layer.build(RedisInboxStore.layer().pipe(Layer.provide(info), Layer.provide(log))))
  return warnings
})

describe("RedisInboxStore", () => {
  it.effect("logs a warning about settings of the server that can lose updates", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* warningsOf("aof_enabled:1\r\n", "maxmemory_policy:noeviction\r\n"), [])
      assert.deepStrictEqual(yield* warningsOf("x:1\r\naof_enabled:0\r\n", "maxmemory_policy:allkeys-lru\r\n"), [
        "The inbox in Redis can lose updates: the append-only file is disabled. Set `appendonly yes`.",
        "The inbox in Redis can lose updates: `maxmemory-policy` is allkeys-lru, so Redis may evict keys. Set `maxmemory-policy noeviction`."
      ])
    })
  )

  it.effect("fails with a StoreError that names the operation and the reason", () =>
    Effect.gen(function* () {
      const store = yield* InboxStore.InboxStore
      const operations = {
        enqueue: store.enqueue({ updates: [], deadLetters: [], now: 0, duplicatesSince: 0 }),
        stats: store.stats,
        read: store.read(["marker/polling"]),
        cleanup: store.cleanup({ fingerprintsBefore: 0, deadLettersBefore: 0, rowsBefore: 0 })
      }
      for (const [name, operation] of Object.entries(operations)) {
        const error = yield* Effect.flip<unknown, StoreError.StoreError, never>(operation)
        assert.include(error.message, `The inbox store failed in operation "${name}": the connection is closed.`)
        assert.isTrue(error.isRetryable)
      }
    }).pipe(
      Effect.provide(
        Layer.provide(
          RedisInboxStore.layer(),
          server(() => Effect.fail(new Redis.RedisError({ cause: new Error("the connection is closed") })))
        )
      )
    )
  )
})

describe.skipIf(await databases.isMissing("Redis", 6379))("RedisInboxStore with Redis", () => {
  const withKeys = <A, E>(use: (prefix: string) => Effect.Effect<A, E>) =>
    Effect.suspend(() => {
      const prefix = databases.uniqueName()
      return Effect.provide(use(prefix), databases.redisPrefix(`{${prefix}:`))
    })

  const store = (prefix: string) => Layer.provide(RedisInboxStore.layer({ prefix }), databases.redisClient)

  for (const { name, effect } of InboxSuite.cases) {
    it.live(name, () => withKeys((prefix) => Effect.provide(effect, store(prefix))))
  }

  for (const seed of [1, 2, 3, 4, 5, 6, 7, 8]) {
    it.live(`returns the results of the store in memory in random operations (${seed})`, () =>
      withKeys((prefix) =>
        InboxStore.InboxStore.use((tested) => compareWithMemory(tested, seed, 400)).pipe(Effect.provide(store(prefix)))
      )
    )
  }

  it.live("makes updates that were overwritten in Redis dead letters, and handles the others", () =>
    withKeys((prefix) =>
      Effect.gen(function* () {
        const inbox = yield* Inbox.Inbox
        const redis = yield* Redis.Redis
        const messages = [1, 2, 3, 4, 5].map((chat_id) => Fixtures.botStarted({ chat_id: Chat.ChatId.make(chat_id) }))
        yield* inbox.receive(messages.map((update) => ({ decoded: Result.succeed(update) })))
        const updates = `{${prefix}:inbox}:updates`
        const [first, second, third, fourth] = (yield* redis.send<Array<string>>("HKEYS", updates)).toSorted()
        yield* redis.send("HSET", updates, first, "", second, "not an update", third, "[1,2,3,4]")
        yield* redis.send("HDEL", updates, fourth)
        const handled: Array<number | undefined> = []
        const handle = (update: Update.Update) => Effect.sync(() => void handled.push(Update.chatOf(update)))
        yield* Bot.run(handle).pipe(
          Effect.provideService(Updates.Updates, Updates.Updates.of({ inbox, source: Effect.void }))
        )
        assert.deepStrictEqual(handled, [5])
        assert.deepStrictEqual(yield* inbox.stats, { queued: 0, oldestReceivedAt: undefined, deadLetters: 4 })
        const ids = yield* redis.send<Array<string>>("ZRANGE", `{${prefix}:inbox}:dead_letters`, "2", "2")
        yield* redis.send("HSET", `{${prefix}:inbox}:failures`, ids[0], "not a failure")
        const deadLetters = yield* Stream.runCollect(Inbox.deadLetters)
        assert.deepStrictEqual(
          deadLetters.map(({ update }) => update.text),
          ["", "not an update", "not a failure", ""]
        )
        assert.deepInclude(deadLetters[2], { error: "", attempts: 0, failedAt: 0 })
        for (const { id } of deadLetters) assert.isTrue(yield* Inbox.drop(id))
      }).pipe(
        Effect.provide(Inbox.layer().pipe(Layer.provide(store(prefix)), Layer.provideMerge(databases.redisClient)))
      )
    )
  )

  it.live("handles an update that arrives after Redis lost its data, and logs the loss once", () =>
    withKeys((prefix) => {
      const errors: Array<string> = []
      const log = Logger.make(({ logLevel, message }) => {
        if (logLevel === "Error") errors.push(String(message))
      })
      return Effect.gen(function* () {
        const inbox = yield* Inbox.Inbox
        const redis = yield* Redis.Redis
        const latch = yield* Latch.make(false)
        const handled: Array<number> = []
        const receive = (timestamp: number) =>
          inbox.receive([{ decoded: Result.succeed(Fixtures.botStarted({ timestamp })) }])
        const handle = (update: Update.Update) =>
          Effect.suspend(() => {
            handled.push((update as Update.Of<"bot_started">).timestamp)
            return handled.length === 1 ? latch.await : Effect.void
          })
        yield* receive(1)
        yield* Effect.forkScoped(
          Bot.run(handle).pipe(
            Effect.provideService(Updates.Updates, Updates.Updates.of({ inbox, source: Effect.never }))
          )
        )
        const until = <E>(condition: Effect.Effect<boolean, E>) =>
          Effect.repeat(condition, { until: (isMet) => isMet, schedule: Schedule.spaced("5 millis") })
        yield* until(Effect.sync(() => handled.length === 1))
        const keys = yield* redis.send<Array<string>>("KEYS", `{${prefix}:*`)
        yield* redis.send("DEL", ...keys)
        yield* receive(2)
        // The partition of the update is claimed while the handler of the lost update is still running.
        const isClaimed = Effect.map(redis.send("EXISTS", `{${prefix}:inbox}:owners`), (owners) => owners === 1)
        yield* until(Effect.map(isClaimed, (isClaimed) => isClaimed || handled.length > 1))
        yield* latch.open
        yield* until(Effect.map(inbox.stats, ({ queued }) => queued === 0))
        assert.deepStrictEqual(handled, [1, 2])
        assert.lengthOf(errors, 1)
        assert.include(errors[0], "The inbox in Redis lost its data")
      }).pipe(
        Effect.scoped,
        Effect.provide([
          Inbox.layer().pipe(Layer.provide(store(prefix)), Layer.provideMerge(databases.redisClient)),
          Logger.layer([log])
        ])
      )
    })
  )

  it.live("handles each update once, in order, when several stores share a server", () =>
    withKeys((prefix) => contend(store(prefix)))
  )
})
