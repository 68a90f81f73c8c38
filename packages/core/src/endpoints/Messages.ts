/**
 * Sends, reads, edits and removes messages.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Stream from "effect/Stream"
import * as ApiError from "../client/ApiError.ts"
import type { BotApi } from "../client/BotApi.ts"
import * as Comments from "./Comments.ts"
import * as Endpoint from "../client/Endpoint.ts"
import * as targets from "../client/internal/rateLimiter/targets.ts"
import * as page from "../client/internal/pagination.ts"
import { messageId } from "../model/internal/messageId.ts"
import * as rules from "../base/internal/rules.ts"
import { done, envelope, Millis } from "../base/internal/wire.ts"
import { postOf } from "../model/internal/postOf.ts"
import { Message } from "../model/Message.ts"
import * as NewMessage from "../model/NewMessage.ts"
import * as Platform from "../base/Platform.ts"
import { ChatId, MessageId } from "../model/Recipient.ts"
import * as Update from "../model/Update.ts"
import { UserId } from "../model/User.ts"
import { PermanentTaggedError } from "../base/internal/permanentTaggedError.ts"

/**
 * The recipient of a message: a chat, or a user, whose dialog with the bot receives it. Exactly one of the two is
 * given.
 *
 * @assumption recipient
 * @category models
 * @since 0.1.0
 */
export type To =
  | { readonly chat_id: ChatId; readonly user_id?: undefined }
  | { readonly user_id: UserId; readonly chat_id?: undefined }

/**
 * The request of {@link send}.
 *
 * @category models
 * @since 0.1.0
 */
export type SendRequest = To & NewMessage.NewMessageBody & { readonly disable_link_preview?: boolean | undefined }

/**
 * Sends a message to a dialog, a group chat or a channel. Returns the message or the post.
 *
 * - Recipient: exactly one of `chat_id` and `user_id`.
 * - `text`: at most 4000 characters. `attachments`: at most 12.
 * - Rate limit: 2 messages per second in one chat. The rate limiter delays the call.
 * - `disable_link_preview`: whether links are shown without a preview. Default: `false`.
 * - Retries: while an attached file is being processed, by `RetryPolicy`. Other failures are retried only if nothing
 *   was sent.
 *
 * Fails with `Forbidden` if the bot may not write to the chat, if the user stopped the dialog, or if the chat of a forwarded
 * message prohibits forwarding (`Platform.messageForwardingProhibited`), with `NotFound` if the chat or the user does not
 * exist, and with `AttachmentNotReady` if a file is still being processed after all retries.
 *
 * **Example**
 *
 * ```ts
 * import { Chat, Messages } from "@colloquy/core"
 * import { Effect } from "effect"
 *
 * const hello = Messages.send({ chat_id: Chat.ChatId.make(4242), text: "Hello" }).pipe(
 *   Effect.map((message) => message.body?.mid),
 *   Effect.catchTag("Forbidden", (error) => Effect.logWarning(error.message))
 * )
 * ```
 *
 * API: POST /messages.
 *
 * @category endpoints
 * @since 0.1.0
 */
export const send: Endpoint.Endpoint<
  SendRequest,
  Message,
  ApiError.Forbidden | ApiError.NotFound | ApiError.AttachmentNotReady
> = Endpoint.make("Messages.send", () => ({
  method: "POST",
  path: "/messages",
  query: {
    user_id: Schema.optional(UserId),
    chat_id: Schema.optional(ChatId),
    disable_link_preview: Schema.optional(rules.flag(false))
  },
  body: NewMessage.NewMessageBody.fields,
  rules: [rules.exactlyOne("chat_id", "user_id")],
  success: envelope("message", Message),
  errors: [ApiError.Forbidden, ApiError.NotFound, ApiError.AttachmentNotReady],
  limit: targets.message,
  dialog: targets.dialog,
  lookUp: {
    page: ({ dialog, execute, request }, from) => {
      const chat_id = request.chat_id ?? (dialog?.user_id === request.user_id ? dialog?.chat_id : undefined)
      return chat_id === undefined
        ? undefined
        : execute(list, { chat_id: ChatId.make(chat_id), from, count: Platform.messagesPage.max })
    }
  }
}))

