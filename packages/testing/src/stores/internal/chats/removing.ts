import * as ChatStore from "@colloquy/core/bot/ChatStore"
import * as Option from "effect/Option"
import * as Fixtures from "../../../bot/Fixtures.ts"
import { test } from "../test.ts"
import { equals, ids, knownChatOf, upsert } from "./operations.ts"
import { added, appointed, at, chat_id, idOf, inDialog, removed, titled, user_id } from "./updates.ts"

export const removeCases = [
  test("removes a chat when the bot is removed or stopped, or the dialog is removed", function* () {
    const [stopped, deleted] = [idOf(71), idOf(72)]
    yield* upsert(added(0), inDialog("bot_started", 0, stopped), inDialog("bot_started", 0, deleted))
    equals(yield* ChatStore.count(), 3)
    yield* upsert(removed(1), inDialog("bot_stopped", 1, stopped), inDialog("dialog_removed", 1, deleted))
    equals(yield* ChatStore.count(), 0)
    equals(yield* ids(), [])
    for (const id of [chat_id, stopped, deleted]) {
      equals(yield* ChatStore.get(id), Option.none())
      equals(yield* ChatStore.has(id), false)
    }
  }),

  test("brings back a removed chat by a newer update only, without its former facts", function* () {
    yield* upsert(added(0), titled(1, "Reading club"), appointed(1, ["write"]))
    yield* upsert(removed(5))
    yield* upsert(added(4), titled(4, "Late"), removed(3))
    equals(yield* ChatStore.has(chat_id), false)
    yield* upsert({ ...Fixtures.messageCreated({ recipient: { chat_id, chat_type: "chat" } }), timestamp: at(6) })
    equals(yield* knownChatOf(chat_id), { chat_id, type: "chat", first_seen: at(0), last_seen: at(6) })
  }),

  test("keeps a chat to which the bot came back if the removal arrives late", function* () {
    yield* upsert(added(0), titled(1, "Before"), added(7), titled(8, "After"))
    yield* upsert(removed(5))
    equals((yield* knownChatOf(chat_id))?.title, "After")
    yield* upsert(removed(9))
    equals(yield* ChatStore.has(chat_id), false)
  }),

  test("ignores older updates if the removal is the first update that arrives", function* () {
    yield* upsert(removed(5))
    yield* upsert(added(4))
    equals(yield* ChatStore.has(chat_id), false)
  }),

  test("does not bring back a stopped dialog by actions of its user", function* () {
    const { dialogId, messageId: message_id } = Fixtures
    const afterwards = [
      inDialog("dialog_cleared", 6),
      inDialog("dialog_muted", 6),
      inDialog("dialog_unmuted", 6),
      { update_type: "message_removed", timestamp: at(6), message_id, chat_id: dialogId, user_id },
      { update_type: "message_edited", timestamp: at(6), message: Fixtures.message() }
    ] as const
    yield* upsert(inDialog("bot_started", 0), inDialog("bot_stopped", 5), ...afterwards)
    equals(yield* ChatStore.has(dialogId), false)
    yield* upsert(inDialog("bot_started", 7))
    equals(yield* ChatStore.has(dialogId), true)
  }),

  test("brings back a chat that the program removed by a newer update only", function* () {
    equals(yield* ChatStore.remove(chat_id), false)
    yield* upsert(added(0), titled(3, "Reading club"))
    equals(yield* ChatStore.remove(chat_id), true)
    equals(yield* ChatStore.remove(chat_id), false)
    yield* upsert(added(0), titled(3, "Reading club"))
    equals(yield* ChatStore.has(chat_id), false)
    yield* upsert(appointed(4, []))
    equals((yield* knownChatOf(chat_id))?.title, undefined)
    equals(yield* ChatStore.count(), 1)
  }),

  test("deletes expired tombstones, and nothing else, in a cleanup", function* () {
    const store = yield* ChatStore.ChatStore
    const [long, lately] = [idOf(81), idOf(82)]
    yield* upsert(added(0), added(0, long), removed(1, long), added(0, lately), removed(9, lately))
    equals(yield* store.cleanup(at(5)), 1)
    equals(yield* store.cleanup(at(5)), 0)
    equals(yield* ids(), [chat_id])
    yield* upsert(added(0, long), added(0, lately))
    equals(
      yield* ids(),
      [chat_id, long].sort((a, b) => a - b)
    )
  })
]
