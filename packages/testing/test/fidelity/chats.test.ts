import { Chats, Members, Messages, Platform } from "@colloquy/core"
import { Emulator } from "@colloquy/testing"
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as TestClock from "effect/testing/TestClock"
import { assumes, says } from "../support/fidelity.ts"
import {
  DELETE,
  denied,
  GET,
  invalid,
  messageNotFound,
  PATCH,
  POST,
  PUT,
  failsWith,
  succeeds,
  hasSuccess
} from "../support/http.ts"
import * as Scene from "../support/scene.ts"

/** Returns the changes in the notifications to the members. */
const notices = Effect.map(Emulator.seen, (events) =>
  events.flatMap((each) => (each._tag === "Notice" ? [each.changed] : []))
)

const statusOf = ({ chat_id }: { readonly chat_id: number }) =>
  Effect.map(GET(`/chats/${chat_id}`), ({ at }) => at("status"))

says(
  "Chat",
  "A dialog has two participants, is never public, may have no title, and contains the other user",
  Effect.gen(function* () {
    const { dialog, visitor } = yield* Scene.make
    const { at } = yield* succeeds(GET(`/chats/${dialog.chat_id}`))
    assert.deepStrictEqual(
      [at("type"), at("participants_count"), at("is_public"), at("title") ?? null, at("dialog_with_user.user_id")],
      ["dialog", 2, false, null, visitor.user_id]
    )
  })
)

says(
  "Chat",
  "dialog_with_user is present in dialogs only, and has the photos and the description of the user",
  Effect.gen(function* () {
    const photos = { description: "I read", avatar_url: "https://p.example/s", full_avatar_url: "https://p.example/f" }
    const visitor = yield* Emulator.user({ first_name: "Victor", ...photos })
    const { chat_id } = yield* visitor.start()
    const { at } = yield* GET(`/chats/${chat_id}`)
    assert.deepInclude(at("dialog_with_user") as object, photos)
    const group = yield* GET(`/chats/${(yield* Emulator.chat()).chat_id}`)
    assert.isUndefined(group.at("dialog_with_user"))
  })
)

says(
  "Chat",
  "A group chat and a channel have id, type, status, title, owner, participants and the time of the last event",
  Effect.gen(function* () {
    const { channel, group, owner } = yield* Scene.make
    for (const chat of [group, channel]) {
      const { at } = yield* GET(`/chats/${chat.chat_id}`)
      assert.deepStrictEqual(
        [at("chat_id"), at("type"), at("status"), at("title") ?? null, at("owner_id"), at("participants_count")],
        [chat.chat_id, chat.type, "active", chat.title ?? null, owner.user_id, 3]
      )
      assert.isNumber(at("last_event_time"))
    }
  })
)

says(
  "Chat",
  "participants maps each participant's user_id to the time of their last activity in the chat",
  Effect.gen(function* () {
    const { group, owner, visitor } = yield* Scene.make
    yield* TestClock.setTime(5000)
    yield* visitor.send(group, "hi")
    const { at } = yield* GET(`/chats/${group.chat_id}`)
    const bot = yield* Effect.map(GET("/me"), ({ at }) => at("user_id"))
    assert.hasAllKeys(at("participants"), [owner.user_id, visitor.user_id, bot].map(String))
    assert.strictEqual(at(`participants.${visitor.user_id}`), 5000)
    assert.strictEqual(at(`participants.${owner.user_id}`), 0)
  })
)

says(
  "Chat",
  "last_event_time is the time of the last event",
  Effect.gen(function* () {
    const { group, visitor } = yield* Scene.make
    yield* TestClock.setTime(7000)
    yield* visitor.send(group, "hi")
    yield* TestClock.setTime(9000)
    assert.strictEqual((yield* GET(`/chats/${group.chat_id}`)).at("last_event_time"), 7000)
  })
)

says(
  "Chat",
  "last_event_time changes with every event in the chat",
  Effect.gen(function* () {
    const { asked, channel, dialog, group, message, owner, visitor } = yield* Scene.make
    const pin = { message_id: Scene.midOf(message) }
    const events = [
      [dialog, visitor.press(asked, "Yes")],
      [dialog, visitor.stop],
      [dialog, visitor.start()],
      [dialog, visitor.clearDialog],
      [dialog, visitor.muteDialog(1)],
      [dialog, visitor.unmuteDialog],
      [dialog, visitor.removeDialog],
      [channel, owner.setBotAdmin(channel, ["write"])],
      [group, succeeds(PATCH(`/chats/${group.chat_id}`, { description: "We read" }))],
      [group, succeeds(PUT(`/chats/${group.chat_id}/pin`, pin))],
      [group, succeeds(DELETE(`/chats/${group.chat_id}/pin`))],
      [group, Emulator.closeChat(group)]
    ] as const
    for (const [index, [{ chat_id }, event]] of events.entries()) {
      const time = (index + 1) * 1000
      yield* TestClock.setTime(time)
      yield* event
      assert.strictEqual((yield* GET(`/chats/${chat_id}`)).at("last_event_time"), time, `event ${index}`)
    }
  })
)

says(
  "Chat",
  "The link to the icon is different in each response",
  Effect.gen(function* () {
    const { group } = yield* Scene.make
    const path = `/chats/${group.chat_id}`
    const token = yield* Scene.uploadImage
    yield* succeeds(PATCH(path, { icon: { token } }))
    yield* TestClock.adjust("2 days")
    const icon = String((yield* GET(path)).at("icon.url"))
    assert.strictEqual((yield* HttpClient.get(icon)).status, 200)
  })
)

