import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { Bot, Handler, Inbox, Recipient, State, Timer, Updates, User } from "../../src/index.ts"
import { recordSpans } from "../support/spans.ts"
import * as InboxStore from "../../src/inbox/InboxStore.ts"

const chat_id = Recipient.ChatId.make(7)

const start = (timestamp: number) =>
  JSON.stringify({
    update_type: "bot_started",
    timestamp,
    chat_id,
    user: { user_id: 1, first_name: "Ann", is_bot: false }
  })

const Reminder = Timer.make("reminder", Schema.Struct({ text: Schema.String, at: Schema.DateTimeUtcFromMillis }))
const Tick = Timer.make("tick", Schema.String)

/** Runs a bot whose source emits these updates and does not end. */
const run = <E, R>(handler: Handler.Handler<E, R>, texts: ReadonlyArray<string> = [start(1)]) =>
  Bot.run(handler).pipe(
    Effect.provide(Updates.layer(Stream.concat(Stream.fromIterable(texts), Stream.never))),
    Effect.forkScoped
  )

const environment = Inbox.layerMemory()

describe("Timer", () => {
  it.effect("is an update of the chat that arrives when it is due, with its value", () =>
    Effect.gen(function* () {
      const due: Array<unknown> = []
      yield* run(
        Handler.first(
          Handler.on("bot_started", () => Tick.in("8 hours", "feed the cat")),
          Tick.on((value, { chat_id, timestamp, user_id }) =>
            Effect.sync(() => void due.push([value, chat_id, user_id, timestamp]))
          )
        )
      )
      yield* TestClock.adjust("479 minutes")
      assert.deepStrictEqual(due, [])
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(due, [["feed the cat", chat_id, 1, 28_800_000]])
      assert.strictEqual((yield* (yield* Inbox.Inbox).stats).queued, 0)
    }).pipe(Effect.provide(environment))
  )

  it.effect("has the spans of a handled update with its name, and none before it is due", () =>
    Effect.gen(function* () {
      const { attributesOf, tracer } = recordSpans()
      const setThenIgnore = Handler.first(
        Handler.on("bot_started", () => Tick.in("8 hours", "feed the cat")),
        Tick.on(() => Effect.void)
      )
      yield* Effect.withTracer(run(setThenIgnore), tracer)
      yield* TestClock.adjust("479 minutes")
      const first = { update_type: "bot_started", chat: "7" }
      assert.deepStrictEqual(attributesOf("Updates.handle"), [first])
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(attributesOf("Updates.handle"), [
        first,
        { update_type: "colloquy_timer", chat: "7", timer: "tick" }
      ])
    }).pipe(Effect.provide(environment))
  )

  it.effect("is not set by a handler that fails, and set once by the attempt that succeeds", () =>
    Effect.gen(function* () {
      const due: Array<string> = []
      yield* run(
        Handler.first(
          Handler.on("bot_started", () =>
            Effect.gen(function* () {
              const attempt = yield* Handler.CurrentAttempt
              yield* Tick.in("1 minute", `attempt ${attempt}`, { key: `${attempt}` })
              if (attempt < 3) return yield* Effect.fail("not yet")
            })
          ),
          Tick.on((value) => Effect.sync(() => void due.push(value)))
        )
      )
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(due, ["attempt 3"])
    }).pipe(Effect.provide(environment))
  )

  it.effect("says the type of the chat that the update has, so that a filter of chat types takes it", () =>
    Effect.gen(function* () {
      const due: Array<string> = []
      const recorded = (place: string) => Tick.on((value) => Effect.sync(() => void due.push(`${place} ${value}`)))
      const added = (chat: number, is_channel: boolean) =>
        JSON.stringify({
          update_type: "bot_added",
          timestamp: 1,
          chat_id: chat,
          is_channel,
          user: { user_id: 1, first_name: "Ann", is_bot: false }
        })
      yield* run(
        Handler.first(
          Handler.inChatType(recorded("dialog"), "dialog"),
          Handler.inChatType(recorded("channel"), "channel"),
          Handler.inChatType(recorded("group"), "chat"),
          Handler.on("bot_started", () => Tick.in("1 minute", "one")),
          Handler.on("bot_added", ({ chat_id }) =>
            Effect.all([
              Tick.in("2 minutes", "two"),
              Tick.cron("0 * * * *", "hour", { key: "hour" }),
              Tick.for({ chat_id }).in("3 minutes", "three", { key: "for" }),
              Tick.for({ chat_id: Recipient.ChatId.make(chat_id - 10) }).in("4 minutes", "elsewhere")
            ])
          )
        ),
        [start(1), added(-1, false), added(-2, true)]
      )
      yield* TestClock.adjust("2 hours")
      assert.sameMembers(due, [
        "dialog one",
        "group two",
        "channel two",
        "group three",
        "channel three",
        "channel elsewhere",
        "channel elsewhere",
        "group hour",
        "group hour",
        "channel hour",
        "channel hour"
      ])
    }).pipe(Effect.provide(environment))
  )

  it.effect("of a chat that `for` chooses passes a filter unless it is certainly of another type", () =>
    Effect.gen(function* () {
      const due: Array<string> = []
      const recorded = (place: string) => Tick.on((value) => Effect.sync(() => void due.push(`${place} ${value}`)))
      yield* run(
        Handler.first(
          Handler.inChatType(recorded("dialog"), "dialog"),
          Handler.inChatType(recorded("group"), ["chat", "dialog"])
        ),
        []
      )
      yield* Tick.for({ chat_id }).in("1 minute", "chat of a user")
      yield* Tick.for({ user_id: User.UserId.make(1) }).in("2 minutes", "user")
      yield* Tick.for({ chat_id: Recipient.ChatId.make(-1) }).in("3 minutes", "other")
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(due, ["dialog chat of a user", "dialog user", "group other"])
    }).pipe(Effect.provide(environment))
  )

  it.effect("is moved when it is set again, cancelled by its key, and independent of other keys and chats", () =>
    Effect.gen(function* () {
      const due: Array<string> = []
      yield* run(
        Tick.on((value) => Effect.sync(() => void due.push(value))),
        []
      )
      const timers = Tick.for({ chat_id })
      yield* timers.in("1 minute", "moved")
      yield* timers.in("2 minutes", "late")
      yield* timers.in("1 minute", "cancelled", { key: "b" })
      yield* timers.cancel({ key: "b" })
      yield* timers.cancel({ key: "unknown" })
      yield* timers.in("1 minute", "other key", { key: "c" })
      yield* Tick.for({ chat_id: Recipient.ChatId.make(8) }).in("1 minute", "other chat")
      yield* Tick.for({ user_id: 3 as never }).at(90_000, "user")
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(due.sort(), ["other chat", "other key"])
      yield* TestClock.adjust("30 seconds")
      assert.deepStrictEqual(due, ["other chat", "other key", "user"])
      yield* TestClock.adjust("30 seconds")
      assert.deepStrictEqual(due, ["other chat", "other key", "user", "late"])
    }).pipe(Effect.provide(environment))
  )

  it.effect("survives a restart, and is due at once if its time has passed meanwhile", () =>
    Effect.gen(function* () {
      const store = yield* InboxStore.makeMemory
      const inbox = Inbox.layer().pipe(Layer.provide(Layer.succeed(InboxStore.InboxStore, store)))
      const first = Effect.scoped(
        Effect.provide(
          Effect.andThen(
            run(
              Handler.first(
                Handler.on("bot_started", () => Tick.in("1 hour", "later")),
                Tick.on(() => Effect.die("not yet"))
              )
            ),
            TestClock.adjust("1 second")
          ),
          inbox
        )
      )
      yield* first
      yield* TestClock.adjust("2 hours")
      const due: Array<string> = []
      yield* Effect.scoped(
        Effect.provide(
          Effect.andThen(
            run(
              Tick.on((value) => Effect.sync(() => void due.push(value))),
              []
            ),
            TestClock.adjust("1 second")
          ),
          inbox
        )
      )
      assert.deepStrictEqual(due, ["later"])
    })
  )

  it.effect("keeps the order of its chat, and is retried and becomes a dead letter as other updates do", () =>
    Effect.gen(function* () {
      const events: Array<string> = []
      yield* run(
        Handler.first(
          Handler.on("bot_started", () =>
            Effect.andThen(
              Effect.sleep("30 seconds"),
              Effect.sync(() => events.push("update"))
            )
          ),
          Tick.on((value) =>
            Effect.andThen(
              Effect.sync(() => events.push(value)),
              Effect.fail("broken")
            )
          )
        )
      )
      yield* Tick.for({ chat_id }).in("10 seconds", "timer")
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(events, ["update", ...Array<string>(6).fill("timer")])
      const [deadLetter] = yield* Stream.runCollect(Inbox.deadLetters)
      assert.strictEqual(deadLetter!.attempts, 6)
    }).pipe(Effect.provide(environment))
  )

  it.effect("is set at a time of a test clock that is no whole number", () =>
    Effect.gen(function* () {
      const due: Array<string> = []
      yield* run(
        Tick.on((value) => Effect.sync(() => void due.push(value))),
        []
      )
      yield* TestClock.adjust(0.4)
      yield* Tick.for({ chat_id }).in("1 minute", "x")
      yield* TestClock.adjust("2 minutes")
      assert.deepStrictEqual(due, ["x"])
    }).pipe(Effect.provide(environment))
  )

  it.effect("of a handler without chat fails with NoTimerChat, also outside of handlers", () =>
    Effect.gen(function* () {
      const outside = yield* Effect.flip(Tick.in("1 minute", "x"))
      assert.strictEqual(outside._tag, "NoTimerChat")
      assert.include(outside.message, "Use `for`")
      const errors: Array<unknown> = []
      yield* run(
        () => Effect.catch(Tick.in("1 minute", "x"), (error) => Effect.sync(() => void errors.push(error.message))),
        ['{"update_type":"comet_seen","timestamp":1}']
      )
      yield* TestClock.adjust("1 second")
      assert.strictEqual(errors.length, 1)
      assert.include(String(errors[0]), "unknown has no chat")
    }).pipe(Effect.provide(environment))
  )

  it("throws if the name is empty", () => {
    assert.throws(() => Timer.make(""), "The timer needs a name that is not empty.")
  })

  it.effect("fails with InvalidTimer for a chat, a value, a time or a cron expression that is not valid", () =>
    Effect.gen(function* () {
      const timers = Tick.for({ chat_id })
      const cases = [
        [timers.in("1 minute", 1 as never), "its value does not match the schema"],
        [timers.in(Infinity, "x"), "its duration has no end"],
        [timers.in(-Infinity, "x"), "its duration has no end"],
        [timers.in(NaN, "x"), "its duration is not valid: NaN"],
        [timers.in({ minutes: NaN }, "x"), "its duration is not valid"],
        [timers.in("soon" as never, "x"), "its duration is not valid: soon"],
        [timers.in("1000000000 days", "x"), "its duration is too long: dates end in the year 275760"],
        [timers.at("tomorrow", "x"), "its time is not a valid date: tomorrow"],
        [timers.cron("61 * * * *", "x"), 'the cron expression "61 * * * *" is not valid'],
        [timers.cron("0 9 * *", "x"), 'it needs the fields "minute hour day-of-month month day-of-week"'],
        [timers.cron("0 0 31 2 *", "x"), 'the cron expression "0 0 31 2 *" matches no time'],
        [
          timers.cron("* * * * *", "x", { timeZone: "Nowhere" }),
          'the time zone "Nowhere" is unknown; use a name such as'
        ],
        [Tick.for({} as never).in("1 minute", "x"), "`for` needs a `chat_id` or a `user_id`"]
      ] as const
      for (const [set, problem] of cases) {
        const error = yield* Effect.flip(set)
        assert.strictEqual(error._tag, "InvalidTimer")
        assert.include(error.message, problem)
      }
      const none = yield* (yield* Inbox.Inbox).store.untilNext
      assert.strictEqual(none, undefined)
    }).pipe(Effect.provide(environment))
  )

  it.effect("whose value does not match the schema any more is a dead letter that says so", () =>
    Effect.gen(function* () {
      yield* Timer.make("reminder", Schema.Struct({ text: Schema.Number }))
        .for({ chat_id })
        .in("1 minute", { text: 1 })
      yield* run(
        Reminder.on(() => Effect.void),
        []
      )
      yield* TestClock.adjust("1 minute")
      const [deadLetter] = yield* Stream.runCollect(Inbox.deadLetters)
      assert.include(deadLetter!.error, "MalformedTimer")
      assert.include(deadLetter!.error, "older version")
    }).pipe(Effect.provide(environment))
  )
})

