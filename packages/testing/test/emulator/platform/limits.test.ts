import { Messages, RateLimiter, RetryPolicy } from "@colloquy/core"
import { Emulator, EmulatorOptions } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import { makeLimiter } from "../../../src/emulator/internal/platform/limits.ts"
import { raw } from "../../support/raw.ts"

const layer = Emulator.layerBot({ limits: EmulatorOptions.platformLimits })

const once = <A, E, R>(effect: Effect.Effect<A, E, R>) => RetryPolicy.override(effect, RetryPolicy.none)

const statusOf = (method: "GET" | "POST" | "PUT", path: string, text?: string) =>
  Effect.map(raw(method, path, text === undefined ? {} : { body: JSON.stringify({ text }) }), ({ status }) => status)

const times = <A, E, R>(count: number, effect: Effect.Effect<A, E, R>) =>
  Effect.forEach(Array.from({ length: count }), () => effect)

const firstRejected = (statuses: ReadonlyArray<number>) => statuses.indexOf(429)

/** Returns the requests that a sliding window admits, by its definition. */
const expected = (arrivals: ReadonlyArray<number>, limit: number, window: number): ReadonlyArray<boolean> => {
  const accepted: Array<number> = []
  return arrivals.map((at) => {
    const fits = accepted.filter((earlier) => earlier > at - window).length < limit
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

describe("Limiter", () => {
  it.effect.prop(
    "admits exactly the requests that fit into every sliding window",
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

  it.effect("does not count a request with a wrong token", () =>
    Effect.gen(function* () {
      yield* times(31, raw("GET", "/me", { token: "wrong" }))
      assert.strictEqual(yield* statusOf("GET", "/me"), 200)
    }).pipe(Effect.provide(layer))
  )

  it.effect("counts the messages to a dialog together, by its user, by its chat and by its messages", () =>
    Effect.gen(function* () {
      const visitor = yield* Emulator.user("visitor")
      const { chat_id } = yield* visitor.start()
      const { text } = yield* raw("POST", `/messages?user_id=${visitor.user_id}`, { body: '{"text":"a"}' })
      assert.strictEqual(yield* statusOf("POST", `/messages?chat_id=${chat_id}`, "b"), 200)
      assert.strictEqual(yield* statusOf("POST", `/messages?user_id=${visitor.user_id}`, "c"), 429)
      const { mid } = JSON.parse(text).message.body
      assert.strictEqual(yield* statusOf("PUT", `/messages?message_id=${mid}`, "e"), 429)
    }).pipe(Effect.provide(layer))
  )

  it.effect("does not count a rejected request, not even for the host", () =>
    Effect.gen(function* () {
      const visitor = yield* Emulator.user("visitor")
      yield* visitor.start()
      const sent = yield* times(40, statusOf("POST", `/messages?user_id=${visitor.user_id}`, "a"))
      assert.strictEqual(sent.filter((status) => status === 200).length, 2)
      assert.strictEqual(firstRejected(yield* times(29, statusOf("GET", "/me"))), 28)
    }).pipe(Effect.provide(layer))
  )

  it.effect("enforces other limits, and sends the header Retry-After if it is enabled", () =>
    Effect.gen(function* () {
      assert.strictEqual(firstRejected(yield* times(11, statusOf("GET", "/me"))), 10)
      yield* TestClock.adjust(2500)
      assert.strictEqual((yield* raw("GET", "/me")).headers["retry-after"], "3")
    }).pipe(Effect.provide(Emulator.layerBot({ limits: { host: 10, window: "5 seconds", retryAfter: true } })))
  )

  it.effect("does not exist without limits", () =>
    Effect.gen(function* () {
      assert.strictEqual(firstRejected(yield* times(100, statusOf("GET", "/me"))), -1)
    }).pipe(Effect.provide(Emulator.layerBot({ limits: false })))
  )

  it.effect("never rejects a bot whose client keeps the limits", () =>
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

  it.effect("rejects limits below 1", () =>
    Effect.gen(function* () {
      const exit = yield* Effect.exit(Effect.provide(Effect.void, Emulator.layer({ limits: { host: 0 } })))
      assert.isTrue(exit._tag === "Failure" && String(exit.cause).includes("host"))
    })
  )

  it("uses memory only for admitted requests", () => {
    const before = process.memoryUsage()
    const limiter = makeLimiter({ ...EmulatorOptions.platformLimits, host: 1e9, messages: 1e9 })
    for (let at = 0; at < 100; at++) assert.strictEqual(limiter.take([["host", ""]], at), 0)
    const { arrayBuffers, heapTotal } = process.memoryUsage()
    assert.isBelow(heapTotal + arrayBuffers - before.heapTotal - before.arrayBuffers, 100 * 2 ** 20)
  })

  it("forgets the chats that are idle", () => {
    const limiter = makeLimiter(EmulatorOptions.platformLimits)
    for (let chat = 0; chat < 1000; chat++) limiter.take([["messages", String(chat)]], chat)
    assert.strictEqual(limiter.size(), 1000)
    limiter.take([["messages", "0"]], 1500)
    assert.strictEqual(limiter.size(), 500)
    limiter.take([["messages", "0"]], 5000)
    assert.strictEqual(limiter.size(), 1)
  })
})
