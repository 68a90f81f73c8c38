import { Answers, Members, Messages } from "@colloquy/core"
import { Emulator } from "@colloquy/testing"
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { assumes, says } from "../support/fidelity.ts"
import { type Answer, DELETE, valuesAt, GET, invalid, POST, failsWith, succeeds, hasSuccess } from "../support/http.ts"
import * as Scene from "../support/scene.ts"
import { createHmac } from "node:crypto"

const { midOf } = Scene

const makeVisitor = Emulator.user({ first_name: "Victor", locale: "en" })

const poll = (query = "") => succeeds(GET(`/updates?timeout=0&marker=0${query}`))

const typesIn = (answer: Answer) => valuesAt(answer, "updates", "update_type")

type Json = Readonly<Record<string, unknown>>

/** Returns the last update of a type, as a poll or only a webhook receives it. */
const last = (type: string) =>
  Effect.gen(function* () {
    const polled = (yield* poll(`&types=${type}`)).at("updates") as ReadonlyArray<Json>
    assert.isAbove(polled.length, 0, type)
    return polled.at(-1)!
  })

const containsOnly = (update: Json, ...fields: ReadonlyArray<string>) =>
  assert.hasAllKeys(update, ["update_type", "timestamp", ...fields])

const user = (update: Json) => (update["user"] as Json)["user_id"]

says(
  "GET /chats",
  "Events can arrive more than once, as set by a fault",
  Effect.gen(function* () {
    const owner = yield* Emulator.user("Olga")
    yield* Emulator.setFaults([{ update_type: "bot_added", delivery: "duplicate" }])
    const { chat_id } = yield* Emulator.chat({ owner })
    const { at } = yield* poll()
    const [first, second] = at("updates") as ReadonlyArray<Json>
    assert.strictEqual(first["chat_id"], chat_id)
    assert.deepStrictEqual(second, first)
  })
)

says(
  "Events",
  "message_created: a user sent a message",
  Effect.gen(function* () {
    yield* TestClock.setTime(5000)
    const { group, visitor } = yield* Scene.make
    const sent = yield* visitor.send(group, "hi")
    const update = yield* last("message_created")
    containsOnly(update, "message")
    assert.deepStrictEqual(
      [update["timestamp"], (update["message"] as { body: Json }).body["mid"]],
      [5000, midOf(sent)]
    )
  })
)

assumes(
  "A",
  "Events",
  "message_created contains message, and user_locale in dialogs",
  Effect.gen(function* () {
    const visitor = yield* makeVisitor
    yield* visitor.send("hi")
    const inDialog = yield* last("message_created")
    containsOnly(inDialog, "message", "user_locale")
    assert.strictEqual(inDialog["user_locale"], "en")
    yield* visitor.send(yield* Emulator.chat({ owner: visitor }), "hi")
    containsOnly(yield* last("message_created"), "message")
  })
)

assumes(
  "C",
  "Events",
  "The bot receives no update of messages that it sends, edits or removes",
  Effect.gen(function* () {
    const { asked } = yield* Scene.make
    yield* Messages.edit({ message_id: midOf(asked), text: "b" })
    yield* Messages.remove({ message_id: midOf(asked) })
    const types = typesIn(yield* poll())
    for (const type of ["message_created", "message_edited", "message_removed"]) assert.notInclude(types, type)
  })
)

says(
  "Events",
  "bot_started: a user started the bot; the update contains chat_id",
  Effect.gen(function* () {
    const visitor = yield* Emulator.user("Victor")
    const { chat_id } = yield* visitor.start()
    const update = yield* last("bot_started")
    containsOnly(update, "chat_id", "user")
    assert.deepStrictEqual([update["chat_id"], user(update)], [chat_id, visitor.user_id])
  })
)

