import { Chat, Chats, Keyboard, Members, Message, Messages, Text, User } from "@colloquy/core"
import { Emulator } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { codeOf, updateTypes } from "./support/look.ts"
import * as Scene from "./support/scene.ts"

const layer = Emulator.layerBot()

const { midOf } = Scene

describe("messages", () => {
  it.effect("reach a dialog by its chat or by its user", () =>
    Effect.gen(function* () {
      const visitor = yield* Emulator.user("visitor")
      const { chat_id } = yield* visitor.start()
      yield* Messages.send({ chat_id, text: "one" })
      const message = yield* Messages.send({ user_id: visitor.user_id, text: "two" })
      assert.deepStrictEqual(message.recipient, { chat_id, chat_type: "dialog", user_id: visitor.user_id })
      assert.isTrue(message.sender?.is_bot)
      assert.notStrictEqual<number>(chat_id, visitor.user_id)
      const texts = (yield* Emulator.messages(chat_id)).map(({ body }) => body?.text)
      assert.deepStrictEqual(texts, ["one", "two"])
    }).pipe(Effect.provide(layer))
  )

  it.effect("come without their markup, which is told in elements", () =>
    Effect.gen(function* () {
      const visitor = yield* Emulator.user("visitor")
      const { chat_id } = yield* visitor.start()
      const said = Text.t`Hi ${Text.bold("you & me")}`
      const written = { markdown: Text.toMarkdown(said), html: Text.toHtml(said) }
      for (const format of ["markdown", "html"] as const) {
        const { body } = yield* Messages.send({ chat_id, text: written[format], format })
        assert.strictEqual(body?.text, "Hi you & me")
        assert.deepStrictEqual(body?.markup, [{ type: "strong", from: 3, length: 8 }])
      }
    }).pipe(Effect.provide(layer))
  )

  it.effect("reply and forward, and show what they point to", () =>
    Effect.gen(function* () {
      const { dialog, group, message, post } = yield* Scene.make
      const link = (type: "reply" | "forward", { body }: Message.Message) => ({ type, mid: body!.mid })
      const reply = yield* Messages.send({ chat_id: group.chat_id, text: "Yes", link: link("reply", message) })
      assert.deepInclude(reply.link, { type: "reply", message: message.body! })
      const forward = yield* Messages.send({ chat_id: dialog.chat_id, link: link("forward", post) })
      assert.deepInclude(forward.link, { type: "forward", chat_id: post.recipient.chat_id!, message: post.body! })
      assert.isNull(forward.body)
      const elsewhere = Messages.send({ chat_id: dialog.chat_id, text: "?", link: link("reply", message) })
      assert.strictEqual(yield* codeOf(elsewhere), "RequestFailed")
    }).pipe(Effect.provide(layer))
  )

  it.effect("are edited, and keep the attachments that an edit leaves out", () =>
    Effect.gen(function* () {
      const { asked, dialog } = yield* Scene.make
      const message_id = midOf(asked)
      yield* Messages.edit({ message_id, text: "And now?" })
      const edited = yield* Messages.get({ message_id })
      assert.strictEqual(edited.body?.text, "And now?")
      assert.deepStrictEqual(edited.body?.attachments, asked.body?.attachments)
      assert.strictEqual(edited.body?.seq, asked.body?.seq)
      yield* Messages.edit({ message_id, attachments: [] })
      assert.deepStrictEqual((yield* Emulator.messages(dialog)).at(0)?.body?.attachments, null)
    }).pipe(Effect.provide(layer))
  )

  it.effect("are gone when they are removed, from their pin too", () =>
    Effect.gen(function* () {
      const { group, message } = yield* Scene.make
      const message_id = midOf(message)
      yield* Chats.pin({ chat_id: group.chat_id, message_id })
      yield* Messages.remove({ message_id })
      assert.strictEqual(yield* codeOf(Messages.get({ message_id })), "NotFound message.not.found")
      assert.strictEqual((yield* Chats.getPin({ chat_id: group.chat_id }))._tag, "None")
    }).pipe(Effect.provide(layer))
  )

  it.effect("of others are removed with a right, and never edited in a group", () =>
    Effect.gen(function* () {
      const { group, owner, visitor } = yield* Scene.make
      const message_id = midOf(yield* visitor.send(group, "spam"))
      assert.strictEqual(yield* codeOf(Messages.edit({ message_id, text: "ham" })), "Forbidden access.denied")
      yield* owner.setBotAdmin(group, ["write"])
      assert.strictEqual(yield* codeOf(Messages.remove({ message_id })), "Forbidden access.denied")
      yield* owner.setBotAdmin(group, ["delete"])
      yield* Messages.remove({ message_id })
    }).pipe(Effect.provide(layer))
  )

  it.effect("are refused where the bot may not write", () =>
    Effect.gen(function* () {
      const { channel, group, owner, visitor } = yield* Scene.make
      const text = "hi"
      yield* owner.setBotAdmin(channel, ["read_all_messages"])
      const denied = "Forbidden chat.denied"
      assert.strictEqual(yield* codeOf(Messages.send({ chat_id: channel.chat_id, text })), denied)
      yield* owner.removeBot(group)
      assert.strictEqual(yield* codeOf(Messages.send({ chat_id: group.chat_id, text })), denied)
      yield* visitor.stop
      const suspended = yield* Effect.flip(Messages.send({ user_id: visitor.user_id, text }))
      assert.isTrue(suspended._tag === "Forbidden" && suspended.isDialogSuspended)
      yield* visitor.start()
      yield* Messages.send({ user_id: visitor.user_id, text })
      const unknown = [
        Messages.send({ chat_id: Chat.ChatId.make(-5), text }),
        Messages.send({ user_id: User.UserId.make(5), text })
      ]
      for (const send of unknown) assert.strictEqual(yield* codeOf(send), "NotFound chat.not.found")
    }).pipe(Effect.provide(layer))
  )

  it.effect("are listed latest first, within times and by ids, to administrators", () =>
    Effect.gen(function* () {
      const { group, owner, visitor } = yield* Scene.make
      const { chat_id } = group
      const sent: Array<Message.Message> = []
      for (const text of ["a", "b", "c"]) {
        yield* TestClock.adjust("1 second")
        sent.push(yield* visitor.send(group, text))
      }
      const texts = (request: Messages.ListRequest) =>
        Effect.map(Messages.list(request), (messages) => messages.map(({ body }) => body?.text).join(""))
      assert.strictEqual(yield* texts({ chat_id, count: 3 }), "cba")
      assert.strictEqual(yield* texts({ chat_id, from: 2000, to: 1000 }), "ba")
      const ids = [midOf(sent[2]), midOf(sent[0]), Message.MessageId.make("mid.unknown")]
      assert.strictEqual(yield* texts({ message_ids: ids }), "ca")
      yield* owner.setBotAdmin(group, undefined)
      assert.strictEqual(yield* codeOf(Messages.list({ chat_id })), "Forbidden chat.denied")
    }).pipe(Effect.provide(layer))
  )

  it.effect("in a channel have no sender, and count each viewer once", () =>
    Effect.gen(function* () {
      const { owner, post, visitor } = yield* Scene.make
      assert.isUndefined(post.sender)
      assert.deepStrictEqual(post.stat, { views: 0 })
      yield* visitor.view(post)
      yield* visitor.view(post)
      yield* owner.view(post)
      assert.deepStrictEqual((yield* Messages.get({ message_id: midOf(post) })).stat, { views: 2 })
    }).pipe(Effect.provide(layer))
  )

  it.effect("of people cause the updates that the bot hears, its own do not", () =>
    Effect.gen(function* () {
      const visitor = yield* Emulator.user({ first_name: "Victor", locale: "en" })
      const said = yield* visitor.send("hi")
      yield* Messages.send({ user_id: visitor.user_id, text: "hello" })
      yield* visitor.edit(said, "hi!")
      yield* visitor.remove(said)
      assert.deepStrictEqual(yield* updateTypes, [
        "bot_started",
        "message_created",
        "message_edited",
        "message_removed"
      ])
      const [started, created] = yield* Emulator.updates
      assert.deepInclude(started, { chat_id: said.recipient.chat_id!, user: visitor.user, user_locale: "en" })
      assert.deepInclude(created, { message: said, user_locale: "en" })
    }).pipe(Effect.provide(layer))
  )

  it.effect("carry keyboards whose buttons act as people press them", () =>
    Effect.gen(function* () {
      const visitor = yield* Emulator.user("visitor")
      const { chat_id } = yield* visitor.start()
      const rows = [[Keyboard.callback("Yes", "yes"), Keyboard.message("Later")], [Keyboard.requestContact("Call me")]]
      const asked = yield* Messages.send({ chat_id, text: "?", attachments: [Keyboard.make(...rows)] })
      assert.isString(yield* visitor.press(asked, [0, 0]))
      assert.isUndefined(yield* visitor.press(asked, "Later"))
      yield* visitor.press(asked, [1, 0])
      const [, later, contact] = yield* Emulator.messages(chat_id)
      assert.strictEqual(later.body?.text, "Later")
      assert.strictEqual(contact.body?.attachments?.[0].type, "contact")
      const { reason: problem } = yield* Effect.flip(visitor.press(asked, "No"))
      assert.strictEqual(problem, 'there is no button "No"; there are "Yes", "Later", "Call me"')
    }).pipe(Effect.provide(layer))
  )

  it.effect("are not for bots that are not there", () =>
    Effect.gen(function* () {
      const { group, message } = yield* Scene.make
      yield* Members.leave({ chat_id: group.chat_id })
      assert.strictEqual(yield* codeOf(Messages.get({ message_id: midOf(message) })), "NotFound message.not.found")
    }).pipe(Effect.provide(layer))
  )
})
