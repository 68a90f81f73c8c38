import { type BotApi, Comments, Messages, type Update } from "@colloquy/core"
import { Fixtures, TestBotApi } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"

const messageCreated = (text: string) => Fixtures.messageCreated({ text })

describe("Messages.reply and Messages.replyTo", () => {
  const sent = (reply: Effect.Effect<unknown, unknown, BotApi.BotApi>) =>
    Effect.gen(function* () {
      const requests = yield* Ref.make<ReadonlyArray<unknown>>([])
      const record = <A>(request: unknown, answer: A) =>
        Effect.as(
          Ref.update(requests, (all) => [...all, request]),
          answer
        )
      const bot = TestBotApi.layer(
        TestBotApi.on(Messages.send, (request) => record(request, Fixtures.message())),
        TestBotApi.on(Comments.send, (request) => record(request, Fixtures.comment()))
      )
      yield* Effect.provide(reply, bot)
      return yield* Ref.get(requests)
    })

  const comment: Update.Of<"comment_created"> = {
    update_type: "comment_created",
    timestamp: 1,
    message: Fixtures.comment()
  }

  it.effect("send a text or a content to the chat of the update", () =>
    Effect.gen(function* () {
      const { dialogId: chat_id } = Fixtures
      assert.deepStrictEqual(yield* sent(Messages.reply(messageCreated("hi"), "Hello")), [{ chat_id, text: "Hello" }])
      const content = { text: "<b>Hello</b>", format: "html", disable_link_preview: true } as const
      assert.deepStrictEqual(yield* sent(Messages.reply(Fixtures.botStarted(), content)), [{ ...content, chat_id }])
    })
  )

  it.effect("quote the message only by replyTo, and only if the message has an id", () =>
    Effect.gen(function* () {
      const { dialogId: chat_id, messageId: mid } = Fixtures
      const link = { type: "reply", mid }
      assert.deepStrictEqual(yield* sent(Messages.replyTo(messageCreated("hi"), "Hello")), [
        { chat_id, text: "Hello", link }
      ])
      const withoutBody = Fixtures.messageCreated({ body: null })
      assert.deepStrictEqual(yield* sent(Messages.replyTo(withoutBody, "Hello")), [{ chat_id, text: "Hello" }])
    })
  )

  it.effect("send a comment under the same post if the update is about a comment", () =>
    Effect.gen(function* () {
      const { channelId: chat_id, messageId: message_id } = Fixtures
      const { mid } = comment.message.body ?? assert.fail("no body")
      assert.deepStrictEqual(yield* sent(Messages.reply(comment, "Thanks")), [{ message_id, text: "Thanks" }])
      assert.deepStrictEqual(yield* sent(Messages.replyTo(comment, { text: "Thanks", format: "html" })), [
        { message_id, text: "Thanks", format: "html", link: { type: "reply", mid } }
      ])
      const removed: Update.Of<"comment_removed"> = {
        update_type: "comment_removed",
        timestamp: 1,
        message_id: mid,
        chat_id,
        post_id: message_id
      }
      assert.deepStrictEqual(yield* sent(Messages.reply(removed, "Pity")), [{ message_id, text: "Pity" }])
      const failure = yield* Effect.flip(sent(Messages.reply({ ...removed, post_id: null }, "Pity")))
      assert.instanceOf(failure, Messages.NoChat)
    })
  )

  it.effect("send to the user if a message of a dialog has no chat id", () =>
    Effect.gen(function* () {
      const recipient = { chat_id: null, chat_type: "dialog", user_id: Fixtures.botId }
      const update = Fixtures.messageCreated({ recipient })
      assert.deepStrictEqual(yield* sent(Messages.reply(update, "Hello")), [
        { user_id: Fixtures.userId, text: "Hello" }
      ])
    })
  )

  it.effect("send to the chat of a timer, or to its user", () =>
    Effect.gen(function* () {
      const timer: Update.TimerUpdate = { update_type: "colloquy_timer", timestamp: 1, name: "n", key: "k", value: "1" }
      const { dialogId: chat_id, userId: user_id } = Fixtures
      assert.deepStrictEqual(yield* sent(Messages.reply({ ...timer, chat_id, user_id }, "Hello")), [
        { chat_id, text: "Hello" }
      ])
      assert.deepStrictEqual(yield* sent(Messages.reply({ ...timer, user_id }, "Hello")), [{ user_id, text: "Hello" }])
    })
  )

  it.effect("fail with NoChat if the update does not contain its chat", () =>
    Effect.gen(function* () {
      const { message: _, ...gone } = Fixtures.messageCallback()
      const grouped = Fixtures.messageCreated({ recipient: { chat_type: "chat" } })
      for (const update of [gone, grouped, { ...grouped, message: null }]) {
        const error = yield* Effect.flip(sent(Messages.reply(update, "Hello")))
        assert.instanceOf(error, Messages.NoChat)
        assert.include(error.message, `${update.update_type}: the platform does not say in which chat`)
      }
    })
  )
})