assumes(
  "C",
  "Chat",
  "A group chat or a channel that was created without a title has a title",
  Effect.gen(function* () {
    for (const type of ["chat", "channel"] as const) {
      const { chat_id } = yield* Emulator.chat({ type })
      assert.match(String((yield* GET(`/chats/${chat_id}`)).at("title")), /\w/)
    }
  })
)

says(
  "Chat",
  "is_public is false for private channels; a public one has a link",
  Effect.gen(function* () {
    const { channel } = yield* Scene.make
    const secret = yield* GET(`/chats/${channel.chat_id}`)
    assert.deepStrictEqual([secret.at("is_public"), secret.at("link") ?? null], [false, null])
    const open = yield* Emulator.chat({ type: "channel", isPublic: true })
    const { at } = yield* GET(`/chats/${open.chat_id}`)
    assert.isTrue(at("is_public"))
    assert.match(String(at("link")), /^https:\/\//)
  })
)

says(
  "Chat",
  "messages_count counts the messages of a group chat and the posts of a channel",
  Effect.gen(function* () {
    const { channel, dialog, group, post, visitor } = yield* Scene.make
    yield* visitor.send(group, "hi")
    const count = (chat: { readonly chat_id: number }) =>
      Effect.map(GET(`/chats/${chat.chat_id}`), ({ at }) => at("messages_count") ?? null)
    assert.deepStrictEqual([yield* count(group), yield* count(channel), yield* count(dialog)], [2, 1, null])
    yield* Messages.remove({ message_id: Scene.midOf(post) })
    assert.strictEqual(yield* count(channel), 0)
  })
)

says(
  "Chat",
  "pinned_message is present if one specific chat is requested",
  Effect.gen(function* () {
    const { group, message } = yield* Scene.make
    assert.isTrue((yield* GET(`/chats/${group.chat_id}`)).at("pinned_message") == null)
    yield* hasSuccess(PUT(`/chats/${group.chat_id}/pin`, { message_id: Scene.midOf(message) }), true)
    const { at } = yield* GET(`/chats/${group.chat_id}`)
    assert.strictEqual(at("pinned_message.body.mid"), Scene.midOf(message))
  })
)

says(
  "States and transitions",
  "active: the bot is an active participant",
  Effect.gen(function* () {
    const { channel, dialog, group } = yield* Scene.make
    for (const chat of [group, channel, dialog]) assert.strictEqual(yield* statusOf(chat), "active")
  })
)

says(
  "States and transitions",
  "removed: the bot was removed from the chat, until it is added again",
  Effect.gen(function* () {
    const { group, owner } = yield* Scene.make
    yield* owner.removeBot(group)
    assert.strictEqual(yield* statusOf(group), "removed")
    yield* owner.addBot(group)
    assert.strictEqual(yield* statusOf(group), "active")
  })
)

says(
  "States and transitions",
  "left: the bot left the chat",
  Effect.gen(function* () {
    const { group } = yield* Scene.make
    yield* hasSuccess(DELETE(`/chats/${group.chat_id}/members/me`), true)
    assert.strictEqual(yield* statusOf(group), "left")
  })
)

says(
  "States and transitions",
  "closed: the chat was closed",
  Effect.gen(function* () {
    const { group } = yield* Scene.make
    yield* Emulator.closeChat(group)
    assert.strictEqual(yield* statusOf(group), "closed")
  })
)

assumes(
  "A",
  "States and transitions",
  "suspended: the user has stopped the bot, until they start it again",
  Effect.gen(function* () {
    const { dialog, visitor } = yield* Scene.make
    yield* visitor.stop
    assert.strictEqual(yield* statusOf(dialog), "suspended")
    yield* visitor.start()
    assert.strictEqual(yield* statusOf(dialog), "active")
  })
)

assumes(
  "C",
  "States and transitions",
  "A closed chat rejects messages, members, pins and changes with 403; its messages can be read",
  Effect.gen(function* () {
    const { channel, friend, group, message, post } = yield* Scene.make
    for (const [{ chat_id }, sent] of [[group, message] as const, [channel, post] as const]) {
      yield* Emulator.closeChat({ chat_id })
      yield* denied(POST(`/messages?chat_id=${chat_id}`, { text: "hi" }))
      yield* denied(PATCH(`/chats/${chat_id}`, { title: "a" }))
      yield* denied(PUT(`/chats/${chat_id}/pin`, { message_id: Scene.midOf(sent) }))
      yield* denied(POST(`/chats/${chat_id}/members`, { user_ids: [friend.user_id] }))
      yield* denied(POST(`/chats/${chat_id}/actions`, { action: "typing_on" }))
      yield* succeeds(GET(`/chats/${chat_id}`))
      yield* succeeds(GET(`/messages?chat_id=${chat_id}`))
      yield* succeeds(GET(`/messages/${Scene.midOf(sent)}`))
    }
  })
)

says(
  "GET /chats/{chatId}",
  "Returns the Chat",
  Effect.gen(function* () {
    const { group } = yield* Scene.make
    const { at } = yield* succeeds(GET(`/chats/${group.chat_id}`))
    assert.deepStrictEqual([at("chat_id"), at("title")], [group.chat_id, "Reading club"])
  })
)

says(
  "PATCH /chats/{chatId}",
  "Returns the updated Chat",
  Effect.gen(function* () {
    const { group, message } = yield* Scene.make
    const body = { title: "Writing club", description: "We write", pin: Scene.midOf(message), notify: false }
    const { at } = yield* succeeds(PATCH(`/chats/${group.chat_id}`, body))
    assert.deepStrictEqual(
      [at("chat_id"), at("title"), at("description"), at("pinned_message.body.mid")],
      [group.chat_id, "Writing club", "We write", Scene.midOf(message)]
    )
    assert.strictEqual((yield* GET(`/chats/${group.chat_id}`)).at("title"), "Writing club")
  })
)

says(
  "PATCH /chats/{chatId}",
  "Changes group chats and channels, but not dialogs",
  Effect.gen(function* () {
    const { channel, dialog } = yield* Scene.make
    assert.strictEqual((yield* succeeds(PATCH(`/chats/${channel.chat_id}`, { title: "News" }))).at("title"), "News")
    yield* denied(PATCH(`/chats/${dialog.chat_id}`, { title: "Us" }))
  })
)

says(
  "PATCH /chats/{chatId}",
  "Returns 403 if the bot is not an administrator of the chat",
  Effect.gen(function* () {
    const { channel, group, owner } = yield* Scene.make
    for (const chat of [group, channel]) {
      yield* owner.setBotAdmin(chat, undefined)
      yield* denied(PATCH(`/chats/${chat.chat_id}`, { title: "Mine" }))
    }
  })
)

says(
  "PATCH /chats/{chatId}",
  "The title has 1 to 200 characters",
  Effect.gen(function* () {
    const { group } = yield* Scene.make
    for (const title of ["", "a".repeat(201), 5]) yield* invalid(PATCH(`/chats/${group.chat_id}`, { title }))
    for (const title of ["a", "a".repeat(200)]) {
      assert.strictEqual((yield* PATCH(`/chats/${group.chat_id}`, { title })).at("title"), title)
    }
  })
)

says(
  "PATCH /chats/{chatId}",
  "The description has 0 to 16000 characters; an empty string deletes it, null or an omitted field does not change it",
  Effect.gen(function* () {
    const { group } = yield* Scene.make
    const path = `/chats/${group.chat_id}`
    const description = "a".repeat(16000)
    assert.strictEqual((yield* succeeds(PATCH(path, { description }))).at("description"), description)
    yield* invalid(PATCH(path, { description: `${description}a` }))
    assert.strictEqual((yield* succeeds(PATCH(path, { description: null }))).at("description"), description)
    assert.isTrue((yield* succeeds(PATCH(path, { description: "" }))).at("description") == null)
  })
)

says(
  "PATCH /chats/{chatId}",
  "The icon is set by exactly one of url, token and photos",
  Effect.gen(function* () {
    const { group } = yield* Scene.make
    const path = `/chats/${group.chat_id}`
    const url = "https://pictures.example/1.png"
    const link = (yield* succeeds(PATCH(path, { icon: { url } }))).at("icon.url")
    assert.strictEqual((yield* HttpClient.get(String(link))).headers["location"], url)
    assert.strictEqual((yield* succeeds(PATCH(path, { title: "kept" }))).at("icon.url"), link)
    const token = yield* Scene.uploadImage
    for (const icon of [{ token }, { photos: { main: { token } } }]) {
      assert.match(String((yield* succeeds(PATCH(path, { icon }))).at("icon.url")), /^https:\/\//)
    }
    for (const icon of [{}, { url: "" }, { url: "1.png" }, { url, token }, { token: "unknown" }, { photos: {} }, url]) {
      assert.match(String((yield* invalid(PATCH(path, { icon }))).at("message")), /^icon[:.]/)
    }
  })
)

says(
  "PATCH /chats/{chatId}",
  "pin pins a message of the chat; null does not remove the pin, DELETE /chats/{chatId}/pin does",
  Effect.gen(function* () {
    const { group, message, post } = yield* Scene.make
    const path = `/chats/${group.chat_id}`
    const mid = Scene.midOf(message)
    assert.strictEqual((yield* succeeds(PATCH(path, { pin: mid }))).at("pinned_message.body.mid"), mid)
    assert.strictEqual((yield* succeeds(PATCH(path, { pin: null }))).at("pinned_message.body.mid"), mid)
    yield* messageNotFound(PATCH(path, { pin: Scene.midOf(post) }))
    yield* messageNotFound(PATCH(path, { pin: "mid.0" }))
    yield* hasSuccess(DELETE(`${path}/pin`), true)
    assert.isTrue((yield* GET(path)).at("pinned_message") == null)
  })
)

says(
  "PATCH /chats/{chatId}",
  "Members receive a system notification of a change, unless notify is false",
  Effect.gen(function* () {
    const { group, message } = yield* Scene.make
    const path = `/chats/${group.chat_id}`
    const changes = { title: "Writing club", description: "We write", pin: Scene.midOf(message) }
    yield* succeeds(PATCH(path, { ...changes, notify: false }))
    assert.deepStrictEqual(yield* notices, [])
    yield* succeeds(PATCH(path, { ...changes, title: "Chess club" }))
    yield* succeeds(PATCH(path, { title: "Chess club" }))
    yield* succeeds(PATCH(path, { icon: { url: "https://p.example/1" }, notify: true }))
    yield* succeeds(PATCH(path, {}))
    assert.deepStrictEqual(yield* notices, [["title", "description", "pin"], ["icon"]])
  })
)

assumes(
  "A",
  "Other operations",
  "PUT /chats/{chatId}/pin notifies the members, unless notify is false",
  Effect.gen(function* () {
    const { dialog, group, message, visitor } = yield* Scene.make
    const sent = yield* visitor.send("hi")
    const message_id = Scene.midOf(message)
    yield* hasSuccess(PUT(`/chats/${group.chat_id}/pin`, { message_id, notify: false }), true)
    assert.deepStrictEqual(yield* notices, [])
    yield* hasSuccess(PUT(`/chats/${group.chat_id}/pin`, { message_id }), true)
    yield* hasSuccess(PUT(`/chats/${dialog.chat_id}/pin`, { message_id: Scene.midOf(sent), notify: true }), true)
    assert.deepStrictEqual(yield* notices, [["pin"], ["pin"]])
  })
)

assumes(
  "C",
  "PATCH /chats/{chatId}",
  "The notification is not a message of the chat, and the bot receives no update of it",
  Effect.gen(function* () {
    const { group, message } = yield* Scene.make
    const before = [yield* Emulator.messages(group), yield* Emulator.updates]
    yield* succeeds(PATCH(`/chats/${group.chat_id}`, { description: "We read", pin: Scene.midOf(message) }))
    assert.deepStrictEqual([yield* Emulator.messages(group), yield* Emulator.updates], before)
  })
)

assumes(
  "C",
  "PATCH /chats/{chatId}",
  "A rejected request changes nothing",
  Effect.gen(function* () {
    const { group } = yield* Scene.make
    const before = yield* GET(`/chats/${group.chat_id}`)
    yield* messageNotFound(PATCH(`/chats/${group.chat_id}`, { title: "New", description: "New", pin: "mid.0" }))
    yield* invalid(PATCH(`/chats/${group.chat_id}`, { title: "New", icon: { token: "unknown" } }))
    assert.strictEqual((yield* GET(`/chats/${group.chat_id}`)).text, before.text)
  })
)

assumes(
  "C",
  "PATCH /chats/{chatId}",
  "A description alone is accepted; a fault rejects it with an error in a body of status 200, which is no success",
  Effect.gen(function* () {
    const { group } = yield* Scene.make
    const edit = Chats.edit({ chat_id: group.chat_id, description: "We read" })
    assert.strictEqual((yield* edit).description, "We read")
    yield* Emulator.setFaults([{ endpoint: "Chats.edit", body: { success: false, message: "Something went wrong" } }])
    const error = yield* Effect.flip(edit)
    assert.strictEqual(error._tag, "OperationRejected")
    assert.include(error.message, "Something went wrong")
  })
)

assumes(
  "B",
  "PATCH /chats/{chatId}",
  "The icon, the title and the description require the right change_chat_info, and the pin requires pin_message",
  Effect.gen(function* () {
    const { group, message, owner } = yield* Scene.make
    const path = `/chats/${group.chat_id}`
    yield* owner.setBotAdmin(group, ["pin_message"])
    yield* succeeds(PATCH(path, { pin: Scene.midOf(message) }))
    for (const body of [{ title: "a" }, { description: "a" }, { icon: { url: "https://p.example" } }]) {
      yield* denied(PATCH(path, body))
    }
    yield* owner.setBotAdmin(group, ["change_chat_info"])
    yield* succeeds(PATCH(path, { title: "a" }))
    yield* denied(PATCH(path, { pin: Scene.midOf(message) }))
  })
)

assumes(
  "A",
  "Other operations",
  "GET /chats/{chatId}/pin returns {message?}",
  Effect.gen(function* () {
    const { dialog, group, message } = yield* Scene.make
    const none = yield* succeeds(GET(`/chats/${dialog.chat_id}/pin`))
    assert.isTrue(none.at("message") == null)
    yield* hasSuccess(PUT(`/chats/${group.chat_id}/pin`, { message_id: Scene.midOf(message) }), true)
    const { at } = yield* succeeds(GET(`/chats/${group.chat_id}/pin`))
    assert.strictEqual(at("message.body.mid"), Scene.midOf(message))
  })
)

assumes(
  "A",
  "Other operations",
  "PUT /chats/{chatId}/pin accepts {message_id, notify?} and returns {success}; a message of another chat returns 404",
  Effect.gen(function* () {
    const { group, message, post } = yield* Scene.make
    const path = `/chats/${group.chat_id}/pin`
    for (const notify of [true, false, null]) {
      yield* hasSuccess(PUT(path, { message_id: Scene.midOf(message), notify }), true)
    }
    yield* messageNotFound(PUT(path, { message_id: Scene.midOf(post) }))
    for (const body of [{}, { message_id: 5 }]) yield* invalid(PUT(path, body))
  })
)

assumes(
  "A",
  "Other operations",
  "DELETE /chats/{chatId}/pin removes the pin and returns {success}",
  Effect.gen(function* () {
    const { group, message } = yield* Scene.make
    yield* hasSuccess(PUT(`/chats/${group.chat_id}/pin`, { message_id: Scene.midOf(message) }), true)
    yield* hasSuccess(DELETE(`/chats/${group.chat_id}/pin`), true)
    assert.isTrue((yield* GET(`/chats/${group.chat_id}/pin`)).at("message") == null)
  })
)

assumes(
  "C",
  "Other operations",
  "A pin is removed with its message, and is replaced by the next pin",
  Effect.gen(function* () {
    const { group, message } = yield* Scene.make
    const other = yield* Messages.send({ chat_id: group.chat_id, text: "b" })
    const path = `/chats/${group.chat_id}/pin`
    for (const { body } of [message, other]) yield* hasSuccess(PUT(path, { message_id: body!.mid }), true)
    assert.strictEqual((yield* GET(path)).at("message.body.mid"), Scene.midOf(other))
    yield* hasSuccess(DELETE(`/messages?message_id=${Scene.midOf(other)}`), true)
    assert.isTrue((yield* GET(path)).at("message") == null)
  })
)

assumes(
  "A",
  "Other operations",
  "POST /chats/{chatId}/actions accepts typing_on, sending_photo, sending_video, sending_audio, sending_file, mark_seen",
  Effect.gen(function* () {
    const { dialog } = yield* Scene.make
    const actions = ["typing_on", "sending_photo", "sending_video", "sending_audio", "sending_file", "mark_seen"]
    for (const action of actions) yield* hasSuccess(POST(`/chats/${dialog.chat_id}/actions`, { action }), true)
    const shown = (yield* Emulator.seen).flatMap((event) => (event._tag === "Action" ? [event.action] : []))
    assert.deepStrictEqual<ReadonlyArray<string>>(shown, actions)
    for (const body of [{}, { action: "juggling" }]) yield* invalid(POST(`/chats/${dialog.chat_id}/actions`, body))
  })
)

assumes(
  "A",
  "Other operations",
  "GET /me returns the bot as a UserWithPhoto with its commands",
  Effect.gen(function* () {
    const { at } = yield* succeeds(GET("/me"))
    assert.deepStrictEqual([typeof at("user_id"), typeof at("first_name"), at("is_bot")], ["number", "string", true])
    assert.isString(at("username"))
  })
)

assumes(
  "A",
  "Other operations",
  "PATCH /me/commands sets up to 32 commands with names of 1 to 64 and descriptions of 1 to 128 characters; an empty list removes all",
  Effect.gen(function* () {
    const path = "/me/commands"
    const command = { name: "help", description: "What this bot can do" }
    yield* succeeds(PATCH(path, { commands: [command, { name: "stop" }] }))
    assert.deepStrictEqual((yield* GET("/me")).at("commands"), [command, { name: "stop" }])
    const many = (count: number) => Array.from({ length: count }, (_, i) => ({ name: `c${i}` }))
    yield* succeeds(PATCH(path, { commands: many(32) }))
    const wrong = [
      many(33),
      [{ name: "" }],
      [{ name: "a".repeat(65) }],
      [{ name: "a", description: "" }],
      [{ name: "a", description: "a".repeat(129) }],
      ["help"]
    ]
    for (const commands of wrong) yield* invalid(PATCH(path, { commands }))
    yield* succeeds(PATCH(path, { commands: [] }))
    assert.deepStrictEqual((yield* GET("/me")).at("commands") ?? [], [])
  })
)

says(
  "User (sender) and UserWithPhoto",
  "A user has id, display name, public name, is_bot and the time of their last activity in milliseconds",
  Effect.gen(function* () {
    yield* TestClock.setTime(5000)
    const visitor = yield* Emulator.user({ first_name: "Victor", last_name: "Hugo", username: "vhugo" })
    yield* visitor.send("hi")
    const { at } = yield* GET("/updates?types=message_created&timeout=0")
    assert.deepStrictEqual(at("updates.0.message.sender"), {
      user_id: visitor.user_id,
      first_name: "Victor",
      last_name: "Hugo",
      username: "vhugo",
      is_bot: false,
      name: "Victor Hugo",
      last_activity_time: 5000
    })
  })
)

assumes(
  "A",
  "User (sender) and UserWithPhoto",
  "A user has the deprecated field name, with the first and the last name",
  Effect.gen(function* () {
    const { message, visitor } = yield* Scene.make
    assert.strictEqual((yield* GET(`/messages/${Scene.midOf(message)}`)).at("sender.name"), "Bot")
    assert.strictEqual((yield* GET("/me")).at("name"), "Bot")
    yield* visitor.send("hi")
    const sent = yield* GET("/updates?types=message_created&timeout=0")
    assert.strictEqual(sent.at("updates.0.message.sender.name"), "Victor")
    const nameless = yield* Emulator.user({ first_name: "Ann", name: null })
    yield* nameless.send("hi")
    assert.isNull((yield* GET("/updates?types=message_created&timeout=0&marker=0")).at("updates.1.message.sender.name"))
  })
)

says(
  "User (sender) and UserWithPhoto",
  "last_name is not returned for bots",
  Effect.gen(function* () {
    const { message } = yield* Scene.make
    const { at } = yield* GET(`/messages/${Scene.midOf(message)}`)
    assert.isTrue(at("sender.is_bot"))
    assert.isUndefined(at("sender.last_name"))
    assert.isUndefined((yield* GET("/me")).at("last_name"))
  })
)

says(
  "User (sender) and UserWithPhoto",
  "username is null for a user without a public name",
  Effect.gen(function* () {
    const visitor = yield* Emulator.user("Victor")
    const { chat_id } = yield* visitor.start()
    assert.isNull((yield* GET(`/chats/${chat_id}`)).at("dialog_with_user.username"))
  })
)

says(
  "User (sender) and UserWithPhoto",
  "last_activity_time is the time of the last action of the user",
  Effect.gen(function* () {
    const { asked, group, post, visitor } = yield* Scene.make
    const seen = Effect.map(GET(`/chats/${group.chat_id}/members?user_ids=${visitor.user_id}`), ({ at }) =>
      at("members.0.last_activity_time")
    )
    const sent = yield* visitor.send(group, "hello")
    const actions = [
      visitor.send(group, "hi"),
      visitor.edit(sent, "hello!"),
      visitor.remove(sent),
      visitor.rename(group, "Writing club"),
      visitor.press(asked, "Yes"),
      visitor.comment(post, "hi"),
      visitor.view(post),
      visitor.stop,
      visitor.start()
    ]
    for (const [index, action] of actions.entries()) {
      yield* TestClock.setTime((index + 1) * 1000)
      yield* action
      assert.strictEqual(yield* seen, (index + 1) * 1000)
    }
  })
)

says(
  "User (sender) and UserWithPhoto",
  "last_activity_time of a bot is the time of its last action",
  Effect.gen(function* () {
    const { group } = yield* Scene.make
    const path = `/chats/${group.chat_id}`
    const message_id = (yield* POST(`/messages?chat_id=${group.chat_id}`, { text: "a" })).at("message.body.mid")
    const actions = [
      POST(`/messages?chat_id=${group.chat_id}`, { text: "hi" }),
      PUT(`/messages?message_id=${message_id}`, { text: "b" }),
      PATCH(path, { title: "Writing club" }),
      PUT(`${path}/pin`, { message_id }),
      DELETE(`${path}/pin`),
      DELETE(`/messages?message_id=${message_id}`)
    ]
    for (const [index, action] of actions.entries()) {
      yield* TestClock.setTime((index + 1) * 1000)
      yield* succeeds(action)
      const me = yield* GET(`${path}/members/me`)
      assert.deepStrictEqual(
        [me.at("last_activity_time"), me.at("last_access_time")],
        [(index + 1) * 1000, (index + 1) * 1000]
      )
    }
  })
)

says(
  "User (sender) and UserWithPhoto",
  "last_activity_time is absent for a user who hides it",
  Effect.gen(function* () {
    const visitor = yield* Emulator.user({ first_name: "Victor", last_activity_time: null })
    const { chat_id } = yield* visitor.start()
    const { text } = yield* GET(`/chats/${chat_id}`)
    assert.notInclude(JSON.stringify(JSON.parse(text).dialog_with_user), "last_activity_time")
  })
)

says(
  "User (sender) and UserWithPhoto",
  "A member has a description and photos, a sender does not",
  Effect.gen(function* () {
    const photos = { description: "I read", avatar_url: "https://p.example/s", full_avatar_url: "https://p.example/f" }
    const visitor = yield* Emulator.user({ first_name: "Victor", ...photos })
    const group = yield* Emulator.chat({ owner: visitor, bot: { admin: true } })
    const sent = yield* visitor.send(group, "hi")
    const { at } = yield* GET(`/messages/${Scene.midOf(sent)}`)
    for (const key of Object.keys(photos)) assert.isUndefined(at(`sender.${key}`))
    const members = yield* GET(`/chats/${group.chat_id}/members?user_ids=${visitor.user_id}`)
    assert.deepInclude(members.at("members.0") as object, photos)
  })
)

assumes(
  "A",
  "User (sender) and UserWithPhoto",
  "last_name may be an empty string",
  Effect.gen(function* () {
    const visitor = yield* Emulator.user({ first_name: "Victor", last_name: "" })
    const { chat_id } = yield* visitor.start()
    assert.strictEqual((yield* GET(`/chats/${chat_id}`)).at("dialog_with_user.last_name"), "")
  })
)

says(
  "POST /chats/{chatId}/members",
  "Adds members to a group chat and returns success",
  Effect.gen(function* () {
    const { friend, group } = yield* Scene.make
    yield* hasSuccess(POST(`/chats/${group.chat_id}/members`, { user_ids: [friend.user_id] }), true)
    assert.strictEqual((yield* GET(`/chats/${group.chat_id}`)).at("participants_count"), 4)
    assert.include((yield* friend.send(group, "hi")).body!.text!, "hi")
  })
)

says(
  "POST /chats/{chatId}/members",
  "Returns 403 if the bot is not an administrator with the right add_remove_members",
  Effect.gen(function* () {
    const { friend, group, owner } = yield* Scene.make
    const call = POST(`/chats/${group.chat_id}/members`, { user_ids: [friend.user_id] })
    yield* owner.setBotAdmin(group, ["write", "read_all_messages", "add_admins"])
    yield* denied(call)
    yield* owner.setBotAdmin(group, undefined)
    yield* denied(call)
    yield* owner.setBotAdmin(group, ["add_remove_members"])
    yield* hasSuccess(call, true)
  })
)

says(
  "POST /chats/{chatId}/members",
  "Subscribers cannot be added to a channel",
  Effect.gen(function* () {
    const { channel, dialog, friend } = yield* Scene.make
    yield* denied(POST(`/chats/${channel.chat_id}/members`, { user_ids: [friend.user_id] }))
    yield* denied(POST(`/chats/${dialog.chat_id}/members`, { user_ids: [friend.user_id] }))
    assert.strictEqual((yield* GET(`/chats/${channel.chat_id}`)).at("participants_count"), 3)
  })
)

says(
  "POST /chats/{chatId}/members",
  "A request has at most 100 user ids",
  Effect.gen(function* () {
    const { group } = yield* Scene.make
    const path = `/chats/${group.chat_id}/members`
    const ids = (count: number) => Array.from({ length: count }, (_, i) => i + 1)
    yield* invalid(POST(path, { user_ids: ids(101) }))
    yield* hasSuccess(POST(path, { user_ids: ids(100) }), false)
    yield* invalid(POST(path, {}))
  })
)

says(
  "POST /chats/{chatId}/members",
  "Lists the users that could not be added, with add.participant.privacy or add.participant.not.found",
  Effect.gen(function* () {
    const { friend, group } = yield* Scene.make
    const hidden = yield* Emulator.user({ first_name: "Sid", isPrivate: true })
    const user_ids = [hidden.user_id, friend.user_id, 5, 6]
    const { at } = yield* hasSuccess(POST(`/chats/${group.chat_id}/members`, { user_ids }), false)
    assert.sameDeepMembers(at("failed_user_details") as Array<unknown>, [
      { error_code: "add.participant.privacy", user_ids: [hidden.user_id] },
      { error_code: "add.participant.not.found", user_ids: [5, 6] }
    ])
    assert.strictEqual((yield* GET(`/chats/${group.chat_id}`)).at("participants_count"), 4)
  })
)

assumes(
  "A",
  "POST /chats/{chatId}/members",
  "The lists are failed_user_ids and failed_user_details, and success is also false if only some users failed",
  Effect.gen(function* () {
    const { friend, group } = yield* Scene.make
    const { at } = yield* hasSuccess(POST(`/chats/${group.chat_id}/members`, { user_ids: [friend.user_id, 5] }), false)
    assert.deepStrictEqual(at("failed_user_ids"), [5])
    assert.deepStrictEqual(at("failed_user_details"), [{ error_code: "add.participant.not.found", user_ids: [5] }])
  })
)

assumes(
  "A",
  "Other operations",
  "GET /chats/{chatId}/members returns up to count members (1 to 100, default 20), and a marker if there are more",
  Effect.gen(function* () {
    const members = yield* Effect.forEach(Array.from({ length: 25 }), (_, i) => Emulator.user(`u${i}`))
    const { chat_id } = yield* Emulator.chat({ members, bot: { admin: true } })
    const path = `/chats/${chat_id}/members`
    const first = yield* succeeds(GET(path))
    assert.strictEqual((first.at("members") as ReadonlyArray<unknown>).length, 20)
    const rest = yield* succeeds(GET(`${path}?marker=${first.at("marker")}`))
    assert.strictEqual((rest.at("members") as ReadonlyArray<unknown>).length, 6)
    assert.isTrue(rest.at("marker") == null)
    assert.strictEqual(((yield* GET(`${path}?count=100`)).at("members") as ReadonlyArray<unknown>).length, 26)
    assert.strictEqual(((yield* GET(`${path}?marker=-3`)).at("members") as ReadonlyArray<unknown>).length, 20)
    for (const count of [0, 101, "x"]) yield* invalid(GET(`${path}?count=${count}`))
  })
)

assumes(
  "A",
  "Other operations",
  "GET /chats/{chatId}/members with user_ids returns these members and ignores the other parameters",
  Effect.gen(function* () {
    const { group, owner, visitor } = yield* Scene.make
    const { at } = yield* GET(`/chats/${group.chat_id}/members?user_ids=${visitor.user_id},5,${owner.user_id}&count=1`)
    const ids = (at("members") as ReadonlyArray<{ user_id: number }>).map(({ user_id }) => user_id)
    assert.sameMembers<number>(ids, [visitor.user_id, owner.user_id])
    assert.isTrue(at("marker") == null)
  })
)

assumes(
  "A",
  "Other operations",
  "A ChatMember is a UserWithPhoto with last_access_time, is_owner, is_admin, join_time, permissions and alias",
  Effect.gen(function* () {
    const { group, owner, visitor } = yield* Scene.make
    const { chat_id } = group
    const admins = [{ user_id: visitor.user_id, permissions: ["write", "edit"], alias: "Editor" }]
    yield* Members.setAdmins({ chat_id, admins })
    const member = (user_id: number) =>
      Effect.map(GET(`/chats/${chat_id}/members?user_ids=${user_id}`), ({ at }) => at("members.0") as object)
    const times = { last_access_time: 0, join_time: 0 }
    const appointed = { ...times, is_owner: false, is_admin: true, permissions: ["write", "edit"], alias: "Editor" }
    assert.deepInclude(yield* member(visitor.user_id), appointed)
    assert.deepInclude(yield* member(owner.user_id), { ...times, is_owner: true, is_admin: true })
  })
)

assumes(
  "A",
  "Other operations",
  "DELETE /chats/{chatId}/members removes user_id; with block the user cannot join again",
  Effect.gen(function* () {
    const { friend, group, visitor } = yield* Scene.make
    const path = `/chats/${group.chat_id}/members`
    yield* hasSuccess(DELETE(`${path}?user_id=${visitor.user_id}`), true)
    yield* visitor.join(group)
    yield* hasSuccess(DELETE(`${path}?user_id=${visitor.user_id}&block=true`), true)
    assert.strictEqual((yield* Effect.flip(visitor.join(group))).reason, "they are blocked there")
    yield* failsWith(DELETE(`${path}?user_id=${friend.user_id}`), 404, "not.found")
    yield* invalid(DELETE(path))
  })
)

assumes(
  "B",
  "Other operations",
  "Old names of rights are not granted: post_edit_delete_message, edit_message and delete_message",
  Effect.gen(function* () {
    const { group, visitor } = yield* Scene.make
    for (const right of Platform.oldPermissions) {
      const admins = [{ user_id: visitor.user_id, permissions: ["write", right] }]
      yield* invalid(POST(`/chats/${group.chat_id}/members/admins`, { admins }))
    }
    const { at } = yield* GET(`/chats/${group.chat_id}/members?user_ids=${visitor.user_id}`)
    assert.isFalse(at("members.0.is_admin"))
  })
)

assumes(
  "C",
  "Other operations",
  "Removing the owner of a chat returns success and changes nothing; removing the rights of the owner returns 403",
  Effect.gen(function* () {
    const { group, owner } = yield* Scene.make
    const { chat_id } = group
    yield* hasSuccess(DELETE(`/chats/${chat_id}/members?user_id=${owner.user_id}&block=true`), true)
    const member = yield* GET(`/chats/${chat_id}/members?user_ids=${owner.user_id}`)
    assert.strictEqual(member.at("members.0.is_owner"), true)
    yield* denied(DELETE(`/chats/${group.chat_id}/members/admins/${owner.user_id}`))
    const admins = [{ user_id: owner.user_id, permissions: ["write"] }]
    yield* denied(POST(`/chats/${group.chat_id}/members/admins`, { admins }))
  })
)

assumes(
  "A",
  "Other operations",
  "GET /chats/{chatId}/members/me returns the bot as a ChatMember",
  Effect.gen(function* () {
    const { group, owner } = yield* Scene.make
    yield* owner.setBotAdmin(group, ["write", "pin_message"])
    const { at } = yield* succeeds(GET(`/chats/${group.chat_id}/members/me`))
    assert.deepStrictEqual([at("is_bot"), at("is_admin"), at("is_owner")], [true, true, false])
    assert.deepStrictEqual(at("permissions"), ["write", "pin_message"])
  })
)

assumes(
  "A",
  "Other operations",
  "DELETE /chats/{chatId}/members/me removes the bot from a group chat or a channel, but not from a dialog",
  Effect.gen(function* () {
    const { channel, dialog, group } = yield* Scene.make
    for (const { chat_id } of [group, channel]) yield* hasSuccess(DELETE(`/chats/${chat_id}/members/me`), true)
    yield* denied(DELETE(`/chats/${dialog.chat_id}/members/me`))
  })
)

assumes(
  "A",
  "Other operations",
  "GET /chats/{chatId}/members/admins returns {members} if the bot is an administrator",
  Effect.gen(function* () {
    const { group, owner } = yield* Scene.make
    const path = `/chats/${group.chat_id}/members/admins`
    const ids = ((yield* succeeds(GET(path))).at("members") as ReadonlyArray<{ user_id: number }>).map((m) => m.user_id)
    assert.sameMembers<unknown>(ids, [owner.user_id, (yield* GET("/me")).at("user_id")])
    yield* owner.setBotAdmin(group, undefined)
    yield* denied(GET(path))
  })
)

assumes(
  "A",
  "Other operations",
  "POST /chats/{chatId}/members/admins replaces the rights of up to 50 members",
  Effect.gen(function* () {
    const { group, visitor } = yield* Scene.make
    const path = `/chats/${group.chat_id}/members`
    const appoint = (...permissions: ReadonlyArray<string>) =>
      POST(`${path}/admins`, { admins: [{ user_id: visitor.user_id, permissions }] })
    const rights = Effect.map(GET(`${path}?user_ids=${visitor.user_id}`), ({ at }) => at("members.0.permissions"))
    yield* hasSuccess(appoint("write", "edit"), true)
    assert.deepStrictEqual(yield* rights, ["write", "edit"])
    yield* hasSuccess(appoint("delete"), true)
    assert.deepStrictEqual(yield* rights, ["delete"])
    const many = Array.from({ length: 51 }, () => ({ user_id: visitor.user_id, permissions: ["write"] }))
    yield* invalid(POST(`${path}/admins`, { admins: many }))
    yield* failsWith(POST(`${path}/admins`, { admins: [{ user_id: 5, permissions: [] }] }), 404, "not.found")
  })
)

assumes(
  "A",
  "Other operations",
  "DELETE /chats/{chatId}/members/admins/{userId} removes the rights, but not the member",
  Effect.gen(function* () {
    const { group, visitor } = yield* Scene.make
    const path = `/chats/${group.chat_id}/members`
    yield* failsWith(DELETE(`${path}/admins/${visitor.user_id}`), 404, "not.found")
    yield* hasSuccess(POST(`${path}/admins`, { admins: [{ user_id: visitor.user_id, permissions: ["write"] }] }), true)
    yield* hasSuccess(DELETE(`${path}/admins/${visitor.user_id}`), true)
    const { at } = yield* GET(`${path}?user_ids=${visitor.user_id}`)
    assert.deepStrictEqual([at("members.0.is_admin"), at("members.0.permissions") ?? null], [false, null])
  })
)
