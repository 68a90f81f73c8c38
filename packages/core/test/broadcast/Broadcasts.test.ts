import { Broadcasts, ChatStore, Recipient } from "@colloquy/core"
import * as BroadcastStore from "@colloquy/core/broadcast/BroadcastStore"
import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { Emulator } from "@colloquy/testing"
import { recordSpans } from "../support/spans.ts"
import { dialogs, inTime, platform, sent, textsIn } from "../support/broadcast.ts"

const message = { text: "News!" }

describe("Broadcasts", () => {
  it.effect("sends the message to every recipient once, within the rate limit", () =>
    Effect.gen(function* () {
      const chats = yield* dialogs(90)
      const recipients = Stream.fromIterable([...chats, ...chats.slice(0, 10)])
      const start = yield* Effect.clockWith((clock) => clock.currentTimeMillis)
      const outcomes = yield* inTime(Stream.runCollect(Broadcasts.run({ name: "news", recipients, message })))
      const took = (yield* Effect.clockWith((clock) => clock.currentTimeMillis)) - start
      assert.sameMembers(
        outcomes.map(({ chat_id }) => chat_id),
        chats
      )
      assert.isTrue(outcomes.every(({ _tag }) => _tag === "Sent"))
      for (const chat_id of chats) assert.deepStrictEqual(yield* textsIn(chat_id), ["News!"])
      assert.strictEqual(yield* sent, 90)
      assert.isAtMost(took, 3500)
    }).pipe(Effect.provide(platform))
  )

  it.effect("returns the result of each recipient, and prunes unreachable chats from the chat store", () =>
    Effect.gen(function* () {
      const [first, second] = yield* dialogs(2)
      const gone = yield* Emulator.user("Bob")
      yield* gone.start()
      const refusing = (yield* gone.dialog).chat_id
      yield* gone.stop
      const nowhere = Recipient.ChatId.make(4242)
      const recipients = [first, refusing, nowhere, second]
      yield* ChatStore.seed(recipients)
      const outcomes = yield* inTime(
        Broadcasts.run({
          name: "news",
          recipients: Stream.fromIterable(recipients),
          message: (chat_id) => ({ text: `Hello, ${chat_id}` })
        }).pipe(Broadcasts.pruneUnreachable, Stream.runCollect)
      )
      const kinds = new Map(outcomes.map(({ _tag, chat_id }) => [chat_id, _tag]))
      assert.deepStrictEqual(
        recipients.map((chat_id) => kinds.get(chat_id)),
        ["Sent", "Forbidden", "NotFound", "Sent"]
      )
      assert.deepStrictEqual(yield* textsIn(second), [`Hello, ${second}`])
      assert.deepStrictEqual(yield* Effect.forEach(recipients, ChatStore.has), [true, false, false, true])
      const records = yield* Stream.runCollect(Broadcasts.records("news"))
      assert.deepStrictEqual(
        records.map(({ chat_id, status: kind }) => [chat_id, kind]),
        [...kinds].sort(([a], [b]) => a - b)
      )
    }).pipe(Effect.provide(Layer.merge(platform, ChatStore.layerMemory)))
  )

  it.effect("creates a span for each recipient, with its request as a child", () =>
    Effect.gen(function* () {
      const { attributesOf, lines, tracer } = recordSpans()
      const [chat_id] = yield* dialogs(1)
      const news = Broadcasts.run({ name: "news", recipients: Stream.make(chat_id), message })
      yield* inTime(Effect.withTracer(Stream.runDrain(news), tracer))
      assert.deepStrictEqual(lines(), ["Broadcasts.send", "Broadcasts.send > Messages.send"])
      assert.deepStrictEqual(attributesOf("Broadcasts.send"), [{ broadcast: "news", chat: String(chat_id) }])
    }).pipe(Effect.provide(platform))
  )

  it.effect("continues in the next run, and sends nothing twice", () =>
    Effect.gen(function* () {
      const chats = yield* dialogs(60)
      const news = Broadcasts.run({ name: "news", recipients: Stream.fromIterable(chats), message })
      const first = yield* inTime(Stream.runCollect(Stream.take(news, 25)))
      const then = yield* inTime(Stream.runCollect(news))
      const again = yield* inTime(Stream.runCollect(news))
      assert.lengthOf(first, 25)
      assert.lengthOf(again, 0)
      assert.isAtMost(first.length + then.length, 60)
      for (const chat_id of chats) assert.deepStrictEqual(yield* textsIn(chat_id), ["News!"])
      assert.strictEqual(yield* sent, 60)
    }).pipe(Effect.provide(platform))
  )

  it.effect("waits while it is paused, continues when it is resumed, and ends when it is cancelled", () =>
    Effect.gen(function* () {
      const chats = yield* dialogs(300)
      const fiber = yield* Broadcasts.run({ name: "news", recipients: Stream.fromIterable(chats), message }).pipe(
        Stream.runCollect,
        Effect.forkChild({ startImmediately: true })
      )
      yield* TestClock.adjust("2 seconds")
      assert.isTrue(yield* Broadcasts.pause("news"))
      yield* TestClock.adjust("3 seconds")
      const paused = yield* sent
      assert.isAbove(paused, 30)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(yield* sent, paused)
      assert.isTrue(yield* Broadcasts.resume("news"))
      yield* TestClock.adjust("3 seconds")
      assert.isAbove(yield* sent, paused)
      assert.isTrue(yield* Broadcasts.cancel("news"))
      yield* TestClock.adjust("5 seconds")
      const outcomes = yield* Fiber.join(fiber)
      assert.isBelow(outcomes.length, 300)
      assert.strictEqual(yield* sent, outcomes.length)
      assert.isFalse(yield* Broadcasts.pause("another"))
    }).pipe(Effect.provide(platform))
  )

  it.effect("reports the progress, the rate and the time left", () =>
    Effect.gen(function* () {
      const chats = yield* dialogs(90)
      const news = Broadcasts.run({ name: "news", recipients: Stream.fromIterable(chats), message, total: 90 })
      const fiber = yield* Effect.forkChild(Stream.runDrain(news), { startImmediately: true })
      const progress = yield* inTime(Stream.runCollect(Broadcasts.progress("news")))
      yield* Fiber.join(fiber)
      const [last] = progress.slice(-1)
      assert.deepInclude(last, { status: "finished", done: 90, total: 90 })
      assert.deepStrictEqual(last.counts, { Sent: 90, Forbidden: 0, NotFound: 0, Failed: 0 })
      const middle = progress.find(({ done, rate }) => done < 90 && rate > 0)
      assert.isDefined(middle)
      assert.isAtMost(middle.rate, 31)
      assert.closeTo(Duration.toSeconds(middle.timeLeft!), (90 - middle.done) / middle.rate, 0.01)
    }).pipe(Effect.provide(platform))
  )

  it.effect("retries during an outage, and counts no recipient as failed", () =>
    Effect.gen(function* () {
      const chats = yield* dialogs(20)
      yield* Emulator.setFaults([{ endpoint: "Messages.send", probability: 0.7, status: 503, times: 60 }])
      const outcomes = yield* inTime(
        Stream.runCollect(Broadcasts.run({ name: "news", recipients: Stream.fromIterable(chats), message }))
      )
      assert.lengthOf(outcomes, 20)
      assert.isTrue(outcomes.every(({ _tag }) => _tag === "Sent"))
    }).pipe(Effect.provide(platform))
  )

  it.effect("fails with an error that would occur for every recipient, without a record of it", () =>
    Effect.gen(function* () {
      const chats = yield* dialogs(5)
      const long = { text: "a".repeat(4001) }
      const error = yield* inTime(
        Effect.flip(
          Stream.runDrain(Broadcasts.run({ name: "news", recipients: Stream.fromIterable(chats), message: long }))
        )
      )
      assert.include(error.message, "4000")
      assert.deepStrictEqual(yield* Stream.runCollect(Broadcasts.records("news")), [])
      yield* Emulator.revokeToken()
      const unauthorized = yield* inTime(
        Effect.flip(Stream.runDrain(Broadcasts.run({ name: "news", recipients: Stream.fromIterable(chats), message })))
      )
      assert.strictEqual(unauthorized._tag, "Unauthorized")
    }).pipe(Effect.provide(platform))
  )

  it.effect("allows one runner at a time", () =>
    Effect.gen(function* () {
      const chats = yield* dialogs(60)
      const news = Broadcasts.run({ name: "news", recipients: Stream.fromIterable(chats), message })
      const fiber = yield* Effect.forkChild(Stream.runDrain(news), { startImmediately: true })
      yield* TestClock.adjust("500 millis")
      yield* Broadcasts.pause("news")
      const busy = yield* inTime(Effect.flip(Stream.runDrain(news)))
      assert.strictEqual(busy._tag, "BroadcastAlreadyRunning")
      assert.isTrue(yield* Broadcasts.resume("news"))
      yield* inTime(Fiber.interrupt(fiber))
      yield* inTime(Stream.runDrain(news))
      assert.strictEqual(yield* sent, 60)
      const store = yield* BroadcastStore.BroadcastStore
      const summary = yield* store.summary("news")
      assert.strictEqual(Option.getOrThrow(summary).status, "finished")
    }).pipe(Effect.provide(platform))
  )
})
