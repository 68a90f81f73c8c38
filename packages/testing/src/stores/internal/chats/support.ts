import { ChatId } from "@colloquy/core/model/Chat"
import * as ChatStore from "@colloquy/core/bot/ChatStore"
import type * as Update from "@colloquy/core/model/Update"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as assert from "node:assert/strict"
import * as Fixtures from "../../../bot/Fixtures.ts"

export const permutations = <A>(values: ReadonlyArray<A>): ReadonlyArray<ReadonlyArray<A>> =>
  values.length < 2
    ? [values]
    : values.flatMap((value, at) =>
        permutations([...values.slice(0, at), ...values.slice(at + 1)]).map((rest) => [value, ...rest])
      )

export const at = (seconds: number) => Fixtures.timestamp + seconds * 1000

export const chat_id = Fixtures.groupId

export const { user_id, first_name, is_bot } = Fixtures.user()

export const user = { user_id, first_name, is_bot }

const ofBot =
  (update_type: "bot_added" | "bot_removed") =>
  (seconds: number, id = chat_id): Update.Update => ({
    update_type,
    timestamp: at(seconds),
    chat_id: id,
    user: Fixtures.user(),
    is_channel: false
  })

export const added = ofBot("bot_added")

export const removed = ofBot("bot_removed")

export const titled = (seconds: number, title: string, id = chat_id): Update.Update => ({
  update_type: "chat_title_changed",
  timestamp: at(seconds),
  chat_id: id,
  user: Fixtures.user(),
  title
})

export const appointed = (seconds: number, permissions: ReadonlyArray<string>, id = chat_id): Update.Update => ({
  update_type: "bot_admin_permissions_changed",
  timestamp: at(seconds),
  chat_id: id,
  user_id,
  bot_id: Fixtures.botId,
  is_channel: false,
  is_admin: true,
  permissions
})

export const inDialog = (
  update_type: "bot_started" | "bot_stopped" | "dialog_removed" | "dialog_cleared" | "dialog_muted" | "dialog_unmuted",
  seconds: number,
  id = Fixtures.dialogId
): Update.Update => ({ update_type, timestamp: at(seconds), chat_id: id, user: Fixtures.user() })

export const idOf = (index: number): ChatId => ChatId.make(index)

export const ids = (filter?: ChatStore.Filter) =>
  Stream.runCollect(Stream.map(ChatStore.stream(filter), ({ chat_id }) => chat_id))

export const knownChatOf = (id: ChatId) =>
  Effect.map(ChatStore.get(id), Option.match({ onNone: () => undefined, onSome: (chat): ChatStore.KnownChat => chat }))

export const upsert = (...updates: ReadonlyArray<Update.Update>) => ChatStore.upsert(updates)

export const equals: <A>(actual: A, expected: A) => void = (actual, expected) => assert.deepEqual(actual, expected)

/** Number of chats that need several pages. */
export const total = 1_203
