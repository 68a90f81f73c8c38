import { Chat, Message, User } from "@colloquy/core"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { asBot, getOk, inEmulator, post, postOk, typesOf } from "../../support/control.ts"

describe("the control API", () => {
  it.effect("creates chats with the given members, owner and rights of the bot", () =>
    inEmulator(
      Effect.gen(function* () {
        const ann = yield* postOk("/users", { first_name: "Ann" })
        const ben = yield* postOk("/users", { first_name: "Ben", user_id: 7 })
        const chat = yield* postOk("/chats", {
          type: "channel",
          title: "News",
          members: [ann.user_id, ben.user_id],
          owner_id: 7,
          bot: { permissions: ["write", "read_all_messages"] }
        })
        const decoded = Schema.decodeUnknownSync(Chat.Chat)(chat)
        assert.strictEqual(decoded.type, "channel")
        assert.strictEqual(decoded.owner_id, User.UserId.make(7))
        assert.strictEqual(decoded.participants_count, 3)
        assert.deepStrictEqual(typesOf(yield* getOk("/updates")), ["bot_added", "bot_admin_permissions_changed"])

        const post = (yield* asBot("POST", `/messages?chat_id=${chat.chat_id}`, { text: "Hello" })).body.message
        const message_id = post.body.mid
        const comment = yield* postOk("/comments", { user_id: 7, message_id, text: "Well said" })
        assert.strictEqual(Schema.decodeUnknownSync(Message.Comment)(comment).recipient.post_id, message_id)
        yield* postOk("/view", { user_id: 7, message_id })
        assert.strictEqual((yield* getOk(`/chats/${chat.chat_id}/messages`)).messages[0].stat.views, 1)
        assert.lengthOf((yield* getOk(`/messages/${message_id}/comments`)).comments, 1)

        const dialog = yield* postOk("/chats", { type: "dialog", members: [7], chat_id: 4242 })
        assert.strictEqual(dialog.chat_id, 4242)
        assert.strictEqual(dialog.dialog_with_user.user_id, 7)
        assert.lengthOf((yield* getOk("/chats")).chats, 2)
      })
    )
  )

  it.effect("rejects a role of the bot that is neither an object nor false", () =>
    inEmulator(
      Effect.gen(function* () {
        for (const bot of [true, "false"]) {
          const { body, status } = yield* post("/chats", { type: "chat", bot })
          assert.deepStrictEqual([status, body.code], [400, "proto.payload"])
          assert.match(body.message, /^bot: must be an object or false\b/)
        }
      })
    )
  )

  it.effect("rejects ids that the platform cannot assign", () =>
    inEmulator(
      Effect.gen(function* () {
        const problem = (path: string, body: unknown) =>
          Effect.map(post(path, body), ({ body, status }) => (status === 400 ? body.message : status))
        const { user_id } = yield* postOk("/users", { first_name: "Ann" })
        const members = [user_id]
        assert.strictEqual(
          yield* problem("/users", { first_name: "Ann", user_id: -1 }),
          "user_id: must be greater than 0"
        )
        for (const type of ["chat", "channel"]) {
          const expected = `chat_id: must be less than 0 for a ${type}`
          for (const chat_id of [0, 5]) assert.strictEqual(yield* problem("/chats", { type, chat_id }), expected)
        }
        assert.strictEqual(
          yield* problem("/chats", { type: "dialog", members, chat_id: -5 }),
          "chat_id: must be greater than 0 for a dialog"
        )
        assert.strictEqual(
          yield* problem("/chats", { type: "dialog", members, chat_id: user_id }),
          "chat_id: must not be the id of a user"
        )
        yield* postOk("/chats", { type: "dialog", members, chat_id: 6 })
        assert.strictEqual(
          yield* problem("/chats", { type: "dialog", members, chat_id: 8 }),
          `chat_id: the dialog with ${user_id} is 6 already`
        )
      })
    )
  )
})
