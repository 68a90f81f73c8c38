import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as TestClock from "effect/testing/TestClock"
import { paced } from "../../src/base/rate.ts"

/** When each element is done, in milliseconds. */
const times = Effect.fnUntraced(function* (count: number, rate: Option.Option<number>) {
  const done: Array<number> = []
  const all = paced(Array.from({ length: count }), rate, (part) =>
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
      const done = yield* times(3 * rate, Option.some(rate))
      for (const from of done) {
        const within = done.filter((at) => at >= from && at < from + 1000).length
        assert.isAtMost(within, rate + Math.min(100, Math.ceil(rate / 10)))
      }
      assert.isAtMost(done.at(-1)!, 3000)
    })
  )

  it.effect("that is not given delays nothing", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual([...new Set(yield* times(950, Option.none()))], [0])
    })
  )
})
