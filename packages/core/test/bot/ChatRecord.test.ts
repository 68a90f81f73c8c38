import type { Message, Update } from "@colloquy/core"
import * as ChatRecord from "@colloquy/core/bot/ChatRecord"
import { Fixtures } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

const { dialogId, groupId: chat_id, messageId: message_id, timestamp, userId: user_id } = Fixtures

const user = Fixtures.user({ last_name: null, username: "ann", last_activity_time: timestamp })

const person = { user_id: user.user_id, first_name: user.first_name, username: "ann", is_bot: false }

const read = (update: Update.Update) => ChatRecord.fromUpdate(update)

describe("ChatRecord.fromUpdate", () => {
  const inChat = { timestamp, chat_id, user }
  const inDialog = { timestamp, chat_id: dialogId, user }
  const dated = { at: timestamp, value: person }
  const message: Message.Message = Fixtures.message({ sender: user })
  const inGroup = Fixtures.message({ recipient: { chat_id, chat_type: "chat" } })
  const post = Fixtures.channelMessage()
  const member_at = timestamp
  const left_at = timestamp

  const cases: ReadonlyArray<readonly [Update.Update, Partial<ChatRecord.ChatRecord>]> = [
    [
      { update_type: "message_created", timestamp, message },
      { chat_id: dialogId, type: "dialog", member_at, user: dated }
    ],
    [
      { update_type: "message_created", timestamp, message: inGroup },
      { chat_id, type: "chat", member_at }
    ],
    [
      { update_type: "message_created", timestamp, message: post },
      { chat_id: Fixtures.channelId, type: "channel", member_at }
    ],
    [
      { update_type: "message_edited", timestamp, message: inGroup },
      { chat_id, type: "chat", member_at: 0 }
    ],
    [
      { update_type: "message_removed", timestamp, message_id, chat_id, user_id },
      { chat_id, type: undefined, member_at: 0 }
    ],
    [
      {
        update_type: "message_callback",
        timestamp,
        callback: { timestamp, callback_id: "1", user },
        message: Fixtures.message({ sender: Fixtures.bot() })
      },
      { chat_id: dialogId, type: "dialog", member_at, user: dated }
    ],
    [
      { update_type: "comment_created", timestamp, message: post },
      { chat_id: Fixtures.channelId, type: "channel", member_at }
    ],
    [
      { update_type: "comment_edited", timestamp, message: post },
      { chat_id: Fixtures.channelId, type: "channel", member_at }
    ],
    [
      { update_type: "comment_removed", timestamp, message_id, chat_id, user_id, post_id: message_id },
      { type: "channel", member_at }
    ],
    [
      { update_type: "bot_added", ...inChat, is_channel: true },
      { type: "channel", member_at, user: undefined }
    ],
    [
      { update_type: "bot_added", ...inChat, is_channel: false },
      { type: "chat", member_at }
    ],
    [
      { update_type: "bot_added", ...inChat },
      { type: undefined, member_at }
    ],
    [
      { update_type: "bot_removed", ...inChat, is_channel: false },
      { type: "chat", member_at: 0, left_at: left_at }
    ],
    [
      { update_type: "user_added", ...inChat, is_channel: false },
      { type: "chat", member_at, user: undefined }
    ],
    [
      { update_type: "user_removed", ...inChat, is_channel: false },
      { type: "chat", member_at, user: undefined }
    ],
    [
      { update_type: "bot_started", ...inDialog, payload: "from-site" },
      { type: "dialog", member_at, user: dated }
    ],
    [
      { update_type: "bot_stopped", ...inDialog },
      { type: "dialog", member_at: 0, left_at: left_at, user: undefined }
    ],
    [
      { update_type: "dialog_removed", ...inDialog },
      { type: "dialog", member_at: 0, left_at: left_at, user: undefined }
    ],
    [
      { update_type: "dialog_cleared", ...inDialog },
      { type: "dialog", member_at: 0, user: dated }
    ],
    [
      { update_type: "dialog_muted", ...inDialog, muted_until: timestamp },
      { type: "dialog", member_at: 0, user: dated }
    ],
    [
      { update_type: "dialog_unmuted", ...inDialog },
      { type: "dialog", member_at: 0, user: dated }
    ],
    [
      { update_type: "chat_title_changed", ...inChat, title: "New" },
      { member_at, title: { at: timestamp, value: "New" } }
    ],
    [
      {
        update_type: "bot_admin_permissions_changed",
        timestamp,
        chat_id,
        is_channel: true,
        is_admin: true,
        permissions: ["write"]
      },
      { type: "channel", member_at, rights: { at: timestamp, value: { is_admin: true, permissions: ["write"] } } }
    ],
    [
      { update_type: "bot_admin_permissions_changed", timestamp, chat_id, is_admin: false, permissions: null },
      { rights: { at: timestamp, value: { is_admin: false, permissions: [] } } }
    ]
  ]

  it.each(cases)("reads %o", (update, facts) => {
    const record = read(update)
    assert.deepInclude(record, { first_seen: timestamp, last_seen: timestamp, left_at: -1, ...facts })
  })

  it.each<readonly [Update.Update]>([
    [{ update_type: "unknown", raw: { chat_id } }],
    [{ update_type: "message_created", timestamp }],
    [{ update_type: "message_callback", timestamp, callback: { timestamp, callback_id: "1", user } }],
    [
      {
        update_type: "message_created",
        timestamp,
        message: Fixtures.message({ recipient: { chat_type: "dialog", user_id } })
      }
    ]
  ])("finds no chat in %o", (update) => {
    assert.isUndefined(read(update))
  })

  it("does not use a bot as the user of a dialog", () => {
    const ofBot = Fixtures.messageCreated({ sender: Fixtures.bot() })
    assert.deepInclude(read(ofBot), { type: "dialog", user: undefined })
  })
})

