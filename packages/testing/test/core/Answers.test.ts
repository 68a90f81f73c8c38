import { Answers } from "@colloquy/core"
import { Fixtures, TestBotApi } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"

describe("Answers.answer", () => {
  it.effect("answers with the id of the callback, by a notification or by a content", () =>
    Effect.gen(function* () {
      const answers = yield* Ref.make<ReadonlyArray<unknown>>([])
      const bot = TestBotApi.layer(
        TestBotApi.on(Answers.send, (request) => Ref.update(answers, (all) => [...all, request]))
      )
      yield* Effect.gen(function* () {
        yield* Answers.answer(Fixtures.messageCallback({ callback_id: "c" }), "Thanks")
        yield* Answers.answer(Fixtures.messageCallback({ callback_id: "d" }), { message: { text: "Done" } })
      }).pipe(Effect.provide(bot))
      assert.deepStrictEqual(yield* Ref.get(answers), [
        { callback_id: "c", notification: "Thanks" },
        { callback_id: "d", message: { text: "Done" } }
      ])
    })
  )
})