assumes(
  "B",
  "Events",
  "bot_started contains the payload of the deep link, of up to 128 characters, and user_locale",
  Effect.gen(function* () {
    const visitor = yield* makeVisitor
    const payload = "a".repeat(128)
    yield* visitor.start(payload)
    const update = yield* last("bot_started")
    containsOnly(update, "chat_id", "user", "payload", "user_locale")
    assert.strictEqual(update["payload"], payload)
    const { reason: problem } = yield* Effect.flip(visitor.start(`${payload}a`))
    assert.strictEqual(problem, "the payload of a deep link has at most 128 characters")
  })
)

assumes(
  "A",
  "Events",
  "A message of a user starts the bot if it is the first one, or the first one after the user stopped the bot",
  Effect.gen(function* () {
    const visitor = yield* Emulator.user("Victor")
    yield* visitor.send("hi")
    yield* visitor.stop
    yield* visitor.send("ho")
    assert.deepStrictEqual(typesIn(yield* poll()), [
      "bot_started",
      "message_created",
      "bot_stopped",
      "bot_started",
      "message_created"
    ])
  })
)

says(
  "Events",
  "message_callback: a user pressed a button; POST /answers requires the id in callback.callback_id",
  Effect.gen(function* () {
    const { asked, visitor } = yield* Scene.make
    yield* visitor.press(asked, "Yes")
    const { callback } = (yield* last("message_callback")) as { callback: Json }
    yield* hasSuccess(POST(`/answers?callback_id=${String(callback["callback_id"])}`, { notification: "a" }), true)
  })
)

assumes(
  "A",
  "Events",
  "message_callback contains callback {timestamp, callback_id, payload?, user} and message, and user_locale in dialogs",
  Effect.gen(function* () {
    yield* TestClock.setTime(5000)
    const visitor = yield* makeVisitor
    yield* visitor.start()
    const buttons = [
      [
        { type: "callback", text: "A", payload: "p" },
        { type: "callback", text: "B" }
      ]
    ]
    const attachments = [{ type: "inline_keyboard", payload: { buttons } }]
    yield* succeeds(POST(`/messages?user_id=${visitor.user_id}`, { text: "?", attachments }))
    const [message] = yield* Emulator.messages(yield* visitor.dialog)
    const callback_id = yield* visitor.press(message, "A")
    const update = yield* last("message_callback")
    containsOnly(update, "callback", "message", "user_locale")
    const { callback } = update as { callback: Json }
    assert.deepInclude(callback, { timestamp: 5000, callback_id, payload: "p" })
    assert.strictEqual(user(callback), visitor.user_id)
    yield* visitor.press(message, "B")
    assert.hasAllKeys((yield* last("message_callback"))["callback"], ["timestamp", "callback_id", "user"])
  })
)

assumes(
  "A",
  "Events",
  "message_callback does not contain message if the message was deleted",
  Effect.gen(function* () {
    const { asked, visitor } = yield* Scene.make
    yield* Messages.remove({ message_id: midOf(asked) })
    const callback_id = yield* visitor.press(asked, "Yes")
    containsOnly(yield* last("message_callback"), "callback")
    yield* Answers.send({ callback_id: callback_id!, notification: "It is gone" })
    assert.strictEqual(yield* visitor.notification, "It is gone")
  })
)

const requestContact = [[{ type: "request_contact", text: "My number" }]]

/** Returns the payload of the contact that a user sends by a button of the bot. */
const contactOf = Effect.fnUntraced(function* (person: Effect.Success<ReturnType<typeof Emulator.user>>) {
  yield* person.start()
  const attachments = [{ type: "inline_keyboard", payload: { buttons: requestContact } }]
  yield* succeeds(POST(`/messages?user_id=${person.user_id}`, { text: "Your number?", attachments }))
  assert.isUndefined(yield* person.press(yield* person.reply, "My number"))
  const { message } = (yield* last("message_created")) as { message: { body: Json } }
  assert.hasAllKeys(message.body, ["mid", "seq", "text", "attachments"])
  const [{ payload, type }] = message.body["attachments"] as ReadonlyArray<{ type: string; payload: Json }>
  assert.strictEqual(type, "contact")
  return payload
})

