import { Emulator } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import * as Scheduler from "effect/Scheduler"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { type Row, type WriteResult } from "../../src/inbox/InboxStore.ts"
import {
  Answers,
  type ApiError,
  Bot,
  type BotApi,
  Chat,
  Chats,
  Deliveries,
  Handler,
  Inbox,
  Journal,
  LongPolling,
  Members,
  Messages,
  Outage,
  PermanentError,
  QueuedUpdate,
  Updates,
  User
} from "../../src/index.ts"
import { CurrentRefresh } from "../../src/client/internal/refresh.ts"
import * as journal from "../../src/inbox/internal/journal/journal.ts"
import { CurrentUpdate } from "../../src/inbox/internal/consumer/currentUpdate.ts"
import { StoreError } from "../../src/base/StoreError.ts"
import { inTime } from "../support/deliveries.ts"
import { dialogId, messageCreated } from "../support/handlers.ts"
import { answer, lost, nodeError, ok, scripted, slow, type Step, unlimited } from "../support/scripted.ts"

const chat_id = dialogId

const wireMessage = (mid: string, text: string) => ({
  sender: { user_id: 7, first_name: "Bot", is_bot: true },
  recipient: { chat_id, chat_type: "dialog" },
  timestamp: 1,
  body: { mid, seq: 116_328_127_605_864, text }
})

const sent = (mid: string, text = "Hello") => ok({ message: wireMessage(mid, text) })

/** A page of messages. The next page repeats the last one. */
const listed = (text: string) => ok({ messages: [wireMessage("a", text)] })

const cutOff = lost(nodeError("ECONNRESET"))

const me = ok({ user_id: 7, first_name: "Bot", is_bot: true, username: "bot" })

const hello = Messages.send({ chat_id, text: "Hello" })

/** A fiber with this limit yields after each of its operations. */
const opsOfStep = 3

const unavailable = new StoreError({ store: "inbox", operation: "record", reason: "down", isRetryable: true })

/** The journal of an update, and what was recorded: the states of its entries, in order. */
const makeJournal = Effect.fnUntraced(function* (
  options: {
    readonly stored?: ReadonlyArray<Row>
    readonly results?: ReadonlyArray<WriteResult | StoreError>
  } = {}
) {
  const records: Array<string> = []
  const entries = new Map((options.stored ?? []).map((row) => [row.key, row]))
  const results = [...(options.results ?? [])]
  let revisions = 0
  const open = yield* journal.make({ outage: Outage.make("The inbox"), nextRevision: () => String(++revisions) })
  const update = messageCreated("Hi")
  const queued = QueuedUpdate.fromDecoded(Result.succeed(update) as Result.Success<typeof update, never>, {
    receivedAt: 0
  })
  const of = open(queued, options.stored, (written) =>
    Effect.suspend(() => {
      const result = results.shift() ?? "applied"
      if (result instanceof StoreError) return Effect.fail(result)
      if (result === "leaseLost") return Effect.succeed(result)
      for (const { key, revision, row } of written) {
        if (row === undefined) entries.delete(key)
        else entries.set(key, { key, text: row.text, revision })
        records.push(row === undefined ? "removed" : key.slice(0, key.indexOf(":")))
      }
      return Effect.succeed(result)
    })
  )
  const attempt = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.andThen(
      Effect.sync(() => of.begin()),
      Effect.provideService(effect, CurrentUpdate, {
        journal: of,
        changes: undefined,
        answers: undefined,
        entry: undefined,
        statements: undefined,
        record: undefined
      })
    )
  return { attempt, entries, of, records }
})

const startedEntry = Effect.gen(function* () {
  const { attempt, entries } = yield* makeJournal()
  yield* Effect.exit(attempt(hello))
  return [...entries.values()]
})

/** Runs a program against a platform that gives these replies, and returns the requests. */
const against = <A, E>(replies: ReadonlyArray<Step>, program: Effect.Effect<A, E, BotApi.BotApi | Scope.Scope>) => {
  const platform = scripted(...replies)
  return Effect.map(Effect.provide(Effect.scoped(program), platform.layer({ limits: unlimited })), (value) => ({
    value,
    requests: platform.journal.map(({ method, url }) => `${method} ${url.replace(/\?.*/, "")}`)
  }))
}

