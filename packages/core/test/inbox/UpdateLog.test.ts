import { Emulator } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import * as InboxStore from "../../src/inbox/InboxStore.ts"
import {
  Bot,
  Command,
  Handler,
  Inbox,
  LongPolling,
  Messages,
  State,
  StoreError,
  Update,
  UpdateLog,
  User
} from "../../src/index.ts"
import { source, started } from "../support/deliveries.ts"

const help = Command.make("help").on((update) => Messages.reply(update, "A secret answer"))

const fragile = Handler.on("message_created", (update) => {
  const text = Update.textOf(update) ?? ""
  if (text.startsWith("/")) return undefined
  return Effect.andThen(Messages.reply(update, "First a secret answer"), Effect.die(new Error("not now")))
})

const bot = Bot.make(help, fragile)

const retry = Schedule.recurs(1).pipe(Schedule.setInputType<unknown>())

/** Runs the bot with what a person sends, and returns the log. */
const logOf = (options: Inbox.Options, ...texts: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const visitor = yield* Emulator.user("Ann")
    const { chat_id } = yield* visitor.start()
    for (const text of texts) yield* visitor.send(text)
    const fiber = yield* Effect.forkChild(Bot.run(bot, { retry }), { startImmediately: true })
    yield* TestClock.adjust("30 seconds")
    yield* Fiber.interrupt(fiber)
    return { chat_id, user_id: visitor.user.user_id, entries: yield* UpdateLog.entries }
  }).pipe(
    Effect.provide(
      LongPolling.layer().pipe(Layer.provideMerge(Inbox.layerMemory(options)), Layer.provideMerge(Emulator.layerBot()))
    )
  )

/** A store of several processes: the store in memory, of which each process has an inbox. */
const shared = Layer.effect(
  InboxStore.InboxStore,
  Effect.map(InboxStore.makeMemory, (store) => ({ ...store, isShared: true }))
)

const updates = (count: number, from = 0) => Array.from({ length: count }, (_, index) => started(7, from + index))

/** Handles updates in a process of its own. */
const handled = (all: ReadonlyArray<Inbox.Received>, options: Inbox.Options = {}) =>
  Bot.drain(Handler.on("bot_started", () => Effect.void)).pipe(
    Effect.provide(Layer.provideMerge(source(all), Layer.fresh(Inbox.layer(options))))
  )

const read = (options: Inbox.Options = {}) => Effect.provide(UpdateLog.entries, Layer.fresh(Inbox.layer(options)))

const rows = Effect.flatMap(InboxStore.InboxStore, (store) =>
  store.rows({ prefix: "handled/", by: "key", limit: 1000 })
)

/** A person with a dialog of the same number starts the bot. */
const from = (id: number, timestamp: number): Inbox.Received => {
  const user = { user_id: id, first_name: "Ann", is_bot: false }
  const text = JSON.stringify({ update_type: "bot_started", timestamp, chat_id: id, user })
  return { decoded: Update.parse(text), text }
}

