import type * as core from "@colloquy/core"
import type { ChatId } from "@colloquy/core/model/Chat"
import type * as Endpoint from "@colloquy/core/client/Endpoint"
import type { Permission } from "@colloquy/core/model/Member"
import type { MessageId } from "@colloquy/core/model/Message"
import * as Effect from "effect/Effect"
import type { Listener } from "../../EmulatorHttp.ts"
import * as refusal from "../http/refusal.ts"
import type { EmulatorContext } from "../platform/context.ts"
import { hasRight, isAdmin } from "../platform/members.ts"
import type { BotState, ChatState, MessageState, PlatformState } from "../platform/state.ts"
import { idOf } from "../platform/users.ts"

/** An authenticated call of a bot. */
export interface Call {
  readonly state: PlatformState
  readonly context: EmulatorContext
  readonly bot: BotState
  readonly listener: Listener
}

/** Handles the calls of an endpoint. */
export type Handler<E extends Endpoint.Any> = (
  request: Endpoint.Request<E>,
  call: Call
) => refusal.Refusable<Endpoint.Success<E>>

/** A handler for each endpoint that a module exports. */
export type Handlers<Module> = {
  readonly [K in keyof Module as Module[K] extends Endpoint.Any ? K : never]: Module[K] extends Endpoint.Any
    ? Handler<Module[K]>
    : never
}

type Core = typeof core

/** A handler for each endpoint, by module and name. A missing handler is a type error. */
export type AllHandlers = {
  readonly [M in keyof Core as {} extends Handlers<Core[M]> ? never : M]: Handlers<Core[M]>
}

/** Finds a chat in which the bot is or was a member. */
export const knownChat = ({ state, bot }: Call, chat_id: ChatId): refusal.Refusable<ChatState> => {
  const chat = state.chats.get(chat_id)
  if (chat === undefined) return refusal.chatNotFound(chat_id)
  const id = idOf(bot.user)
  return chat.members.has(id) || chat.former.has(id)
    ? Effect.succeed(chat)
    : refusal.chatDenied(`The bot has no access to chat ${chat_id}`)
}

/** Finds a chat in which the bot is a member. */
export const chatOf = (call: Call, chat_id: ChatId): refusal.Refusable<ChatState> =>
  Effect.flatMapEager(knownChat(call, chat_id), (chat) => {
    if (chat.isSuspended) return refusal.dialogSuspended()
    return chat.members.has(idOf(call.bot.user))
      ? Effect.succeed(chat)
      : refusal.chatDenied(`The bot is not a member of chat ${chat_id}`)
  })

/** Finds a group chat or channel in which the bot is an administrator. */
export const administered = (call: Call, chat_id: ChatId): refusal.Refusable<ChatState> =>
  Effect.flatMapEager(chatOf(call, chat_id), (chat) =>
    isAdmin(chat, call.bot.user) ? Effect.succeed(chat) : refusal.notAdmin()
  )

export const requireRight = (call: Call, chat: ChatState, right: Permission): refusal.Refusable<void> =>
  hasRight(chat, call.bot.user, right)
    ? Effect.void
    : refusal.chatDenied(`The bot needs the administrator right ${right} in chat ${chat.chat_id}`)

/** @assumption closedChats */
export const requireOpen = ({ chat_id, isClosed }: ChatState): refusal.Refusable<void> =>
  isClosed ? refusal.chatDenied(`Chat ${chat_id} is closed`) : Effect.void

/** Finds an open group chat or channel in which the bot is an administrator with a right. */
export const chatWithRight = (call: Call, chat_id: ChatId, right: Permission): refusal.Refusable<ChatState> =>
  administered(call, chat_id).pipe(
    Effect.tap((chat) => requireRight(call, chat, right)),
    Effect.tap(requireOpen)
  )

/** Finds a message in a chat of the bot. */
export const visibleMessage = ({ state, bot }: Call, mid: MessageId): refusal.Refusable<MessageState> => {
  const message = state.messages.get(mid)
  return message !== undefined && message.chat.members.has(idOf(bot.user))
    ? Effect.succeed(message)
    : refusal.messageNotFound(mid)
}