/**
 * The request of {@link list}: a chat, or the ids of the messages, or both. Times are in Unix milliseconds.
 *
 * - `from`, `to`: the latest and the earliest time, both inclusive. Default: no limit.
 * - `before`, `after`: the same times, exclusive. Default: no limit.
 * - `count`: number of messages, 1 to 100. Default: 50.
 *
 * @assumption listMessages
 * @assumption listedByBoth
 *
 * @category models
 * @since 0.1.0
 */
export type ListRequest = (
  | { readonly chat_id: ChatId; readonly message_ids?: ReadonlyArray<MessageId> | undefined }
  | { readonly message_ids: ReadonlyArray<MessageId>; readonly chat_id?: ChatId | undefined }
) & {
  readonly from?: number | undefined
  readonly to?: number | undefined
  readonly before?: number | undefined
  readonly after?: number | undefined
  readonly count?: number | undefined
}

/**
 * Returns messages of a chat or posts of a channel, the latest first, or the messages with the given ids. At least one
 * of `chat_id` and `message_ids` is given; with both, the messages with the ids are returned. With `chat_id`, the bot must be an
 * administrator of the chat.
 *
 * Fails with `Forbidden` if the bot is not an administrator or has no access, and with `NotFound` if the chat does not
 * exist.
 *
 * **Example**
 *
 * ```ts
 * import { Chat, Messages } from "@colloquy/core"
 *
 * const latest = Messages.list({ chat_id: Chat.ChatId.make(-70000000000001), count: 10 })
 * ```
 *
 * API: GET /messages.
 *
 * @category endpoints
 * @since 0.1.0
 */
export const list: Endpoint.Endpoint<
  ListRequest,
  ReadonlyArray<Message>,
  ApiError.Forbidden | ApiError.NotFound
> = Endpoint.make("Messages.list", () => ({
  method: "GET",
  path: "/messages",
  query: {
    chat_id: Schema.optional(ChatId),
    message_ids: Schema.optional(rules.list(messageId, 1)),
    from: Schema.optional(Millis),
    to: Schema.optional(Millis),
    before: Schema.optional(rules.nonNegative),
    after: Schema.optional(rules.nonNegative),
    count: Schema.optional(rules.between(1, Platform.messagesPage))
  },
  rules: [rules.atLeastOne("chat_id", "message_ids")],
  success: envelope("messages", Schema.Array(Message)),
  errors: [ApiError.Forbidden, ApiError.NotFound]
}))

/**
 * Streams all messages of a chat up to the time `from`, the latest first. The pages are requested as the stream is
 * pulled. Default of `from`: now. Default of `count`, the size of a page: 100.
 *
 * The API has no marker for this list, so the next page is requested by the time of the oldest message, and messages of
 * the previous page are dropped. If more than 100 messages have the same millisecond, the stream has only 100 of these
 * messages.
 *
 * **Example**
 *
 * ```ts
 * import { Chat, Messages } from "@colloquy/core"
 * import { Stream } from "effect"
 *
 * const texts = Messages.stream({ chat_id: Chat.ChatId.make(-70000000000001) }).pipe(
 *   Stream.map((message) => message.body?.text),
 *   Stream.take(500)
 * )
 * ```
 *
 * API: GET /messages.
 *
 * @category streams
 * @since 0.1.0
 */
export const stream = (request: {
  readonly chat_id: ChatId
  readonly from?: number | undefined
  readonly count?: number | undefined
}): Stream.Stream<Message, Endpoint.Errors<typeof list>, BotApi> => {
  const { chat_id, from, count = Platform.messagesPage.max } = request
  return page.byTime({
    count,
    from,
    timeOf: (message) => message.timestamp,
    // A forward can have no body. Then the known fields identify the forward.
    idOf: ({ body, link, sender, timestamp }) =>
      body?.mid ?? `${timestamp} ${sender?.user_id} ${link?.chat_id} ${link?.message?.mid}`,
    fetch: ({ before }) =>
      Effect.map(list({ chat_id, count, ...(before === undefined ? {} : { from: before }) }), (items) => ({ items }))
  })
}

/**
 * Returns one message or post.
 *
 * Fails with `NotFound` if the message does not exist or is not accessible to the bot, and with `Forbidden` if the bot
 * may not read the message.
 *
 * **Example**
 *
 * ```ts
 * import { Message, Messages } from "@colloquy/core"
 *
 * const message = Messages.get({ message_id: Message.MessageId.make("mid.0000000000001092019d4a3f7c400001") })
 * ```
 *
 * API: GET /messages/{messageId}.
 *
 * @category endpoints
 * @since 0.1.0
 */
