import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { Messages, RateLimiter } from "../../../src/index.ts"
import { message } from "../../support/fixtures.ts"
import { answer, ok, type Reply, scripted, slow, type Step } from "../../support/scripted.ts"
import { ChatId } from "../../../src/model/Recipient.ts"

const tooMany = answer(429, { code: "too.many.requests" })

/** A platform that accepts a number of requests in any second, and answers the others with 429 without counting them. */
const accepting = (allowed: (now: number) => number, roundTrip = 20) => {
  const accepted: Array<number> = []
  let rejected = 0
  const step: Step = ({ at }): Reply => {
    while (accepted[0] <= at - 1000) accepted.shift()
    const fits = accepted.length < allowed(at)
    if (fits) accepted.push(at)
    else rejected++
    return slow(roundTrip, fits ? ok({ message: message() }) : tooMany)
  }
  return { step, rejected: () => rejected }
}

const sendMany = Effect.fnUntraced(function* (platform: ReturnType<typeof accepting>, sends: number) {
  const { layer } = scripted(...Array.from({ length: sends * 3 }, () => platform.step))
  return yield* Effect.gen(function* () {
    const start = yield* Clock.currentTimeMillis
    const sending = yield* Effect.forEach(
      Array.from({ length: sends }, (_, index) => index),
      (index) => Messages.send({ chat_id: ChatId.make(index + 1), text: "Hello" }),
      { concurrency: "unbounded", discard: true }
    ).pipe(Effect.andThen(Clock.currentTimeMillis), Effect.forkChild({ startImmediately: true }))
    yield* TestClock.adjust("10 minutes")
    const limiter = yield* RateLimiter.RateLimiter
    return { millis: (yield* Fiber.join(sending)) - start, status: yield* limiter.status }
  }).pipe(Effect.provide(layer()))
})

describe("With a platform that allows less than its documentation, RateLimiter", () => {
  it.effect.each([10, 5, 20])("finds a limit of %d per second with few 429 responses and little lost time", (allowed) =>
    Effect.gen(function* () {
      const platform = accepting(() => allowed)
      const { millis } = yield* sendMany(platform, 1000)
      assert.isAtMost(platform.rejected(), 20)
      assert.isAtMost(millis, (1000 / allowed) * 1000 * 1.15)
    })
  )

  it.effect("raises the limit again when the platform allows more", () =>
    Effect.gen(function* () {
      const platform = accepting((now) => (now < 20_000 ? 10 : 30))
      const { millis, status } = yield* sendMany(platform, 3000)
      assert.strictEqual(status.hostLimit, 30)
      assert.isAtMost(millis, 140_000)
      assert.isAtMost(platform.rejected(), 10)
    })
  )
})

describe("429 responses of requests in flight", () => {
  it.effect("lower the limit once, to the number of accepted requests", () =>
    Effect.gen(function* () {
      const platform = accepting((now) => (now < 1000 ? 12 : 30), 200)
      const { layer } = scripted(...Array.from({ length: 100 }, () => platform.step))
      yield* Effect.gen(function* () {
        const sending = yield* Effect.forEach(
          Array.from({ length: 30 }, (_, index) => index),
          (index) =>
            RateLimiter.withPriority(Messages.send({ chat_id: ChatId.make(index + 1), text: "Hello" }), "reply"),
          { concurrency: "unbounded", discard: true }
        ).pipe(Effect.forkChild({ startImmediately: true }))
        yield* TestClock.adjust(200)
        assert.strictEqual(platform.rejected(), 18)
        const limiter = yield* RateLimiter.RateLimiter
        assert.strictEqual((yield* limiter.status).hostLimit, 12)
        yield* TestClock.adjust("10 seconds")
        yield* Fiber.join(sending)
        assert.strictEqual(platform.rejected(), 18)
      }).pipe(Effect.provide(layer()))
    })
  )

  it.effect("let a call keep its position in the order of arrival", () =>
    Effect.gen(function* () {
      const texts: Array<unknown> = []
      const note: Step = (entry) => {
        texts.push((entry.body as { readonly text: string }).text)
        return texts.length === 1 ? slow(100, tooMany) : slow(10, ok({ message: message() }))
      }
      const { layer } = scripted(...Array.from({ length: 10 }, () => note))
      yield* Effect.gen(function* () {
        const sending = yield* Effect.forEach(
          ["a", "b", "c", "d"],
          (text) => Messages.send({ chat_id: ChatId.make(1), text }),
          { concurrency: "unbounded", discard: true }
        ).pipe(Effect.forkChild({ startImmediately: true }))
        yield* TestClock.adjust("1 minute")
        yield* Fiber.join(sending)
        assert.deepStrictEqual(texts, ["a", "b", "a", "c", "d"])
      }).pipe(Effect.provide(layer()))
    })
  )
})
