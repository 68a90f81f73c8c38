import { ChatId } from "@colloquy/core/model/Chat"
import { MessageId } from "@colloquy/core/model/Message"
import { UserId } from "@colloquy/core/model/User"
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

/** When a message was sent, its position, and its id, which contains the chat and the position. */
export interface Position {
  readonly seq: bigint
  readonly mid: MessageId
  readonly timestamp: number
}

/** `join` creates one string. A template keeps its parts as long as the message, which `emulator-over-bare` measures. */
const idAt = (chat_id: ChatId, seq: bigint): MessageId =>
  MessageId.make(["mid.", hex16(BigInt(chat_id)), hex16(seq)].join(""))

/** Returns the next position of a message, unique over all chats, and after all restored positions. */
export const nextPosition = (state: PlatformState, chat_id: ChatId): Position => {
  const timestamp = now(state)
  const count = timestamp === state.lastPosition.at ? state.lastPosition.count + 1 : 0
  state.lastPosition = { at: timestamp, count }
  const next = (state.positionEpoch + BigInt(timestamp)) * 65536n + BigInt(count)
  const seq = next > state.restoredTo ? next : ++state.restoredTo
  return { seq, mid: idAt(chat_id, seq), timestamp }
}

/** Returns the position in the id of a message, or `undefined` if no new message of the chat can have the id. */
export const restorePosition = (
  state: PlatformState,
  chat_id: ChatId,
  { mid, timestamp }: { readonly mid: MessageId; readonly timestamp: number }
): Position | undefined => {
  const digits = /^mid\.[0-9a-f]{16}([0-9a-f]{16})$/.exec(mid)?.[1]
  const seq = BigInt.asIntN(64, BigInt(`0x${digits ?? 0}`))
  const isUsed = [state.messages, state.removedMessages, state.comments].some((known) => known.has(mid))
  if (isUsed || seq <= 0n || idAt(chat_id, seq) !== mid) return undefined
  if (seq > state.restoredTo) state.restoredTo = seq
  return { seq, mid, timestamp }
}