describe("ChatRecord.fromChat", () => {
  it.each(["active", "a status to come"])("has the bot as a member if the status of the chat is %s", (status) => {
    assert.isTrue(ChatRecord.isKnown(ChatRecord.fromChat(Fixtures.chat({ status }))))
  })

  it.each(["removed", "left", "closed", "suspended"])(
    "does not have the bot as a member if the status is %s",
    (status) => {
      assert.isFalse(ChatRecord.isKnown(ChatRecord.fromChat(Fixtures.chat({ status }))))
    }
  )

  it("reads the user of a dialog, with the time of the last event", () => {
    const chat = Fixtures.chat({ type: "dialog", title: null, dialog_with_user: user, last_event_time: 5 })
    assert.deepInclude(ChatRecord.fromChat(chat), {
      type: "dialog",
      last_seen: 5,
      member_at: 5,
      title: { at: 5, value: null },
      user: { at: 5, value: person }
    })
  })
})

describe("ChatRecord.fromKnownChat", () => {
  it("returns the record of a chat with the same facts, which newer updates replace", () => {
    const known = {
      chat_id,
      type: "chat",
      title: "Tea",
      rights: { is_admin: true, permissions: [] },
      first_seen: 10,
      last_seen: 20
    }
    const record = ChatRecord.fromKnownChat(known)
    assert.isTrue(ChatRecord.isKnown(record))
    assert.deepStrictEqual(ChatRecord.toKnownChat(record), known)
    const renamed = ChatRecord.make(known.chat_id, 30, { title: { at: 30, value: "Coffee" } })
    assert.strictEqual(ChatRecord.toKnownChat(ChatRecord.combine(record, renamed)).title, "Coffee")
  })
})

describe("ChatRecord.combine", () => {
  const Step = Schema.Struct({
    at: Schema.Literals([0, 1, 2, 3, 4, 5, 6, 7]),
    kind: Schema.Literals(["member", "gone", "title", "user", "rights", "seen"])
  })

  // A fact is determined by its kind and its time, because all updates of one moment agree.
  const recordOf = ({ at, kind }: typeof Step.Type): ChatRecord.ChatRecord => {
    switch (kind) {
      case "member":
        return ChatRecord.make(chat_id, at, { member_at: at, type: "chat" })
      case "gone":
        return ChatRecord.make(chat_id, at, { left_at: at })
      case "title":
        return ChatRecord.make(chat_id, at, { title: { at, value: `${at}` } })
      case "user":
        return ChatRecord.make(chat_id, at, { user: { at, value: { ...person, first_name: `${at}` } } })
      case "rights":
        return ChatRecord.make(chat_id, at, { rights: { at, value: { is_admin: true, permissions: [`${at}`] } } })
      case "seen":
        return ChatRecord.make(chat_id, at)
    }
  }

  const combined = (steps: ReadonlyArray<typeof Step.Type>) => ChatRecord.combineAll(steps.map(recordOf))

  it.effect.prop(
    "is commutative, associative and idempotent",
    { steps: Schema.Array(Step), again: Schema.Array(Step) },
    ({ steps, again }) =>
      Effect.sync(() => {
        const all = [...steps, ...again]
        const once = combined(all)
        assert.deepStrictEqual(combined(all.toReversed()), once)
        assert.deepStrictEqual(combined([...all, ...steps]), once)
        assert.deepStrictEqual(ChatRecord.combineAll([...combined(steps), ...combined(again)]), once)
      })
  )

  it.effect.prop(
    "has the bot as a member unless it left after the latest other fact",
    { steps: Schema.NonEmptyArray(Step) },
    ({ steps }) =>
      Effect.sync(() => {
        const timesOf = (kind: string) => steps.filter((step) => step.kind === kind).map(({ at }) => at)
        const gone = Math.max(-1, ...timesOf("gone"))
        const [record] = combined(steps)
        assert.strictEqual(ChatRecord.isKnown(record!), gone === -1 || Math.max(0, ...timesOf("member")) > gone)
        assert.deepStrictEqual(
          record!.title?.value,
          timesOf("title").some((at) => at > gone) ? `${Math.max(...timesOf("title"))}` : undefined
        )
      })
  )

  it("prefers the removal of the bot to other facts of the same millisecond", () => {
    const there = ChatRecord.make(chat_id, 5, { member_at: 5, title: { at: 5, value: "Reading club" } })
    const gone = ChatRecord.make(chat_id, 5, { left_at: 5 })
    for (const record of [ChatRecord.combine(there, gone), ChatRecord.combine(gone, there)]) {
      assert.isFalse(ChatRecord.isKnown(record))
      assert.isUndefined(record.title)
    }
  })

  it("returns one record for each chat, in ascending order of the ids", () => {
    const ids = [5, -3, 9_007_199_254_740_991, -3, 0].map(
      (id) => Fixtures.chat({ chat_id: id as typeof chat_id }).chat_id
    )
    const records = ChatRecord.combineAll(ids.map((id, at) => ChatRecord.make(id, at)))
    assert.deepStrictEqual(
      records.map(({ chat_id, first_seen, last_seen }) => [chat_id, first_seen, last_seen]),
      [
        [-3, 1, 3],
        [0, 4, 4],
        [5, 0, 0],
        [9_007_199_254_740_991, 2, 2]
      ]
    )
  })
})
