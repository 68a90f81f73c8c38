import { Emulator } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import * as InboxStore from "../../src/inbox/InboxStore.ts"
import {
  Bot,
  Chat,
  ChatStore,
  Deliveries,
  Handler,
  Inbox,
  LongPolling,
  Messages,
  State,
  StoreError,
  Update,
  Updates,
  User
} from "../../src/index.ts"
import { inboxOver, inTime, source } from "../support/deliveries.ts"
import { makePresses, pressOf } from "../support/presses.ts"

const chat_id = Chat.ChatId.make(1)
const user_id = User.UserId.make(2)

const Count = State.make("count", Schema.Int, { of: "chat", initial: () => 0 })
const Presses = State.make("presses", Schema.Int, { of: "user", initial: () => 0 })
const Cart = State.make("cart", Schema.Struct({ items: Schema.Array(Schema.String) }), {
  of: "userInChat",
  initial: () => ({ items: [] })
})
const Totals = State.make("totals", Schema.Struct({ updates: Schema.Int }), {
  of: "bot",
  initial: () => ({ updates: 0 })
})

const increment = (count: number) => count + 1

const inMemory = <A, E>(program: Effect.Effect<A, E, Inbox.Inbox>) => Effect.provide(program, Inbox.layerMemory())

/** Handles updates, and then reads from the same inbox. */
const after = <A, E, E2>(
  updates: ReadonlyArray<Inbox.Received>,
  handle: (update: Update.Update) => Effect.Effect<unknown, E, Inbox.Inbox>,
  read: Effect.Effect<A, E2, Inbox.Inbox>,
  inbox: Layer.Layer<Inbox.Inbox> = inboxOver()
) => Effect.andThen(Bot.run(handle), read).pipe(inTime, Effect.provide(Layer.provideMerge(source(updates), inbox)))

/** With leases, as with other processes. */
const shared = () => inboxOver(() => ({ isShared: true }))