describe("Journal", () => {
  it.effect("returns the recorded answer when the handler is retried", () =>
    Effect.gen(function* () {
      const { requests, value } = yield* against(
        [sent("a"), sent("b")],
        Effect.gen(function* () {
          const { attempt, of, records } = yield* makeJournal()
          const first = yield* attempt(Effect.all([hello, hello]))
          yield* of.flush
          const second = yield* attempt(Effect.all([hello, hello], { concurrency: "unbounded" }))
          return { first, second, records }
        })
      )
      assert.deepStrictEqual(value.second, value.first)
      assert.deepStrictEqual(
        value.first.map(({ body }) => body?.mid as string | undefined),
        ["a", "b"]
      )
      assert.deepStrictEqual(value.records, ["started", "done", "started", "done"])
      assert.strictEqual(requests.length, 2)
    })
  )

  it.effect("makes a call in its slot after the call was interrupted at any of its steps", () =>
    Effect.gen(function* () {
      const replyTo: Step = ({ method, url }) => (method === "POST" ? sent("a") : url === "/me" ? me : listed("Hello"))
      for (let steps = 0; steps <= 60; steps++) {
        const { value } = yield* against(
          Array.from({ length: 9 }, () => replyTo),
          Effect.gen(function* () {
            const { attempt, entries } = yield* makeJournal()
            const interrupted = Effect.gen(function* () {
              const fiber = yield* Effect.forkChild(
                Effect.provideService(hello, Scheduler.MaxOpsBeforeYield, opsOfStep),
                { startImmediately: true }
              )
              yield* Effect.repeat(Effect.yieldNow, { times: steps })
              yield* Fiber.interrupt(fiber)
              yield* hello
            })
            yield* inTime(Effect.timeout(attempt(interrupted), "1 minute"))
            return [...new Set([...entries.keys()].map((key) => key.replace(/^\w+:/, "")))]
          })
        )
        assert.lengthOf(value, 1, `${steps} steps: ${value.join(", ")}`)
        assert.match(value[0], / 1$/)
      }
    })
  )

  it.effect("does not depend on the order of different calls", () =>
    Effect.gen(function* () {
      const { requests, value } = yield* against(
        [sent("a"), sent("b", "Bye"), sent("c", "New")],
        Effect.gen(function* () {
          const { attempt } = yield* makeJournal()
          const bye = Messages.send({ chat_id, text: "Bye" })
          yield* attempt(Effect.all([hello, bye]))
          return yield* attempt(Effect.all([Messages.send({ chat_id, text: "New" }), bye, hello]))
        })
      )
      assert.deepStrictEqual(
        value.map(({ body }) => body?.text),
        ["New", "Bye", "Hello"]
      )
      assert.strictEqual(requests.length, 3)
    })
  )

  it.effect("records calls that are not idempotent only", () =>
    Effect.gen(function* () {
      const done = ok({ success: true })
      const { value } = yield* against(
        [done, done, done, done, ok({ messages: [] })],
        Effect.gen(function* () {
          const { attempt, entries } = yield* makeJournal()
          yield* attempt(
            Effect.all([
              Answers.send({ callback_id: "1", notification: "ok" }),
              Members.add({ chat_id, user_ids: [User.UserId.make(1)] }),
              Members.remove({ chat_id, user_id: User.UserId.make(1) }),
              Chats.sendAction({ chat_id, action: "typing_on" }),
              Messages.list({ chat_id })
            ])
          )
          return [...entries.keys()]
            .filter((key) => key.startsWith("started:"))
            .map((key) => key.slice(8).split(" ")[0])
        })
      )
      assert.deepStrictEqual(value, ["Answers.send", "Members.add"])
    })
  )

  it.effect("sends nothing, and interrupts the handler, if the chat was lost", () =>
    Effect.gen(function* () {
      const { requests, value } = yield* against(
        [],
        Effect.gen(function* () {
          const { attempt } = yield* makeJournal({ results: ["leaseLost"] })
          return yield* Effect.exit(attempt(hello))
        })
      )
      assert.isTrue(Exit.isFailure(value) && Cause.hasInterruptsOnly(value.cause))
      assert.deepStrictEqual(requests, [])
    })
  )

  it.effect("waits while the store is unavailable", () =>
    Effect.gen(function* () {
      const { value } = yield* against(
        [sent("a")],
        Effect.gen(function* () {
          const { attempt, records } = yield* makeJournal({
            results: [unavailable, unavailable, "applied", unavailable]
          })
          const fiber = yield* Effect.forkChild(attempt(hello), { startImmediately: true })
          yield* TestClock.adjust("10 seconds")
          yield* Fiber.join(fiber)
          return records
        })
      )
      assert.deepStrictEqual(value, ["started", "done"])
    })
  )

  it.effect("does not record refusals, and carries the call out in the next attempt", () =>
    Effect.gen(function* () {
      const { requests, value } = yield* against(
        [answer(403, { code: "chat.denied", message: "no" }), sent("a")],
        Effect.gen(function* () {
          const { attempt, of, records } = yield* makeJournal()
          assert.strictEqual((yield* Effect.flip(attempt(hello)))._tag, "Forbidden")
          yield* attempt(hello)
          yield* of.flush
          return records
        })
      )
      assert.deepStrictEqual(value, ["started", "removed", "started", "done"])
      assert.strictEqual(requests.length, 2)
    })
  )

  it.effect("looks up a call whose response was lost, also when the same attempt repeats it", () =>
    Effect.gen(function* () {
      const { requests, value } = yield* against(
        [cutOff, listed("Hello"), listed("Hello"), me],
        Effect.gen(function* () {
          const { attempt } = yield* makeJournal()
          return yield* attempt(Effect.catchTag(hello, "RequestFailed", () => hello))
        })
      )
      assert.strictEqual(value.body?.mid as string | undefined, "a")
      assert.deepStrictEqual(requests, ["POST /messages", "GET /messages", "GET /messages", "GET /me"])
    })
  )

  it.effect("looks a lost call up again after its repetition was refused", () =>
    Effect.gen(function* () {
      const denied = answer(403, { code: "chat.denied", message: "no" })
      const { requests, value } = yield* against(
        [cutOff, denied, denied, listed("Hello"), listed("Hello"), me],
        Effect.gen(function* () {
          const { attempt } = yield* makeJournal()
          yield* Effect.flip(attempt(hello))
          assert.strictEqual((yield* Effect.flip(attempt(hello)))._tag, "Forbidden")
          return yield* attempt(hello)
        })
      )
      assert.strictEqual(value.body?.mid as string | undefined, "a")
      const get = "GET /messages"
      assert.deepStrictEqual(requests, ["POST /messages", get, "POST /messages", get, get, "GET /me"])
    })
  )

  it.effect("looks again if an equal call has taken the message while the messages were read", () =>
    Effect.gen(function* () {
      const later = wireMessage("b", "Hello")
      const both = ok({ messages: [{ ...later, timestamp: later.timestamp + 1 }, wireMessage("a", "Hello")] })
      const again = Effect.catchTag(hello, "RequestFailed", () => hello)
      // The first call reads the messages before the second call sends one, and goes on after that call has ended.
      const reply: Step = ({ at, method, url }) => {
        if (method === "POST") return cutOff
        if (url === "/me") return at === 0 ? slow(5000, me) : me
        return at === 0 ? listed("Hello") : both
      }
      const { requests, value } = yield* against(
        Array.from({ length: 20 }, () => reply),
        Effect.gen(function* () {
          const { attempt } = yield* makeJournal()
          const calls = attempt(Effect.all([again, Effect.delay(again, "1 second")], { concurrency: 2 }))
          const fiber = yield* Effect.forkChild(calls)
          yield* TestClock.adjust("10 seconds")
          return yield* Fiber.join(fiber)
        })
      )
      assert.deepStrictEqual(
        value.map(({ body }) => body?.mid as string | undefined),
        ["b", "a"]
      )
      assert.strictEqual(requests.filter((request) => request === "POST /messages").length, 2)
    })
  )

  it.effect("repeats a lost call if the bot may not read the chat, and fails if it cannot be looked up now", () =>
    Effect.gen(function* () {
      const denied = answer(403, { code: "chat.denied", message: "no" })
      const { requests, value } = yield* against(
        [cutOff, answer(400, { code: "broken" }), denied, sent("b")],
        Effect.gen(function* () {
          const { attempt } = yield* makeJournal()
          yield* Effect.flip(attempt(hello))
          const failure = yield* Effect.flip(attempt(hello))
          assert.strictEqual(failure._tag, "RequestFailed")
          return yield* attempt(hello)
        })
      )
      assert.strictEqual(value.body?.mid as string | undefined, "b")
      assert.deepStrictEqual(requests, ["POST /messages", "GET /messages", "GET /messages", "POST /messages"])
    })
  )

  it.effect("records with the start of a call the messages that other calls have created in its chat", () =>
    Effect.gen(function* () {
      const { timestamp } = messageCreated("Hi")
      const { attempt, entries } = yield* makeJournal()
      const created: Array<unknown> = []
      const reply = (mid: string) => () => {
        const { text } = [...entries.values()].at(-1)!
        created.push((JSON.parse(text) as { readonly created: unknown }).created)
        return ok({ message: { ...wireMessage(mid, "Hello"), timestamp } })
      }
      const to = (id: number) => Messages.send({ chat_id: Chat.ChatId.make(id), text: "Hello" })
      const toUser = Messages.send({ user_id: User.UserId.make(42), text: "Hello" })
      yield* against(["a", "b", "c", "d", "e"].map(reply), attempt(Effect.all([to(1), to(2), toUser, to(1), toUser])))
      // The chat of a message to a user is not known.
      assert.deepStrictEqual(created, [[], [], ["a", "b"], ["a", "c"], ["a", "b", "c", "d"]])
    })
  )

  it.effect("looks up a message to a user in the dialog of the update", () =>
    Effect.gen(function* () {
      const toUser = (user_id: number) => Messages.send({ user_id: User.UserId.make(user_id), text: "Hello" })
      const { requests } = yield* against(
        [cutOff, listed("Hello"), listed("Hello"), me, cutOff, sent("b")],
        Effect.gen(function* () {
          const { attempt } = yield* makeJournal()
          yield* Effect.flip(attempt(toUser(42)))
          yield* attempt(toUser(42))
          yield* Effect.flip(attempt(toUser(43)))
          yield* attempt(toUser(43))
        })
      )
      assert.deepStrictEqual(requests, [
        "POST /messages",
        "GET /messages",
        "GET /messages",
        "GET /me",
        "POST /messages",
        "POST /messages"
      ])
    })
  )

  it.effect("fails with Uncertain if a lost call is skipped, and lets a function decide", () =>
    Effect.gen(function* () {
      const seen: Array<string> = []
      const { requests } = yield* against(
        [cutOff, sent("a")],
        Effect.gen(function* () {
          yield* TestClock.adjust("5 seconds")
          const stored = yield* startedEntry
          const { attempt } = yield* makeJournal({ stored })
          const skip = Effect.provideService(hello, Journal.CurrentPolicy, "skip")
          const error = (yield* Effect.flip(attempt(skip))) as ApiError.RequestFailed
          assert.strictEqual(error.reason._tag, "Uncertain")
          assert.isTrue(error.maybeExecuted)
          assert.isFalse(error.isRetryable)
          assert.include(error.message, '"Messages.send" after 1970-01-01T00:00:05.000Z')
          const policy: Journal.Policy = ({ call, startedAt }) =>
            Effect.sync(() => {
              seen.push(`${call} ${startedAt}`)
              return "repeat" as const
            })
          yield* attempt(Effect.provideService(hello, Journal.CurrentPolicy, policy))
        })
      )
      assert.deepStrictEqual(seen, ["Messages.send 5000"])
      assert.strictEqual(requests.length, 2)
    })
  )

  it.effect("counts the calls that were replayed, adopted, repeated and skipped", () =>
    Effect.gen(function* () {
      const skipped = Effect.provideService(hello, Journal.CurrentPolicy, "skip")
      const repeated = Effect.provideService(hello, Journal.CurrentPolicy, "repeat")
      yield* against(
        [cutOff, cutOff, listed("Hello"), listed("Hello"), me],
        Effect.gen(function* () {
          const { attempt } = yield* makeJournal()
          yield* Effect.flip(attempt(hello))
          yield* Effect.flip(attempt(skipped))
          yield* Effect.flip(attempt(repeated))
          yield* attempt(hello)
          yield* attempt(hello)
          yield* attempt(repeated)
        })
      )
      const counts = (yield* Metric.snapshot).flatMap(({ attributes, id, state }) =>
        id.startsWith("colloquy_journal_")
          ? [[id, attributes?.["outcome"], (state as { readonly count: number }).count] as const]
          : []
      )
      assert.deepStrictEqual(
        new Set(counts.map((count) => count.join(" "))),
        new Set([
          "colloquy_journal_replayed_total  2",
          "colloquy_journal_uncertain_total adopted 1",
          "colloquy_journal_uncertain_total repeated 1",
          "colloquy_journal_uncertain_total skipped 1"
        ])
      )
    }).pipe(Effect.provideService(Metric.MetricRegistry, new Map()))
  )

  it.effect("waits for a call that an earlier attempt has left behind", () =>
    Effect.gen(function* () {
      const { requests, value } = yield* against(
        [{ ...sent("a"), delay: 1000 }],
        Effect.gen(function* () {
          const { attempt } = yield* makeJournal()
          yield* attempt(Effect.forkDetach(hello, { startImmediately: true }))
          const fiber = yield* Effect.forkChild(attempt(hello), { startImmediately: true })
          yield* TestClock.adjust("2 seconds")
          return yield* Fiber.join(fiber)
        })
      )
      assert.strictEqual(value.body?.mid as string | undefined, "a")
      assert.strictEqual(requests.length, 1)
    })
  )

  it.effect("carries out calls of fibers that still run after the update was handled, without a journal", () =>
    Effect.gen(function* () {
      const { requests, value } = yield* against(
        [sent("a"), sent("b")],
        Effect.gen(function* () {
          const { attempt, of, records } = yield* makeJournal()
          yield* attempt(hello)
          yield* of.flush
          of.close()
          yield* attempt(hello)
          return records
        })
      )
      assert.deepStrictEqual(value, ["started", "done"])
      assert.strictEqual(requests.length, 2)
    })
  )
})

