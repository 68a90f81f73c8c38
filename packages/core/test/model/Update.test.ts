import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { Json, QueuedUpdate, Update } from "../../src/index.ts"
import { bot, chat_id, comment, message, mid, seq, user, user_id } from "../support/fixtures.ts"

const read = (update_type: string, fields: object = {}): Update.Update =>
  Result.getOrThrow(Update.parse(Json.stringify({ update_type, timestamp: 1, ...fields })))

const said = message({ sender: user })
const press = { timestamp: 1, callback_id: "callback", payload: "yes", user }
const dialog_id = 4242

/** An update of each type, with its chat, the type of the chat, the id of the user and the text. */
const kinds: Readonly<Record<Update.Update["update_type"], readonly [object, ...ReadonlyArray<unknown>]>> = {
  message_created: [{ message: said }, chat_id, "chat", user_id, "hello"],
  message_callback: [
    { callback: press, message: message({ sender: bot, recipient: { chat_id: dialog_id, chat_type: "dialog" } }) },
    dialog_id,
    "dialog",
    user_id,
    undefined
  ],
  message_edited: [{ message: said }, chat_id, "chat", user_id, "hello"],
  message_removed: [{ message_id: mid, chat_id: dialog_id, user_id }, dialog_id, "dialog", user_id, undefined],
  comment_created: [{ message: comment() }, chat_id, "channel", user_id, "hello"],
  comment_edited: [{ message: comment({ sender: null }) }, chat_id, "channel", undefined, "hello"],
  comment_removed: [{ message_id: mid, chat_id, user_id, post_id: mid }, chat_id, "channel", user_id, undefined],
  bot_added: [{ chat_id, user, is_channel: true }, chat_id, "channel", user_id, undefined],
  bot_removed: [{ chat_id, user, is_channel: false }, chat_id, "chat", user_id, undefined],
  user_added: [{ chat_id, user, inviter_id: 9, is_channel: false }, chat_id, "chat", user_id, undefined],
  user_removed: [{ chat_id, user, is_channel: null }, chat_id, undefined, user_id, undefined],
  bot_started: [{ chat_id: dialog_id, user, payload: "p" }, dialog_id, "dialog", user_id, undefined],
  bot_stopped: [{ chat_id: dialog_id, user }, dialog_id, "dialog", user_id, undefined],
  dialog_cleared: [{ chat_id: dialog_id, user }, dialog_id, "dialog", user_id, undefined],
  dialog_removed: [{ chat_id: dialog_id, user }, dialog_id, "dialog", user_id, undefined],
  dialog_muted: [{ chat_id: dialog_id, user, muted_until: 2 }, dialog_id, "dialog", user_id, undefined],
  dialog_unmuted: [{ chat_id: dialog_id, user }, dialog_id, "dialog", user_id, undefined],
  chat_title_changed: [{ chat_id, user, title: "New" }, chat_id, undefined, user_id, undefined],
  bot_admin_permissions_changed: [{ chat_id, user_id, is_channel: true }, chat_id, "channel", user_id, undefined],
  colloquy_timer: [
    { chat_id: dialog_id, user_id, name: "reminder", key: `chat:${dialog_id}`, value: "1" },
    dialog_id,
    "dialog",
    user_id,
    undefined
  ],
  unknown: [{ chat_id, user }, undefined, undefined, undefined, undefined]
}

describe("Update: chatOf, chatTypeOf, userOf, userIdOf and textOf", () => {
  it.each(Object.entries(kinds))("are known for %s", (type, [fields, ...expected]) => {
    const update = read(type === "unknown" ? "comet_seen" : type, fields)
    assert.strictEqual(update.update_type, type)
    const values = [Update.chatOf, Update.chatTypeOf, Update.userIdOf, Update.textOf].map((of) => of(update))
    assert.deepStrictEqual<ReadonlyArray<unknown>>(values, expected)
  })

  it("are undefined if the platform omits them", () => {
    for (const message of [null, undefined]) {
      const gone = read("message_created", { message })
      const values = [Update.messageOf, Update.chatOf, Update.chatTypeOf, Update.userOf, Update.textOf].map((of) =>
        of(gone)
      )
      assert.deepStrictEqual(values, [undefined, undefined, undefined, undefined, undefined])
    }
    const pressed = read("message_callback", { callback: press, message: null })
    assert.strictEqual(Update.chatOf(pressed), undefined)
    assert.strictEqual(Update.userOf(pressed)?.first_name, "Ann")
  })

  it("return no text if it is empty, null or missing, and not the text of a forwarded message", () => {
    const link = { type: "forward", message: { mid, seq: 1, text: "theirs" } }
    const bodies = [{ mid, seq: 1, text: "" }, { mid, seq: 1, text: null }, { mid, seq: 1 }, null, undefined]
    for (const body of bodies) {
      assert.strictEqual(Update.textOf(read("message_created", { message: message({ body, link }) })), undefined)
    }
  })
})

