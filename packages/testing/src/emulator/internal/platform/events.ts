import type { UserId } from "@colloquy/core/model/User"
import type { EmulatorEvent } from "../../EmulatorEvent.ts"
import type { Exchange } from "../../EmulatorHttp.ts"
import type { FaultState } from "./faults.ts"
import { type ChatState, now, type PlatformState, type UserState } from "./state.ts"

type WithoutId<E> = E extends unknown ? Omit<E, "id"> : never

/** An event in the log of the state. The views of requests are created when the event is read. */
export type EventRecord =
  | WithoutId<Exclude<EmulatorEvent, { readonly type: "request" | "gap" }>>
  | { readonly type: "request"; readonly at: number; readonly exchange: Exchange }

type New<E> = E extends unknown ? Omit<E, "at"> : never

/** Appends an event to the sequence of everything that happens. */
export const emit = (state: PlatformState, event: New<EventRecord>): void => {
  // The caller's literal is completed and not copied, because every message passes here.
  state.events.append(Object.assign(event, { at: now(state) }) as EventRecord)
}

/** The bot that an event in a chat concerns: the bot that acts, or the bot of the dialog. */
const botIn = (chat: ChatState, by: UserState | undefined): UserState | undefined => {
  if (by?.profile.is_bot === true) return by
  if (chat.type !== "dialog") return undefined
  for (const { user } of chat.members.values()) if (user.profile.is_bot) return user
  return undefined
}

/** The ids of an event in a chat. */
export const inChat = (
  chat: ChatState,
  by?: UserState
): { readonly chat_id: ChatState["chat_id"]; bot_id?: UserId } => {
  const bot = botIn(chat, by)
  return bot === undefined ? { chat_id: chat.chat_id } : { chat_id: chat.chat_id, bot_id: bot.profile.user_id }
}

/** The ids of an action of a user in a chat. */
export const byUser = (chat: ChatState, by: UserState) => {
  const { chat_id } = chat
  const { user_id } = by.profile
  const bot = botIn(chat, by)
  return bot === undefined ? { chat_id, user_id } : { chat_id, user_id, bot_id: bot.profile.user_id }
}

export const emitChat = (
  state: PlatformState,
  chat: ChatState,
  change: Extract<EventRecord, { readonly type: "chat" }>["change"],
  by?: UserState
): void => {
  const pinned = change === "pin" && chat.pinned !== undefined ? { message_id: chat.pinned.mid } : {}
  emit(state, { type: "chat", change, ...(by === undefined ? inChat(chat) : byUser(chat, by)), ...pinned })
}

export const emitFault = (
  state: PlatformState,
  { applied, matched, rule }: FaultState,
  target: string,
  ids: { readonly bot_id?: UserId; readonly chat_id?: ChatState["chat_id"] }
): void => emit(state, { type: "fault", rule, matched, applied, target, ...ids })
