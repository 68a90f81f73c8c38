import { Member } from "@colloquy/core"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { asBot, inEmulator, type Json, typesOf, post, postOk, postError, getOk } from "../../support/control.ts"

const cannotDo = (message: string) => [400, "cannot.do", message] as const

const notFound = (mid: string) => [404, "message.not.found", `Message ${mid} not found`] as const

/** Creates a channel with the members Ann and Ben and a post of Ann. Carl is not a member. */
const channel = Effect.gen(function* () {
  const [ann, ben, carl] = yield* Effect.forEach(["Ann", "Ben", "Carl"], (first_name) =>
    Effect.map(postOk("/users", { first_name }), ({ user_id }): number => user_id)
  )
  const { chat_id } = yield* postOk("/chats", { type: "channel", members: [ann, ben] })
  const post = yield* postOk("/messages", { user_id: ann, chat_id, text: "News" })
  const message_id: string = post.body.mid
  return { ann, ben, carl, chat_id, message_id }
})

describe("the actions of people in the control API", () => {
  it.effect("add, remove and appoint other people", () =>
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
          cannotDo("Ben cannot do this: they are blocked there")
        )
        assert.deepStrictEqual(
          yield* postError("/remove_member", { user_id: carl, chat_id, member_id: ann }),
          cannotDo("Carl cannot do this: they lack the right add_remove_members")
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

  it.effect("make the bot an administrator only with the right add_admins", () =>
    inEmulator(
      Effect.gen(function* () {
        const { ann, ben, chat_id } = yield* channel
        assert.deepStrictEqual(
          yield* postError("/set_bot_admin", { user_id: ben, chat_id, permissions: ["write"] }),
          cannotDo("Ben cannot do this: they lack the right add_admins")
        )
        yield* postOk("/set_bot_admin", { user_id: ann, chat_id, permissions: ["write"] })
      })
    )
  )

  it.effect("reject unknown rights, and rights of a plain member", () =>
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

  it.effect("press a button by its payload, and fail if several buttons have the text", () =>
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
          cannotDo(`Ann cannot do this: there are 2 buttons "Buy": press one by its [row, column]`)
        )
      })
    )
  )

  it.effect(
    "fail with not.found for a missing message or comment, and with cannot.do for one that the person cannot see",
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
              notFound("nope")
            )
            assert.deepStrictEqual(
              yield* postError(path, { user_id: carl, message_id, ...rest }),
              cannotDo(`Carl cannot do this: they see no message ${message_id}`)
            )
          }
          for (const path of ["/edit_comment", "/remove_comment"]) {
            const text = { text: "a" }
            assert.deepStrictEqual(
              yield* postError(path, { user_id: carl, comment_id: "nope", ...text }),
              notFound("nope")
            )
            assert.deepStrictEqual(
              yield* postError(path, { user_id: carl, comment_id, ...text }),
              cannotDo(`Carl cannot do this: they see no comment ${comment_id}`)
            )
          }
          const link = { type: "reply", mid: "nope" }
          assert.deepStrictEqual(
            yield* postError("/messages", { user_id: ann, chat_id, text: "a", link }),
            notFound("nope")
          )
          const reply = { user_id: ann, message_id, text: "a", reply_to: "nope" }
          assert.deepStrictEqual(yield* postError("/comments", reply), notFound("nope"))
          yield* postOk("/remove", { user_id: ann, message_id })
          assert.deepStrictEqual(
            yield* postError("/edit", { user_id: ann, message_id, text: "a" }),
            notFound(message_id)
          )
          assert.strictEqual((yield* postError("/press", { user_id: ann, message_id, button: "Yes" }))[1], "cannot.do")
        })
      )
  )

  it.effect("let people join, leave, start, stop, edit and remove", () =>
    inEmulator(
      Effect.gen(function* () {
        const { user_id } = yield* postOk("/users", { first_name: "Ann", locale: "en" })
        const { chat_id } = yield* postOk("/chats", { type: "chat" })
        yield* postOk("/join", { user_id, chat_id })
        const sent = yield* postOk("/messages", { user_id, chat_id, text: "hi" })
        const { mid } = sent.body
        assert.strictEqual((yield* postOk("/edit", { user_id, message_id: mid, text: "hello" })).body.text, "hello")
        yield* postOk("/remove", { user_id, message_id: mid })
        yield* postOk("/leave", { user_id, chat_id })
        yield* postOk("/start", { user_id, payload: "from-link" })
        yield* postOk("/mute_dialog", { user_id, until: 5 })
        yield* postOk("/stop", { user_id })
        const { updates } = yield* getOk("/updates")
        assert.deepStrictEqual(typesOf({ updates }), [
          "bot_added",
          "user_added",
          "message_created",
          "message_edited",
          "message_removed",
          "user_removed",
          "bot_started",
          "dialog_muted",
          "bot_stopped"
        ])
        assert.strictEqual(updates[6].payload, "from-link")
        assert.strictEqual((yield* asBot("POST", `/messages?user_id=${user_id}`, { text: "?" })).status, 403)
      })
    )
  )

  it.effect("send the phone number of the person when they press a button that requests a contact", () =>
    inEmulator(
      Effect.gen(function* () {
        const { user_id } = yield* postOk("/users", { first_name: "Ann", phone: "+447700900123" })
        yield* postOk("/start", { user_id })
        const buttons = [[{ type: "request_contact", text: "My number" }]]
        const attachments = [{ type: "inline_keyboard", payload: { buttons } }]
        const asked = yield* asBot("POST", `/messages?user_id=${user_id}`, { text: "?", attachments })
        const { mid } = asked.body.message.body
        yield* postOk("/press", { user_id, message_id: mid, button: "My number" })
        const { updates } = (yield* asBot("GET", "/updates?timeout=0")).body
        assert.include(updates.at(-1).message.body.attachments[0].payload.vcf_info, "TEL;TYPE=cell:+447700900123\r\n")
        const { body, status } = yield* post("/users", { first_name: "Ben", phone: "a number" })
        assert.deepStrictEqual([status, body.message], [400, "phone: must be 3 to 15 digits, with or without a +"])
      })
    )
  )

  it.effect("open a mini app", () =>
    inEmulator(
      Effect.gen(function* () {
        const { user_id } = yield* postOk("/users", { first_name: "Ann" })
        const { chat_id } = yield* postOk("/start", { user_id })
        const buttons = [[{ type: "open_app", text: "Open", web_app: "https://app.example" }]]
        const attachments = [{ type: "inline_keyboard", payload: { buttons } }]
        const { body } = yield* asBot("POST", `/messages?chat_id=${chat_id}`, { text: "Shop", attachments })
        const { mid } = body.message.body
        const app = yield* postOk("/open_app", { user_id, message_id: mid, button: [0, 0] })
        assert.strictEqual(app.url, "https://app.example")
        assert.include(app.init_data, `user=${encodeURIComponent(`{"id":${user_id},`)}`)
      })
    )
  )

  it.effect("accept attachments of people in a short form", () =>
    inEmulator(
      Effect.gen(function* () {
        const { user_id } = yield* postOk("/users", { first_name: "Ann" })
        const attachments = [
          { type: "image", payload: { url: "https://example.test/a.png" } },
          { type: "file", filename: "a.txt", size: 3 },
          { type: "location", latitude: 1.5, longitude: 2 }
        ]
        const sent = yield* postOk("/messages", { user_id, attachments })
        const [image, file, location] = sent.body.attachments
        assert.match(image.payload.url, /expires=\d+$/)
        assert.strictEqual(file.filename, "a.txt")
        assert.deepStrictEqual(location, attachments[2])
        const resent = { attachments: [{ type: "file", payload: { token: file.payload.token } }] }
        assert.strictEqual((yield* asBot("POST", `/messages?user_id=${user_id}`, resent)).status, 200)
        const { body } = yield* post("/messages", { user_id, attachments: [{ type: "location", latitude: "north" }] })
        assert.include(body.message, "attachments[0]: latitude")
      })
    )
  )
})
