import { Chat, Me, Messages } from "@colloquy/core"
import { Fixtures, TestBotApi } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"

const bot = TestBotApi.layer(
  TestBotApi.on(Messages.send, ({ text }) => Effect.succeed(Fixtures.message({ text: `said: ${text}` })))
)

describe("TestBotApi", () => {
  it.effect("executes an endpoint with the function of the test", () =>
    Effect.gen(function* () {
      const message = yield* Messages.send({ chat_id: Chat.ChatId.make(5), text: "hi" })
      assert.strictEqual(message.body?.text, "said: hi")
    }).pipe(Effect.provide(bot))
  )

  it.effect("names an endpoint without a function, and says what to add", () =>
    Effect.gen(function* () {
      const cause = yield* Effect.flip(Effect.sandbox(Me.get()))
      assert.include(String(Cause.squash(cause)), "add TestBotApi.on(Me.get, (request) => …)")
    }).pipe(Effect.provide(bot))
  )
})