describe("Timer.cron", () => {
  const times = Effect.fnUntraced(function* (missed: "one" | "all" | "none" | undefined, downFor: number) {
    const store = yield* InboxStore.makeMemory
    const inbox = Inbox.layer().pipe(Layer.provide(Layer.succeed(InboxStore.InboxStore, store)))
    const minutes: Array<number> = []
    yield* Effect.provide(Tick.for({ chat_id }).cron("*/10 * * * *", "x", { missed }), inbox)
    yield* TestClock.adjust(downFor)
    yield* Effect.scoped(
      Effect.provide(
        Effect.andThen(
          run(
            Tick.on((_, { timestamp }) => Effect.sync(() => void minutes.push(timestamp / 60_000))),
            []
          ),
          TestClock.adjust("20 minutes")
        ),
        inbox
      )
    )
    return minutes
  })

  it.effect("is due at each time of the expression", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* times(undefined, 0), [10, 20])
    })
  )

  it.effect("is due in the hour that is repeated in autumn, if it is for every hour, and otherwise once", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(Date.parse("2026-10-24T23:45:00Z"))
      const due: Array<string> = []
      const timers = Tick.for({ chat_id })
      const options = { timeZone: "Europe/Berlin" }
      yield* timers.cron("*/30 * * * *", "every", { ...options, key: "every" })
      yield* timers.cron("30 2 * * *", "daily", { ...options, key: "daily" })
      const handler = Tick.on((value, { timestamp }) =>
        Effect.sync(() => void due.push(`${value} ${new Date(timestamp).toISOString().slice(11, 16)}`))
      )
      yield* run(handler, [])
      for (let i = 0; i < 32; i++) yield* TestClock.adjust("5 minutes")
      assert.deepStrictEqual(due.toSorted(), [
        "daily 00:30",
        "every 00:00",
        "every 00:30",
        "every 01:00",
        "every 01:30",
        "every 02:00"
      ])
    }).pipe(Effect.provide(environment))
  )

  it.effect("is due after the gap in spring, if its time is skipped", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(Date.parse("2026-03-29T00:45:00Z"))
      const due: Array<string> = []
      yield* Tick.for({ chat_id }).cron("30 2 * * *", "x", { timeZone: "Europe/Berlin" })
      yield* run(
        Tick.on((_, { timestamp }) => Effect.sync(() => void due.push(new Date(timestamp).toISOString()))),
        []
      )
      yield* TestClock.adjust("26 hours")
      assert.deepStrictEqual(due, ["2026-03-29T01:30:00.000Z", "2026-03-30T00:30:00.000Z"])
    }).pipe(Effect.provide(environment))
  )

  it.effect("handles one of the occurrences that were missed, all of them or none", () =>
    Effect.gen(function* () {
      const down = 45 * 60_000
      assert.deepStrictEqual(yield* times("one", down), [10, 50, 60])
    })
  )

  it.effect("handles all of the occurrences that were missed with `all`", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* times("all", 45 * 60_000), [10, 20, 30, 40, 50, 60])
    })
  )

  it.effect("leaves out the occurrences that were missed with `none`", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* times("none", 45 * 60_000), [50, 60])
    })
  )

  it.effect("goes on after an occurrence that becomes a dead letter, and ends when a handler cancels it", () =>
    Effect.gen(function* () {
      const values: Array<number> = []
      yield* Tick.for({ chat_id }).cron("0 * * * *", "x")
      yield* run(
        Tick.on((_, { timestamp }) =>
          Effect.gen(function* () {
            values.push(timestamp / 3_600_000)
            if (timestamp === 3_600_000) return yield* Effect.fail("broken")
            if (timestamp === 3 * 3_600_000) yield* Tick.cancel()
          })
        ),
        []
      )
      yield* TestClock.adjust("10 hours")
      assert.deepStrictEqual([...new Set(values)], [1, 2, 3])
    }).pipe(Effect.provide(environment))
  )

  it.effect("is not handled if it was cancelled or set again after it was due", () =>
    Effect.gen(function* () {
      const events: Array<string> = []
      yield* run(
        Handler.first(
          Handler.on("bot_started", () => Effect.sleep("50 seconds")),
          Tick.on((value) => Effect.sync(() => void events.push(value)))
        )
      )
      const timers = Tick.for({ chat_id })
      yield* timers.cron("0 * * * *", "hourly", { key: "hourly" })
      yield* timers.in("1 second", "cancelled", { key: "cancelled" })
      yield* timers.in("1 second", "early", { key: "moved" })
      yield* timers.in("1 second", "kept", { key: "kept" })
      yield* TestClock.adjust("10 seconds")
      yield* timers.cancel({ key: "cancelled" })
      yield* timers.in("150 minutes", "late", { key: "moved" })
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(events, ["kept"])
      yield* TestClock.adjust("3 hours")
      assert.deepStrictEqual(events, ["kept", "hourly", "hourly", "late", "hourly"])
    }).pipe(Effect.provide(environment))
  )

  it.effect("that recurs ends when it is cancelled while its handler waits for a retry", () =>
    Effect.gen(function* () {
      let attempts = 0
      yield* run(
        Tick.on(() =>
          Effect.andThen(
            Effect.sync(() => attempts++),
            Effect.fail("broken")
          )
        ),
        []
      )
      yield* Tick.for({ chat_id }).cron("0 * * * *", "x")
      yield* TestClock.adjust("1 hour")
      yield* TestClock.adjust("1 second")
      assert.strictEqual(attempts, 1)
      yield* Tick.for({ chat_id }).cancel()
      yield* TestClock.adjust("5 hours")
      assert.strictEqual(attempts, 1)
      const inbox = yield* Inbox.Inbox
      assert.deepInclude(yield* inbox.stats, { queued: 0, deadLetters: 0 })
      assert.isUndefined(yield* inbox.store.untilNext)
    }).pipe(Effect.provide(environment))
  )

  it.effect("keeps a timer that another program sets during the handling", () =>
    Effect.gen(function* () {
      const values: Array<string> = []
      yield* run(
        Tick.on((value) =>
          Effect.andThen(
            Effect.sync(() => values.push(value)),
            Effect.sleep("10 seconds")
          )
        ),
        []
      )
      yield* Tick.for({ chat_id }).cron("0 * * * *", "old")
      yield* TestClock.adjust("1 hour")
      yield* TestClock.adjust("1 second")
      yield* Tick.for({ chat_id }).cron("0 * * * *", "new")
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(values, ["old", "new"])
      yield* TestClock.adjust("1 minute")
    }).pipe(Effect.provide(environment))
  )

  it.effect(
    "is handled again when its dead letter is replayed, also after it was cancelled, and does not recur then",
    () =>
      Effect.gen(function* () {
        const values: Array<number> = []
        let isBroken = true
        yield* run(
          Tick.on((_, { timestamp }) =>
            isBroken ? Effect.fail("broken") : Effect.sync(() => void values.push(timestamp))
          ),
          []
        )
        yield* Tick.for({ chat_id }).cron("0 * * * *", "x")
        yield* TestClock.adjust("70 minutes")
        yield* Tick.for({ chat_id }).cancel()
        isBroken = false
        const [{ id }] = yield* Stream.runCollect(Inbox.deadLetters)
        assert.isTrue(yield* Inbox.replay(id))
        yield* TestClock.adjust("5 hours")
        assert.deepStrictEqual(values, [3_600_000])
      }).pipe(Effect.provide(environment))
  )

  it.effect("is emitted by `stream` until it is due, with what identifies it", () =>
    Effect.gen(function* () {
      const user_id = User.UserId.make(7)
      yield* Tick.for({ chat_id, user_id }).in("2 hours", "second", { key: "a/b" })
      yield* Tick.for({ user_id }).cron("30 * * * *", "first", { timeZone: "Europe/Berlin" })
      yield* Tick.for({ chat_id }).at(-5, "due")
      yield* Effect.forEach(Array.from({ length: 600 }), (_, index) =>
        Tick.for({ chat_id: Recipient.ChatId.make(index) }).at(86_400_000, "many")
      )
      yield* run(() => Effect.void, [])
      yield* TestClock.adjust("1 second")
      const all = yield* Stream.runCollect(Timer.stream)
      assert.lengthOf(all, 602)
      const recurrence = { cron: "30 * * * *", timeZone: "Europe/Berlin", missed: "one" } as const
      assert.deepStrictEqual(all.slice(0, 2), [
        { name: "tick", key: undefined, chat_id: undefined, user_id, dueAt: 1_800_000, value: '"first"', recurrence },
        { name: "tick", key: "a/b", chat_id, user_id, dueAt: 7_200_000, value: '"second"', recurrence: undefined }
      ])
    }).pipe(Effect.provide(environment))
  )

  it.effect("of a person is forgotten, whether it is set, due, or set by the handler that forgets", () =>
    Effect.gen(function* () {
      const values: Array<string> = []
      const user_id = User.UserId.make(1)
      yield* run(
        Handler.first(
          Handler.on("bot_started", (update) =>
            Effect.gen(function* () {
              yield* Tick.in("2 hours", "in the handler", { key: "own" })
              yield* Effect.sleep("30 seconds")
              const { timers } = yield* State.forget({ user_id: update.user.user_id })
              assert.strictEqual(timers, 2)
            })
          ),
          Tick.on((value) => Effect.sync(() => void values.push(value)))
        )
      )
      yield* Tick.for({ user_id }).in("1 hour", "set")
      yield* Tick.for({ chat_id, user_id }).in("1 second", "due", { key: "due" })
      yield* Tick.for({ chat_id }).in("3 hours", "of the chat", { key: "chat" })
      yield* TestClock.adjust("10 hours")
      assert.deepStrictEqual(values, ["of the chat"])
    }).pipe(Effect.provide(environment))
  )
})
