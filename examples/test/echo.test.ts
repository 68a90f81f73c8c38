import { LongPolling } from "@colloquy/core"
import { Emulator, EmulatorHttp } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Latch, Layer } from "effect"
import { bot } from "../src/echo.ts"

const platform = LongPolling.layer().pipe(Layer.provideMerge(Emulator.layerBot()))

const talking = <A, E>(conversation: Effect.Effect<A, E, Layer.Success<typeof platform>>) =>
  Effect.raceFirst(conversation, Effect.andThen(bot, Effect.never)).pipe(Effect.provide(platform))

describe("the echo bot", () => {
  it.effect("greets whoever opens it, by name and unharmed by markup in the name", () =>
    talking(
      Effect.gen(function* () {
        const visitor = yield* Emulator.user("<b>Ann</b> & Co")
        yield* visitor.start()
        const greeting = yield* visitor.reply
        assert.strictEqual(greeting.body?.text, "Hello, <b>Ann</b> & Co! Say something, and I say it back.")
        assert.deepStrictEqual(greeting.body?.markup, [{ type: "strong", from: 7, length: 15 }])
      })
    )
  )

  it.effect("says back what it is told, with a button", () =>
    talking(
      Effect.gen(function* () {
        const visitor = yield* Emulator.user("Ann")
        yield* visitor.start()
        yield* visitor.reply
        yield* visitor.send("good morning")
        const { body } = yield* visitor.reply
        assert.strictEqual(body?.text, "good morning")
        assert.strictEqual(body?.attachments?.[0]?.type, "inline_keyboard")
      })
    )
  )

  it.effect("answers the press of the button with a notification and a louder text", () =>
    talking(
      Effect.gen(function* () {
        const visitor = yield* Emulator.user("Ann")
        const chat = yield* visitor.start()
        yield* visitor.reply
        yield* visitor.send("good morning")
        yield* visitor.press(yield* visitor.reply, "Louder")
        assert.strictEqual(yield* visitor.notification, "As you like, Ann")
        const { body } = (yield* Emulator.messages(chat)).at(-1) ?? assert.fail("no message")
        assert.strictEqual(body?.text, "GOOD MORNING!")
        assert.deepStrictEqual(body?.attachments ?? [], [])
      })
    )
  )

  it.effect("goes on when a call is refused", () =>
    talking(
      Effect.gen(function* () {
        const visitor = yield* Emulator.user("Ann")
        yield* visitor.start()
        yield* visitor.reply
        yield* Effect.scoped(
          Effect.gen(function* () {
            const refused = yield* Latch.make()
            yield* Emulator.intercept((request, next) =>
              request.path === "/messages"
                ? Effect.as(refused.open, EmulatorHttp.respond(403, { code: "chat.denied", message: "no" }))
                : next
            )
            yield* visitor.send("one")
            yield* refused.await
          })
        )
        yield* visitor.send("two")
        assert.strictEqual((yield* visitor.reply).body?.text, "two")
      })
    )
  )
})
