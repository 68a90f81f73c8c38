import { Answers, Comments, Keyboard, Messages, RateLimiter, RetryPolicy } from "@colloquy/core"
import { Emulator, EmulatorOptions } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import { Limiter } from "../src/internal/platform/limits.ts"
import { codeOf } from "./support/look.ts"
import { raw } from "./support/raw.ts"
import { midOf } from "./support/scene.ts"

const layer = Emulator.layerBot({ limits: EmulatorOptions.platformLimits })

const once = <A, E, R>(effect: Effect.Effect<A, E, R>) => RetryPolicy.override(effect, RetryPolicy.none)

const statusOf = (method: "GET" | "POST" | "PUT", path: string, text?: string) =>
  Effect.map(raw(method, path, text === undefined ? {} : { body: JSON.stringify({ text }) }), ({ status }) => status)

const times = <A, E, R>(count: number, effect: Effect.Effect<A, E, R>) =>
  Effect.forEach(Array.from({ length: count }), () => effect)

const firstRefused = (statuses: ReadonlyArray<number>) => statuses.indexOf(429)

/** What the sliding window lets in, told from the definition alone. */
const expected = (arrivals: ReadonlyArray<number>, places: number, window: number): ReadonlyArray<boolean> => {
  const accepted: Array<number> = []
  return arrivals.map((at) => {
    const fits = accepted.filter((earlier) => earlier > at - window).length < places
    if (fits) accepted.push(at)
    return fits
  })
}

const arrivals = Arbitrary.all({
  places: Arbitrary.schema(Schema.Literals([1, 2, 3, 5])),
  gaps: Arbitrary.array(Arbitrary.schema(Schema.Literals([0, 0, 0, 1, 20, 250, 333, 500, 999, 1000, 1001])), {
    maxLength: 60
  })
})