export const get: Endpoint.Endpoint<
  { readonly message_id: MessageId },
  Message,
  ApiError.Forbidden | ApiError.NotFound
> = Endpoint.make("Messages.get", () => ({
  method: "GET",
  path: "/messages/{messageId}",
  params: { message_id: MessageId },
  success: Message,
  errors: [ApiError.Forbidden, ApiError.NotFound]
}))

/**
 * The request of {@link edit}.
 *
 * @category models
 * @since 0.1.0
 */
export type EditRequest = NewMessage.NewMessageBody & { readonly message_id: MessageId }

/**
 * Edits a message of the bot, or a post of a channel where the bot has the right `edit`. If `attachments` is missing or
 * null, the attachments do not change; an empty array removes them. The limits of {@link send} apply. In a dialog, a
 * message without an inline keyboard can be edited for 7 days (`Platform.messageEditWindow`).
 *
 * Rate limit: 2 edits per second in one chat. The rate limiter delays the call. Default: an edit counts as a message.
 *
 * Fails with `Forbidden` if the bot may not edit the message, with `NotFound` if the message does not exist, with
 * `AttachmentNotReady` if a file is still being processed after all retries, and with `OperationRejected` if the
 * platform rejects the edit.
 *
 * **Example**
 *
 * ```ts
 * import { Message, Messages } from "@colloquy/core"
 *
 * const done = Messages.edit({ message_id: Message.MessageId.make("mid.1"), text: "Done", attachments: [] })
 * ```
 *
 * API: PUT /messages.
 *
 * @assumption editMessage
 * @assumption messageEditWindow
 * @category endpoints
 * @since 0.1.0
 */
export const edit: Endpoint.Endpoint<
  EditRequest,
  void,
  ApiError.Forbidden | ApiError.NotFound | ApiError.AttachmentNotReady | ApiError.OperationRejected
> = Endpoint.make("Messages.edit", () => ({
  method: "PUT",
  path: "/messages",
  query: { message_id: messageId },
  body: NewMessage.NewMessageBody.fields,
  success: done,
  errors: [ApiError.Forbidden, ApiError.NotFound, ApiError.AttachmentNotReady, ApiError.OperationRejected],
  limit: targets.edit
}))

/**
 * Removes a message: in a dialog a message of the bot, and in group chats and channels any message, if the bot has the right.
 *
 * Rate limit: 2 removals per second in one chat. The rate limiter delays the call. Default: a removal counts as a
 * message.
 *
 * Fails with `Forbidden` if the bot may not remove the message, with `NotFound` if the message does not exist, and with
 * `OperationRejected` if the platform rejects the removal.
 *
 * `NotFound` is a success if an earlier attempt of the same update, or a request whose response was lost, may have
 * removed the message.
 *
 * **Example**
 *
 * ```ts
 * import { Message, Messages } from "@colloquy/core"
 *
 * const gone = Messages.remove({ message_id: Message.MessageId.make("mid.1") })
 * ```
 *
 * API: DELETE /messages.
 *
 * @assumption removeMessage
 * @assumption removableMessages
 * @assumption removalRate
 * @category endpoints
 * @since 0.1.0
 */
export const remove: Endpoint.Endpoint<
  { readonly message_id: MessageId },
  void,
  ApiError.Forbidden | ApiError.NotFound | ApiError.OperationRejected
> = Endpoint.make("Messages.remove", () => ({
  method: "DELETE",
  path: "/messages",
  query: { message_id: messageId },
  success: done,
  errors: [ApiError.Forbidden, ApiError.NotFound, ApiError.OperationRejected],
  limit: targets.removal,
  repeated: { key: ({ message_id }) => message_id, errors: [ApiError.NotFound] }
}))

/**
 * The update does not contain its chat, so the chat of the reply is unknown: the message of the update was deleted, or the
 * platform left out the chat.
 *
 * @category errors
 * @since 0.1.0
 */
