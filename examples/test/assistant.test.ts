import { LongPolling, RateLimiter } from "@colloquy/core"
import { Emulator } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { bot } from "../src/assistant.ts"

const updates = LongPolling.layer().pipe(
  Layer.provideMerge(Emulator.layerBot({ clientLimits: RateLimiter.defaults })),
  Layer.merge(ConfigProvider.layer(ConfigProvider.fromUnknown({})))
)

describe("the assistant", () => {
  it.effect("answers with a text that grows, can be stopped, calls its function, and remembers the chat", () =>
    Effect.gen(function* () {
      yield* Effect.forkScoped(bot)
      yield* TestClock.adjust(100)
      const ann = yield* Emulator.user("Ann")
      const dialog = yield* ann.start()
      const texts = Effect.map(Emulator.messages(dialog), (messages) =>
        messages.flatMap(({ body, sender }) => (sender?.is_bot === true ? [body?.text ?? ""] : []))
      )
      const seconds = (count: number) => Effect.repeat(TestClock.adjust(100), { times: count * 10 })
      const ask = (text: string) => Effect.andThen(ann.send(text), seconds(6))

      yield* ask("How do you make tea?")
      assert.match((yield* texts)[0]!, /^Tea begins with water\..*\n\nfor \(;;\) drink\(tea\)\n\nLet it stand/)
      yield* ask("Where is my order 41?")
      assert.strictEqual((yield* texts)[1], "The order is delivered.")
      yield* ask("And before?")
      assert.strictEqual((yield* texts)[2], "Before, you asked: How do you make tea? Where is my order 41?")

      yield* ann.send("tea, please")
      yield* seconds(1)
      const messages = yield* Emulator.messages(dialog)
      yield* ann.press(messages.at(-1)!, "Stop")
      yield* seconds(2)
      const stopped = (yield* texts)[3]!
      assert.match(stopped, /^Tea begins.*\n\n\(stopped\)$/s)
      assert.notInclude(stopped, "cup")

      yield* ask("/forget")
      yield* ask("And before?")
      assert.strictEqual((yield* texts)[5], "Before, you asked: ")
    }).pipe(Effect.scoped, Effect.provide(updates))
  )
})
