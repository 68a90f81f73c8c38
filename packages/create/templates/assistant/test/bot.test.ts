import { LongPolling } from "@colloquy/core"
import { Emulator } from "@colloquy/testing"
import { assert, it } from "@effect/vitest"
import { ConfigProvider, Effect, Layer } from "effect"
import { bot } from "../src/bot.ts"

const platform = LongPolling.layer().pipe(
  Layer.provideMerge(Emulator.layerBot()),
  Layer.merge(ConfigProvider.layer(ConfigProvider.fromUnknown({})))
)

it.effect("answers with the text of the model", () =>
  Effect.gen(function* () {
    const ann = yield* Emulator.user("Ann")
    yield* ann.send("Which tea is good in the morning?")
    assert.strictEqual((yield* ann.reply).body?.text, "Set MODEL_URL and MODEL_NAME, and a model will answer.")
  }).pipe(Effect.raceFirst(bot), Effect.provide(platform))
)

it.effect("forgets what was said", () =>
  Effect.gen(function* () {
    const ann = yield* Emulator.user("Ann")
    yield* ann.send("/forget")
    assert.strictEqual((yield* ann.reply).body?.text, "I have forgotten what we said.")
  }).pipe(Effect.raceFirst(bot), Effect.provide(platform))
)