describe("Journal.named", () => {
  it.effect("identifies calls by their name, and returns the answer that was recorded", () =>
    Effect.gen(function* () {
      const say = (text: string) => Journal.named(Messages.send({ chat_id, text }), "greeting")
      const { requests, value } = yield* against(
        [sent("a", "12:00"), sent("b", "12:00")],
        Effect.gen(function* () {
          const { attempt } = yield* makeJournal()
          yield* attempt(say("12:00"))
          const replayed = yield* attempt(say("12:01"))
          yield* attempt(Effect.andThen(say("12:02"), say("12:02")))
          return replayed
        })
      )
      assert.strictEqual(value.body?.text, "12:00")
      assert.strictEqual(requests.length, 2)
    })
  )

  it.effect("keeps the number of each call, also if the call before it was refused", () =>
    Effect.gen(function* () {
      const refused = answer(403, { code: "chat.denied", message: "no" })
      const { requests, value } = yield* against(
        [refused, sent("b", "to Bob"), refused],
        Effect.gen(function* () {
          const { attempt } = yield* makeJournal()
          const tell = (name: string) =>
            Messages.send({ chat_id, text: `to ${name}` }).pipe(
              Journal.named("time"),
              Effect.match({ onSuccess: ({ body }) => body?.text, onFailure: ({ _tag }) => _tag })
            )
          const all = Effect.forEach(["Ann", "Bob"], tell)
          return [yield* attempt(all), yield* attempt(all)]
        })
      )
      assert.deepStrictEqual(value, [
        ["Forbidden", "to Bob"],
        ["Forbidden", "to Bob"]
      ])
      assert.strictEqual(requests.length, 3)
    })
  )

  it.effect("looks up each text that may have been sent", () =>
    Effect.gen(function* () {
      const say = (text: string) => Messages.send({ chat_id, text }).pipe(Journal.named("greeting"))
      const { requests, value } = yield* against(
        [cutOff, ok({ messages: [] }), cutOff, listed("12:00"), listed("12:00"), me],
        Effect.gen(function* () {
          const { attempt } = yield* makeJournal()
          yield* Effect.flip(attempt(say("12:00")))
          yield* Effect.flip(attempt(say("12:01")))
          return yield* attempt(say("12:02"))
        })
      )
      assert.strictEqual(value.body?.text, "12:00")
      assert.strictEqual(requests.filter((request) => request.startsWith("POST")).length, 2)
    })
  )
})

