import { assert, describe, it } from "@effect/vitest"
import { Bot, Handler, Inbox } from "@colloquy/core"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import * as Operations from "@colloquy/core/tools/Operations"
import { source, started } from "../support/deliveries.ts"

/** When each element is done, in milliseconds. */
const times = Effect.fnUntraced(function* (count: number, rate: number | undefined) {
  const done: Array<number> = []
  const all = Operations.paced(Array.from({ length: count }), rate, (part) =>
    Effect.map(Clock.currentTimeMillis, (now) => {
      for (const _ of part) done.push(now)
      return part.length
    })
  )
  const fiber = yield* Effect.forkChild(all, { startImmediately: true })
  yield* TestClock.adjust("1 hour")
  assert.strictEqual(yield* Fiber.join(fiber), count)
  return done
})

describe("a rate", () => {
  it.effect.each([1, 7, 10, 25, 1000, 5000])("of %i a second is not exceeded in any second", (rate) =>
    Effect.gen(function* () {
      const done = yield* times(3 * rate, rate)
      for (const from of done) {
        const within = done.filter((at) => at >= from && at < from + 1000).length
        assert.isAtMost(within, rate + Math.min(100, Math.ceil(rate / 10)))
      }
      assert.isAtMost(done.at(-1)!, 3000)
    })
  )

  it.effect("that is not given delays nothing", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual([...new Set(yield* times(950, undefined))], [0])
    })
  )
})

describe("a replay of dead letters", () => {
  it.effect("wakes the bot of the same program, and one that is deleted is not handled", () =>
    Effect.gen(function* () {
      const handled: Array<number> = []
      let isBroken = true
      const handler = Handler.on("bot_started", ({ chat_id }) =>
        isBroken ? Effect.die(new Error("Mistake")) : Effect.sync(() => void handled.push(chat_id))
      )
      yield* Effect.forkChild(Bot.run(handler, { retry: Schedule.recurs(0) }), { startImmediately: true })
      yield* TestClock.adjust("1 second")
      isBroken = false
      const idsOf = (filter: Operations.DeadLetterFilter) =>
        Effect.map(Stream.runCollect(Operations.deadLetters(filter)), (letters) => letters.map(({ id }) => id))
      assert.strictEqual((yield* idsOf({ cause: "mistake" })).length, 3)
      assert.deepStrictEqual(yield* idsOf({ cause: "other" }), [])
      assert.strictEqual(yield* Operations.takeDeadLetters("drop", yield* idsOf({ chat: "2" })), 1)
      assert.strictEqual(yield* Operations.takeDeadLetters("replay", [...(yield* idsOf({})), "unknown"]), 2)
      yield* TestClock.adjust("50 millis")
      assert.sameMembers(handled, [1, 3])
      assert.deepInclude(yield* Effect.flatMap(Inbox.Inbox, ({ stats }) => stats), { queued: 0, deadLetters: 0 })
    }).pipe(
      Effect.provide(
        Layer.provideMerge(source([started(1, 1), started(2, 2), started(3, 3)], { stays: true }), Inbox.layerMemory())
      )
    )
  )
})
