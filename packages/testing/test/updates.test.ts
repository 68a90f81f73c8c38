import { LongPolling, Messages, RateLimiter, Subscriptions, Updates } from "@colloquy/core"
import { Emulator } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { codeOf } from "./support/look.ts"
import { raw } from "./support/raw.ts"
import * as Scene from "./support/scene.ts"

const layer = Emulator.layerBot()

const textOf = (update: Result.Result<unknown, unknown>) => {
  const { message, update_type } = Result.getOrThrow(update) as {
    readonly update_type: string
    readonly message?: { readonly body: { readonly text: string } }
  }
  return message?.body.text ?? update_type
}

const texts = (request: Updates.ListRequest = {}) =>
  Effect.map(Updates.list(request), ({ marker, updates }) => ({ texts: updates.map(textOf), marker: marker! }))

describe("long polling", () => {
  it.effect("goes on from its marker, which commits what came before", () =>
    Effect.gen(function* () {
      const visitor = yield* Emulator.user("visitor")
      yield* visitor.send("a")
      yield* visitor.send("b")
      const first = yield* texts({ limit: 2 })
      assert.deepStrictEqual(first.texts, ["bot_started", "a"])
      const second = yield* texts({ marker: first.marker })
      assert.deepStrictEqual(second.texts, ["b"])
      assert.deepStrictEqual(yield* texts({ marker: second.marker, timeout: 0 }), { texts: [], marker: second.marker })
    }).pipe(Effect.provide(layer))
  )

  it.effect("without a marker gives only the latest after the first time", () =>
    Effect.gen(function* () {
      const visitor = yield* Emulator.user("visitor")
      yield* visitor.send("a")
      assert.deepStrictEqual((yield* texts()).texts, ["bot_started", "a"])
      yield* visitor.send("b")
      yield* visitor.send("c")
      assert.deepStrictEqual((yield* texts()).texts, ["c"])
    }).pipe(Effect.provide(layer))
  )

  it.effect("gives the wanted types only, and never comments", () =>
    Effect.gen(function* () {
      const { post, visitor } = yield* Scene.make
      yield* visitor.comment(post, "hi")
      yield* visitor.send("a")
      const types = ["message_created", "comment_created"]
      assert.deepStrictEqual((yield* texts({ marker: 0n, types })).texts, ["a"])
      const all = yield* texts({ marker: 0n })
      assert.notInclude(all.texts, "hi")
      assert.deepStrictEqual((yield* texts({ marker: 0n, types: ["comment_created"], timeout: 0 })).texts, [])
    }).pipe(Effect.provide(layer))
  )

  it.effect("wakes at once when something happens", () =>
    Effect.gen(function* () {
      const visitor = yield* Emulator.user("visitor")
      const waiting = yield* Effect.forkChild(texts({ timeout: 30 }))
      yield* TestClock.adjust("10 seconds")
      assert.isUndefined(waiting.pollUnsafe())
      yield* visitor.start()
      assert.deepStrictEqual((yield* Fiber.join(waiting)).texts, ["bot_started"])
      assert.strictEqual(yield* Clock.currentTimeMillis, 10_000)
    }).pipe(Effect.provide(layer))
  )

  it.effect("gives nothing when its time is up", () =>
    Effect.gen(function* () {
      const waiting = yield* Effect.forkChild(texts({ timeout: 30 }))
      yield* TestClock.adjust("29 seconds")
      assert.isUndefined(waiting.pollUnsafe())
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual((yield* Fiber.join(waiting)).texts, [])
    }).pipe(Effect.provide(layer))
  )

  it.effect("keeps updates for a day", () =>
    Effect.gen(function* () {
      const visitor = yield* Emulator.user("visitor")
      yield* visitor.send("a")
      yield* TestClock.adjust("23 hours")
      yield* visitor.send("b")
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual((yield* texts({ marker: 0n })).texts, ["b"])
    }).pipe(Effect.provide(layer))
  )

  it.effect("does not work while a webhook is subscribed", () =>
    Effect.gen(function* () {
      const url = "https://bot.example/updates"
      yield* Subscriptions.subscribe({ url, update_types: ["message_created"], secret: "a-long-secret" })
      assert.deepStrictEqual(yield* Subscriptions.list(), [{ url, time: 0, update_types: ["message_created"] }])
      assert.strictEqual(yield* codeOf(Updates.list({ timeout: 0 })), "MethodNotAllowed method.not.allowed")
      yield* Subscriptions.unsubscribe({ url })
      assert.deepStrictEqual((yield* texts({ timeout: 0 })).texts, [])
      assert.strictEqual(yield* codeOf(Subscriptions.unsubscribe({ url })), "OperationRejected")
    }).pipe(Effect.provide(layer))
  )

  it.effect("delivers any update as it is", () =>
    Effect.gen(function* () {
      yield* Emulator.deliver({ update_type: "planet_aligned", timestamp: 5, seq: 116328127605864690n })
      const { updates } = yield* Updates.list({ types: ["planet_aligned"] })
      assert.deepStrictEqual(updates, [
        Result.succeed({
          update_type: "unknown" as const,
          raw: { update_type: "planet_aligned", timestamp: 5, seq: 116328127605864690n }
        })
      ])
    }).pipe(Effect.provide(layer))
  )

  it.effect("feeds a bot that people talk to", () =>
    Effect.gen(function* () {
      const echo = Updates.stream.pipe(
        Stream.filter((update) => update.update_type === "message_created"),
        Stream.runForEach(({ message }) =>
          Messages.send({ chat_id: message!.recipient.chat_id!, text: `${message!.body!.text}!` })
        )
      )
      yield* Effect.forkChild(echo)
      const visitor = yield* Emulator.user("visitor")
      const hears = yield* Effect.forkChild(Stream.runCollect(Stream.take(visitor.events, 2)))
      for (const text of ["hi", "ho"]) {
        yield* visitor.send(text)
        assert.strictEqual((yield* visitor.reply).body?.text, `${text}!`)
      }
      assert.deepStrictEqual(
        (yield* Fiber.join(hears)).map((heard) => heard._tag === "Message" && heard.message.body?.text),
        ["hi!", "ho!"]
      )
    }).pipe(Effect.provide(LongPolling.layer().pipe(Layer.provideMerge(layer))))
  )
})

describe("subscriptions", () => {
  it.effect.each(['{"url":"http://bot.example"}', '{"url":"https://b.example","secret":"a_b"}', "{}", '{"url":5}'])(
    "answer %s with success false",
    (body) =>
      Effect.gen(function* () {
        const { status, text } = yield* raw("POST", "/subscriptions", { body })
        assert.deepInclude(JSON.parse(text), { success: false })
        assert.strictEqual(status, 200)
        assert.deepStrictEqual(yield* Subscriptions.list(), [])
      }).pipe(Effect.provide(layer))
  )
})

describe("what a handler sends", () => {
  it.effect("goes before what nobody waits for, and its answers count in the chat of the update", () =>
    Effect.gen(function* () {
      const seen: Array<readonly [RateLimiter.Priority, number | undefined]> = []
      const visitor = yield* Emulator.user("Ann")
      const { chat_id } = yield* visitor.start()
      const handle = () =>
        Effect.gen(function* () {
          seen.push([yield* RateLimiter.CurrentPriority, yield* RateLimiter.CurrentChat])
        })
      const fiber = yield* Effect.forkChild(Updates.run(handle), { startImmediately: true })
      yield* TestClock.adjust("1 second")
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(seen, [["reply", chat_id]])
    }).pipe(Effect.provide(LongPolling.layer().pipe(Layer.provideMerge(Emulator.layerBot()))))
  )
})
