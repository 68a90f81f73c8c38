/** The operations of the chats, as the cases use them. */
import type { ChatId } from "@colloquy/core/model/Chat"
import * as ChatStore from "@colloquy/core/bot/ChatStore"
import type * as Update from "@colloquy/core/model/Update"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as assert from "node:assert/strict"

export const ids = (filter?: ChatStore.Filter) =>
  Stream.runCollect(Stream.map(ChatStore.stream(filter), ({ chat_id }) => chat_id))

export const knownChatOf = (id: ChatId) =>
  Effect.map(ChatStore.get(id), Option.match({ onNone: () => undefined, onSome: (chat): ChatStore.KnownChat => chat }))

export const upsert = (...updates: ReadonlyArray<Update.Update>) => ChatStore.upsert(updates)

export const equals: <A>(actual: A, expected: A) => void = (actual, expected) => assert.deepEqual(actual, expected)