assumes(
  "A",
  "Request-side message body (NewMessageBody)",
  "A request_contact button sends the vCard of the user with the phone number in vcf_info, and the user in max_info",
  Effect.gen(function* () {
    const ann = yield* Emulator.user({ first_name: "Ann", last_name: "Lee", phone: "+447700900123" })
    const { max_info, vcf_info } = yield* contactOf(ann)
    const lines = ["BEGIN:VCARD", "VERSION:3.0", "FN:Ann Lee", "TEL;TYPE=cell:+447700900123", "END:VCARD"]
    assert.strictEqual(vcf_info, lines.join("\r\n"))
    assert.deepInclude(max_info, { user_id: ann.user_id, first_name: "Ann" })
    const phones = yield* Effect.forEach(["Ben", "Eve"], (name) =>
      Effect.flatMap(Emulator.user(name), (person) =>
        Effect.map(contactOf(person), ({ vcf_info }) => /TEL;TYPE=cell:(\+7900\d{7})\r\n/.exec(String(vcf_info))?.[1])
      )
    )
    assert.isString(phones[0])
    assert.isString(phones[1])
    assert.notStrictEqual(phones[0], phones[1])
  })
)

assumes(
  "C",
  "Request-side message body (NewMessageBody)",
  "The hash of a requested contact is the HMAC-SHA256 of vcf_info with the token of the bot as the key",
  Effect.gen(function* () {
    const { hash, vcf_info } = yield* contactOf(yield* Emulator.user("Ann"))
    assert.strictEqual(hash, createHmac("sha256", "emulator-token").update(String(vcf_info)).digest("hex"))
  })
)

assumes(
  "A",
  "Request-side message body (NewMessageBody)",
  "A message button sends its text as a message of the user",
  Effect.gen(function* () {
    const { asked, visitor } = yield* Scene.make
    yield* visitor.press(asked, "Later")
    const { message } = (yield* last("message_created")) as { message: { body: Json; sender: Json } }
    assert.deepStrictEqual([message.body["text"], message.sender["user_id"]], ["Later", visitor.user_id])
  })
)

assumes(
  "A",
  "Events",
  "message_edited contains message",
  Effect.gen(function* () {
    const { group, visitor } = yield* Scene.make
    yield* visitor.edit(yield* visitor.send(group, "hi"), "ho")
    const update = yield* last("message_edited")
    containsOnly(update, "message")
    assert.strictEqual((update["message"] as { body: Json }).body["text"], "ho")
  })
)

assumes(
  "A",
  "Events",
  "message_removed contains message_id, chat_id, and the user_id of the user who removed the message",
  Effect.gen(function* () {
    const { group, owner, visitor } = yield* Scene.make
    const sent = yield* visitor.send(group, "hi")
    yield* owner.remove(sent)
    const update = yield* last("message_removed")
    containsOnly(update, "message_id", "chat_id", "user_id")
    assert.deepInclude(update, { message_id: midOf(sent), chat_id: group.chat_id, user_id: owner.user_id })
  })
)

says(
  "Events",
  "bot_added: the bot was added to a chat; the update contains chat_id",
  Effect.gen(function* () {
    const owner = yield* Emulator.user("Olga")
    const { chat_id } = yield* Emulator.chat({ owner })
    assert.strictEqual((yield* last("bot_added"))["chat_id"], chat_id)
  })
)

says(
  "Events",
  "bot_removed: the bot was removed from a chat, and can no longer use its chat_id",
  Effect.gen(function* () {
    const { group, owner } = yield* Scene.make
    yield* owner.removeBot(group)
    const { chat_id } = (yield* last("bot_removed")) as { chat_id: number }
    yield* failsWith(POST(`/messages?chat_id=${chat_id}`, { text: "a" }), 403, "chat.denied")
  })
)

