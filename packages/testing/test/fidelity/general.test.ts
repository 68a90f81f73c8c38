import { Messages } from "@colloquy/core"
import { Emulator, EmulatorHttp } from "@colloquy/testing"
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { assumes, says } from "../support/fidelity.ts"
import {
  DELETE,
  denied,
  GET,
  HEAD,
  invalid,
  OPTIONS,
  PATCH,
  POST,
  PUT,
  failsWith,
  succeeds,
  hasSuccess
} from "../support/http.ts"
import * as Scene from "../support/scene.ts"

says(
  "General conventions",
  "Response bodies are JSON with the content type application/json",
  Effect.gen(function* () {
    for (const answer of [yield* GET("/me"), yield* GET("/nothing"), yield* POST("/messages", "{")]) {
      assert.match(answer.headers["content-type"]!, /^application\/json/)
      assert.strictEqual(typeof JSON.parse(answer.text), "object")
    }
  })
)

says(
  "General conventions",
  "Times are Unix timestamps in milliseconds",
  Effect.gen(function* () {
    yield* TestClock.setTime(1_750_000_000_123)
    const { group } = yield* Scene.make
    const { at } = yield* POST(`/messages?chat_id=${group.chat_id}`, { text: "hi" })
    assert.strictEqual(at("message.timestamp"), 1_750_000_000_123)
    const chat = yield* GET(`/chats/${group.chat_id}`)
    assert.strictEqual(chat.at("last_event_time"), 1_750_000_000_123)
  })
)

says(
  "General conventions",
  "A chat is a chat, a channel or a dialog",
  Effect.gen(function* () {
    const { channel, dialog, group } = yield* Scene.make
    const types = yield* Effect.forEach([group, channel, dialog], ({ chat_id }) =>
      Effect.map(GET(`/chats/${chat_id}`), ({ at }) => at("type"))
    )
    assert.deepStrictEqual(types, ["chat", "channel", "dialog"])
  })
)

says(
  "General conventions",
  "An operation reports its failure with 200, success false and a message",
  Effect.gen(function* () {
    yield* hasSuccess(DELETE("/subscriptions?url=https%3A%2F%2Fb.example"), false)
    yield* hasSuccess(POST("/subscriptions", { url: "http://b.example" }), false)
  })
)

assumes(
  "A",
  "General conventions",
  "seq is above 2^53 and is written with all digits",
  Effect.gen(function* () {
    const { message } = yield* Scene.make
    const { text } = yield* GET(`/messages/${Scene.midOf(message)}`)
    const digits = /"seq":(\d+)/.exec(text)![1]
    assert.isTrue(BigInt(digits) > 2n ** 53n)
    assert.strictEqual(BigInt(digits), message.body!.seq)
  })
)

assumes(
  "A",
  "General conventions",
  "mid consists of `mid.`, 16 hex digits of chat_id and 16 hex digits of seq",
  Effect.gen(function* () {
    const { asked, group, message } = yield* Scene.make
    for (const { body, recipient } of [asked, message]) {
      const [, chat, seq] = /^mid\.([0-9a-f]{16})([0-9a-f]{16})$/.exec(body!.mid)!
      assert.strictEqual(BigInt.asIntN(64, BigInt(`0x${chat}`)), BigInt(recipient.chat_id!))
      assert.strictEqual(BigInt(`0x${seq}`), body!.seq)
    }
    assert.isTrue(group.chat_id < 0)
  })
)

assumes(
  "A",
  "General conventions",
  "chat_id is negative for group chats and channels; for dialogs it is positive and differs from user_id",
  Effect.gen(function* () {
    const { channel, dialog, group, visitor } = yield* Scene.make
    assert.isTrue(group.chat_id < 0 && channel.chat_id < 0 && dialog.chat_id > 0)
    assert.notStrictEqual<number>(dialog.chat_id, visitor.user_id)
    for (const { chat_id } of [group, channel, dialog]) assert.isTrue(Number.isSafeInteger(chat_id))
  })
)

assumes(
  "A",
  "General conventions",
  "Lists in the query are separated by commas",
  Effect.gen(function* () {
    const { group, message, visitor, owner } = yield* Scene.make
    const other = yield* Messages.send({ chat_id: group.chat_id, text: "b" })
    const mids = [message, other].map(Scene.midOf)
    for (const comma of [",", "%2C"]) {
      const { at } = yield* GET(`/messages?message_ids=${mids.join(comma)}`)
      assert.deepStrictEqual([at("messages.0.body.mid"), at("messages.1.body.mid")], mids)
    }
    const repeated = yield* GET(`/messages?message_ids=${mids[0]}&message_ids=${mids[1]}`)
    assert.strictEqual((repeated.at("messages") as ReadonlyArray<unknown>).length, 1)
    const ids = [owner, visitor].map(({ user_id }) => user_id).join(",")
    const members = yield* GET(`/chats/${group.chat_id}/members?user_ids=${ids}`)
    assert.strictEqual((members.at("members") as ReadonlyArray<unknown>).length, 2)
  })
)

