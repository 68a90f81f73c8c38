import type { PhotoAttachmentRequestPayload } from "@colloquy/core/model/AttachmentRequest"
import type * as Chats from "@colloquy/core/endpoints/Chats"
import type { MessageId } from "@colloquy/core/model/Message"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { PersonEvent } from "../../Person.ts"
import * as refusal from "../http/refusal.ts"
import { renameChat } from "../platform/chats.ts"
import { byUser, emit, emitChat } from "../platform/events.ts"
import { recordActivity } from "../platform/members.ts"
import { type ChatState, now } from "../platform/state.ts"
import { recordSeen } from "../platform/updates.ts"
import { toChat, toMessage } from "../platform/views.ts"
import {
  administered,
  type Call,
  chatOf,
  chatWithRight,
  type Handlers,
  knownChat,
  requireOpen,
  requireRight
} from "./call.ts"
import { readImages } from "./content.ts"

const messageIn = ({ state }: Call, chat: ChatState, mid: MessageId) =>
  Effect.suspend(() => {
    const message = state.messages.get(mid)
    return message?.chat === chat ? Effect.succeed(message) : refusal.messageNotFound(mid)
  })

const readIcon = (call: Call, payload: PhotoAttachmentRequestPayload) =>
  readImages(call, payload).pipe(
    Effect.mapError(refusal.inField("icon")),
    Effect.map(([image]) => (image.type === "image" ? call.state.media.get(image.payload.token) : undefined))
  )

/** @assumption serviceMessages */
const announceChange = (
  { bot, state }: Call,
  chat: ChatState,
  changed: Extract<PersonEvent, { readonly _tag: "Notice" }>["changed"],
  notify: boolean | null | undefined
): void => {
  if (changed.length === 0) return
  chat.lastEventAt = now(state)
  recordActivity(state, chat, bot.user)
  for (const change of changed) if (change !== "title") emitChat(state, chat, change, bot.user)
  if (notify !== false) recordSeen(state, chat, { _tag: "Notice", chat_id: chat.chat_id, changed })
}

/** Pinning needs a right in group chats and channels, but not in dialogs. */
const pinnable = (call: Call, { chat_id }: { readonly chat_id: ChatState["chat_id"] }) =>
  Effect.flatMap(chatOf(call, chat_id), (chat) =>
    chat.type === "dialog" ? Effect.succeed(chat) : chatWithRight(call, chat_id, "pin_message")
  )

const changeable = ["icon", "title", "description", "pin"] as const

export const chats: Handlers<typeof Chats> = {
  get: ({ chat_id }, call) => Effect.map(knownChat(call, chat_id), (chat) => toChat(call.state, chat, call.bot)),

  /** @assumption descriptionEdits */
  edit: Effect.fnUntraced(function* ({ chat_id, notify, ...changes }, call) {
    const { description, icon, pin, title } = changes
    const chat = yield* administered(call, chat_id)
    const changesInfo = description != null || icon != null || title != null
    if (changesInfo) yield* requireRight(call, chat, "change_chat_info")
    if (pin != null) yield* requireRight(call, chat, "pin_message")
    yield* requireOpen(chat)
    const message = pin == null ? chat.pinned : yield* messageIn(call, chat, pin)
    const media = icon == null ? chat.icon : yield* readIcon(call, icon)
    const isRenamed = title != null && title !== chat.title
    chat.pinned = message
    chat.icon = media
    if (description != null) chat.description = description === "" ? null : description
    if (isRenamed) renameChat(call.state, chat, title, call.bot.user)
    const changed = changeable.filter((key) => (key === "title" ? isRenamed : changes[key] != null))
    announceChange(call, chat, changed, notify)
    return toChat(call.state, chat, call.bot)
  }),

  sendAction: ({ action, chat_id }, call) =>
    chatOf(call, chat_id).pipe(
      Effect.tap(requireOpen),
      Effect.map((chat) => {
        recordSeen(call.state, chat, { _tag: "Action", chat_id, action })
        emit(call.state, { type: "action", ...byUser(chat, call.bot.user), action })
      })
    ),

  getPin: ({ chat_id }, call) =>
    Effect.map(chatOf(call, chat_id), ({ pinned }) =>
      Option.map(Option.fromUndefinedOr(pinned), (message) => toMessage(call.state, message))
    ),

  pin: Effect.fnUntraced(function* ({ chat_id, message_id, notify }, call) {
    const chat = yield* pinnable(call, { chat_id })
    chat.pinned = yield* messageIn(call, chat, message_id)
    announceChange(call, chat, ["pin"], notify)
  }),

  unpin: ({ chat_id }, call) =>
    Effect.map(pinnable(call, { chat_id }), (chat) => {
      chat.pinned = undefined
      announceChange(call, chat, ["pin"], false)
    })
}