assumes(
  "A",
  "Events",
  "bot_added and bot_removed contain chat_id, is_channel, and the user who added or removed the bot",
  Effect.gen(function* () {
    const { channel, group, owner } = yield* Scene.make
    for (const chat of [group, channel]) {
      yield* owner.removeBot(chat)
      yield* owner.addBot(chat)
      for (const type of ["bot_removed", "bot_added"]) {
        const update = yield* last(type)
        containsOnly(update, "chat_id", "user", "is_channel")
        assert.deepInclude(update, { chat_id: chat.chat_id, is_channel: chat.type === "channel" })
        assert.strictEqual(user(update), owner.user_id)
      }
    }
  })
)

assumes(
  "C",
  "Events",
  "The added or removed bot receives bot_added or bot_removed; other bots in the chat receive user_added or user_removed",
  Effect.gen(function* () {
    const { group } = yield* Scene.make
    const second = { token: "second" }
    const { at } = yield* GET("/me", undefined, second)
    const path = `/chats/${group.chat_id}/members`
    const before = typesIn(yield* poll()).length
    yield* hasSuccess(POST(path, { user_ids: [at("user_id")] }), true)
    yield* hasSuccess(DELETE(`${path}?user_id=${String(at("user_id"))}`), true)
    assert.deepStrictEqual(typesIn(yield* poll()).slice(before), ["user_added", "user_removed"])
    for (const type of ["user_added", "user_removed"]) assert.strictEqual(user(yield* last(type)), at("user_id"))
    const toSecond = yield* succeeds(GET("/updates?timeout=0&marker=0", undefined, second))
    assert.deepStrictEqual(typesIn(toSecond), ["bot_added", "bot_removed"])
  }).pipe(Effect.provide(Emulator.layerBot({ moreTokens: ["second"] })))
)

assumes(
  "A",
  "Events",
  "user_added contains chat_id, user and is_channel, and inviter_id if another user added the user",
  Effect.gen(function* () {
    const { channel, friend, group } = yield* Scene.make
    yield* friend.join(channel)
    const joined = yield* last("user_added")
    containsOnly(joined, "chat_id", "user", "is_channel")
    assert.deepStrictEqual([user(joined), joined["is_channel"]], [friend.user_id, true])
    yield* Members.add({ chat_id: group.chat_id, user_ids: [friend.user_id] })
    const added = yield* last("user_added")
    containsOnly(added, "chat_id", "user", "is_channel", "inviter_id")
    assert.strictEqual(added["inviter_id"], (yield* GET("/me")).at("user_id"))
  })
)

assumes(
  "A",
  "Events",
  "user_removed contains chat_id, user and is_channel, and admin_id if another user removed the user",
  Effect.gen(function* () {
    const { channel, group, visitor } = yield* Scene.make
    yield* visitor.leave(channel)
    const left = yield* last("user_removed")
    containsOnly(left, "chat_id", "user", "is_channel")
    assert.strictEqual(user(left), visitor.user_id)
    yield* hasSuccess(DELETE(`/chats/${group.chat_id}/members?user_id=${visitor.user_id}`), true)
    const removed = yield* last("user_removed")
    containsOnly(removed, "chat_id", "user", "is_channel", "admin_id")
    assert.strictEqual(removed["admin_id"], (yield* GET("/me")).at("user_id"))
  })
)

assumes(
  "A",
  "Events",
  "bot_stopped, dialog_cleared, dialog_removed, dialog_muted and dialog_unmuted contain chat_id, user and user_locale; dialog_muted also muted_until",
  Effect.gen(function* () {
    const visitor = yield* makeVisitor
    const { chat_id } = yield* visitor.start()
    yield* visitor.muteDialog(9000)
    yield* visitor.unmuteDialog
    yield* visitor.clearDialog
    yield* visitor.removeDialog
    for (const type of ["dialog_unmuted", "dialog_cleared", "dialog_removed", "bot_stopped"]) {
      const update = yield* last(type)
      containsOnly(update, "chat_id", "user", "user_locale")
      assert.deepInclude(update, { chat_id, user_locale: "en" })
      assert.strictEqual(user(update), visitor.user_id)
    }
    const muted = yield* last("dialog_muted")
    containsOnly(muted, "chat_id", "user", "muted_until", "user_locale")
    assert.strictEqual(muted["muted_until"], 9000)
  })
)