assumes(
  "C",
  "General conventions",
  "A field with the value null is equivalent to an omitted field",
  Effect.gen(function* () {
    const { asked, channel, group } = yield* Scene.make
    const { chat_id } = group
    const empty = { attachments: null, link: null, format: null, notify: null }
    yield* succeeds(POST(`/messages?chat_id=${chat_id}`, { text: "hi", ...empty }))
    yield* hasSuccess(PUT(`/messages?message_id=${Scene.midOf(asked)}`, { text: "And now?", ...empty }), true)
    const { at } = yield* GET(`/messages/${Scene.midOf(asked)}`)
    assert.strictEqual(at("body.attachments.0.type"), "inline_keyboard")
    const nothing = { title: null, description: null, icon: null, pin: null, notify: null }
    const before = yield* GET(`/chats/${chat_id}`)
    const after = yield* succeeds(PATCH(`/chats/${chat_id}`, nothing))
    assert.strictEqual(after.at("title"), before.at("title"))
    yield* invalid(PUT(`/chats/${channel.chat_id}/pin`, { message_id: null }))
  })
)

assumes(
  "C",
  "General conventions",
  "Unknown fields and parameters of a request are ignored",
  Effect.gen(function* () {
    const { group } = yield* Scene.make
    const body = { text: "hi", glitter: { colour: 5 }, attachments: [], sparkle: null }
    yield* succeeds(POST(`/messages?chat_id=${group.chat_id}&v=1.2.3`, body))
  })
)

assumes(
  "B",
  "Errors",
  "A request with wrong types, invalid JSON, or values outside an enumeration returns 400 proto.payload and changes nothing",
  Effect.gen(function* () {
    const { group, message } = yield* Scene.make
    const { chat_id } = group
    const before = yield* Emulator.messages(group)
    const bodies = [
      { text: 5 },
      { text: ["a"] },
      { text: "a", format: "rtf" },
      { text: "a", notify: "no" },
      { text: "a", link: { type: "quote", mid: message.body!.mid } },
      { text: "a", link: { type: "reply" } },
      { text: "a", attachments: {} },
      { text: "a", attachments: [{ type: "hologram", payload: {} }] },
      { text: "a", attachments: [{ type: "video", payload: {} }] },
      '{"text": "cut',
      '["text"]',
      '"text"',
      "null"
    ]
    for (const body of bodies) yield* invalid(POST(`/messages?chat_id=${chat_id}`, body))
    for (const query of ["chat_id=abc", "chat_id=1.5", `chat_id=${chat_id}&disable_link_preview=maybe`, "chat_id="]) {
      yield* invalid(POST(`/messages?${query}`, { text: "a" }))
    }
    yield* invalid(GET("/chats/abc"))
    yield* invalid(POST(`/chats/${chat_id}/members`, { user_ids: ["1"] }))
    assert.deepStrictEqual(yield* Emulator.messages(group), before)
  })
)

assumes(
  "A",
  "Errors",
  "The body of every status except 200 is {code, message}",
  Effect.gen(function* () {
    const { friend, group } = yield* Scene.make
    const answers = [
      yield* failsWith(GET("/me", undefined, { token: "wrong" }), 401, "verify.token"),
      yield* invalid(POST(`/messages?chat_id=${group.chat_id}`, {})),
      yield* denied(PATCH(`/chats/${(yield* friend.start()).chat_id}`, { title: "Us" })),
      yield* failsWith(GET("/chats/-1"), 404, "chat.not.found"),
      yield* failsWith(GET("/messages/mid.0"), 404, "message.not.found"),
      yield* failsWith(PATCH("/messages"), 405, "method.not.allowed")
    ]
    for (const { text } of answers) assert.hasAllKeys(JSON.parse(text), ["code", "message"])
  })
)

assumes(
  "B",
  "Errors",
  "Every operation on a chat that does not exist returns 404 chat.not.found",
  Effect.gen(function* () {
    const { visitor } = yield* Scene.make
    const calls = [
      GET("/chats/-1"),
      PATCH("/chats/-1", { title: "a" }),
      GET("/messages?chat_id=-1"),
      POST("/messages?chat_id=-1", { text: "a" }),
      POST("/messages?user_id=5", { text: "a" }),
      POST("/chats/-1/actions", { action: "typing_on" }),
      GET("/chats/-1/pin"),
      PUT("/chats/-1/pin", { message_id: "mid.0" }),
      DELETE("/chats/-1/pin"),
      GET("/chats/-1/members"),
      POST("/chats/-1/members", { user_ids: [visitor.user_id] }),
      DELETE("/chats/-1/members?user_id=1"),
      GET("/chats/-1/members/me"),
      DELETE("/chats/-1/members/me"),
      GET("/chats/-1/members/admins"),
      POST("/chats/-1/members/admins", { admins: [] }),
      DELETE("/chats/-1/members/admins/1")
    ]
    for (const call of calls) yield* failsWith(call, 404, "chat.not.found")
  })
)

