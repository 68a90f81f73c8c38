import { LongPolling } from "@colloquy/core"
import { Emulator } from "@colloquy/testing"
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { bot } from "../src/bot.ts"

const platform = LongPolling.layer().pipe(Layer.provideMerge(Emulator.layerBot()))

it.effect("repeats a message", () =>
  Effect.gen(function* () {
    const ann = yield* Emulator.user("Ann")
    yield* ann.send("Good morning")
    assert.strictEqual((yield* ann.reply).body?.text, "You said: Good morning")
  }).pipe(Effect.raceFirst(bot), Effect.provide(platform))
)

it.effect("says hello", () =>
  Effect.gen(function* () {
    const ann = yield* Emulator.user("Ann")
    yield* ann.send("/start")
    assert.include((yield* ann.reply).body?.text ?? "", "Hello!")
  }).pipe(Effect.raceFirst(bot), Effect.provide(platform))
)