assumes(
  "B",
  "Events",
  "dialog_removed comes together with bot_stopped, and the bot cannot write to the dialog until it is started again",
  Effect.gen(function* () {
    const visitor = yield* makeVisitor
    const { chat_id } = yield* visitor.start()
    const before = (yield* Emulator.updates).length
    const received = Effect.map(Emulator.updates, (all) => all.slice(before).map(({ update_type }) => update_type))
    yield* visitor.removeDialog
    assert.deepStrictEqual(yield* received, ["dialog_removed", "bot_stopped"])
    const send = POST(`/messages?chat_id=${chat_id}`, { text: "hi" })
    yield* failsWith(send, 403, "chat.denied")
    yield* visitor.removeDialog
    assert.deepStrictEqual((yield* received).slice(2), ["dialog_removed"])
    yield* visitor.start()
    yield* succeeds(send)
  })
)

assumes(
  "B",
  "Events",
  "/start that a person types comes as message_created, not as bot_started",
  Effect.gen(function* () {
    const visitor = yield* makeVisitor
    yield* visitor.start()
    yield* visitor.send("/start from-the-poster")
    assert.deepStrictEqual(typesIn(yield* poll()), ["bot_started", "message_created"])
  })
)

assumes(
  "A",
  "Events",
  "chat_title_changed contains chat_id, user and title",
  Effect.gen(function* () {
    const { group, owner } = yield* Scene.make
    yield* owner.rename(group, "Writers")
    const update = yield* last("chat_title_changed")
    containsOnly(update, "chat_id", "user", "title")
    assert.deepStrictEqual([update["title"], user(update)], ["Writers", owner.user_id])
  })
)

assumes(
  "A",
  "Events",
  "bot_admin_permissions_changed contains chat_id, user_id, bot_id, is_channel, is_admin and permissions",
  Effect.gen(function* () {
    const { channel, owner } = yield* Scene.make
    const bot = (yield* GET("/me")).at("user_id")
    yield* owner.setBotAdmin(channel, ["write", "edit"])
    const appointed = ((yield* Emulator.updates) as ReadonlyArray<object>).at(-1) as Json
    const place = { chat_id: channel.chat_id, user_id: owner.user_id, bot_id: bot, is_channel: true }
    assert.deepInclude(appointed, { ...place, is_admin: true, permissions: ["write", "edit"] })
    yield* owner.setBotAdmin(channel, undefined)
    const dismissed = ((yield* Emulator.updates) as ReadonlyArray<object>).at(-1) as Json
    containsOnly(dismissed, "chat_id", "user_id", "bot_id", "is_channel", "is_admin")
    assert.deepInclude(dismissed, { ...place, is_admin: false })
  })
)

assumes(
  "B",
  "Events",
  "bot_admin_permissions_changed comes by webhook only",
  Effect.gen(function* () {
    const { channel, owner } = yield* Scene.make
    yield* owner.setBotAdmin(channel, ["write"])
    const stored = (yield* Emulator.updates).map(({ update_type }) => update_type)
    assert.include(stored, "bot_admin_permissions_changed")
    assert.notInclude(typesIn(yield* poll()), "bot_admin_permissions_changed")
    assert.deepStrictEqual(typesIn(yield* poll("&types=bot_admin_permissions_changed")), [])
  })
)

