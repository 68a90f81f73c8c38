import { LongPolling } from "@colloquy/core"
import { Emulator, EmulatorHttp } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Latch, Layer } from "effect"
import { bot } from "../src/echo.ts"

const platform = LongPolling.layer().pipe(Layer.provideMerge(Emulator.layerBot()))

/** Runs the bot until the conversation ends. */
const withBot = <A, E>(conversation: Effect.Effect<A, E, Layer.Success<typeof platform>>) =>
  Effect.raceFirst(conversation, Effect.andThen(bot, Effect.never)).pipe(Effect.provide(platform))

describe("the echo bot", () => {
  it.effect("greets a user by name, and escapes markup in the name", () =>
    withBot(
      Effect.gen(function* () {
        const user = yield* Emulator.user("<b>Ann</b> & Co")
        yield* user.start()
        const greeting = yield* user.reply
        assert.strictEqual(greeting.body?.text, "Hello, <b>Ann</b> & Co! Send me a text, and I will repeat it.")
        assert.deepStrictEqual(greeting.body?.markup, [{ type: "strong", from: 7, length: 15 }])
      })
    )
  )

  it.effect("repeats a text with a button", () =>
    withBot(
      Effect.gen(function* () {
        const user = yield* Emulator.user("Ann")
        yield* user.start()
        yield* user.reply
        yield* user.send("good morning")
        const { body } = yield* user.reply
        assert.strictEqual(body?.text, "good morning")
        assert.strictEqual(body?.attachments?.[0]?.type, "inline_keyboard")
      })
    )
  )

  it.effect("answers the callback of the button with a notification and a louder text", () =>
    withBot(
      Effect.gen(function* () {
        const user = yield* Emulator.user("Ann")
        const chat = yield* user.start()
        yield* user.reply
        yield* user.send("good morning")
        yield* user.press(yield* user.reply, "Louder")
        assert.strictEqual(yield* user.notification, "As you like, Ann")
        const { body } = (yield* Emulator.messages(chat)).at(-1) ?? assert.fail("no message")
        assert.strictEqual(body?.text, "GOOD MORNING!")
        assert.deepStrictEqual(body?.attachments ?? [], [])
      })
    )
  )

  it.effect("continues after a call that fails with Forbidden", () =>
    withBot(
      Effect.gen(function* () {
        const user = yield* Emulator.user("Ann")
        yield* user.start()
        yield* user.reply
        yield* Effect.scoped(
          Effect.gen(function* () {
            const refused = yield* Latch.make()
            yield* Emulator.intercept((request, next) =>
              request.path === "/messages"
                ? Effect.as(refused.open, EmulatorHttp.respond(403, { code: "chat.denied", message: "no" }))
                : next
            )
            yield* user.send("one")
            yield* refused.await
          })
        )
        yield* user.send("two")
        assert.strictEqual((yield* user.reply).body?.text, "two")
      })
    )
  )
})