describe("the text of a queued update", () => {
  it.each(Object.entries(kinds))("is what the schema of all updates encodes for %s", (type, [fields]) => {
    const update = read(type === "unknown" ? "comet_seen" : type, fields)
    const { text } = QueuedUpdate.fromDecoded(Result.succeed(update) as never, { receivedAt: 1 })
    assert.deepStrictEqual(Json.parse(text), Json.parse(Json.stringify(Schema.encodeSync(Update.Update)(update))))
  })
})

describe("an update with malformed parts", () => {
  const update = (changes: object) => ({ update_type: "message_created", timestamp: 1, message: message(changes) })
  const parts = (update: Update.Update) =>
    Update.malformedParts(update).map(({ field, problem }) => `${field}: ${problem}`)
  const image = { type: "image", payload: { photo_id: 5, token: "t", url: "u" } }

  const parsed = (json: object) => Result.getOrThrow(Update.parse(Json.stringify(json)))
  const bodyOf = (json: object) => Update.messageOf(parsed(json))?.body

  it("keeps the attachments beside one that is malformed", () => {
    const older = { type: "image", payload: { token: "t", url: "u", id: seq } }
    const sticker = { type: "sticker", payload: { url: "u" } }
    const json = update({ body: { mid, seq, text: "hi", attachments: [image, older, sticker, "image"] } })
    const decoded = parsed(json)
    assert.deepStrictEqual(
      Update.messageOf(decoded)?.body?.attachments?.map((each) => (each.type === "unknown" ? each.raw : each.type)),
      ["image", older, sticker, "image"]
    )
    assert.deepStrictEqual(parts(decoded), [
      "message.body.attachments[1]: `payload.photo_id` is missing",
      "message.body.attachments[2]: `payload.code` is missing",
      "message.body.attachments[3]: must be an object whose type is one of image, video, audio, file, sticker, contact, inline_keyboard, share, location, unknown"
    ])
    assert.deepStrictEqual<ReadonlyArray<unknown>>(
      Update.malformedParts(decoded).map(({ raw }) => raw),
      [older, sticker, "image"]
    )
    assert.deepStrictEqual(Json.parse(Json.stringify(Schema.encodeSync(Update.Update)(decoded))), json)
  })

  it("keeps the rest of the message if its attachments, markup, link or statistics are malformed", () => {
    for (const attachments of ["none", 5, {}]) {
      const body = bodyOf(update({ body: { mid, seq, text: "hi", attachments } }))
      assert.deepStrictEqual([body?.text, body?.attachments], ["hi", [{ type: "unknown", raw: attachments }]])
    }
    const markup = [
      { type: "strong", from: 0, length: 1 },
      { type: "strong", from: "0", length: 1 }
    ]
    assert.deepStrictEqual<unknown>(bodyOf(update({ body: { mid, seq, markup } }))?.markup, [
      markup[0],
      { type: "unknown", raw: markup[1] }
    ])
    const broken = parsed(update({ link: { message: { mid, seq } }, stat: { views: "many" } }))
    assert.deepStrictEqual([Update.messageOf(broken)?.link, Update.messageOf(broken)?.stat], [null, null])
    assert.deepStrictEqual(parts(broken), ["message.link: `type` is missing", "message.stat: `views` must be a number"])
  })

  it("keeps a link whose message is missing or malformed", () => {
    for (const linked of [{}, { message: null }, { message: { seq, text: "no id" } }]) {
      const { link } = Update.messageOf(parsed(update({ link: { type: "forward", chat_id: 5, ...linked } })))!
      assert.deepStrictEqual<unknown>([link?.type, link?.chat_id, link?.message ?? null], ["forward", 5, null])
    }
  })

  it("keeps the buttons beside one that is malformed", () => {
    const good = { type: "callback", text: "a", payload: "p", intent: "positive" }
    const bad = { type: "callback" }
    const keyboard = { type: "inline_keyboard", payload: { buttons: [[good, bad], [bad]] } }
    const [attachment] = bodyOf(update({ body: { mid, seq, attachments: [keyboard] } }))?.attachments ?? []
    assert.deepStrictEqual<unknown>(attachment.type === "inline_keyboard" && attachment.payload.buttons, [
      [good, { type: "unknown", raw: bad }],
      [{ type: "unknown", raw: bad }]
    ])
  })

  it("keeps the fields of a user that can be decoded", () => {
    const older = { user_id, name: "Ann Lee", last_activity_time: "yesterday" }
    const decoded = parsed(update({ sender: older }))
    assert.deepStrictEqual(Update.userOf(decoded), { user_id, name: "Ann Lee", first_name: "Ann Lee", is_bot: false })
    assert.deepStrictEqual(Update.malformedParts(decoded)[0].raw, older)
    const started = parsed({ update_type: "bot_started", timestamp: 1, chat_id, user: { user_id, is_bot: false } })
    assert.deepStrictEqual(Update.userOf(started), { user_id, first_name: "", is_bot: false })
  })

  it("leaves out a wrong member that can be missing", () => {
    const decoded = parsed({ ...update({ url: 5, constructor: null }), user_locale: {} })
    assert.deepStrictEqual(Update.messageOf(decoded), message() as never)
    assert.notProperty(decoded, "user_locale")
    assert.deepStrictEqual(parts(decoded), [
      "message.url: must be a string or null",
      "user_locale: must be a string or null"
    ])
    const added = { update_type: "user_added", timestamp: 1, chat_id, user, is_channel: "no", inviter_id: "x" }
    assert.deepStrictEqual<unknown>(parsed(added), { update_type: "user_added", timestamp: 1, chat_id, user })
  })

  it("does not leave out the subject of an update", () => {
    for (const wrong of [{ message: 5 }, { message: message({ body: "hi" }) }, { message: message({ sender: 5 }) }]) {
      assert.isTrue(Result.isFailure(Update.parse(Json.stringify({ ...update({}), ...wrong }))), Json.stringify(wrong))
    }
    const pressed = {
      update_type: "message_callback",
      timestamp: 1,
      callback: { timestamp: 1, callback_id: "c", user }
    }
    assert.isTrue(
      Result.isFailure(Update.parse(Json.stringify({ ...pressed, callback: { ...pressed.callback, payload: 5 } })))
    )
  })

  it.each(["bot_removed", "bot_stopped", "dialog_cleared", "dialog_removed", "dialog_muted", "dialog_unmuted"])(
    "can be without its user: %s",
    (update_type) => {
      const decoded = parsed({ update_type, timestamp: 1, chat_id: dialog_id, user_id })
      assert.isUndefined(Update.userOf(decoded))
      assert.strictEqual(Update.userIdOf(decoded), user_id)
      assert.strictEqual(Update.chatOf(decoded), dialog_id)
    }
  )

  it("has the time 0 if it has none", () => {
    for (const timestamp of [undefined, null, "now"]) {
      const decoded = parsed({ update_type: "bot_started", chat_id, user, timestamp })
      assert.deepStrictEqual([decoded.update_type, "timestamp" in decoded && decoded.timestamp], ["bot_started", 0])
    }
  })

  it("names the needed fields, and not the repaired fields", () => {
    const sender = { user_id, name: "Ann" }
    const problemOf = (json: object) => {
      const result = Update.parse(Json.stringify(json))
      return Result.isFailure(result) ? result.failure.problem : "none"
    }
    assert.strictEqual(
      problemOf(update({ sender, recipient: { chat_type: "chat", chat_id: "x" }, url: 5 })),
      "`message.recipient.chat_id` must be a number or null"
    )
    assert.strictEqual(problemOf(update({ sender, timestamp: "now" })), "`message.timestamp` must be a number")
    assert.strictEqual(problemOf({ update_type: "bot_started", user: sender }), "`chat_id` is missing")
  })

  it("is not repaired if it has more than 4096 values", () => {
    const markup = [...Array.from({ length: 1500 }, () => ({ type: "strong", from: 0, length: 1 })), { type: "strong" }]
    assert.isTrue(Result.isFailure(Update.parse(Json.stringify(update({ body: { mid, seq, markup } })))))
    assert.lengthOf(bodyOf(update({ body: { mid, seq, markup: markup.slice(0, -1) } }))!.markup!, 1500)
  })

  it("is malformed without its chat, its user or the id of its message", () => {
    const recipient = { chat_type: "chat", chat_id: "none" }
    for (const changes of [{ recipient }, { sender: { first_name: "Ann" } }, { body: { seq } }, { timestamp: null }]) {
      assert.isTrue(Result.isFailure(Update.parse(Json.stringify(update(changes)))), Object.keys(changes)[0])
    }
  })

  it("is decoded however many of its parts are malformed", () => {
    const markup = Array.from({ length: 2000 }, () => ({ type: "strong" }))
    const decoded = parsed(update({ body: { mid, seq, markup } }))
    assert.isAtLeast(Update.malformedParts(decoded).length, 2000)
  })

  it("has no malformed parts if nothing is malformed", () => {
    assert.deepStrictEqual(Update.malformedParts(parsed(update({}))), [])
  })
})