describe("the limits", () => {
  it.effect.prop(
    "let in exactly what fits into every sliding second",
    { arrivals },
    ({ arrivals: { gaps, places } }) =>
      Effect.gen(function* () {
        const emulator = yield* Emulator.Emulator
        const visitor = yield* emulator.user("visitor")
        yield* visitor.start()
        let now = 0
        const arrived: Array<number> = []
        const accepted: Array<boolean> = []
        for (const gap of gaps) {
          yield* TestClock.adjust(gap)
          arrived.push((now += gap))
          accepted.push((yield* statusOf("POST", `/messages?user_id=${visitor.user_id}`, "hi")) === 200)
        }
        assert.deepStrictEqual(accepted, expected(arrived, places, 1000))
        const times = arrived.filter((_, index) => accepted[index])
        for (const start of times) {
          assert.isAtMost(times.filter((at) => at >= start && at < start + 1000).length, places)
        }
      }).pipe(Effect.provide(Emulator.layerBot({ limits: { host: 1000, messages: places } }))),
    { arbitrary: { runs: 60 } }
  )

  it.effect("give 30 requests a second for the host, and answer 429 beyond", () =>
    Effect.gen(function* () {
      assert.strictEqual(firstRefused(yield* times(31, statusOf("GET", "/me"))), 30)
      yield* TestClock.adjust(999)
      const { headers, status, text } = yield* raw("GET", "/me")
      assert.strictEqual(status, 429)
      assert.strictEqual(JSON.parse(text).code, "too.many.requests")
      assert.isUndefined(headers["retry-after"])
      yield* TestClock.adjust(1)
      assert.strictEqual(yield* statusOf("GET", "/me"), 200)
    }).pipe(Effect.provide(layer))
  )

  it.effect("count no request whose token is wrong", () =>
    Effect.gen(function* () {
      yield* times(31, raw("GET", "/me", { token: "wrong" }))
      assert.strictEqual(yield* statusOf("GET", "/me"), 200)
    }).pipe(Effect.provide(layer))
  )

  it.effect("give 2 messages a second for each chat, a dialog by its chat or its user", () =>
    Effect.gen(function* () {
      const visitor = yield* Emulator.user("visitor")
      const { chat_id } = yield* visitor.start()
      const group = yield* Emulator.chat({ members: [visitor] })
      const { text } = yield* raw("POST", `/messages?user_id=${visitor.user_id}`, { body: '{"text":"a"}' })
      assert.strictEqual(yield* statusOf("POST", `/messages?chat_id=${chat_id}`, "b"), 200)
      assert.strictEqual(yield* statusOf("POST", `/messages?user_id=${visitor.user_id}`, "c"), 429)
      assert.strictEqual(yield* statusOf("POST", `/messages?chat_id=${chat_id}`, "d"), 429)
      const { mid } = JSON.parse(text).message.body
      assert.strictEqual(yield* statusOf("PUT", `/messages?message_id=${mid}`, "e"), 429)
      assert.strictEqual(yield* statusOf("POST", `/messages?chat_id=${group.chat_id}`, "f"), 200)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* statusOf("PUT", `/messages?message_id=${mid}`, "e"), 200)
      assert.deepStrictEqual(
        (yield* Emulator.messages(chat_id)).map(({ body }) => body?.text),
        ["e", "b"]
      )
    }).pipe(Effect.provide(layer))
  )

  it.effect("count comments as messages of the channel", () =>
    Effect.gen(function* () {
      const channel = yield* Emulator.chat({ type: "channel", bot: { admin: true } })
      const post = yield* Messages.send({ chat_id: channel.chat_id, text: "News" })
      const comment = once(Comments.send({ message_id: midOf(post), text: "First" }))
      yield* comment
      assert.strictEqual(yield* codeOf(comment), "RateLimited too.many.requests")
    }).pipe(Effect.provide(layer))
  )

  it.effect("give 2 answers to callbacks a second for each chat, besides its messages", () =>
    Effect.gen(function* () {
      const visitor = yield* Emulator.user("visitor")
      yield* visitor.start()
      const keyboard = Keyboard.make([Keyboard.callback("Yes", "yes")])
      const asked = yield* Messages.send({ user_id: visitor.user_id, text: "Well?", attachments: [keyboard] })
      yield* Messages.send({ user_id: visitor.user_id, text: "Say." })
      const answer = Effect.flatMap(visitor.press(asked, "Yes"), (callback_id) =>
        once(Answers.send({ callback_id: callback_id!, notification: "Thanks" }))
      )
      yield* times(2, answer)
      assert.strictEqual(yield* codeOf(answer), "RateLimited too.many.requests")
      yield* TestClock.adjust("1 second")
      yield* answer
    }).pipe(Effect.provide(layer))
  )

  it.effect("give 2 polls a second", () =>
    Effect.gen(function* () {
      assert.strictEqual(firstRefused(yield* times(3, statusOf("GET", "/updates?timeout=0"))), 2)
      assert.strictEqual(yield* statusOf("GET", "/me"), 200)
    }).pipe(Effect.provide(layer))
  )

  it.effect("take no place for what they refuse, at the host neither", () =>
    Effect.gen(function* () {
      const visitor = yield* Emulator.user("visitor")
      yield* visitor.start()
      const sent = yield* times(40, statusOf("POST", `/messages?user_id=${visitor.user_id}`, "a"))
      assert.strictEqual(sent.filter((status) => status === 200).length, 2)
      assert.strictEqual(firstRefused(yield* times(29, statusOf("GET", "/me"))), 28)
    }).pipe(Effect.provide(layer))
  )

  it.effect("can be set, with a header that says when to come again", () =>
    Effect.gen(function* () {
      assert.strictEqual(firstRefused(yield* times(11, statusOf("GET", "/me"))), 10)
      yield* TestClock.adjust(2500)
      assert.strictEqual((yield* raw("GET", "/me")).headers["retry-after"], "3")
    }).pipe(Effect.provide(Emulator.layerBot({ limits: { host: 10, window: "5 seconds", retryAfter: true } })))
  )

  it.effect("are none unless asked for", () =>
    Effect.gen(function* () {
      assert.strictEqual(firstRefused(yield* times(100, statusOf("GET", "/me"))), -1)
    }).pipe(Effect.provide(Emulator.layerBot({ limits: false })))
  )

  it.effect("never refuse a bot that keeps them by itself", () =>
    Effect.gen(function* () {
      const visitor = yield* Emulator.user("visitor")
      yield* visitor.start()
      const sending = yield* Effect.forkChild(
        Effect.forEach(
          Array.from({ length: 50 }, (_, index) => String(index)),
          (text) => once(Messages.send({ user_id: visitor.user_id, text })),
          { concurrency: "unbounded" }
        )
      )
      yield* TestClock.adjust("30 seconds")
      assert.strictEqual((yield* Fiber.join(sending)).length, 50)
    }).pipe(
      Effect.provide(Emulator.layerBot({ limits: EmulatorOptions.platformLimits, clientLimits: RateLimiter.defaults }))
    )
  )

  it.effect("that make no sense are refused at once", () =>
    Effect.gen(function* () {
      const exit = yield* Effect.exit(Effect.provide(Effect.void, Emulator.layer({ limits: { host: 0 } })))
      assert.isTrue(exit._tag === "Failure" && String(exit.cause).includes("host"))
    })
  )

  it("take no more room than what came in needs", () => {
    const before = process.memoryUsage()
    const limiter = new Limiter({ ...EmulatorOptions.platformLimits, host: 1e9, messages: 1e9 })
    for (let at = 0; at < 100; at++) assert.strictEqual(limiter.take([["host", ""]], at), 0)
    const { arrayBuffers, heapTotal } = process.memoryUsage()
    assert.isBelow(heapTotal + arrayBuffers - before.heapTotal - before.arrayBuffers, 100 * 2 ** 20)
  })

  it("keep nothing for a chat that has become quiet", () => {
    const limiter = new Limiter(EmulatorOptions.platformLimits)
    for (let chat = 0; chat < 1000; chat++) limiter.take([["messages", String(chat)]], chat)
    assert.strictEqual(limiter.size, 1000)
    limiter.take([["messages", "0"]], 1500)
    assert.strictEqual(limiter.size, 500)
    limiter.take([["messages", "0"]], 5000)
    assert.strictEqual(limiter.size, 1)
  })
})
