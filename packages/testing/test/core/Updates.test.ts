import { LongPolling, Messages, RateLimiter, Updates } from "@colloquy/core"
import { Emulator } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"

const layer = LongPolling.layer().pipe(Layer.provideMerge(Emulator.layerBot()))

describe("Updates.stream", () => {
  it.effect("delivers the messages of people to a bot, and the people see its answers", () =>
    Effect.gen(function* () {
      const echo = Updates.stream.pipe(
        Stream.filter((update) => update.update_type === "message_created"),
        Stream.runForEach(({ message }) =>
          Messages.send({ chat_id: message!.recipient.chat_id!, text: `${message!.body!.text}!` })
        )
      )
      yield* Effect.forkChild(echo)
      const visitor = yield* Emulator.user("visitor")
      const events = yield* Effect.forkChild(Stream.runCollect(Stream.take(visitor.events, 2)))
      for (const text of ["hi", "ho"]) {
        yield* visitor.send(text)
        assert.strictEqual((yield* visitor.reply).body?.text, `${text}!`)
      }
      assert.deepStrictEqual(
        (yield* Fiber.join(events)).map((event) => event._tag === "Message" && event.message.body?.text),
        ["hi!", "ho!"]
      )
    }).pipe(Effect.provide(layer))
  )
})

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
