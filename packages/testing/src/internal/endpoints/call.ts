import type { ChatId } from "@colloquy/core/Chat"
import type { Permission } from "@colloquy/core/Member"
import type { MessageId } from "@colloquy/core/Message"
import * as Effect from "effect/Effect"
import type { BotState, MessageState, ChatState } from "../platform/model.ts"
import * as refusal from "../http/refusal.ts"
import { hasRight, isAdmin } from "../platform/chats.ts"
import type { Listener } from "../../EmulatorHttp.ts"
import { idOf, type PlatformState } from "../platform/state.ts"

/** A call of a bot that has shown its token. */
export interface Call {
  readonly state: PlatformState
  readonly bot: BotState
  readonly listener: Listener
}

type Refusable<A> = Effect.Effect<A, refusal.Refusal>

/** A chat that the bot takes part in or took part in once. */
export const knownChat = ({ state, bot }: Call, chat_id: ChatId): Refusable<ChatState> =>
  Effect.suspend((): Refusable<ChatState> => {
    const chat = state.chats.get(chat_id)
    if (chat === undefined) return refusal.chatNotFound(chat_id)
    const id = idOf(bot.user)
    return chat.members.has(id) || chat.former.has(id)
      ? Effect.succeed(chat)
      : refusal.chatDenied(`The bot has no access to chat ${chat_id}`)
  })

/** A chat that the bot takes part in. */
export const chatOf = (call: Call, chat_id: ChatId): Refusable<ChatState> =>
  Effect.flatMap(knownChat(call, chat_id), (chat) => {
    if (chat.isSuspended) return refusal.dialogSuspended()
    return chat.members.has(idOf(call.bot.user))
      ? Effect.succeed(chat)
      : refusal.chatDenied(`The bot is not a member of chat ${chat_id}`)
  })

/** A group chat or a channel in which the bot is an administrator. */
export const administered = (call: Call, chat_id: ChatId): Refusable<ChatState> =>
  Effect.flatMap(chatOf(call, chat_id), (chat) =>
    isAdmin(chat, call.bot.user) ? Effect.succeed(chat) : refusal.notAdmin()
  )

export const requireRight = (call: Call, chat: ChatState, right: Permission): Refusable<void> =>
  hasRight(chat, call.bot.user, right)
    ? Effect.void
    : refusal.chatDenied(`The bot needs the administrator right ${right} in chat ${chat.chat_id}`)

/** @assumption closedChats */
export const requireOpen = ({ chat_id, isClosed }: ChatState): Refusable<void> =>
  isClosed ? refusal.chatDenied(`Chat ${chat_id} is closed`) : Effect.void

/** A group chat or a channel in which the bot has a right. */
export const chatWithRight = (call: Call, chat_id: ChatId, right: Permission): Refusable<ChatState> =>
  administered(call, chat_id).pipe(
    Effect.tap((chat) => requireRight(call, chat, right)),
    Effect.tap(requireOpen)
  )

/** A message that the bot can see. */
export const visibleMessage = ({ state, bot }: Call, mid: MessageId): Refusable<MessageState> =>
  Effect.suspend((): Refusable<MessageState> => {
    const message = state.messages.get(mid)
    return message !== undefined && message.chat.members.has(idOf(bot.user))
      ? Effect.succeed(message)
      : refusal.messageNotFound(mid)
  })