describe("an update with an integer that is too long", () => {
  const digits = "9".repeat(1001)

  it("is malformed and keeps its JSON if the integer is needed or may be", () => {
    for (const text of [
      `{"update_type":"bot_started","timestamp":1,"chat_id":${digits},"user":{}}`,
      `{"update_type":"comet_seen","seq":${digits}}`,
      `{"update_type":"comet_seen","list":[${digits}]}`
    ]) {
      const parsed = Update.parse(text)
      if (Result.isSuccess(parsed)) return assert.fail("it was decoded")
      assert.strictEqual(parsed.failure.raw, text)
    }
  })

  it("is decoded if the integer is in an unknown field or a text", () => {
    const text = Json.stringify({ update_type: "message_created", timestamp: 1, message: message({ later: 0 }) })
    for (const later of [digits, `"${digits}"`]) {
      const decoded = Result.getOrThrow(Update.parse(text.replace('"later":0', `"later":${later}`)))
      assert.strictEqual(Update.messageOf(decoded)?.body?.seq, seq)
    }
  })
})

describe("an update with undocumented fields of the platform", () => {
  it("keeps the avatar of a user, and the id that is next to a user", () => {
    const avatars = { avatar_url: "https://a.example/s", full_avatar_url: "https://a.example/l" }
    for (const type of ["bot_started", "bot_added", "user_added", "dialog_removed"]) {
      const fields: object = { user: { ...user, ...avatars }, user_id }
      assert.deepInclude(read(type, { chat_id: dialog_id, ...fields }), fields as never)
    }
  })

  it("keeps the undocumented fields of attachments and buttons", () => {
    const attachments = [
      { type: "video", payload: { id: seq, url: "u", token: "t" }, thumbnail: { url: "u", photo_id: seq, token: "p" } },
      { type: "audio", payload: { id: 5n, url: "u", token: "t" } },
      { type: "contact", payload: { vcf_info: "v", hash: "h", max_info: { ...user, avatar_url: "a" } } },
      { type: "inline_keyboard", payload: { buttons: [[{ type: "link", text: "a", url: "u", intent: "default" }]] } }
    ]
    const update = read("message_created", { message: message({ body: { mid, seq, attachments } }) })
    assert.deepStrictEqual<unknown>(Update.messageOf(update)?.body?.attachments, attachments)
  })
})

