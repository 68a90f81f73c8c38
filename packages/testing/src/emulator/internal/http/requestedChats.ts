import type { ChatId } from "@colloquy/core/model/Chat"
import type { MessageId } from "@colloquy/core/model/Message"
import type { UserId } from "@colloquy/core/model/User"
import { findDialog } from "../platform/chats.ts"
import type { BotState, ChatState, PlatformState } from "../platform/state.ts"

/** The chat that a request concerns, found by its path and query before its body is read. */
export const requestedChat = (
  state: PlatformState,
  bot: BotState | undefined,
  params: Readonly<Record<string, string>>,
  query: string
): ChatState | undefined => {
  const search = new URLSearchParams(query)
  const given = (key: string): string | undefined => params[key] ?? search.get(key) ?? undefined

  const chat_id = given("chat_id")
  if (chat_id !== undefined) return state.chats.get(Number(chat_id) as ChatId)
  const message_id = given("message_id")
  if (message_id !== undefined) return state.messages.get(message_id as MessageId)?.chat
  if (bot === undefined) return undefined
  const callback_id = given("callback_id")
  if (callback_id !== undefined) return bot.callbacks.get(callback_id)?.message.chat
  const user_id = given("user_id")
  const person = user_id === undefined ? undefined : state.users.get(Number(user_id) as UserId)
  return person === undefined ? undefined : findDialog(state, person, bot)
}

/** All chats that a request concerns: the messages of a list may be in several chats. */
export const requestedChats = (...request: Parameters<typeof requestedChat>): ReadonlyArray<ChatState> => {
  const [state, , , query] = request
  const mids = new URLSearchParams(query).get("message_ids")?.split(",") ?? []
  const chats = mids.map((mid) => state.messages.get(mid as MessageId)?.chat)
  return [requestedChat(...request), ...chats].filter((chat) => chat !== undefined)
}