describe("a request that changes while it waits for its permit", () => {
  it.effect("is recorded, and looked up, as it was sent", () =>
    Effect.gen(function* () {
      const say = Messages.send({ chat_id, text: "old" }).pipe(
        Journal.named("live"),
        Effect.provideService(CurrentRefresh, {
          endpoint: "Messages.send",
          read: (request) => ({ ...(request as object), text: "new" })
        })
      )
      const { requests, value } = yield* against(
        [cutOff, listed("new"), listed("new"), me],
        Effect.gen(function* () {
          const { attempt } = yield* makeJournal()
          yield* Effect.flip(attempt(say))
          return yield* attempt(say)
        })
      )
      assert.strictEqual(value.body?.mid, "a")
      assert.strictEqual(requests.filter((request) => request.startsWith("POST")).length, 1)
    })
  )
})

describe("Journal.step", () => {
  const Receipt = Schema.Struct({ amount: Schema.BigInt, at: Schema.Date })

  it.effect("runs once for an update, and returns its result in later attempts", () =>
    Effect.gen(function* () {
      let runs = 0
      const charge = Journal.step(
        "charge",
        Receipt,
        Effect.sync(() => ({ amount: BigInt(++runs), at: new Date(5) }))
      )
      const { attempt, entries, records } = yield* makeJournal()
      const first = yield* attempt(Effect.all([charge, charge]))
      assert.deepStrictEqual(first, [
        { amount: 1n, at: new Date(5) },
        { amount: 2n, at: new Date(5) }
      ])
      assert.deepStrictEqual(yield* attempt(Effect.all([charge, charge])), first)
      const restarted = yield* makeJournal({ stored: [...entries.values()] })
      assert.deepStrictEqual(yield* restarted.attempt(Effect.all([charge, charge])), first)
      assert.strictEqual(runs, 2)
      assert.deepStrictEqual(records, ["started", "done", "started", "done"])
    })
  )

  it.effect("runs again after a failure, and outside of handling each time", () =>
    Effect.gen(function* () {
      let runs = 0
      const flaky = Journal.step(
        "flaky",
        Schema.Int,
        Effect.suspend(() => (++runs < 3 ? Effect.fail("not yet" as const) : Effect.succeed(runs)))
      )
      const { attempt } = yield* makeJournal()
      assert.strictEqual(yield* Effect.flip(attempt(flaky)), "not yet")
      assert.strictEqual(yield* Effect.flip(attempt(flaky)), "not yet")
      assert.strictEqual(yield* attempt(flaky), 3)
      assert.strictEqual(yield* attempt(flaky), 3)
      assert.strictEqual(yield* flaky, 4)
      assert.strictEqual(yield* flaky, 5)
    })
  )

  it.effect("keeps its number in all attempts, also if a step of its name before it failed", () =>
    Effect.gen(function* () {
      const keys: Array<string> = []
      const charge = (card: string) =>
        Journal.step(
          "charge",
          Schema.String,
          Effect.flatMap(Journal.key, (key) =>
            Effect.suspend(() => {
              keys.push(key)
              return card === "A" ? Effect.fail("declined") : Effect.succeed(`receipt of ${card}`)
            })
          )
        )
      const all = Effect.forEach(["A", "B"], (card) => Effect.catch(charge(card), () => Effect.succeed("declined")))
      const { attempt, entries } = yield* makeJournal()
      assert.deepStrictEqual(yield* attempt(all), ["declined", "receipt of B"])
      assert.deepStrictEqual(yield* attempt(all), ["declined", "receipt of B"])
      const restarted = yield* makeJournal({ stored: [...entries.values()] })
      assert.deepStrictEqual(yield* restarted.attempt(all), ["declined", "receipt of B"])
      assert.strictEqual(keys.length, 4)
      assert.strictEqual(new Set(keys).size, 2)
    })
  )

  it.effect("is the same step if Effect.retry repeats it, with the steps in its effect", () =>
    Effect.gen(function* () {
      const keys: Array<string> = []
      let failures = 2
      const inner = (name: string, isFlaky: boolean) =>
        Journal.step(
          name,
          Schema.Int,
          Effect.flatMap(Journal.key, (key) =>
            Effect.suspend(() => {
              keys.push(key)
              return isFlaky && failures-- > 0 ? Effect.fail("away") : Effect.succeed(keys.length)
            })
          )
        )
      const both = Journal.step("both", Schema.Int, Effect.andThen(inner("reserve", false), inner("pay", true)))
      const { attempt } = yield* makeJournal()
      const handler = Effect.andThen(Effect.retry(both, { times: 2 }), inner("reserve", false))
      assert.strictEqual(yield* attempt(handler), 5)
      assert.strictEqual(yield* attempt(handler), 5)
      // It is reserved once, and paid with one key. The step after them is another one.
      assert.strictEqual(keys.length, 5)
      assert.strictEqual(new Set(keys).size, 3)
    })
  )

  it.effect("does not run at all if the chat was lost", () =>
    Effect.gen(function* () {
      let runs = 0
      const { attempt } = yield* makeJournal({ results: ["leaseLost"] })
      const exit = yield* Effect.exit(
        attempt(
          Journal.step(
            "a",
            Schema.Int,
            Effect.sync(() => ++runs)
          )
        )
      )
      assert.isTrue(Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause))
      assert.strictEqual(runs, 0)
    })
  )

  it.effect("runs again if it was interrupted, unless the policy is to skip it", () =>
    Effect.gen(function* () {
      const started = yield* Deferred.make<void>()
      const stuck = Effect.andThen(Deferred.succeed(started, undefined), Effect.never)
      const { attempt } = yield* makeJournal()
      const fiber = yield* Effect.forkChild(attempt(Journal.step("ask", Schema.Int, stuck)))
      yield* Deferred.await(started)
      yield* Fiber.interrupt(fiber)
      const ask = Journal.step("ask", Schema.Int, Effect.succeed(1))
      const error = yield* Effect.flip(attempt(Effect.provideService(ask, Journal.CurrentPolicy, "skip")))
      assert.deepStrictEqual([error._tag, (error as Journal.Uncertain).call], ["Uncertain", "ask"])
      assert.isTrue(PermanentError.isPermanentError(error), "an update whose step is skipped is not retried")
      assert.strictEqual(yield* attempt(ask), 1)
    })
  )

  it.effect(
    "fails with InvalidStepResult if the result does not match the schema, now or after the schema changed",
    () =>
      Effect.gen(function* () {
        const Positive = Schema.Int.check(Schema.isGreaterThan(0))
        const { attempt } = yield* makeJournal()
        const invalid = yield* Effect.flip(attempt(Journal.step("a", Positive, Effect.succeed(-1))))
        assert.strictEqual(invalid._tag, "InvalidStepResult")
        assert.include(invalid.message, 'The result of the step "a" does not match its schema')
        yield* attempt(Journal.step("b", Schema.Int, Effect.succeed(-1)))
        const changed = yield* Effect.flip(attempt(Journal.step("b", Positive, Effect.succeed(1))))
        assert.strictEqual(changed._tag, "InvalidStepResult")
      })
  )
})

