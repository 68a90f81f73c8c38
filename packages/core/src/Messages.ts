/**
 * Send, read, edit and remove messages.
 *
 * @since 0.1.0
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Stream from "effect/Stream"
import * as ApiError from "./ApiError.ts"
import type { BotApi } from "./BotApi.ts"
import * as Comments from "./Comments.ts"
import * as Endpoint from "./Endpoint.ts"
import * as targets from "./internal/rateLimiter/targets.ts"
import * as page from "./internal/client/pagination.ts"
import * as rules from "./internal/client/rules.ts"
import { done, envelope, Millis } from "./internal/client/wire.ts"
import { Message } from "./Message.ts"
import * as NewMessage from "./NewMessage.ts"
import * as Platform from "./Platform.ts"
import { ChatId, MessageId } from "./Recipient.ts"
import * as Update from "./Update.ts"
import { UserId } from "./User.ts"

/**
 * Who gets a message: a chat, or a user's dialog with the bot. Exactly one of the two.
 *
 * @assumption recipient
 * @category models
 * @since 0.1.0
 */
export type To =
  | { readonly chat_id: ChatId; readonly user_id?: undefined }
  | { readonly user_id: UserId; readonly chat_id?: undefined }

/**
 * What {@link send} takes.
 *
 * @category models
 * @since 0.1.0
 */
export type SendRequest = To & NewMessage.NewMessageBody & { readonly disable_link_preview?: boolean | undefined }

/**
 * Sends a message to a dialog, a group chat or a channel; gives the message or post that was made.
 *
 * Takes exactly one of `chat_id` and `user_id`; `text` of at most 4000 characters; at most 12 `attachments`; 2 messages
 * a second in one chat. `attachment.not.ready` is waited out by the {@link RetryPolicy} before it fails. Not repeated
 * unless the failure proves that nothing was sent.
 *
 * Errors: `Forbidden` where the bot may not write or the user stopped it, `NotFound` for an unknown chat or user,
 * `AttachmentNotReady` when the policy's patience ends.
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
    disable_link_preview: Schema.optional(Schema.Boolean)
  },
  body: NewMessage.fields,
  rules: [rules.exactlyOne("chat_id", "user_id")],
  success: envelope("message", Message),
  errors: [ApiError.Forbidden, ApiError.NotFound, ApiError.AttachmentNotReady],
  limit: targets.message,
  dialog: targets.dialog
}))

/**
 * What {@link list} takes: a chat, or the ids of the messages. All times are Unix milliseconds: `from` and `before` are
 * the end, `to` and `after` the beginning; a message at the time itself is among those of `from` and `to`.
 *
 * @assumption listMessages
 *
 * @category models
 * @since 0.1.0
 */
export type ListRequest = (
  | { readonly chat_id: ChatId; readonly message_ids?: undefined }
  | { readonly message_ids: ReadonlyArray<MessageId>; readonly chat_id?: undefined }
) & {
  readonly from?: number | undefined
  readonly to?: number | undefined
  readonly before?: number | undefined
  readonly after?: number | undefined
  readonly count?: number | undefined
}

/**
 * The messages of a chat, the posts of a channel, or the messages with the given ids; of a chat the latest come first.
 *
 * Takes exactly one of `chat_id` (the bot must be its administrator) and `message_ids`; `from` reaches back, `to`
 * forward from a time in ms; `count` is 1 to 100, 50 unless told.
 *
 * Errors: `Forbidden` where the bot is no administrator or has no access, `NotFound` for an unknown chat.
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
    message_ids: Schema.optional(rules.list(rules.messageId, 1)),
    from: Schema.optional(Millis),
    to: Schema.optional(Millis),
    before: Schema.optional(rules.natural),
    after: Schema.optional(rules.natural),
    count: Schema.optional(rules.between(1, Platform.messagesPage.max))
  },
  rules: [rules.exactlyOne("chat_id", "message_ids")],
  success: envelope("messages", Schema.Array(Message)),
  errors: [ApiError.Forbidden, ApiError.NotFound]
}))

/**
 * All messages of a chat up to `from` (or all there are), the latest first, fetched page by page as they are pulled.
 *
 * The document has no marker here: the next page is asked for up to the time of the oldest message so far, and what
 * stood on the page before is left out. More than 100 messages of one millisecond cannot be told apart by time: those
 * beyond the hundredth are not given.
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
    idOf: (message) => message.body?.mid ?? `at ${message.timestamp}`,
    fetch: (before) => list({ chat_id, count, ...(before === undefined ? {} : { from: before }) })
  })
}

/**
 * One message or post.
 *
 * Errors: `NotFound` where it does not exist or the bot has no access, `Forbidden` where the bot may not read it.
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
 * What {@link edit} takes.
 *
 * @category models
 * @since 0.1.0
 */