export class NoChat extends PermanentTaggedError("NoChat", () => ({
  update: Update.Update as Schema.Codec<Update.Update, unknown>
})) {
  override get message() {
    return (
      `Cannot reply to ${this.update.update_type}: the platform does not say in which chat it happened. Do not reply, or ` +
      "send a message to the user: Messages.send with the user_id that Update.userIdOf returns."
    )
  }
}

type MayLackChat = Update.Comment | Update.WithMessage

/**
 * The content of a reply: a text, or the fields of a message. A comment has only a text, a format and a link.
 *
 * @category models
 * @since 0.1.0
 */
export type ReplyContent<U extends { readonly update_type: string }> =
  | string
  | ([U] extends [Update.Comment]
      ? Omit<Comments.SendRequest, "message_id">
      : NewMessage.NewMessageBody & { readonly disable_link_preview?: boolean | undefined })

/**
 * The effect of a reply. Only updates whose chat may be missing can cause {@link NoChat}.
 *
 * @category models
 * @since 0.1.0
 */
export type Reply<U extends { readonly update_type: string }> = Effect.Effect<
  Message,
  (U extends MayLackChat ? NoChat : never) | Endpoint.Errors<typeof send>,
  BotApi
>

const recipientOf = (update: Update.Update): To | undefined => {
  const chat_id = Update.chatOf(update)
  if (chat_id !== undefined) return { chat_id }
  const isToUser = Update.chatTypeOf(update) === "dialog" || update.update_type === "colloquy_timer"
  const user_id = isToUser ? Update.userIdOf(update) : undefined
  return user_id === undefined ? undefined : { user_id }
}

const sendReply = (update: Update.Update, content: ReplyContent<Update.Update>) => {
  const body = typeof content === "string" ? { text: content } : content
  const post = postOf(update)
  if (post !== undefined) return Comments.send({ ...(body as Comments.SendRequest), message_id: post })
  const to = update.update_type.startsWith("comment_") ? undefined : recipientOf(update)
  return to === undefined ? Effect.fail(new NoChat({ update })) : send({ ...body, ...to })
}

/**
 * Sends a message to the chat of an update. The reply to a comment is a comment on the same post. The reply to a timer
 * of a user without a chat is a message to the user. {@link replyTo} quotes the message as well.
 *
 * An update whose type may be unknown does not compile. Narrow the update first: with `Handler.on` in a handler, with
 * `Deliveries.on` in a stream of deliveries, or by its `update_type`.
 *
 * Fails as {@link send} does, and with {@link NoChat} if the platform left out the chat.
 *
 * **Example**
 *
 * ```ts
 * import { Handler, Messages, Text } from "@colloquy/core"
 *
 * const greet = Handler.on("bot_started", (update) =>
 *   Messages.reply(update, Text.message(Text.t`Hello, ${Text.bold(update.user.first_name)}`))
 * )
 *
 * const hint = Handler.on("message_created", (update) => Messages.reply(update, "Press a button, please"))
 * ```
 *
 * API: POST /messages; POST /messages/{messageId}/comments.
 *
 * @category replies
 * @since 0.1.0
 */
export const reply = <
  // No update has the last type, which tells the remedy in the type error of an update whose type may be unknown.
  U extends
    | Update.Repliable
    | { readonly update_type: "narrow the update first: Handler.on, Deliveries.on, or a check of its update_type" }
>(
  update: U,
  content: ReplyContent<U>
): Reply<U> => sendReply(update as Update.Update, content) as Reply<U>

/**
 * Sends a message to the chat of an update, as a reply to the message or the comment of the update. If the platform
 * left out the message, a plain {@link reply} is sent.
 *
 * Fails as {@link reply} does.
 *
 * **Example**
 *
 * ```ts
 * import { Handler, Messages } from "@colloquy/core"
 *
 * const agree = Handler.on(["message_created", "comment_created"], (update) => Messages.replyTo(update, "Well said"))
 * ```
 *
 * API: POST /messages; POST /messages/{messageId}/comments.
 *
 * @category replies
 * @since 0.1.0
 */
export const replyTo = <U extends Update.WithMessage>(update: U, content: ReplyContent<U>): Reply<U> => {
  const mid = Update.messageOf(update)?.body?.mid
  const body = typeof content === "string" ? { text: content } : content
  return reply(update, (mid === undefined ? body : { ...body, link: { type: "reply", mid } }) as ReplyContent<U>)
}