describe("a deeply nested update", () => {
  const lists = (levels: number, inside = "") => `${"[".repeat(levels)}${inside}${"]".repeat(levels)}`

  const longSeq = "116328127605864690"

  it.each([lists(6000), lists(6000, longSeq), `[1,${longSeq},${lists(6000, `"\\"a\u0080]"`)}]`])(
    "is malformed and keeps its JSON if its type is unknown (%#)",
    (deep) => {
      const text = `{"update_type":"comet_seen","seq":${longSeq},"deep":${deep}}`
      const parsed = Update.parse(text)
      if (Result.isSuccess(parsed)) return assert.fail("it was decoded")
      assert.strictEqual(parsed.failure.problem, "`raw` is nested deeper than 256 levels")
      assert.strictEqual(parsed.failure.raw, text)
    }
  )

  it("is malformed and keeps its JSON if another part is malformed", () => {
    const text = `{"update_type":"bot_started","deep":${lists(6000, longSeq)}}`
    const parsed = Update.parse(text)
    if (Result.isSuccess(parsed)) return assert.fail("it was decoded")
    assert.strictEqual(parsed.failure.problem, "`chat_id` is missing; `user` is missing")
    assert.strictEqual(parsed.failure.raw, text)
  })

  it("is decoded if the deep part is an unknown field of a known type", () => {
    assert.strictEqual(read("bot_started", { chat_id, user, deep: 0 }).update_type, "bot_started")
    const text = Json.stringify({ update_type: "bot_started", timestamp: 1, chat_id, user, deep: 0 })
    const update = Result.getOrThrow(Update.parse(text.replace('"deep":0', `"deep":${lists(6000)}`)))
    assert.strictEqual(Update.chatOf(update), chat_id)
  })
})