describe("UpdateLog", () => {
  it.effect("has the part, the outcome, the calls and the times of each attempt, without texts of messages", () =>
    Effect.gen(function* () {
      const { chat_id, entries, user_id } = yield* logOf({}, "/help", "twice")
      assert.deepStrictEqual(
        entries.map(({ attempt, calls, error, outcome, part, update_type }) => ({
          update_type,
          outcome,
          part: part && `${part.kind} ${part.name}`,
          attempt,
          error,
          calls: calls.map(({ endpoint, isRecorded = false, status }) => `${endpoint} ${isRecorded} ${status}`)
        })),
        [
          {
            update_type: "bot_started",
            outcome: "unhandled",
            part: undefined,
            attempt: 1,
            error: undefined,
            calls: []
          },
          {
            update_type: "message_created",
            outcome: "handled",
            part: "command help",
            attempt: 1,
            error: undefined,
            calls: ["Messages.send false 200"]
          },
          {
            update_type: "message_created",
            outcome: "failed",
            part: "handler message_created",
            attempt: 1,
            error: "Error: not now",
            calls: ["Messages.send false 200"]
          },
          {
            update_type: "message_created",
            outcome: "dead",
            part: "handler message_created",
            attempt: 2,
            error: "Error: not now",
            calls: ["Messages.send true undefined"]
          }
        ]
      )
      for (const entry of entries) {
        assert.deepInclude(entry, { chat_id, user_id })
        assert.isAtLeast(entry.startedAt, entry.receivedAt)
        assert.isAtLeast(entry.endedAt, entry.startedAt)
      }
      assert.notInclude(JSON.stringify(entries), "secret")
    })
  )

  it.effect("has the texts of updates, requests and answers with the option `logTexts`", () =>
    Effect.gen(function* () {
      const { entries } = yield* logOf({ logTexts: true }, "/help")
      const { calls, update } = entries[1]!
      assert.include(update, `"/help"`)
      assert.include(calls[0]?.request?.body, "A secret answer")
      assert.include(calls[0]?.answer, "A secret answer")
    })
  )

  it.effect("has the calls that failed, with their errors", () =>
    Effect.gen(function* () {
      const visitor = yield* Emulator.user("Ann")
      yield* visitor.start()
      yield* visitor.stop
      const failing = Handler.on("bot_started", (update) => Messages.send({ chat_id: update.chat_id, text: "Hello" }))
      const fiber = yield* Effect.forkChild(Bot.run(failing, { retry: Schedule.recurs(0) }), { startImmediately: true })
      yield* TestClock.adjust("30 seconds")
      yield* Fiber.interrupt(fiber)
      const [entry] = yield* UpdateLog.entries
      assert.deepInclude(entry, { outcome: "dead", part: { kind: "handler", name: "bot_started" } })
      assert.deepInclude(entry?.calls[0], { endpoint: "Messages.send", status: 403 })
      assert.include(entry?.calls[0]?.error, "Forbidden")
    }).pipe(Effect.provide(LongPolling.layer().pipe(Layer.provideMerge(Emulator.layerBot()))))
  )

  it.effect("keeps the last 1,000 entries in memory by default, fewer with an option, and none with the size 0", () =>
    Effect.gen(function* () {
      const ids = Effect.map(UpdateLog.entries, (entries) => entries.map(({ id }) => id))
      const run = (logSize: number | undefined, count = 25) =>
        Effect.provide(
          Effect.andThen(Bot.drain(Handler.on("bot_started", () => Effect.void)), ids),
          Layer.provideMerge(source(updates(count)), Inbox.layerMemory({ logSize }))
        )
      assert.lengthOf(yield* run(undefined, 1010), 1000)
      assert.deepStrictEqual(yield* run(10), ["16", "17", "18", "19", "20", "21", "22", "23", "24", "25"])
      assert.deepStrictEqual(yield* run(0), [])
      const invalid = yield* Effect.exit(run(-1))
      assert.include(Exit.isFailure(invalid) ? String(invalid.cause) : "", "`logSize` must be an integer above 0")
    })
  )

  it.effect("is read by other processes, after a process has ended", () =>
    Effect.gen(function* () {
      yield* handled(updates(3))
      yield* TestClock.adjust("1 second")
      yield* handled(updates(2, 10))
      const entries = yield* read()
      assert.deepStrictEqual(
        entries.map(({ id, outcome }) => `${id} ${outcome}`),
        ["1 handled", "2 handled", "3 handled", "4 handled", "5 handled"]
      )
      assert.deepStrictEqual(
        (yield* read({ logSize: 2 })).map(({ id }) => id),
        ["4", "5"]
      )
    }).pipe(Effect.provide(shared))
  )

  it.effect("has a bounded number of rows, also of processes that have ended", () =>
    Effect.gen(function* () {
      for (let process = 0; process < 5; process++) {
        yield* handled(updates(130, process * 1000), { logSize: 100 })
        yield* TestClock.adjust("1 second")
        const stored = yield* rows
        assert.strictEqual(stored.flatMap(({ text }) => text.split("\n")).length, 100)
      }
      const entries = yield* read({ logSize: 100 })
      assert.strictEqual(entries.at(-1)?.id, "650")
      assert.strictEqual(entries.length, 100)
    }).pipe(Effect.provide(shared))
  )

  it.effect("adds entries of ten seconds to one row, and removes the oldest row of the process", () =>
    Effect.gen(function* () {
      const inbox = yield* Inbox.Inbox
      yield* Effect.forkChild(
        Effect.provide(Bot.run(Handler.on("bot_started", () => Effect.void)), source([], { stays: true })),
        { startImmediately: true }
      )
      for (let second = 0; second < 60; second++) {
        yield* inbox.receive([started(7, second)])
        yield* TestClock.adjust("1 second")
      }
      yield* TestClock.adjust("1 second")
      const counts = (yield* rows).map(({ text }) => text.split("\n").length)
      assert.isAtMost(counts.length, 4)
      assert.isAtLeast(
        counts.reduce((sum, count) => sum + count),
        20
      )
      assert.isAtMost(
        counts.reduce((sum, count) => sum + count),
        31
      )
    }).pipe(Effect.provide(Layer.provide(Inbox.layer({ logSize: 20 }), shared).pipe(Layer.merge(shared))))
  )

  it.effect("writes the entries later if the store was away, and warns once", () =>
    Effect.gen(function* () {
      let isAway = true
      const failure = new StoreError.StoreError({
        store: "inbox",
        operation: "write",
        reason: "away",
        isRetryable: true
      })
      const flaky = Layer.effect(
        InboxStore.InboxStore,
        Effect.map(
          InboxStore.makeMemory,
          (store) =>
            ({
              ...store,
              isShared: true,
              write: (writes) => (isAway ? Effect.fail(failure) : store.write(writes))
            }) satisfies InboxStore.InboxStore["Service"]
        )
      )
      yield* Effect.gen(function* () {
        yield* Bot.drain(Handler.on("bot_started", () => Effect.void))
        yield* TestClock.adjust("5 seconds")
        assert.lengthOf(yield* rows, 0)
        assert.lengthOf(yield* UpdateLog.entries, 3)
        isAway = false
        yield* TestClock.adjust("1 second")
        assert.lengthOf(yield* rows, 1)
        assert.lengthOf(yield* UpdateLog.entries, 3)
      }).pipe(Effect.provide(source(updates(3)).pipe(Layer.provideMerge(Inbox.layer()), Layer.provideMerge(flaky))))
    })
  )

  it.effect("loses the entries of a person who is forgotten, while other processes write their rows", () =>
    Effect.gen(function* () {
      const busy = yield* Layer.build(Layer.fresh(Inbox.layer()))
      const inbox = Context.get(busy, Inbox.Inbox)
      yield* Effect.forkChild(
        Bot.run(Handler.on("bot_started", () => Effect.void)).pipe(
          Effect.provide(source([], { stays: true })),
          Effect.provideContext(busy)
        ),
        { startImmediately: true }
      )
      const receive = (...all: ReadonlyArray<Inbox.Received>) =>
        Effect.andThen(inbox.receive(all), TestClock.adjust("2 seconds"))
      yield* receive(from(7, 1), from(8, 2))
      yield* Effect.provide(State.forget({ user_id: User.UserId.make(7) }), Layer.fresh(Inbox.layer()))
      const users = Effect.map(read(), (entries) => entries.map(({ user_id }) => Number(user_id)))
      assert.deepStrictEqual(yield* users, [8])
      yield* receive(from(8, 3))
      assert.deepStrictEqual(yield* users, [8, 8])
      assert.lengthOf(yield* rows, 1)
      yield* Effect.provide(State.forget({ user_id: User.UserId.make(8) }), Layer.fresh(Inbox.layer()))
      assert.lengthOf(yield* rows, 0)
      yield* receive(from(9, 4))
      assert.deepStrictEqual(yield* users, [9])
    }).pipe(Effect.scoped, Effect.provide(shared))
  )

  it.effect("has an incident of a dead letter, which is deleted if the person is forgotten", () =>
    Effect.gen(function* () {
      yield* Bot.drain(
        Handler.on("bot_started", () => Effect.die(new Error("not now"))),
        { retry: Schedule.recurs(0) }
      ).pipe(Effect.provide(Layer.provideMerge(source([from(7, 1), from(8, 2)]), Layer.fresh(Inbox.layer()))))
      const store = yield* InboxStore.InboxStore
      const incidents = Effect.map(store.rows({ prefix: "incident/", by: "key", limit: 10 }), (rows) => rows.length)
      assert.strictEqual(yield* incidents, 2)
      yield* Effect.provide(State.forget({ user_id: User.UserId.make(7) }), Layer.fresh(Inbox.layer()))
      assert.deepStrictEqual([yield* incidents, (yield* store.stats).deadLetters], [1, 1])
    }).pipe(Effect.provide(shared))
  )

  it.effect("is followed: each entry comes once, after the last earlier entries", () =>
    Effect.gen(function* () {
      yield* handled(updates(3))
      const seen: Array<string> = []
      yield* Effect.forkChild(
        UpdateLog.follow({ last: 2 }).pipe(
          Stream.runForEach(({ id }) => Effect.sync(() => seen.push(id))),
          Effect.provide(Layer.fresh(Inbox.layer()))
        ),
        { startImmediately: true }
      )
      yield* TestClock.adjust("2 seconds")
      assert.deepStrictEqual(seen, ["2", "3"])
      for (let process = 1; process < 5; process++) {
        yield* handled(updates(3, process * 1000))
        yield* TestClock.adjust("70 seconds")
      }
      assert.deepStrictEqual(
        seen,
        Array.from({ length: 14 }, (_, index) => String(index + 2))
      )
    }).pipe(Effect.provide(shared))
  )
})
