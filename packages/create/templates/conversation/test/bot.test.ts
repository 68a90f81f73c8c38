import { LongPolling } from "@colloquy/core"
import { Emulator } from "@colloquy/testing"
import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { bot } from "../src/bot.ts"

const platform = LongPolling.layer().pipe(Layer.provideMerge(Emulator.layerBot()))

it.effect("books a table", () =>
  Effect.gen(function* () {
    const ann = yield* Emulator.user("Ann")
    yield* ann.send("/book")
    yield* ann.press(yield* ann.reply, "Tomorrow")
    yield* ann.reply
    yield* ann.send("4")
    const question = yield* ann.reply
    assert.strictEqual(question.body?.text, "A table for 4, tomorrow. Is that right?")
    yield* ann.press(question, "Yes")
    assert.strictEqual((yield* ann.reply).body?.text, "Your table is booked.")
  }).pipe(Effect.raceFirst(bot), Effect.provide(platform))
)

it.effect("ends after ten minutes without an answer", () =>
  Effect.gen(function* () {
    const ann = yield* Emulator.user("Ann")
    yield* ann.send("/book")
    yield* ann.reply
    const last = yield* Effect.forkChild(ann.reply)
    yield* TestClock.adjust("11 minutes")
    assert.strictEqual((yield* Fiber.join(last)).body?.text, "I did not hear from you.")
  }).pipe(Effect.raceFirst(bot), Effect.provide(platform))
)
