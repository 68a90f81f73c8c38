import { ChatId } from "@colloquy/core/Chat"
import { MessageId } from "@colloquy/core/Message"
import { UserId } from "@colloquy/core/User"
import { type ChatState, now, type PlatformState } from "./state.ts"

const firstUser = 100_000_001
const firstDialog = 500_000_000_001
const firstGroup = -70_000_000_000_001
const firstPhoto = 9_100_000_000_000_000_001n

const next = (state: PlatformState): number => state.created++

export const nextUserId = (state: PlatformState): UserId => {
  const user_id = UserId.make(firstUser + next(state))
  return state.users.has(user_id) ? nextUserId(state) : user_id
}

export const nextChatId = (state: PlatformState, type: ChatState["type"]): ChatId => {
  const chat_id = ChatId.make(type === "dialog" ? firstDialog + next(state) : firstGroup - next(state))
  return state.chats.has(chat_id) ? nextChatId(state, type) : chat_id
}

export const nextPhotoId = (state: PlatformState): bigint => firstPhoto + BigInt(next(state))

/** Returns a unique name that is readable in a log. */
export const nextName = (state: PlatformState, prefix: string): string =>
  `${prefix}-${(next(state) + 0x10000).toString(36)}${now(state).toString(36)}`

const hex16 = (value: bigint): string => BigInt.asUintN(64, value).toString(16).padStart(16, "0")

/** Returns the next position of a message, unique over all chats, and the id that contains it. */
export const nextPosition = (
  state: PlatformState,
  chat_id: ChatId
): { readonly seq: bigint; readonly mid: MessageId } => {
  const at = now(state)
  const count = at === state.lastPosition.at ? state.lastPosition.count + 1 : 0
  state.lastPosition = { at, count }
  const seq = (state.positionEpoch + BigInt(at)) * 65536n + BigInt(count)
  return { seq, mid: MessageId.make(`mid.${hex16(BigInt(chat_id))}${hex16(seq)}`) }
}
