import { LongPolling } from "@colloquy/core"
import { Emulator } from "@colloquy/testing"
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { archive, type Row } from "../src/bot.ts"

const platform = LongPolling.layer().pipe(Layer.provideMerge(Emulator.layerBot()))

it.effect("stores messages", () =>
  Effect.gen(function* () {
    const stored: Array<Row> = []
    const bot = archive((rows) => Effect.sync(() => stored.push(...rows)))
    const test = Effect.gen(function* () {
      const ann = yield* Emulator.user("Ann")
      yield* ann.send("one")
      yield* ann.send("two")
      yield* Effect.repeat(TestClock.adjust("1 second"), { until: () => stored.length === 2 })
      assert.deepStrictEqual(
        stored.map(({ text }) => text),
        ["one", "two"]
      )
    })
    yield* Effect.raceFirst(test, bot)
  }).pipe(Effect.provide(platform))
)
