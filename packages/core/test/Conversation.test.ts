import { Fixtures, TestBotApi } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Conversation, Handler } from "../src/index.ts"

const of = "userInChat"

const Order = Conversation.make("order", { of }, (talk) => talk.ask("size", { say: "Which size?" }))

describe("Conversation", () => {
  it("has a name, a kind of owner and a version that are valid", () => {
    const body = () => Effect.void
    assert.throws(() => Conversation.make("", { of }, body), /needs a name that is not empty/)
    assert.throws(
      () => Conversation.make("a", { of: "bot" as never }, body),
      /needs an `of` that is "userInChat" or "chat"/
    )
    for (const version of [0, 1.5, -1])
      assert.throws(
        () => Conversation.make("a", { of, version }, body),
        /needs a `version` that is a positive whole number/
      )
  })

  it("takes messages, its own buttons and its own timers, and leaves all other updates to other handlers", () => {
    const press = (payload: string) => Fixtures.messageCallback({ payload })
    assert.isDefined(Order.handler(Fixtures.messageCreated()))
    assert.isDefined(Order.handler(press('conversation/order:["run","size",".s"]')))
    assert.isDefined(Order.handler(press("conversation/order:[broken")))
    assert.isUndefined(Order.handler(press('conversation/other:["run","size",".s"]')))
    assert.isUndefined(Order.handler(press('order:["run","size",".s"]')))
    assert.isUndefined(Order.handler(Fixtures.botStarted()))
    const timer = { update_type: "colloquy_timer", timestamp: 1, key: "chat:1", value: "1" } as const
    assert.isUndefined(Order.handler({ ...timer, name: "other" }))
    assert.isDefined(Order.handler({ ...timer, name: "conversation/order" }))
  })

  it.effect("fails with NoParticipant where there is no user in a chat, and outside of handling", () =>
    Effect.gen(function* () {
      const posted = Fixtures.messageCreated({ sender: undefined } as never)
      const noUser = yield* Effect.flip(Order.start(posted))
      assert.strictEqual(noUser._tag, "NoParticipant")
      assert.include(noUser.message, 'the update "message_created" does not say who did it in which chat')
      const outside = yield* Effect.flip(Order.start(Fixtures.messageCreated()))
      assert.include(
        outside.message,
        'The conversation "order" needs a user in a chat, but no single update is being handled'
      )
      assert.isFalse(yield* Handler.run(Order.cancel, posted))
    }).pipe(Effect.provide(TestBotApi.layer()))
  )

  it.effect("fails with a permanent SchemaError if the input does not match its schema", () =>
    Effect.gen(function* () {
      const Greet = Conversation.make(
        "greet",
        { of, input: Schema.Struct({ name: Schema.NonEmptyString }) },
        () => Effect.void
      )
      const error = yield* Effect.flip(Greet.start(Fixtures.messageCreated(), { name: "" }))
      assert.strictEqual(error._tag, "SchemaError")
    }).pipe(Effect.provide(TestBotApi.layer()))
  )
})
