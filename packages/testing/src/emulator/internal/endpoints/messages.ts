import type * as Messages from "@colloquy/core/endpoints/Messages"
import * as Platform from "@colloquy/core/base/Platform"
import * as Effect from "effect/Effect"
import * as refusal from "../http/refusal.ts"
import { findDialog } from "../platform/chats.ts"
import { hasRight, isAdmin } from "../platform/members.ts"
import { createMessage, editMessage, removeMessage } from "../platform/messages.ts"
import { type ChatState, type MessageState, now } from "../platform/state.ts"
import { toMessage } from "../platform/views.ts"
import { type Call, chatOf, type Handlers, requireOpen, visibleMessage } from "./call.ts"
import { readContent } from "./content.ts"

const destination = (call: Call, { chat_id, user_id }: Messages.To): refusal.Refusable<ChatState> => {
  if (chat_id !== undefined) return chatOf(call, chat_id)
  const person = call.state.users.get(user_id)
  const dialog = person && findDialog(call.state, person, call.bot)
  return dialog === undefined ? refusal.chatNotFound(`with user ${user_id}`) : chatOf(call, dialog.chat_id)
}

const mayWrite = ({ bot }: Call, chat: ChatState): refusal.Refusable<void> =>
  chat.type !== "channel" || hasRight(chat, bot.user, "write") ? Effect.void : refusal.notAdmin()

/**
 * The bot may change its own messages and, with the right, messages of others. In a dialog, no bot has the right.
 *
 * @assumption removableMessages
 */
const mayChange = ({ bot }: Call, { author, chat }: MessageState, right: "edit" | "delete"): refusal.Refusable<void> =>
  author === bot.user || (hasRight(chat, bot.user, right) && (right === "delete" || chat.type === "channel"))
    ? Effect.void
    : refusal.accessDenied("The message is not the bot's own")

/**
 * Whether a message of a dialog is too old for an edit. Messages with an inline keyboard are never too old.
 *
 * @assumption messageEditWindow
 */
const isTooOld = ({ state }: Call, { chat, value: { body, timestamp } }: MessageState): boolean =>
  chat.type === "dialog" &&
  now(state) - timestamp > Platform.messageEditWindow &&
  body?.attachments?.some(({ type }) => type === "inline_keyboard") !== true

const readable = (call: Call, chat: ChatState): refusal.Refusable<void> =>
  chat.type === "dialog" || isAdmin(chat, call.bot.user) ? Effect.void : refusal.notAdmin()

const presenting =
  ({ state }: Call) =>
  (message: MessageState) =>
    toMessage(state, message)

export const messages: Handlers<typeof Messages> = {
  send: Effect.fnUntracedEager(function* (request, call) {
    const chat = yield* destination(call, request)
    yield* mayWrite(call, chat)
    yield* requireOpen(chat)
    const content = yield* readContent(call, chat, request)
    return toMessage(call.state, createMessage(call.state, chat, call.bot.user, content, request.notify ?? undefined))
  }),

  list: Effect.fnUntraced(function* (
    {
      after = -Infinity,
      before = Infinity,
      chat_id,
      count = Platform.messagesPage.default,
      from = Infinity,
      message_ids,
      to = -Infinity
    },
    call
  ) {
    if (message_ids !== undefined || chat_id === undefined) {
      const messages = [...new Set(message_ids)].flatMap((mid) => call.state.messages.get(mid) ?? [])
      yield* Effect.forEach(messages, ({ chat }) => chatOf(call, chat.chat_id))
      return messages.map(presenting(call))
    }
    const isWanted = ({ value: { timestamp } }: MessageState) =>
      timestamp <= from && timestamp >= to && timestamp < before && timestamp > after
    const chat = yield* chatOf(call, chat_id)
    yield* readable(call, chat)
    return chat.messages.filter(isWanted).slice(-count).reverse().map(presenting(call))
  }),

  get: ({ message_id }, call) => Effect.map(visibleMessage(call, message_id), presenting(call)),

  edit: Effect.fnUntraced(function* ({ message_id, ...body }, call) {
    const message = yield* visibleMessage(call, message_id)
    yield* chatOf(call, message.chat.chat_id)
    yield* mayChange(call, message, "edit")
    if (isTooOld(call, message)) return yield* refusal.rejected("The message is too old to be edited")
    const content = yield* readContent(call, message.chat, body, message)
    editMessage(call.state, message, content, call.bot.user)
  }),

  remove: Effect.fnUntraced(function* ({ message_id }, call) {
    const message = yield* visibleMessage(call, message_id)
    yield* mayChange(call, message, "delete")
    removeMessage(call.state, message, call.bot.user)
  })
}