describe("State", () => {
  it.effect("returns the initial value, and keeps the value of each key, elsewhere than in a handler", () =>
    inMemory(
      Effect.gen(function* () {
        const cart = Cart.at({ chat_id, user_id })
        assert.deepStrictEqual(yield* cart.get, { items: [] })
        yield* cart.set({ items: ["tea"] })
        assert.deepStrictEqual(yield* cart.update(({ items }) => ({ items: [...items, "milk"] })), {
          items: ["tea", "milk"]
        })
        assert.strictEqual(yield* cart.modify(({ items }) => [items.length, { items: [] }]), 2)
        assert.deepStrictEqual(yield* Cart.at({ chat_id, user_id }).get, { items: [] })
        yield* Count.at({ chat_id }).set(7)
        assert.strictEqual(yield* Presses.at({ user_id }).get, 0)
        assert.strictEqual(yield* Count.at({ chat_id: Chat.ChatId.make(2) }).get, 0)
        yield* Count.at({ chat_id }).clear
        assert.strictEqual(yield* Count.at({ chat_id }).get, 0)
        yield* Totals.at({}).set({ updates: 3 })
        assert.deepStrictEqual(yield* Totals.at({}).get, { updates: 3 })
      })
    )
  )

  const lost = new StoreError.StoreError({
    store: "inbox",
    operation: "writeState",
    reason: "cut off",
    isRetryable: true
  })

  /** An inbox whose first answers to writes of the state are lost. `between` runs after the first write. */
  const losing = (
    answers: number,
    isExecuted: boolean,
    between?: (store: InboxStore.InboxStore["Service"]) => Effect.Effect<unknown, StoreError.StoreError>
  ) => {
    let left = answers
    return inboxOver((store) => ({
      write: (writes) =>
        Effect.suspend(() => {
          if (left-- <= 0) return store.write(writes)
          const write = isExecuted ? store.write(writes) : Effect.void
          return write.pipe(
            Effect.andThen(between === undefined ? Effect.void : between(store)),
            Effect.andThen(Effect.fail(lost))
          )
        })
    }))
  }

  const inVirtualTime = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.gen(function* () {
      const fiber = yield* Effect.forkChild(effect)
      yield* TestClock.adjust("1 minute")
      return yield* Fiber.join(fiber)
    })

  for (const isExecuted of [true, false]) {
    it.effect(
      `applies a change once elsewhere than in a handler if the answers of the store are lost ${isExecuted ? "after" : "before"} the write`,
      () =>
        Effect.gen(function* () {
          const count = Count.at({ chat_id })
          assert.strictEqual(yield* inVirtualTime(count.update((count) => count + 1)), 1)
          assert.strictEqual(yield* count.modify((count) => ["result", count + 1]), "result")
          yield* count.update(increment)
          assert.strictEqual(yield* count.get, 3)
          yield* count.clear
          assert.strictEqual(yield* count.get, 0)
        }).pipe(Effect.provide(losing(2, isExecuted)))
    )
  }

  const changedByAnother = ({ write }: InboxStore.InboxStore["Service"]) =>
    write([{ rows: [{ key: `state/count/chat:${chat_id}`, row: { text: "[1,10]" }, revision: "another" }] }])

  it.effect("fails, and does not change the value twice, if it was changed again after the answer was lost", () =>
    Effect.gen(function* () {
      const count = Count.at({ chat_id })
      const error = yield* inVirtualTime(Effect.flip(count.update(increment)))
      assert.deepInclude(error, { _tag: "StoreError", isRetryable: false })
      assert.include(error.message, "it is not known whether the change was written")
      assert.strictEqual(yield* count.get, 10)
    }).pipe(Effect.provide(losing(1, true, changedByAnother)))
  )

  it.effect("sets a value although it was changed again after the answer was lost", () =>
    Effect.gen(function* () {
      const count = Count.at({ chat_id })
      yield* inVirtualTime(count.set(5))
      assert.strictEqual(yield* count.get, 5)
    }).pipe(Effect.provide(losing(1, true, changedByAnother)))
  )

  it.effect("fails with an error that is not retryable if the store does not come back after a write", () =>
    Effect.gen(function* () {
      const error = yield* inVirtualTime(Effect.flip(Count.at({ chat_id }).update(increment)))
      assert.deepInclude(error, { _tag: "StoreError", isRetryable: false })
    }).pipe(Effect.provide(losing(Infinity, false)))
  )

  it.effect("applies all concurrent changes of a value elsewhere than in a handler", () =>
    inMemory(
      Effect.gen(function* () {
        const count = Count.at({ chat_id })
        const slow = count.updateEffect((value) => Effect.as(Effect.yieldNow, value + 1))
        yield* Effect.all(
          Array.from({ length: 50 }, (_, index) => (index % 2 === 0 ? slow : count.update(increment))),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(yield* count.get, 50)
      })
    )
  )

  it.effect("fails with the error of an effect that makes the next value, and changes nothing", () =>
    inMemory(
      Effect.gen(function* () {
        const count = Count.at({ chat_id })
        yield* count.set(1)
        assert.strictEqual(yield* Effect.flip(count.updateEffect(() => Effect.fail("sold out"))), "sold out")
        assert.strictEqual(yield* count.modifyEffect((value) => Effect.succeed(["was", value + 1])), "was")
        assert.strictEqual(yield* count.get, 2)
        const nested = yield* Effect.exit(count.updateEffect(() => count.update(increment)))
        assert.include(String(nested), "would never end")
      })
    )
  )

  it.effect("reads a value once in a handler, and writes it with the acknowledgement", () =>
    Effect.gen(function* () {
      let reads = 0
      const commits: Array<InboxStore.Commit> = []
      const inbox = inboxOver(({ commit, read }) => ({
        read: (keys) =>
          Effect.suspend(() => {
            if (keys.some((key) => key.startsWith("state/"))) reads++
            return read(keys)
          }),
        write: () => Effect.die("written"),
        commit: (all) =>
          Effect.andThen(
            Effect.sync(() => commits.push(...all)),
            commit(all)
          )
      }))
      const value = yield* after(
        [pressOf(1, 2)],
        () =>
          Effect.gen(function* () {
            assert.strictEqual(yield* Count.get, 0)
            yield* Effect.all([Count.update(increment), Count.update(increment)], { concurrency: 2 })
            assert.strictEqual(yield* Count.get, 2)
            yield* Count.at({ chat_id }).update(increment)
            yield* Presses.set(5)
            yield* Presses.clear
          }),
        Count.at({ chat_id }).get,
        inbox
      )
      assert.strictEqual(value, 3)
      assert.strictEqual(reads, 3)
      const rows = commits.flatMap(({ completed, rows = [] }) => (completed.length > 0 ? rows : []))
      assert.deepStrictEqual(
        rows.map(({ key, row }) => [key, row?.text]),
        [["state/count/chat:1", "[1,3]"]]
      )
    })
  )

  it.effect("leaves no trace of an attempt that failed, and the next attempt begins with the stored value", () =>
    Effect.gen(function* () {
      const seen: Array<number> = []
      const read = Effect.all([Count.at({ chat_id }).get, Presses.at({ user_id }).get])
      const handle = () =>
        Effect.gen(function* () {
          seen.push(yield* Count.get)
          yield* Count.update(increment)
          yield* Presses.update(increment)
          if (seen.length < 3) return yield* Effect.fail("failed")
        })
      for (const inbox of [inboxOver(), shared()]) {
        seen.length = 0
        assert.deepStrictEqual(yield* after([pressOf(1, 2)], handle, read, inbox), [1, 1])
        assert.deepStrictEqual(seen, [0, 0, 0])
        const fails = () => Effect.andThen(Count.update(increment), Effect.fail("failed"))
        assert.deepStrictEqual(yield* after([pressOf(1, 2)], fails, read), [0, 0])
      }
    })
  )

  it.effect("runs the handler again when another chat has changed the value, and loses nothing", () =>
    Effect.gen(function* () {
      for (const inbox of [inboxOver(), shared()]) {
        let runs = 0
        const handle = () =>
          Effect.gen(function* () {
            runs++
            yield* Presses.get
            yield* Effect.sleep("10 millis")
            yield* Presses.update(increment)
            yield* Count.update(increment)
          })
        const counts = Effect.forEach([1, 2, 3], (chat) => Count.at({ chat_id: Chat.ChatId.make(chat) }).get)
        const read = Effect.all([Presses.at({ user_id }).get, counts])
        const updates = makePresses({ chats: 3, each: 4, user: 2 })
        assert.deepStrictEqual(yield* after(updates, handle, read, inbox), [12, [4, 4, 4]])
        assert.isAbove(runs, 12)
      }
    })
  )

  it.effect("is written by the commit that releases the chat, also if updates of several chats end together", () =>
    Effect.gen(function* () {
      const commits: Array<boolean> = []
      const recording = inboxOver(({ commit }) => ({
        isShared: true,
        commit: (all) => {
          for (const { release, rows } of all) if (rows !== undefined || release) commits.push(release)
          return commit(all)
        }
      }))
      const updates = [1, 2, 3].map((chat) => pressOf(chat, 7))
      const counts = yield* after(
        updates,
        () => Count.update(increment),
        Effect.forEach([1, 2, 3], (chat) => Count.at({ chat_id: Chat.ChatId.make(chat) }).get),
        recording
      )
      assert.deepStrictEqual(counts, [1, 1, 1])
      assert.deepStrictEqual(commits, [true, true, true])
    })
  )

  it.effect("keeps the order of a chat whose update is handled again after a conflict", () =>
    Effect.gen(function* () {
      for (const inbox of [inboxOver(), shared()]) {
        const seen: Array<number> = []
        const handle = (update: Update.Update) =>
          Effect.gen(function* () {
            const before = yield* Presses.get
            yield* Effect.sleep("10 millis")
            yield* Presses.set(before + 1)
            if (Update.chatOf(update) === 1) seen.push("timestamp" in update ? update.timestamp : 0)
          })
        const updates = makePresses({ chats: 8, each: 5, user: 2 })
        assert.strictEqual(yield* after(updates, handle, Presses.at({ user_id }).get, inbox), 40)
        assert.deepStrictEqual(
          seen,
          seen.toSorted((a, b) => a - b)
        )
      }
    })
  )

  it.effect("writes the state of each update of a pipeline once, also where several are acknowledged together", () =>
    Effect.gen(function* () {
      for (const perChat of [1, 4, "unbounded"] as const) {
        const updates = makePresses({ chats: 3, each: 5, user: 2 })
        const pipeline = Updates.deliveries({ perChat }).pipe(
          Deliveries.mapEffect(
            (update) =>
              Effect.gen(function* () {
                yield* Presses.update(increment)
                yield* Count.update(increment)
                return update
              }),
            { concurrency: 5 }
          ),
          Deliveries.groupedWithin(4, "10 millis"),
          Deliveries.runForEach(() => Effect.void)
        )
        const counts = Effect.forEach([1, 2, 3], (chat) => Count.at({ chat_id: Chat.ChatId.make(chat) }).get)
        const read = Effect.all([Presses.at({ user_id }).get, counts])
        for (const inbox of [inboxOver(), shared()]) {
          const result = yield* Effect.andThen(pipeline, read).pipe(
            inTime,
            Effect.provide(Layer.provideMerge(source(updates), inbox))
          )
          assert.deepStrictEqual(result, [15, [5, 5, 5]], `perChat ${perChat}`)
        }
      }
    })
  )

  it.effect("is applied once if the result of the commit is lost", () =>
    Effect.gen(function* () {
      for (const isShared of [false, true]) {
        const lose = new Set<string>()
        const inbox = inboxOver(({ commit }) => ({
          isShared,
          commit: (all) =>
            Effect.flatMap(commit(all), (results) => {
              const key = all.flatMap(({ completed }) => completed.map(({ id }) => id)).join()
              if (key === "" || lose.has(key)) return Effect.succeed(results)
              lose.add(key)
              return Effect.fail(
                new StoreError.StoreError({ store: "inbox", operation: "commit", reason: "cut", isRetryable: true })
              )
            })
        }))
        const updates = makePresses({ chats: 2, each: 5, user: 2 })
        const handle = () => Effect.andThen(Presses.update(increment), Effect.sleep("1 millis"))
        assert.strictEqual(yield* after(updates, handle, Presses.at({ user_id }).get, inbox), 10)
      }
    })
  )

  it.effect("fails with NoStateKey where a key is missing, which is not retried", () =>
    Effect.gen(function* () {
      const outside = yield* Effect.flip(Cart.get)
      assert.deepStrictEqual(
        [outside._tag, outside._tag === "NoStateKey" && outside.missing],
        ["NoStateKey", ["update"]]
      )
      assert.include(outside.message, "no update, or several updates together, are being handled")
      let runs = 0
      const removed = {
        decoded: Update.parse(
          JSON.stringify({
            update_type: "message_removed",
            timestamp: 1,
            message_id: "m",
            chat_id: 1,
            user_id: 0
          }).replace(',"user_id":0', "")
        )
      }
      const errors: Array<string> = []
      const handle = () => {
        runs++
        return Effect.andThen(
          Count.update(increment),
          Effect.tapError(Presses.get, (error) => Effect.sync(() => errors.push(error.message)))
        )
      }
      const dead = Effect.map(
        Inbox.Inbox.use(({ stats }) => stats),
        ({ deadLetters }) => deadLetters
      )
      assert.strictEqual(yield* after([removed], handle, dead), 1)
      assert.strictEqual(runs, 1)
      assert.deepStrictEqual(errors, [
        'The state "presses" belongs to "user", but the update "message_removed" has no user. Pass a key to `at`.'
      ])
      assert.throws(() => Cart.at({ chat_id } as never), "needs user_id")
    })
  )

  it.effect("fails with InvalidState for a value that does not match the schema", () =>
    inMemory(
      Effect.gen(function* () {
        const count = Count.at({ chat_id })
        const error = yield* Effect.flip(count.set(1.5))
        assert.strictEqual(error._tag, "InvalidState")
        assert.include(error.message, '"count"')
        assert.strictEqual(yield* count.get, 0)
      })
    )
  )

  it.effect("emits all values with their keys, in pages, without expired values", () =>
    inMemory(
      Effect.gen(function* () {
        const Short = State.make("presses", Schema.Int, { of: "user", initial: () => 0, expireAfter: "1 minute" })
        yield* Short.at({ user_id: User.UserId.make(9999) }).set(1)
        yield* TestClock.adjust("1 minute")
        yield* Effect.forEach(Array.from({ length: 1203 }), (_, id) =>
          Presses.at({ user_id: User.UserId.make(id) }).set(id)
        )
        yield* State.make("presses", Schema.String, { of: "user", initial: () => "" })
          .at({ user_id })
          .set("many")
        yield* Cart.at({ chat_id, user_id }).set({ items: ["tea"] })
        const entries = yield* Stream.runCollect(State.stream(Presses))
        assert.strictEqual(entries.length, 1203)
        for (const { key, value } of entries) {
          if (key.user_id === user_id) assert.isTrue(Result.isFailure(value))
          else assert.deepStrictEqual(value, Result.succeed(key.user_id as number))
        }
        assert.deepStrictEqual(yield* Stream.runCollect(State.stream(Cart)), [
          { key: { chat_id, user_id }, value: Result.succeed({ items: ["tea"] }) }
        ])
      })
    )
  )

  it.effect("forgets a person: state, dialogs and dead letters, and nothing of others", () =>
    Effect.gen(function* () {
      const other = User.UserId.make(3)
      const dialogs = [pressOf(1, 2), pressOf(7, 3)]
      const results = yield* after(
        dialogs,
        () => Effect.fail("failed"),
        Effect.gen(function* () {
          for (const id of [user_id, other]) {
            yield* Presses.at({ user_id: id }).set(1)
            yield* Cart.at({ chat_id, user_id: id }).set({ items: ["tea"] })
          }
          yield* Count.at({ chat_id }).set(1)
          yield* ChatStore.upsert(dialogs.map(({ decoded }) => Result.getOrThrow(decoded)))
          const forgotten = yield* State.forget({ user_id })
          const stats = yield* Inbox.Inbox.use(({ stats }) => stats)
          return {
            forgotten,
            deadLetters: stats.deadLetters,
            chats: yield* ChatStore.count(),
            presses: yield* Presses.at({ user_id }).get,
            others: yield* Presses.at({ user_id: other }).get,
            carts: (yield* Stream.runCollect(State.stream(Cart))).map(({ key }) => key.user_id),
            count: yield* Count.at({ chat_id }).get
          }
        }).pipe(Effect.provide(ChatStore.layerMemory))
      )
      assert.deepStrictEqual(results, {
        forgotten: { values: 2, timers: 0, deadLetters: 1, chats: 1 },
        deadLetters: 1,
        chats: 1,
        presses: 0,
        others: 1,
        carts: [other],
        count: 1
      })
    })
  )

  it.effect("forgets also earlier changes of the handler", () =>
    Effect.gen(function* () {
      const handle = () =>
        Effect.gen(function* () {
          yield* Presses.update(increment)
          yield* Count.update(increment)
          yield* State.forget({ user_id })
          assert.strictEqual(yield* Presses.get, 0)
        })
      const read = Effect.all([Presses.at({ user_id }).get, Count.at({ chat_id }).get])
      assert.deepStrictEqual(yield* after([pressOf(1, 2), pressOf(1, 2, 2)], handle, read), [0, 2])
    })
  )

  it.effect("removes values that have expired with the cleanup of the inbox", () =>
    Effect.gen(function* () {
      const Short = State.make("short", Schema.Int, { of: "chat", initial: () => 0, expireAfter: "1 minute" })
      const stored = InboxStore.InboxStore.use(({ rows }) => rows({ prefix: "state/short/", by: "key", limit: 10 }))
      const receive = Inbox.Inbox.use((inbox) => inbox.receive([pressOf(1, 2)]))
      yield* Effect.gen(function* () {
        yield* Short.at({ chat_id }).set(1)
        yield* TestClock.adjust("2 minutes")
        assert.strictEqual((yield* stored).length, 1)
        assert.strictEqual(yield* Short.at({ chat_id }).get, 0)
        yield* receive
        yield* Effect.yieldNow
        assert.strictEqual((yield* stored).length, 0)
      }).pipe(Effect.provide(Layer.provideMerge(Inbox.layer(), InboxStore.layerMemory)))
    })
  )

  it.effect("is used by fibers that outlive their update as elsewhere", () =>
    Effect.gen(function* () {
      const handle = () =>
        Effect.andThen(
          Count.update(increment),
          Effect.forkDetach(
            Effect.delay(Effect.andThen(Count.update(increment), Presses.update(increment)), "1 second")
          )
        )
      const read = Effect.andThen(
        Effect.sleep("2 seconds"),
        Effect.all([Count.at({ chat_id }).get, Presses.at({ user_id }).get])
      )
      assert.deepStrictEqual(yield* after([pressOf(1, 2)], handle, read), [2, 1])
    })
  )

  it.effect("is not lost if only fibers use it that outlive their update, or an attempt that failed", () =>
    Effect.gen(function* () {
      let attempts = 0
      const later = (count: typeof Count) =>
        Effect.forkDetach(Effect.delay(Effect.andThen(count.update(increment), Presses.update(increment)), "1 second"))
      const read = Effect.andThen(
        Effect.sleep("10 seconds"),
        Effect.all([Count.at({ chat_id }).get, Presses.at({ user_id }).get])
      )
      assert.deepStrictEqual(yield* after([pressOf(1, 2)], () => later(Count), read), [1, 1])
      // The fiber of the first attempt writes by itself while the second attempt runs, which fails.
      const handle = () =>
        Effect.gen(function* () {
          if (++attempts === 1) {
            yield* Effect.forkDetach(Effect.delay(Presses.update(increment), "3 seconds"))
            return yield* Effect.fail("failed")
          }
          yield* Effect.sleep("2 seconds")
          if (attempts === 2) return yield* Effect.fail("failed")
          yield* Count.update(increment)
        })
      assert.deepStrictEqual(yield* after([pressOf(1, 2)], handle, read), [1, 1])
      assert.strictEqual(attempts, 3)
    })
  )

  it("refuses options that cannot be meant", () => {
    const initial = () => 0
    assert.throws(() => State.make("", Schema.Int, { of: "chat", initial }), "name")
    assert.throws(() => State.make("n", Schema.Int, { of: "chat", initial, version: 0 }), "positive whole number")
    assert.throws(() => State.make("n", Schema.Int, { of: "person" as never, initial }), 'but it is "person"')
    assert.throws(() => State.make("n", Schema.Int, { of: "chat", initial, migrate: { 1: Schema.Int } }), "version 1")
    assert.throws(() => State.make("n", Schema.Int, { of: "chat", initial, expireAfter: 0 }), "expireAfter")
  })
})

const layer = LongPolling.layer().pipe(Layer.provideMerge(Emulator.layerBot()))

const Orders = State.make("orders", Schema.Int, { of: "user", initial: () => 0 })

const InChat = State.make("inChat", Schema.Int, { of: "userInChat", initial: () => 0 })

/** Runs a bot while something happens, and for two more minutes. */
const during = <E, R, E2, R2>(bot: Effect.Effect<void, E, R>, what: Effect.Effect<unknown, E2, R2>) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(bot, { startImmediately: true })
    yield* TestClock.adjust("1 second")
    yield* what
    yield* TestClock.adjust("2 minutes")
    yield* Fiber.interrupt(fiber)
  })

