import { Chat, Chats, Members, Messages } from "@colloquy/core"
import { Emulator } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { codeOf, updateTypes } from "./support/look.ts"
import * as Scene from "./support/scene.ts"

const layer = Emulator.layerBot()

const denied = "Forbidden chat.denied"

describe("chats", () => {
  it.effect("are shown by their kind", () =>
    Effect.gen(function* () {
      const { channel, dialog, group, owner, visitor } = yield* Scene.make
      const seen = yield* Effect.forEach([group, channel, dialog], ({ chat_id }) => Chats.get({ chat_id }))
      assert.deepStrictEqual(
        seen.map(({ chat_id, participants_count, status, type }) => [type, chat_id < 0, participants_count, status]),
        [
          ["chat", true, 3, "active"],
          ["channel", true, 3, "active"],
          ["dialog", false, 2, "active"]
        ]
      )
      const [shown, , talk] = seen
      assert.strictEqual(shown.owner_id, owner.user_id)
      assert.hasAllKeys(
        shown.participants,
        [owner, visitor].map(({ user_id }) => String(user_id)).concat([String((yield* Emulator.Emulator).bot.user_id)])
      )
      assert.strictEqual(talk.dialog_with_user?.user_id, visitor.user_id)
      assert.strictEqual(yield* codeOf(Chats.get({ chat_id: Chat.ChatId.make(-1) })), "NotFound chat.not.found")
      const other = yield* Emulator.chat({ bot: false })
      assert.strictEqual(yield* codeOf(Chats.get(other)), "RequestFailed")
      assert.strictEqual(yield* codeOf(Chats.get({ chat_id: other.chat_id })), denied)
    }).pipe(Effect.provide(layer))
  )

  it.effect("tell what became of the bot in them", () =>
    Effect.gen(function* () {
      const { channel, dialog, group, owner, visitor } = yield* Scene.make
      yield* owner.removeBot(group)
      yield* Members.leave({ chat_id: channel.chat_id })
      yield* visitor.stop
      const closed = yield* Emulator.chat({ owner })
      yield* Emulator.closeChat(closed)
      const statuses = yield* Effect.forEach([group, channel, dialog, closed], ({ chat_id }) =>
        Effect.map(Chats.get({ chat_id }), ({ status }) => status)
      )
      assert.deepStrictEqual(statuses, ["removed", "left", "suspended", "closed"])
    }).pipe(Effect.provide(layer))
  )

  it.effect("are changed by an administrator with the right", () =>
    Effect.gen(function* () {
      const { dialog, group, message, owner } = yield* Scene.make
      const { chat_id } = group
      const changed = yield* Chats.edit({
        chat_id,
        title: "Writing club",
        description: "We write",
        icon: { url: "https://pictures.example/1.png" },
        pin: Scene.midOf(message)
      })
      assert.deepInclude(changed, { title: "Writing club", description: "We write" })
      assert.match(changed.icon!.url, /expires=\d+$/)
      assert.deepStrictEqual(changed.pinned_message, message)
      const emptied = yield* Chats.edit({ chat_id, description: "" })
      assert.deepStrictEqual([emptied.title, emptied.description], ["Writing club", null])
      yield* owner.setBotAdmin(group, ["pin_message"])
      assert.strictEqual(yield* codeOf(Chats.edit({ chat_id, title: "Mine" })), denied)
      yield* owner.setBotAdmin(group, undefined)
      assert.strictEqual(yield* codeOf(Chats.edit({ chat_id, pin: Scene.midOf(message) })), denied)
      assert.strictEqual(yield* codeOf(Chats.edit({ chat_id: dialog.chat_id, title: "Us" })), denied)
    }).pipe(Effect.provide(layer))
  )

  it.effect("have one pinned message", () =>
    Effect.gen(function* () {
      const { asked, dialog, group, message, owner, post } = yield* Scene.make
      const { chat_id } = group
      yield* Chats.pin({ chat_id, message_id: Scene.midOf(message) })
      assert.deepStrictEqual(yield* Chats.getPin({ chat_id }), Option.some(message))
      yield* Chats.unpin({ chat_id })
      assert.deepStrictEqual(yield* Chats.getPin({ chat_id }), Option.none())
      yield* Chats.pin({ chat_id: dialog.chat_id, message_id: Scene.midOf(asked) })
      const elsewhere = Chats.pin({ chat_id, message_id: Scene.midOf(post) })
      assert.strictEqual(yield* codeOf(elsewhere), "NotFound message.not.found")
      yield* owner.setBotAdmin(group, ["write"])
      assert.strictEqual(yield* codeOf(Chats.pin({ chat_id, message_id: Scene.midOf(message) })), denied)
    }).pipe(Effect.provide(layer))
  )

  it.effect("cause updates when people change them", () =>
    Effect.gen(function* () {
      const owner = yield* Emulator.user("Olga")
      const friend = yield* Emulator.user("Fred")
      const channel = yield* Emulator.chat({ type: "channel", owner, bot: { permissions: ["write"] } })
      yield* owner.rename(channel, "News")
      yield* friend.join(channel)
      yield* friend.leave(channel)
      yield* owner.setBotAdmin(channel, undefined)
      yield* owner.removeBot(channel)
      yield* owner.addBot(channel)
      assert.deepStrictEqual(yield* updateTypes, [
        "bot_added",
        "bot_admin_permissions_changed",
        "chat_title_changed",
        "user_added",
        "user_removed",
        "bot_admin_permissions_changed",
        "bot_removed",
        "bot_added"
      ])
      const [added, appointed, renamed] = yield* Emulator.updates
      assert.deepInclude(added, { chat_id: channel.chat_id, is_channel: true, user: owner.user })
      assert.deepInclude(appointed, { user_id: owner.user_id, is_admin: true, permissions: ["write"] })
      assert.deepInclude(renamed, { title: "News", user: owner.user })
    }).pipe(Effect.provide(layer))
  )

  it.effect("show what the bot is doing", () =>
    Effect.gen(function* () {
      const visitor = yield* Emulator.user("visitor")
      const { chat_id } = yield* visitor.start()
      yield* Chats.sendAction({ chat_id, action: "typing_on" })
      yield* Messages.send({ chat_id, text: "hi" })
      const heard = yield* Emulator.events
      assert.deepStrictEqual(
        heard.map(({ _tag }) => _tag),
        ["Action", "Message"]
      )
      assert.deepStrictEqual(heard[0], { _tag: "Action", chat_id, action: "typing_on" })
    }).pipe(Effect.provide(layer))
  )

  it.effect("let people do to a dialog what the bot is told", () =>
    Effect.gen(function* () {
      const visitor = yield* Emulator.user("visitor")
      const { chat_id } = yield* visitor.start("from-a-link")
      yield* visitor.muteDialog(5000)
      yield* visitor.unmuteDialog
      yield* visitor.clearDialog
      yield* visitor.removeDialog
      yield* visitor.stop
      const updates = yield* Emulator.updates
      assert.deepStrictEqual(yield* updateTypes, [
        "bot_started",
        "dialog_muted",
        "dialog_unmuted",
        "dialog_cleared",
        "dialog_removed",
        "bot_stopped"
      ])
      assert.deepInclude(updates[0], { chat_id, payload: "from-a-link" })
      assert.deepInclude(updates[1], { chat_id, muted_until: 5000 })
    }).pipe(Effect.provide(layer))
  )
})
