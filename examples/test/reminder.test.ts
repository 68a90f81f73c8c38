import { ChatStore, LongPolling } from "@colloquy/core"
import { Emulator } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { bot } from "../src/reminder.ts"

// The clock is the TestClock.
const updates = LongPolling.layer().pipe(Layer.provideMerge(Emulator.layerBot()))
const environment = Layer.merge(updates, ChatStore.layerMemory)

describe("the reminder bot", () => {
  it.effect("sends the reminder after eight hours, and not a minute earlier", () =>
    Effect.gen(function* () {
      yield* Effect.forkScoped(bot)
      const ann = yield* Emulator.user("Ann")
      yield* ann.send("/remind feed the cat")
      assert.strictEqual((yield* ann.reply).body?.text, "I will remind you in 8h.")

      const messageCount = Effect.map(Effect.flatMap(ann.dialog, Emulator.messages), (messages) => messages.length)
      yield* TestClock.adjust("479 minutes")
      assert.strictEqual(yield* messageCount, 2)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual((yield* ann.reply).body?.text, "Reminder: feed the cat")
      assert.strictEqual(yield* messageCount, 3)
    }).pipe(Effect.provide(environment))
  )
})