const textsOfBot = Effect.fnUntraced(function* (chat: Parameters<typeof Emulator.messages>[0]) {
  const messages = yield* Emulator.messages(chat)
  return messages.filter(({ sender }) => sender?.is_bot === true).map(({ body }) => body?.text)
})

describe("the state of a bot on the emulator", () => {
  it.effect("is kept between updates, and needs nothing but the layer of the bot", () =>
    Effect.gen(function* () {
      const ann = yield* Emulator.user("Ann")
      const bob = yield* Emulator.user("Bob")
      const dialog = yield* ann.start()
      const other = yield* bob.start()
      const count = Handler.on("message_created", (update) =>
        Effect.flatMap(Orders.update(increment), (count) => Messages.reply(update, `Order ${count}`))
      )
      yield* during(
        Bot.run(count),
        Effect.gen(function* () {
          yield* ann.send("tea")
          yield* bob.send("milk")
          yield* ann.send("bread")
        })
      )
      assert.deepStrictEqual(yield* textsOfBot(dialog), ["Order 1", "Order 2"])
      assert.deepStrictEqual(yield* textsOfBot(other), ["Order 1"])
    }).pipe(Effect.provide(layer))
  )

  it.effect(
    "is not changed by attempts that fail, and a handler that runs again because of a conflict sends once",
    () =>
      Effect.gen(function* () {
        const ann = yield* Emulator.user("Ann")
        const dialog = yield* ann.start()
        const group = yield* Emulator.chat({ members: [ann] })
        let runs = 0
        const order = Handler.on("message_created", (update) =>
          Effect.gen(function* () {
            runs++
            const count = yield* Orders.get
            yield* Messages.reply(update, "Order accepted")
            yield* Effect.sleep("1 second")
            if ((yield* Handler.CurrentAttempt) === 1) return yield* Effect.fail("not yet")
            yield* Orders.set(count + 1)
            yield* InChat.update(increment)
          })
        )
        yield* during(Bot.run(order), Effect.all([ann.send("tea"), ann.send(group, "milk")], { concurrency: 2 }))
        const { user_id } = ann.user
        const values = yield* Effect.all([
          Orders.at({ user_id }).get,
          Effect.forEach([dialog, group], ({ chat_id }) => InChat.at({ chat_id, user_id }).get)
        ])
        assert.deepStrictEqual(values, [2, [1, 1]])
        assert.deepStrictEqual(
          [yield* textsOfBot(dialog), yield* textsOfBot(group)],
          [["Order accepted"], ["Order accepted"]]
        )
        // Two attempts of two updates, and one that ran again.
        assert.strictEqual(runs, 5)
        const { deadLetters } = yield* Inbox.Inbox.use(({ stats }) => stats)
        assert.strictEqual(deadLetters, 0)
      }).pipe(Effect.provide(layer))
  )
})