assumes(
  "A",
  "Events",
  "comment_created and comment_edited contain message with recipient.post_id and chat_type channel, without a sender on behalf of the channel",
  Effect.gen(function* () {
    const { channel, owner, post, visitor } = yield* Scene.make
    yield* visitor.comment(post, "hi")
    const made = yield* owner.comment(post, "We", { onBehalf: true })
    yield* owner.editComment(made, "We all")
    const updates = (yield* Emulator.updates).filter(({ update_type }) => update_type.startsWith("comment_"))
    assert.deepStrictEqual(
      updates.map(({ update_type }) => update_type),
      ["comment_created", "comment_created", "comment_edited"]
    )
    const recipient = { chat_id: channel.chat_id, chat_type: "channel", post_id: midOf(post) }
    for (const update of updates) assert.deepStrictEqual(messageOf(update)["recipient"], recipient)
    assert.deepStrictEqual(
      updates.map((update) => messageOf(update)["sender"] !== undefined),
      [true, false, false]
    )
  })
)

const messageOf = (update: object): Json => (update as { message: Json }).message

assumes(
  "A",
  "Events",
  "comment_removed contains message_id, chat_id, user_id and post_id",
  Effect.gen(function* () {
    const { channel, post, visitor } = yield* Scene.make
    const comment = yield* visitor.comment(post, "hi")
    yield* visitor.removeComment(comment)
    const update = (yield* Emulator.updates).at(-1)!
    assert.deepStrictEqual<object>(update, {
      update_type: "comment_removed",
      timestamp: 0,
      message_id: comment.body.mid,
      chat_id: channel.chat_id,
      user_id: visitor.user_id,
      post_id: midOf(post)
    })
  })
)

assumes(
  "A",
  "Events",
  "Updates of comments are sent to webhooks only: long polling does not return them",
  Effect.gen(function* () {
    const { post, visitor } = yield* Scene.make
    yield* visitor.removeComment(yield* visitor.comment(post, "hi"))
    assert.deepStrictEqual(typesIn(yield* poll("&types=comment_created,comment_removed")), [])
    for (const type of typesIn(yield* poll())) assert.notMatch(String(type), /^comment_/)
  })
)

assumes(
  "A",
  "Events",
  "An update of an undocumented type is delivered unchanged",
  Effect.gen(function* () {
    const update = { update_type: "planet_aligned", timestamp: 5, planets: ["Mars"] }
    yield* Emulator.deliver(update)
    assert.deepStrictEqual((yield* poll()).at("updates"), [update])
  })
)

assumes(
  "A",
  "Events",
  "GET /updates returns {updates, marker}; a request with the marker commits all updates before it",
  Effect.gen(function* () {
    const visitor = yield* Emulator.user("Victor")
    yield* visitor.send("a")
    const first = yield* succeeds(GET("/updates?timeout=0"))
    assert.deepStrictEqual(typesIn(first), ["bot_started", "message_created"])
    yield* visitor.send("b")
    const next = yield* succeeds(GET(`/updates?timeout=0&marker=${first.at("marker")}`))
    assert.deepStrictEqual(valuesAt(next, "updates", "message.body.text"), ["b"])
    const none = yield* succeeds(GET(`/updates?timeout=0&marker=${next.at("marker")}`))
    assert.deepStrictEqual(none.at("updates"), [])
  })
)

assumes(
  "A",
  "Events",
  "GET /updates without a marker may return only the latest update after the bot has polled once",
  Effect.gen(function* () {
    const visitor = yield* Emulator.user("Victor")
    yield* visitor.send("a")
    yield* succeeds(GET("/updates?timeout=0"))
    for (const text of ["b", "c", "d"]) yield* visitor.send(text)
    assert.deepStrictEqual(valuesAt(yield* GET("/updates?timeout=0"), "updates", "message.body.text"), ["d"])
  })
)

