import type { Attachment } from "@colloquy/core/model/Attachment"
import type { MarkupElement } from "@colloquy/core/model/Markup"
import type { LinkedMessage, Message, MessageBody } from "@colloquy/core/model/Message"
import type { Mutable } from "effect/Types"
import type { PersonEvent } from "../../Person.ts"
import { dialogPartner } from "./chats.ts"
import { byUser, emit } from "./events.ts"
import { nextPosition, type Position } from "./ids.ts"
import { holdMedia, removeMedia } from "./media.ts"
import { recordActivity } from "./members.ts"
import { type ChatState, type MessageState, now, type PlatformState, type UserState } from "./state.ts"
import { notifyBots, recordSeen } from "./updates.ts"
import { idOf } from "./users.ts"
import { toMessage } from "./views.ts"

/** The content of a message. */
export interface Content {
  readonly text: string | null
  readonly markup: ReadonlyArray<MarkupElement>
  readonly attachments: ReadonlyArray<Attachment>
  readonly link: LinkedMessage | undefined
}

export const emptyContent: Content = { text: null, markup: [], attachments: [], link: undefined }

export const isEmpty = ({ text, attachments, link }: Content): boolean =>
  !text && attachments.length === 0 && link === undefined

const recipientOf = (chat: ChatState, author: UserState): Message["recipient"] => {
  const { chat_id, type: chat_type } = chat
  const other = chat_type === "dialog" ? dialogPartner(chat, author) : undefined
  return other === undefined ? { chat_id, chat_type } : { chat_id, chat_type, user_id: idOf(other) }
}

const localeOf = (chat: ChatState, author: UserState) =>
  chat.type === "dialog" && author.locale !== undefined ? { user_locale: author.locale } : {}

export const recordIfBot = (state: PlatformState, chat: ChatState, by: UserState, event: PersonEvent): void => {
  if (by.profile.is_bot) recordSeen(state, chat, event)
}

/**
 * The body of a message. Its text is empty where the message has none, as in a pure forward; other parts that the message
 * does not have are left out.
 *
 * @assumption absentParts
 * @assumption emptyText
 * @assumption forwardBody
 */
const bodyOf = (
  { attachments, markup, text }: Content,
  { mid, seq }: Pick<MessageBody, "mid" | "seq">
): MessageBody => {
  const body: Mutable<MessageBody> = { mid, seq, text: text ?? "" }
  if (attachments.length > 0) body.attachments = attachments
  if (markup.length > 0) body.markup = markup
  return body
}

/** Sends a message to a chat, now, or at a restored position. */
export const createMessage = (
  state: PlatformState,
  chat: ChatState,
  author: UserState,
  content: Content,
  notify = true,
  position: Position = nextPosition(state, chat.chat_id)
): MessageState => {
  const { mid, seq, timestamp } = position
  const isChannel = chat.type === "channel"
  recordActivity(state, chat, author)
  const recipient = recipientOf(chat, author)
  const body = bodyOf(content, { mid, seq })
  const value: Mutable<Message> = isChannel
    ? { recipient, timestamp, body }
    : { recipient, timestamp, body, sender: author.profile }
  if (content.link !== undefined) value.link = content.link
  if (isChannel && chat.link !== null) value.url = `${chat.link}/${seq}`
  const message: MessageState = { mid, chat, author, value, viewers: isChannel ? new Set() : undefined, comments: [] }
  chat.messages.push(message)
  state.messages.set(mid, message)
  holdMedia(state, value, 1)
  const shown = toMessage(state, message)
  notifyBots(
    state,
    chat,
    { update_type: "message_created", timestamp, message: shown, ...localeOf(chat, author) },
    author
  )
  emit(state, { type: "message", ...byUser(chat, author), message: shown, notify })
  recordIfBot(state, chat, author, { _tag: "Message", chat_id: chat.chat_id, message: shown, notify })
  return message
}

/** Replaces the content of a message. */
export const editMessage = (state: PlatformState, message: MessageState, content: Content, by: UserState): void => {
  recordActivity(state, message.chat, by)
  const previous = toMessage(state, message)
  const { mid, seq } = message.value.body!
  const { link: _, ...kept } = message.value
  holdMedia(state, message.value, -1)
  state.messages.change(message, () => {
    message.value = {
      ...kept,
      ...(content.link === undefined ? {} : { link: content.link }),
      body: bodyOf(content, { mid, seq })
    }
  })
  holdMedia(state, message.value, 1)
  const edited = toMessage(state, message)
  notifyBots(state, message.chat, { update_type: "message_edited", timestamp: now(state), message: edited }, by)
  emit(state, { type: "edited", ...byUser(message.chat, by), message: edited, previous })
  recordIfBot(state, message.chat, by, { _tag: "Edited", chat_id: message.chat.chat_id, message: edited })
}

export const removeMessage = (state: PlatformState, message: MessageState, by: UserState): void => {
  const { chat, mid } = message
  recordActivity(state, chat, by)
  chat.messages.splice(chat.messages.indexOf(message), 1)
  state.messages.delete(mid)
  state.removedMessages.set(mid, message)
  holdMedia(state, message.value, -1)
  removeMedia(state, message.value)
  for (const comment of message.comments) state.comments.delete(comment.mid)
  if (chat.pinned === message) chat.pinned = undefined
  const where = { message_id: mid, chat_id: chat.chat_id }
  notifyBots(state, chat, { update_type: "message_removed", timestamp: now(state), ...where, user_id: idOf(by) }, by)
  emit(state, { type: "removed", ...byUser(chat, by), message_id: mid })
  recordIfBot(state, chat, by, { _tag: "Removed", ...where })
}

export const contentOf = ({ value: message }: MessageState): Content => ({
  text: message.body?.text || null,
  markup: message.body?.markup ?? [],
  attachments: message.body?.attachments ?? [],
  link: message.link ?? undefined
})

/** Whether a message only forwards another message, without content. */
const isPureForward = ({ body, link }: Message): boolean =>
  link?.type === "forward" && !body?.text && (body?.attachments ?? []).length === 0

/** Whether the chat of a message, or of the original of a pure forward, allows forwarding. */
export const mayForward = ({ chats }: PlatformState, { chat, value: message }: MessageState): boolean => {
  const original = isPureForward(message) ? message.link?.chat_id : undefined
  return chat.allowsForwarding && (original == null || chats.get(original)?.allowsForwarding !== false)
}

/**
 * Creates the link with which another message replies to or forwards a message.
 *
 * @assumption forwardOfForward
 */
export const linkTo = (type: "reply" | "forward", { value: message, chat }: MessageState): LinkedMessage =>
  type === "forward" && isPureForward(message)
    ? message.link!
    : {
        type,
        ...(message.sender == null ? {} : { sender: message.sender }),
        ...(type === "forward" ? { chat_id: chat.chat_id } : {}),
        message: message.body!
      }
