import type { ChatId } from "@colloquy/core/model/Chat"
import * as ChatStore from "@colloquy/core/bot/ChatStore"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Fixtures from "../../../bot/Fixtures.ts"
import { test } from "../test.ts"
import { equals, ids, knownChatOf, upsert } from "./operations.ts"
import { added, appointed, at, chat_id, idOf, removed, titled, user, user_id } from "./updates.ts"

const permutations = <A>(values: ReadonlyArray<A>): ReadonlyArray<ReadonlyArray<A>> =>
  values.length < 2
    ? [values]
    : values.flatMap((value, at) =>
        permutations([...values.slice(0, at), ...values.slice(at + 1)]).map((rest) => [value, ...rest])
      )

export const upsertCases = [
  test("stores the facts that the updates of a chat contain", function* () {
    yield* upsert(added(0))
    equals(yield* knownChatOf(chat_id), { chat_id, type: "chat", first_seen: at(0), last_seen: at(0) })
    yield* upsert(titled(1, "Reading club 📚"), appointed(2, ["write", "a_right_to_come"]))
    equals(yield* knownChatOf(chat_id), {
      chat_id,
      type: "chat",
      title: "Reading club 📚",
      rights: { is_admin: true, permissions: ["write", "a_right_to_come"] },
      first_seen: at(0),
      last_seen: at(2)
    })
  }),

  test("stores a dialog with its user, even if the bot wrote the last message", function* () {
    yield* upsert(Fixtures.messageCreated())
    const dialog = { chat_id: Fixtures.dialogId, type: "dialog", user: user } as const
    equals(yield* knownChatOf(Fixtures.dialogId), { ...dialog, first_seen: at(0), last_seen: at(0) })
    yield* upsert({
      ...Fixtures.messageCallback(),
      timestamp: at(1),
      message: Fixtures.message({ sender: Fixtures.bot() })
    })
    equals(yield* knownChatOf(Fixtures.dialogId), { ...dialog, first_seen: at(0), last_seen: at(1) })
    yield* upsert({ ...Fixtures.messageCreated({ sender: Fixtures.bot() }), timestamp: at(2) })
    equals(yield* knownChatOf(Fixtures.dialogId), { ...dialog, first_seen: at(0), last_seen: at(2) })
  }),

  test("stores a chat without a type if the only update is a removed message", function* () {
    const { messageId: message_id } = Fixtures
    yield* upsert({ update_type: "message_removed", timestamp: at(0), message_id, chat_id, user_id })
    equals(yield* knownChatOf(chat_id), { chat_id, first_seen: at(0), last_seen: at(0) })
    equals(yield* ChatStore.count({ type: "chat" }), 0)
    yield* upsert({ ...Fixtures.messageCreated({ recipient: { chat_id, chat_type: "chat" } }), timestamp: at(-5) })
    equals(yield* knownChatOf(chat_id), { chat_id, type: "chat", first_seen: at(-5), last_seen: at(0) })
  }),

  test("ignores updates without a chat and updates of an unknown type", function* () {
    yield* upsert(
      { update_type: "unknown", raw: { update_type: "chat_sang", chat_id: 5 } },
      { update_type: "message_created", timestamp: at(0) },
      Fixtures.messageCreated({ recipient: { chat_type: "dialog", user_id } })
    )
    equals(yield* ChatStore.count(), 0)
  }),

  test("keeps ids exact up to the largest safe integer", function* () {
    const edges = [Number.MIN_SAFE_INTEGER, Number.MIN_SAFE_INTEGER + 1, -1, 1, Number.MAX_SAFE_INTEGER - 1]
    const chats = [...edges, Number.MAX_SAFE_INTEGER].map(idOf)
    yield* upsert(...chats.map((id) => added(0, id)))
    equals(yield* ids(), chats)
    for (const id of chats) equals((yield* knownChatOf(id))?.chat_id, id)
  }),

  test("changes nothing if an update arrives twice", function* () {
    const updates = [added(0), titled(1, "Reading club"), appointed(2, ["write"])]
    yield* upsert(...updates)
    const once = yield* knownChatOf(chat_id)
    yield* upsert(...updates, ...updates)
    yield* upsert(...updates)
    equals(yield* knownChatOf(chat_id), once)
    equals(yield* ChatStore.count(), 1)
  }),

  test("stores the same facts for every order of the updates, one by one or in one batch", function* () {
    const story = (id: ChatId) => [
      added(0, id),
      titled(1, "Before", id),
      removed(2, id),
      added(3, id),
      appointed(4, ["write"], id)
    ]
    const orders = permutations([0, 1, 2, 3, 4])
    yield* Effect.forEach(
      orders,
      (order, index) => Effect.forEach(order, (step) => upsert(story(idOf(index + 1))[step]!), { discard: true }),
      { concurrency: 20, discard: true }
    )
    yield* Effect.forEach(orders, (order, index) => upsert(...order.map((step) => story(idOf(index + 1001))[step]!)), {
      concurrency: 20,
      discard: true
    })
    const rights = { is_admin: true, permissions: ["write"] }
    const expected = { type: "chat", rights, first_seen: at(0), last_seen: at(4) }
    const found = yield* Stream.runCollect(Stream.map(ChatStore.stream(), ({ chat_id: _, ...rest }) => rest))
    equals(
      found,
      Array.from({ length: 2 * orders.length }, () => expected)
    )
  }),

  test("does not replace a title or permissions by older ones", function* () {
    yield* upsert(titled(5, "New"), appointed(5, ["write", "edit"]))
    yield* upsert(titled(4, "Old"), appointed(4, ["write"]))
    const entry = yield* knownChatOf(chat_id)
    equals(entry?.title, "New")
    equals(entry?.rights?.permissions, ["write", "edit"])
    equals([entry?.first_seen, entry?.last_seen], [at(4), at(5)])
  }),

  test("combines the updates of a chat that many fibers upsert concurrently", function* () {
    yield* Effect.forEach(
      Array.from({ length: 200 }, (_, index) => index),
      (second) => upsert(second % 2 === 0 ? titled(second, `Title ${second}`) : appointed(second, [`right_${second}`])),
      { concurrency: "unbounded", discard: true }
    )
    const entry = yield* knownChatOf(chat_id)
    equals(entry?.title, "Title 198")
    equals(entry?.rights?.permissions, ["right_199"])
    equals([entry?.first_seen, entry?.last_seen], [at(0), at(199)])
  })
]
