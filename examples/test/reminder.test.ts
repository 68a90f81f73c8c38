import { ChatStore, LongPolling } from "@colloquy/core"
import { Emulator } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { bot } from "../src/reminder.ts"

// Time stands still until a test moves it.
const updates = LongPolling.layer().pipe(Layer.provideMerge(Emulator.layerBot()))
const world = Layer.merge(updates, ChatStore.layerMemory())

describe("the bot that reminds", () => {
  it.effect("does so after eight hours, and not a minute earlier", () =>
    Effect.gen(function* () {
      yield* Effect.forkScoped(bot)
      const ann = yield* Emulator.user("Ann")
      yield* ann.send("/remind feed the cat")
      assert.strictEqual((yield* ann.reply).body?.text, "In 8h, then.")

      const said = Effect.map(Effect.flatMap(ann.dialog, Emulator.messages), (messages) => messages.length)
      yield* TestClock.adjust("479 minutes")
      assert.strictEqual(yield* said, 2)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual((yield* ann.reply).body?.text, "You wanted to be reminded: feed the cat")
      assert.strictEqual(yield* said, 3)
    }).pipe(Effect.provide(world))
  )
})
