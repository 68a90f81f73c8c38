import { LongPolling } from "@colloquy/core"
import { Emulator } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { bot } from "../src/photo.ts"

const platform = LongPolling.layer().pipe(Layer.provideMerge(Emulator.layerBot()))

/** The header of a GIF image with these sides. */
const gif = (width: number, height: number) =>
  Uint8Array.of(0x47, 0x49, 0x46, 0x38, 0x39, 0x61, width & 255, width >> 8, height & 255, height >> 8, 0, 0, 0)

describe("the bot that measures photos", () => {
  it.effect("answers a photo with its sides, and everything else with what to do", () =>
    Effect.gen(function* () {
      yield* Effect.forkScoped(bot)
      const ann = yield* Emulator.user("Ann")
      const answerTo = (content: Uint8Array) =>
        Effect.gen(function* () {
          yield* ann.send("", { attachments: [{ type: "image", content }] })
          return (yield* ann.reply).body?.text
        })
      yield* ann.send("hello")
      assert.strictEqual((yield* ann.reply).body?.text, "Send me a photo, and I will measure it.")
      assert.strictEqual(yield* answerTo(gif(640, 480)), "640 x 480 px")
      assert.strictEqual(yield* answerTo(new TextEncoder().encode("a text")), "This is no photo.")
      assert.strictEqual(yield* answerTo(new Uint8Array(11 * 2 ** 20)), "Send a photo of at most 10 MiB.")
    }).pipe(Effect.provide(platform))
  )
})