describe("Journal.list", () => {
  const rows = Journal.list("rows", Schema.Int)

  const append = (values: ReadonlyArray<number>) =>
    Effect.scoped(Effect.flatMap(rows, ({ append, recorded }) => Effect.as(Effect.forEach(values, append), recorded)))

  const textsOf = (entries: ReadonlyMap<string, Row>) => [...entries.values()].map(({ text }) => text)

  it.effect("records the first value at once, then once a second, and the rest when the scope closes", () =>
    Effect.gen(function* () {
      const { attempt, entries } = yield* makeJournal()
      yield* attempt(
        Effect.scoped(
          Effect.gen(function* () {
            const { append } = yield* rows
            yield* append(1)
            yield* TestClock.adjust(1)
            assert.deepStrictEqual(textsOf(entries), ["[1]"])
            yield* append(2)
            yield* append(3)
            yield* TestClock.adjust(998)
            assert.deepStrictEqual(textsOf(entries), ["[1]"])
            yield* TestClock.adjust(1)
            assert.deepStrictEqual(textsOf(entries), ["[1]", "[2,3]"])
            yield* append(4)
          })
        )
      )
      assert.deepStrictEqual(textsOf(entries), ["[1]", "[2,3]", "[4]"])
      const restarted = yield* makeJournal({ stored: [...entries.values()] })
      assert.deepStrictEqual(yield* restarted.attempt(append([5])), [1, 2, 3, 4])
      assert.deepStrictEqual(yield* restarted.attempt(append([])), [1, 2, 3, 4, 5])
    })
  )

  it.effect("records the added values when the list is flushed", () =>
    Effect.gen(function* () {
      const { attempt, entries } = yield* makeJournal({ results: ["applied", unavailable, "applied"] })
      yield* attempt(
        Effect.scoped(
          Effect.gen(function* () {
            const { append, flush } = yield* rows
            yield* append(1)
            yield* TestClock.adjust(1)
            yield* append(2)
            const flushed = yield* Effect.forkChild(flush)
            yield* TestClock.adjust(10)
            assert.isUndefined(flushed.pollUnsafe(), "the store is not available")
            yield* TestClock.adjust(500)
            yield* Fiber.join(flushed)
            assert.deepStrictEqual(textsOf(entries), ["[1]", "[2]"])
          })
        )
      )
    })
  )

  it.effect("keeps in memory the values that the store did not take, and writes them before later values", () =>
    Effect.gen(function* () {
      const { attempt, entries } = yield* makeJournal({ results: Array.from({ length: 9 }, () => unavailable) })
      const first = yield* Effect.forkChild(attempt(append([1])))
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(first)
      assert.deepStrictEqual(textsOf(entries), [])
      const second = yield* Effect.forkChild(
        attempt(
          Effect.scoped(
            Effect.flatMap(rows, ({ append, flush, recorded }) => Effect.as(Effect.andThen(append(2), flush), recorded))
          )
        )
      )
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(yield* Fiber.join(second), [1])
      assert.deepStrictEqual(textsOf(entries), ["[1]", "[2]"])
    })
  )

  it.effect("tells lists of one name apart by their order", () =>
    Effect.gen(function* () {
      const { attempt } = yield* makeJournal()
      yield* attempt(Effect.andThen(append([1]), append([2, 3])))
      assert.deepStrictEqual(yield* attempt(Effect.all([append([]), append([])])), [[1], [2, 3]])
    })
  )

  it.effect("records nothing outside of handling", () =>
    Effect.gen(function* () {
      yield* append([1])
      assert.deepStrictEqual(yield* append([2]), [])
    })
  )

  it.effect("fails with InvalidStepResult if a value does not match the schema, now or after the schema changed", () =>
    Effect.gen(function* () {
      const { attempt } = yield* makeJournal()
      assert.strictEqual((yield* Effect.flip(attempt(append([0.5])))).step, "rows")
      yield* attempt(append([1]))
      const error = yield* Effect.flip(attempt(Effect.scoped(Journal.list("rows", Schema.String))))
      assert.match(error.message, /"rows" does not match/)
    })
  )
})