export type EditRequest = NewMessage.NewMessageBody & { readonly message_id: MessageId }

/**
 * Edits a message of the bot, or a post where it has the right `edit`. `attachments` left out or null stay, an empty
 * array removes them all.
 *
 * Errors: `Forbidden`, `NotFound`, `AttachmentNotReady`, and `OperationRejected` with the platform's text.
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
  query: { message_id: rules.messageId },
  body: NewMessage.fields,
  success: done,
  errors: [ApiError.Forbidden, ApiError.NotFound, ApiError.AttachmentNotReady, ApiError.OperationRejected],
  limit: targets.edit
}))

/**
 * Removes a message.
 *
 * Errors: `Forbidden` where the bot may not, `NotFound`, and `OperationRejected` with the platform's text.
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
  query: { message_id: rules.messageId },
  success: done,
  errors: [ApiError.Forbidden, ApiError.NotFound, ApiError.OperationRejected]
}))

/**
 * The platform does not say where an update happened, so there is nowhere to reply: the message that it is about is
 * gone, or came without its chat.
 *
 * @category errors
 * @since 0.1.0
 */
export class NoChat extends Data.TaggedError("NoChat")<{ readonly update: Update.Update }> {
  /** The same update would fail again: `Updates.run` does not try it again. */
  readonly isRetryable = false

  override get message() {
    return (
      `${this.update.update_type}: the platform does not say in which chat. Leave it unanswered, or write to the person ` +
      "in private: Messages.send takes the user_id that Update.userIdOf gives."
    )
  }
}

type OfComments = Update.Of<"comment_created" | "comment_edited" | "comment_removed">

type MayLackChat = OfComments | Update.Of<"message_created" | "message_edited" | "message_callback">

/**
 * What a reply says: a text, or the parts of a message. A comment takes text, format and a link only.
 *
 * @category models
 * @since 0.1.0
 */
export type ReplyContent<U extends Update.Update> =
  | string
  | ([U] extends [OfComments]
      ? Omit<Comments.SendRequest, "message_id">
      : NewMessage.NewMessageBody & { readonly disable_link_preview?: boolean | undefined })

/**
 * A reply on its way. {@link NoChat} is possible only where the platform may leave out the chat.
 *
 * @category models
 * @since 0.1.0
 */
export type Reply<U extends Update.Update> = Effect.Effect<
  Message,
  (U extends MayLackChat ? NoChat : never) | Endpoint.Errors<typeof send>,
  BotApi
>

const postOf = (update: Update.Update): MessageId | undefined =>
  Update.messageOf(update)?.recipient.post_id ?? ("post_id" in update ? (update.post_id ?? undefined) : undefined)

const recipientOf = (update: Update.Update): To | undefined => {
  const chat_id = Update.chatOf(update)
  if (chat_id !== undefined) return { chat_id }
  const user_id = Update.chatTypeOf(update) === "dialog" ? Update.userIdOf(update) : undefined
  return user_id === undefined ? undefined : { user_id }
}

/**
 * Sends a message to where an update happened: to its dialog, its group chat or its channel, or, of a comment, under the
 * same post. An update of an unknown kind does not compile. {@link replyTo} quotes the message besides.
 *
 * Errors: those of {@link send}; {@link NoChat} where the platform left out the chat.
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
 * const deaf = Handler.on("message_created", (update) => Messages.reply(update, "Press a button, please"))
 * ```
 *
 * API: POST /messages; POST /messages/{messageId}/comments.
 *
 * @category replies
 * @since 0.1.0
 */
export const reply = <U extends Update.Of<Update.UpdateType>>(update: U, content: ReplyContent<U>): Reply<U> => {
  const body = typeof content === "string" ? { text: content } : content
  const post = postOf(update)
  if (post !== undefined) return Comments.send({ ...(body as Comments.SendRequest), message_id: post })
  const to = update.update_type.startsWith("comment_") ? undefined : recipientOf(update)
  return (to === undefined ? Effect.fail(new NoChat({ update })) : send({ ...body, ...to })) as Reply<U>
}

/**
 * {@link reply}, as a reply to the message or comment of the update, which is shown above it. Where the platform gives no
 * message, it is a plain reply.
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
export const replyTo = <
  U extends Update.Of<"message_created" | "message_edited" | "message_callback" | "comment_created" | "comment_edited">
>(
  update: U,
  content: ReplyContent<U>
): Reply<U> => {
  const mid = Update.messageOf(update)?.body?.mid
  const body = typeof content === "string" ? { text: content } : content
  return reply(update, (mid === undefined ? body : { ...body, link: { type: "reply", mid } }) as ReplyContent<U>)
}
