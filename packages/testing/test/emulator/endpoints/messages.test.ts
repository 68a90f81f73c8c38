import { Messages } from "@colloquy/core"
import { Emulator } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Scene from "../../support/scene.ts"

describe("Messages.edit", () => {
  it.effect("keeps the attachments and the position of the message", () =>
    Effect.gen(function* () {
      const { asked } = yield* Scene.make
      const message_id = Scene.midOf(asked)
      yield* Messages.edit({ message_id, text: "And now?" })
      const { body } = yield* Messages.get({ message_id })
      assert.deepStrictEqual(body, { ...asked.body!, text: "And now?" })
    }).pipe(Effect.provide(Emulator.layerBot()))
  )
})
