import { Answers } from "@colloquy/core"
import { Emulator } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { codeOf } from "../../support/inspect.ts"
import * as Scene from "../../support/scene.ts"

describe("Answers.send", () => {
  it.effect("fails with chat.denied if the person stopped the bot", () =>
    Effect.gen(function* () {
      const { asked, visitor } = yield* Scene.make
      const callback_id = yield* visitor.press(asked, "Yes")
      yield* visitor.stop
      const code = yield* codeOf(Answers.send({ callback_id: callback_id!, notification: "?" }))
      assert.strictEqual(code, "Forbidden chat.denied")
    }).pipe(Effect.provide(Emulator.layerBot()))
  )

  it.effect("notifies only the person who pressed the button", () =>
    Effect.gen(function* () {
      const { asked, visitor } = yield* Scene.make
      const callback_id = yield* visitor.press(asked, "Yes")
      yield* Answers.send({ callback_id: callback_id!, notification: "Thank you" })
      const notified = (yield* Emulator.seen).flatMap((event) => (event._tag === "Notification" ? [event.user_id] : []))
      assert.deepStrictEqual(notified, [visitor.user_id])
    }).pipe(Effect.provide(Emulator.layerBot()))
  )
})