assumes(
  "A",
  "Errors",
  "Every operation on a chat in which the bot never was returns 403 chat.denied",
  Effect.gen(function* () {
    const { visitor } = yield* Scene.make
    const { chat_id } = yield* Emulator.chat({ bot: false, owner: visitor })
    const calls = [
      GET(`/chats/${chat_id}`),
      PATCH(`/chats/${chat_id}`, { title: "a" }),
      GET(`/messages?chat_id=${chat_id}`),
      POST(`/messages?chat_id=${chat_id}`, { text: "a" }),
      POST(`/chats/${chat_id}/actions`, { action: "typing_on" }),
      GET(`/chats/${chat_id}/pin`),
      GET(`/chats/${chat_id}/members`),
      POST(`/chats/${chat_id}/members`, { user_ids: [visitor.user_id] }),
      GET(`/chats/${chat_id}/members/me`),
      DELETE(`/chats/${chat_id}/members/me`),
      GET(`/chats/${chat_id}/members/admins`)
    ]
    for (const call of calls) yield* denied(call)
  })
)

says(
  "Errors",
  "A path that does not exist returns 404",
  Effect.gen(function* () {
    for (const path of ["/nothing", "/chats/1/2/3", "/messages/a/b/c/d", "/"])
      yield* failsWith(GET(path), 404, "not.found")
  })
)

assumes(
  "B",
  "Errors",
  "A method that a path does not support returns 405 with the header Allow",
  Effect.gen(function* () {
    const { headers } = yield* failsWith(PATCH("/messages"), 405, "method.not.allowed")
    assert.strictEqual(headers["allow"], "POST, GET, HEAD, PUT, DELETE, OPTIONS")
  })
)

assumes(
  "C",
  "Errors",
  "HEAD returns the response of GET without a body; OPTIONS returns 204 with Allow and requires no token",
  Effect.gen(function* () {
    const head = yield* HEAD("/me")
    assert.deepStrictEqual([head.status, head.text], [200, ""])
    const unauthorized = yield* HEAD("/me", undefined, { token: null })
    assert.deepStrictEqual([unauthorized.status, unauthorized.text], [401, ""])
    const options = yield* OPTIONS("/messages", undefined, { token: null })
    assert.deepStrictEqual([options.status, options.headers["allow"]], [204, "POST, GET, HEAD, PUT, DELETE, OPTIONS"])
  })
)

assumes(
  "B",
  "Errors",
  "500 internal.error has the same format",
  Effect.gen(function* () {
    yield* Emulator.intercept(() =>
      Effect.succeed(EmulatorHttp.respond(500, { code: "internal.error", message: "Something went wrong" }))
    )
    yield* failsWith(GET("/me"), 500, "internal.error")
  })
)

says(
  "GET /chats",
  "The list of the chats of a bot is no longer supported",
  Effect.gen(function* () {
    yield* Scene.make
    yield* failsWith(GET("/chats"), 404, "not.found")
    yield* failsWith(GET("/chats?count=10"), 404, "not.found")
  })
)

says(
  "GET /chats",
  "Events such as bot_added and bot_started contain the chat_id that other requests require",
  Effect.gen(function* () {
    yield* Scene.make
    const { at } = yield* GET("/updates?types=bot_added,bot_started&timeout=0")
    for (const { chat_id } of at("updates") as ReadonlyArray<{ chat_id: number }>)
      yield* succeeds(GET(`/chats/${chat_id}`))
    assert.strictEqual((at("updates") as ReadonlyArray<unknown>).length, 3)
  })
)

says(
  "Versioning",
  "type=photo in POST /uploads is no longer supported",
  Effect.asVoid(invalid(POST("/uploads?type=photo")))
)

says(
  "Versioning",
  "A token in the query parameters is no longer supported",
  Effect.gen(function* () {
    yield* failsWith(GET("/me?access_token=emulator-token", undefined, { token: null }), 401, "verify.token")
    yield* succeeds(GET("/me?access_token=wrong"))
  })
)

says(
  "Versioning",
  "The deprecated field name of a user is still returned",
  Effect.gen(function* () {
    const { group } = yield* Scene.make
    const me = yield* GET("/me")
    const member = yield* GET(`/chats/${group.chat_id}/members/me`)
    assert.strictEqual(me.at("name"), "Bot")
    assert.strictEqual(member.at("name"), "Bot")
  })
)
