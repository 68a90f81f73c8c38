import { Subscriptions } from "@colloquy/core"
import { Emulator } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { raw } from "../support/raw.ts"

const layer = Emulator.layerBot()

describe("Subscriptions.subscribe", () => {
  it.effect.each(['{"url":"http://bot.example"}', '{"url":"https://b.example","secret":"a_b"}', "{}", '{"url":5}'])(
    "answers %s with success: false",
    (body) =>
      Effect.gen(function* () {
        const { status, text } = yield* raw("POST", "/subscriptions", { body })
        assert.deepInclude(JSON.parse(text), { success: false })
        assert.strictEqual(status, 200)
        assert.deepStrictEqual(yield* Subscriptions.list(), [])
      }).pipe(Effect.provide(layer))
  )
})
