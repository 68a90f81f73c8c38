import { LongPolling, RateLimiter, Updates } from "@colloquy/core"
import { Emulator } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"

const layer = LongPolling.layer().pipe(Layer.provideMerge(Emulator.layerBot()))

describe("Updates.run", () => {
  it.effect("runs a handler with the priority `reply` and the chat of the update", () =>
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
    }).pipe(Effect.provide(layer))
  )
})
