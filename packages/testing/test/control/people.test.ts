import { Member } from "@colloquy/core"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { asBot, inEmulator, type Json, typesOf, postOk, postError, getOk } from "../support/control.ts"

const cannot = (message: string) => [400, "cannot.do", message] as const

const missing = (mid: string) => [404, "message.not.found", `Message ${mid} not found`] as const

/** A channel of Ann's with Ben in it, and a post of hers; Carl is outside. */
const channel = Effect.gen(function* () {
  const [ann, ben, carl] = yield* Effect.forEach(["Ann", "Ben", "Carl"], (first_name) =>
    Effect.map(postOk("/users", { first_name }), ({ user_id }): number => user_id)
  )
  const { chat_id } = yield* postOk("/chats", { type: "channel", members: [ann, ben] })
  const post = yield* postOk("/messages", { user_id: ann, chat_id, text: "News" })
  const message_id: string = post.body.mid
  return { ann, ben, carl, chat_id, message_id }
})

describe("what people do over HTTP", () => {
  it.effect("they add, remove and appoint each other", () =>
    inEmulator(
      Effect.gen(function* () {
        const { ann, ben, carl, chat_id, message_id } = yield* channel
        const inChat = { user_id: ann, chat_id }
        yield* postOk("/add_member", { ...inChat, member_id: carl })
        yield* postOk("/set_admin", { ...inChat, member_id: carl, permissions: ["delete", "add_remove_members"] })
        const { body } = yield* postOk("/comments", { user_id: ben, message_id, text: "hi" })
        yield* postOk("/remove_comment", { user_id: carl, comment_id: body.mid })
        yield* postOk("/remove_member", { user_id: carl, chat_id, member_id: ben, block: true })
        const { updates } = yield* getOk("/updates")
        assert.deepStrictEqual(typesOf({ updates }), [
          "bot_added",
          "message_created",
          "user_added",
          "comment_created",
          "comment_removed",
          "user_removed"
        ])
        const by = updates.map(({ admin_id, inviter_id, user_id }: Json) => inviter_id ?? admin_id ?? user_id)
        assert.deepStrictEqual([by[2], by[4], by[5]], [ann, carl, carl])
        yield* postOk("/set_admin", { ...inChat, member_id: carl })

        assert.deepStrictEqual(
          yield* postError("/join", { user_id: ben, chat_id }),
          cannot("Ben cannot do this: they are blocked there")
        )
        assert.deepStrictEqual(
          yield* postError("/remove_member", { user_id: carl, chat_id, member_id: ann }),
          cannot("Carl cannot do this: they lack the right add_remove_members")
        )
        assert.deepStrictEqual(yield* postError("/add_member", { ...inChat, member_id: 5 }), [
          404,
          "not.found",
          "member_id: User 5 not found"
        ])
        const { bots } = yield* getOk("/bots")
        assert.strictEqual(
          (yield* postError("/remove_member", { ...inChat, member_id: bots[0].user.user_id }))[1],
          "proto.payload"
        )
      })
    )
  )

  it.effect("only who may appoint makes the bot an administrator", () =>
    inEmulator(
      Effect.gen(function* () {
        const { ann, ben, chat_id } = yield* channel
        assert.deepStrictEqual(
          yield* postError("/set_bot_admin", { user_id: ben, chat_id, permissions: ["write"] }),
          cannot("Ben cannot do this: they lack the right add_admins")
        )
        yield* postOk("/set_bot_admin", { user_id: ann, chat_id, permissions: ["write"] })
      })
    )
  )

  it.effect("rights are those that there are, and a plain member has none", () =>
    inEmulator(
      Effect.gen(function* () {
        const { user_id } = yield* postOk("/users", { first_name: "Ann" })
        const unknown = `permissions: there is no right "nonsense"; there are ${Member.permissions.join(", ")}`
        const chat = { type: "chat", members: [user_id] }
        const refused = (bot: unknown) => postError("/chats", { ...chat, bot })
        assert.deepStrictEqual(yield* refused({ permissions: ["nonsense"] }), [400, "proto.payload", `bot.${unknown}`])
        assert.deepStrictEqual(yield* refused({ admin: false, permissions: ["write"] }), [
          400,
          "proto.payload",
          "bot.permissions: a plain member has none"
        ])
        assert.strictEqual((yield* getOk("/chats")).chats.length, 0)
        yield* postOk("/chats", { ...chat, bot: { admin: false, permissions: null } })
        const admins = [{ user_id, permissions: ["nonsense"] }]
        assert.deepStrictEqual(yield* postError("/seed", { chats: [{ ...chat, admins }] }), [
          400,
          "proto.payload",
          `chats[0].admins: ${unknown}`
        ])
      })
    )
  )

  it.effect("buttons are pressed by payload too, and none of several with one text", () =>
    inEmulator(
      Effect.gen(function* () {
        const { user_id } = yield* postOk("/users", { first_name: "Ann" })
        yield* postOk("/start", { user_id })
        const buttons = ["apple", "pear"].map((payload) => ({ type: "callback", text: "Buy", payload }))
        const attachments = [{ type: "inline_keyboard", payload: { buttons: [buttons] } }]
        const shop = yield* asBot("POST", `/messages?user_id=${user_id}`, { text: "Shop", attachments })
        const at = { user_id, message_id: shop.body.message.body.mid }
        yield* postOk("/press", { ...at, button: { payload: "pear" } })
        assert.strictEqual((yield* getOk("/updates")).updates.at(-1).callback.payload, "pear")
        assert.deepStrictEqual(
          yield* postError("/press", { ...at, button: "Buy" }),
          cannot(`Ann cannot do this: there are 2 buttons "Buy": press one by its [row, column]`)
        )
      })
    )
  )

  it.effect(
    "a message or comment that is nowhere is not found; one that they do not see is theirs to ask for in vain",
    () =>
      inEmulator(
        Effect.gen(function* () {
          const { ann, ben, carl, chat_id, message_id } = yield* channel
          const { body } = yield* postOk("/comments", { user_id: ben, message_id, text: "hi" })
          const comment_id: string = body.mid
          const calls: ReadonlyArray<readonly [path: string, body: object]> = [
            ["/press", { button: "Yes" }],
            ["/edit", { text: "a" }],
            ["/remove", {}],
            ["/view", {}],
            ["/comments", { text: "a" }]
          ]
          for (const [path, rest] of calls) {
            assert.deepStrictEqual(
              yield* postError(path, { user_id: carl, message_id: "nope", ...rest }),
              missing("nope")
            )
            assert.deepStrictEqual(
              yield* postError(path, { user_id: carl, message_id, ...rest }),
              cannot(`Carl cannot do this: they see no message ${message_id}`)
            )
          }
          for (const path of ["/edit_comment", "/remove_comment"]) {
            const text = { text: "a" }
            assert.deepStrictEqual(
              yield* postError(path, { user_id: carl, comment_id: "nope", ...text }),
              missing("nope")
            )
            assert.deepStrictEqual(
              yield* postError(path, { user_id: carl, comment_id, ...text }),
              cannot(`Carl cannot do this: they see no comment ${comment_id}`)
            )
          }
          const link = { type: "reply", mid: "nope" }
          assert.deepStrictEqual(
            yield* postError("/messages", { user_id: ann, chat_id, text: "a", link }),
            missing("nope")
          )
          const reply = { user_id: ann, message_id, text: "a", reply_to: "nope" }
          assert.deepStrictEqual(yield* postError("/comments", reply), missing("nope"))
          yield* postOk("/remove", { user_id: ann, message_id })
          assert.deepStrictEqual(
            yield* postError("/edit", { user_id: ann, message_id, text: "a" }),
            missing(message_id)
          )
          assert.strictEqual((yield* postError("/press", { user_id: ann, message_id, button: "Yes" }))[1], "cannot.do")
        })
      )
  )
})
