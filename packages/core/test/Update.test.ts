import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { Json, Update } from "../src/index.ts"
import { bot, chat_id, comment, message, mid, user, user_id } from "./support/fixtures.ts"

const read = (update_type: string, fields: object = {}): Update.Update =>
  Result.getOrThrow(Update.parse(Json.stringify({ update_type, timestamp: 1, ...fields })))

const said = message({ sender: user })
const press = { timestamp: 1, callback_id: "callback", payload: "yes", user }
const dialog_id = 4242

/** Of every kind: the update, and the chat, the chat's type, the user's id and the text that it brings. */
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
  unknown: [{ chat_id, user }, undefined, undefined, undefined, undefined]
}

describe("Update: chatOf, chatTypeOf, userOf, userIdOf and textOf", () => {
  it.each(Object.entries(kinds))("are known for %s", (type, [fields, ...expected]) => {
    const update = read(type === "unknown" ? "comet_seen" : type, fields)
    assert.strictEqual(update.update_type, type)
    const told = [Update.chatOf, Update.chatTypeOf, Update.userIdOf, Update.textOf].map((of) => of(update))
    assert.deepStrictEqual<ReadonlyArray<unknown>>(told, expected)
  })

  it("are undefined if the platform leaves them out", () => {
    for (const message of [null, undefined]) {
      const gone = read("message_created", { message })
      const told = [Update.messageOf, Update.chatOf, Update.chatTypeOf, Update.userOf, Update.textOf].map((of) =>
        of(gone)
      )
      assert.deepStrictEqual(told, [undefined, undefined, undefined, undefined, undefined])
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

describe("an update that is nested deep", () => {
  const lists = (levels: number, inside = "") => `${"[".repeat(levels)}${inside}${"]".repeat(levels)}`

  const seq = "116328127605864690"

  it.each([lists(6000), lists(100_000), lists(6000, seq), `[1,${seq},${lists(6000, `"\\"a\u0080]"`)}]`])(
    "is malformed and keeps its JSON where it is of an unknown type (%#)",
    (deep) => {
      const text = `{"update_type":"comet_seen","seq":${seq},"deep":${deep}}`
      const parsed = Update.parse(text)
      if (Result.isSuccess(parsed)) return assert.fail("it was decoded")
      assert.strictEqual(parsed.failure.problem, "`raw` is nested deeper than 256 levels")
      assert.strictEqual(parsed.failure.raw, text)
    }
  )

  it("is malformed and keeps its JSON where another part is malformed", () => {
    const text = `{"update_type":"bot_started","deep":${lists(6000, seq)}}`
    const parsed = Update.parse(text)
    if (Result.isSuccess(parsed)) return assert.fail("it was decoded")
    assert.include(parsed.failure.problem, "`timestamp` is missing")
    assert.strictEqual(parsed.failure.raw, text)
  })

  it("is decoded where the deep part is an unknown field of a known type", () => {
    assert.strictEqual(read("bot_started", { chat_id, user, deep: 0 }).update_type, "bot_started")
    const text = Json.stringify({ update_type: "bot_started", timestamp: 1, chat_id, user, deep: 0 })
    const update = Result.getOrThrow(Update.parse(text.replace('"deep":0', `"deep":${lists(6000)}`)))
    assert.strictEqual(Update.chatOf(update), chat_id)
  })
})