assumes(
  "A",
  "Events",
  "GET /updates: limit is 1 to 1000, by default 100",
  Effect.gen(function* () {
    const visitor = yield* Emulator.user("Victor")
    yield* Effect.forEach(Array.from({ length: 120 }), () => visitor.send("x"))
    assert.strictEqual(typesIn(yield* poll()).length, 100)
    assert.strictEqual(typesIn(yield* poll("&limit=99")).length, 99)
    const one = yield* poll("&limit=1")
    assert.deepStrictEqual(typesIn(one), ["bot_started"])
    assert.deepStrictEqual(typesIn(yield* GET(`/updates?timeout=0&limit=1&marker=${one.at("marker")}`)), [
      "message_created"
    ])
  })
)

assumes(
  "A",
  "Events",
  "GET /updates returns 400 for a limit outside 1 to 1000, a timeout outside 0 to 90, or a marker that is not a 64-bit integer",
  Effect.gen(function* () {
    for (const query of ["limit=0", "limit=1001", "limit=x"]) yield* invalid(GET(`/updates?timeout=0&${query}`))
    for (const query of ["timeout=-1", "timeout=91"]) yield* invalid(GET(`/updates?${query}`))
    for (const marker of ["x", "1.0", String(2n ** 63n), String(-(2n ** 63n) - 1n)]) {
      yield* invalid(GET(`/updates?timeout=0&marker=${marker}`))
    }
  })
)

assumes(
  "C",
  "Events",
  "GET /updates with a marker in the future returns the updates that arrive after the request",
  Effect.gen(function* () {
    const visitor = yield* Emulator.user("Victor")
    yield* visitor.send("a")
    const late = yield* succeeds(GET(`/updates?timeout=0&marker=${2n ** 63n - 1n}`))
    assert.deepStrictEqual(late.at("updates"), [])
    yield* visitor.send("b")
    const next = yield* succeeds(GET(`/updates?timeout=0&marker=${late.at("marker")}`))
    assert.deepStrictEqual(valuesAt(next, "updates", "message.body.text"), ["b"])
  })
)

assumes(
  "A",
  "Events",
  "GET /updates: types is a list separated by commas; updates of other types are skipped",
  Effect.gen(function* () {
    const { visitor } = yield* Scene.make
    yield* visitor.send("a")
    assert.deepStrictEqual(typesIn(yield* poll("&types=message_created,bot_started")), [
      "bot_started",
      "message_created"
    ])
    assert.deepStrictEqual(typesIn(yield* poll("&types=bot_removed")), [])
  })
)

assumes(
  "A",
  "Events",
  "GET /updates waits up to timeout seconds, by default 30, and returns as soon as an update arrives",
  Effect.gen(function* () {
    for (const [query, seconds] of [
      ["?timeout=20", 20],
      ["", 30]
    ] as const) {
      const waiting = yield* Effect.forkChild(GET(`/updates${query}`))
      yield* TestClock.adjust(`${seconds * 1000 - 1} millis`)
      assert.isUndefined(waiting.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      assert.deepStrictEqual((yield* Fiber.join(waiting)).at("updates"), [])
    }
    const waiting = yield* Effect.forkChild(GET("/updates"))
    yield* TestClock.adjust("10 seconds")
    yield* (yield* Emulator.user("Victor")).start()
    assert.deepStrictEqual(typesIn(yield* Fiber.join(waiting)), ["bot_started"])
  })
)

says(
  "Events",
  "Long Polling is limited in event retention",
  Effect.gen(function* () {
    const visitor = yield* Emulator.user("Victor")
    yield* visitor.send("a")
    yield* TestClock.adjust("2 days")
    assert.deepStrictEqual(typesIn(yield* poll()), [])
  })
)

assumes(
  "A",
  "Events",
  "Events are kept for 24 hours",
  Effect.gen(function* () {
    const visitor = yield* Emulator.user("Victor")
    yield* visitor.start()
    yield* TestClock.adjust("1 hour")
    yield* visitor.send("b")
    yield* TestClock.adjust("23 hours")
    assert.deepStrictEqual(typesIn(yield* poll()), ["message_created"])
  })
)
