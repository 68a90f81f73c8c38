import { Answers, Messages } from "@colloquy/core"
import { Emulator } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { codeOf } from "./support/look.ts"
import * as Scene from "./support/scene.ts"

const layer = Emulator.layerBot()

const pressed = Effect.gen(function* () {
  const scene = yield* Scene.make
  const callback_id = yield* scene.visitor.press(scene.asked, "Yes")
  return { ...scene, callback_id: callback_id! }
})

describe("answers to a press", () => {
  it.effect("follow an update that tells who pressed what under which message", () =>
    Effect.gen(function* () {
      const { asked, callback_id, visitor } = yield* pressed
      const update = (yield* Emulator.updates).at(-1)
      assert.deepStrictEqual(update, {
        update_type: "message_callback",
        timestamp: 0,
        callback: { timestamp: 0, callback_id, payload: "yes", user: visitor.user },
        message: asked
      })
    }).pipe(Effect.provide(layer))
  )

  it.effect("change the message and notify the person who pressed", () =>
    Effect.gen(function* () {
      const { asked, callback_id, friend, visitor } = yield* pressed
      const message = { text: "You said yes", attachments: [] }
      yield* Answers.send({ callback_id, notification: "Thank you", message })
      assert.strictEqual(yield* visitor.notification, "Thank you")
      const edited = yield* Messages.get({ message_id: Scene.midOf(asked) })
      assert.deepInclude(edited.body, { text: "You said yes", attachments: null })
      const others = (yield* Emulator.events).filter(
        (heard) => heard._tag === "Notification" && heard.user_id === friend.user_id
      )
      assert.deepStrictEqual(others, [])
    }).pipe(Effect.provide(layer))
  )

  it.effect("are given once, while there is something to answer", () =>
    Effect.gen(function* () {
      const { asked, callback_id, visitor } = yield* pressed
      assert.strictEqual(yield* codeOf(Answers.send({ callback_id: "other", notification: "?" })), "NotFound not.found")
      assert.strictEqual(yield* codeOf(Answers.send({ callback_id })), "RequestFailed")
      yield* Answers.send({ callback_id, notification: "Thank you" })
      const again = yield* codeOf(Answers.send({ callback_id, notification: "Again" }))
      assert.strictEqual(again, "MethodNotAllowed method.not.allowed")
      const second = (yield* visitor.press(asked, "Yes"))!
      yield* Messages.remove({ message_id: Scene.midOf(asked) })
      const gone = yield* codeOf(Answers.send({ callback_id: second, message: { text: "?" } }))
      assert.strictEqual(gone, "MethodNotAllowed method.not.allowed")
    }).pipe(Effect.provide(layer))
  )

  it.effect("do not reach a person who stopped the bot", () =>
    Effect.gen(function* () {
      const { callback_id, visitor } = yield* pressed
      yield* visitor.stop
      assert.strictEqual(yield* codeOf(Answers.send({ callback_id, notification: "?" })), "Forbidden chat.denied")
    }).pipe(Effect.provide(layer))
  )
})
