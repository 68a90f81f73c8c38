import { Emulator } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { BotApi, LiveMessage } from "../../../src/index.ts"
import { runningOf } from "../../../src/live/internal/liveMessage/presses.ts"

describe("the live messages that run", () => {
  it.effect("do not include messages that an interrupted one has sent in the background", () =>
    Effect.gen(function* () {
      const ann = yield* Emulator.user("Ann")
      const dialog = yield* ann.start()
      const { stops } = runningOf(yield* BotApi.BotApi)
      const long = "This is a sentence. ".repeat(500)
      const source = Stream.concat(
        Stream.make("The first words. "),
        Stream.concat(Stream.fromEffect(Effect.delay(Effect.succeed(long), "10 seconds")), Stream.never)
      )
      const fiber = yield* Effect.forkChild(LiveMessage.send({ chat_id: dialog.chat_id }, source))
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual(stops.size, 1)
      yield* TestClock.adjust("5 seconds")
      yield* Fiber.interrupt(fiber)
      yield* TestClock.adjust("9 seconds")
      assert.strictEqual((yield* Emulator.messages(dialog)).filter(({ sender }) => sender?.is_bot === true).length, 3)
      assert.strictEqual(stops.size, 0)
    }).pipe(Effect.provide(Emulator.layerBot()))
  )
})