describe("Journal.key", () => {
  it.effect("is the same in each attempt, and another one in each step", () =>
    Effect.gen(function* () {
      const keys = Effect.all([
        Journal.key,
        Journal.step(
          "a",
          Schema.String,
          Effect.flatMap(Journal.key, (key) => Effect.fail(key))
        ).pipe(Effect.flip),
        Journal.step(
          "b",
          Schema.String,
          Effect.flatMap(Journal.key, (key) => Effect.fail(key))
        ).pipe(Effect.flip)
      ])
      const { attempt } = yield* makeJournal()
      const first = yield* attempt(keys)
      assert.deepStrictEqual(yield* attempt(keys), first)
      assert.deepStrictEqual(yield* (yield* makeJournal()).attempt(keys), first)
      assert.strictEqual(new Set(first).size, 3)
    })
  )

  it.effect("is different for each step of the same name", () =>
    Effect.gen(function* () {
      const step = Journal.step("a", Schema.String, Journal.key)
      const { attempt } = yield* makeJournal()
      const [first, second] = yield* attempt(Effect.all([step, step]))
      assert.notStrictEqual(first, second)
    })
  )

  it.effect("is a new one each time outside of handling", () =>
    Effect.gen(function* () {
      assert.notStrictEqual(yield* Journal.key, yield* Journal.key)
    })
  )
})

const layer = LongPolling.layer().pipe(Layer.provideMerge(Emulator.layerBot()))

const noRetry = { retry: Schedule.recurs(0) }

/** Runs a bot for a time. */
const runFor = <E, R>(bot: Effect.Effect<void, E, R>, duration: "1 second" | "2 minutes") =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(bot, { startImmediately: true })
    yield* TestClock.adjust(duration)
    yield* Fiber.interrupt(fiber)
  })

const textsOfBot = Effect.fnUntraced(function* (chat_id: number) {
  const messages = yield* Emulator.messages({ chat_id } as Parameters<typeof Emulator.messages>[0])
  return messages.filter(({ sender }) => sender?.is_bot === true).map(({ body }) => body?.text)
})

const visitor = Effect.gen(function* () {
  const ann = yield* Emulator.user("Ann")
  const { recipient } = yield* ann.send("Hi")
  return { ann, chat_id: recipient.chat_id! }
})

describe("the journal of Bot.run", () => {
  it.effect("sends a message once if the handler fails five times after it", () =>
    Effect.gen(function* () {
      const { chat_id } = yield* visitor
      let attempts = 0
      const order = Handler.on("message_created", (update) =>
        Effect.gen(function* () {
          yield* Messages.reply(update, "Order accepted")
          if (++attempts <= 5) return yield* Effect.fail("not yet")
          yield* Messages.reply(update, "Order done")
        })
      )
      yield* runFor(Bot.run(order), "2 minutes")
      assert.strictEqual(attempts, 6)
      assert.deepStrictEqual(yield* textsOfBot(chat_id), ["Order accepted", "Order done"])
    }).pipe(Effect.provide(layer))
  )

  it.effect("carries out calls of fibers that outlive an update whose handler has called nothing", () =>
    Effect.gen(function* () {
      const { chat_id } = yield* visitor
      const later = Handler.on("message_created", (update) =>
        Effect.forkDetach(Effect.delay(Messages.reply(update, "Later"), "1 minute"))
      )
      yield* runFor(Bot.run(later), "2 minutes")
      assert.deepStrictEqual(yield* textsOfBot(chat_id), ["Later"])
    }).pipe(Effect.provide(layer))
  )

  it.effect("continues a dead letter that is replayed where its handler stopped", () =>
    Effect.gen(function* () {
      const { chat_id } = yield* visitor
      let runs = 0
      let isBroken = true
      const order = Handler.on("message_created", (update) =>
        Effect.gen(function* () {
          yield* Messages.reply(update, "Order accepted")
          const receipt = yield* Journal.step(
            "charge",
            Schema.Int,
            Effect.sync(() => ++runs)
          )
          if (isBroken) return yield* Effect.fail("broken")
          yield* Messages.reply(update, `Receipt ${receipt}`)
        })
      )
      yield* runFor(Bot.run(order, noRetry), "1 second")
      isBroken = false
      const [{ id }] = yield* Stream.runCollect(Inbox.deadLetters)
      yield* Inbox.replay(id)
      yield* runFor(Bot.run(order, noRetry), "1 second")
      assert.deepStrictEqual(yield* textsOfBot(chat_id), ["Order accepted", "Receipt 1"])
      assert.deepStrictEqual(yield* Stream.runCollect(Inbox.deadLetters), [])
    }).pipe(Effect.provide(layer))
  )

  it.effect("continues an update that was interrupted when the bot stopped", () =>
    Effect.gen(function* () {
      const { chat_id } = yield* visitor
      const order = (rest: Effect.Effect<void>) =>
        Handler.on("message_created", (update) => Effect.andThen(Messages.reply(update, "Order accepted"), rest))
      yield* runFor(Bot.run(order(Effect.never)), "1 second")
      yield* runFor(Bot.run(order(Effect.void)), "1 second")
      assert.deepStrictEqual(yield* textsOfBot(chat_id), ["Order accepted"])
      assert.strictEqual((yield* Inbox.Inbox.use(({ stats }) => stats)).queued, 0)
    }).pipe(Effect.provide(layer))
  )

  it.effect("repeats nothing that has succeeded if Effect.retry repeats a handler in Handler.transform", () =>
    Effect.gen(function* () {
      const { chat_id } = yield* visitor
      const keys: Array<string> = []
      let failures = 2
      const pay = Handler.on("message_created", (update) =>
        Effect.gen(function* () {
          yield* Journal.step(
            "charge",
            Schema.Int,
            Effect.map(Journal.key, (key) => keys.push(key))
          )
          yield* Messages.reply(update, "Paid")
          if (failures-- > 0) return yield* Effect.fail("the warehouse is away")
          return yield* Effect.andThen(Messages.reply(update, "Sent"), Messages.reply(update, "Paid"))
        })
      )
      yield* runFor(Bot.run(Handler.transform(pay, Effect.retry({ times: 1 }))), "2 minutes")
      assert.lengthOf(keys, 1)
      assert.deepStrictEqual(yield* textsOfBot(chat_id), ["Paid", "Sent", "Paid"])
    }).pipe(Effect.provide(layer))
  )

  it.effect("sends equal messages of different updates", () =>
    Effect.gen(function* () {
      const { ann, chat_id } = yield* visitor
      yield* ann.send("Hi")
      yield* runFor(Bot.run(Handler.on("message_created", (update) => Messages.reply(update, "Hello"))), "1 second")
      assert.deepStrictEqual(yield* textsOfBot(chat_id), ["Hello", "Hello"])
    }).pipe(Effect.provide(layer))
  )

  it.effect("sends the messages of onDeadLetter once, also if the dead letter is replayed and fails again", () =>
    Effect.gen(function* () {
      const { chat_id } = yield* visitor
      const bot = Bot.run(
        Handler.on("message_created", () => Effect.fail("broken")),
        { ...noRetry, onDeadLetter: () => Messages.send({ chat_id, text: "Sorry" }) }
      )
      yield* runFor(bot, "1 second")
      const [{ id }] = yield* Stream.runCollect(Inbox.deadLetters)
      yield* Inbox.replay(id)
      yield* runFor(bot, "1 second")
      assert.deepStrictEqual(yield* textsOfBot(chat_id), ["Sorry"])
    }).pipe(Effect.provide(layer))
  )
})

describe("the journal of deliveries", () => {
  it.effect("covers Deliveries.mapEffect", () =>
    Effect.gen(function* () {
      const { chat_id } = yield* visitor
      let failures = 2
      const bot = Updates.deliveries().pipe(
        Deliveries.on("message_created"),
        Deliveries.mapEffect((update) =>
          Effect.andThen(
            Messages.reply(update, "Order accepted"),
            Effect.suspend(() => (failures-- > 0 ? Effect.fail("not yet") : Effect.void))
          )
        ),
        Deliveries.runForEach(() => Effect.void)
      )
      yield* runFor(bot, "2 minutes")
      assert.deepStrictEqual(yield* textsOfBot(chat_id), ["Order accepted"])
    }).pipe(Effect.provide(layer))
  )
})
