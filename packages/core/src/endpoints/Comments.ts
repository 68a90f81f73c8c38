/**
 * Sends, reads, edits and removes comments on channel posts.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Getter from "effect/SchemaGetter"
import type * as Stream from "effect/Stream"
import * as ApiError from "../client/ApiError.ts"
import type { BotApi } from "../client/BotApi.ts"
import { Comment } from "../model/Message.ts"
import * as Endpoint from "../client/Endpoint.ts"
import * as targets from "../client/internal/rateLimiter/targets.ts"
import * as page from "../client/internal/pagination.ts"
import { messageId } from "../model/internal/messageId.ts"
import * as rules from "../base/internal/rules.ts"
import { done, envelope, Int64, nullish, optional } from "../base/internal/wire.ts"
import * as NewMessage from "../model/NewMessage.ts"
import * as Platform from "../base/Platform.ts"
import { MessageId } from "../model/Recipient.ts"

/**
 * A page of comments, the newest first. `marker` is the marker of the next page, if any.
 *
 * @assumption listComments
 * @category models
 * @since 0.1.0
 */
export const CommentsPage = Schema.Struct({ messages: Schema.Array(Comment), marker: nullish(Int64) })

/**
 * @category models
 * @since 0.1.0
 */
export interface CommentsPage extends Schema.Schema.Type<typeof CommentsPage> {}

/**
 * The request of {@link list}. Times are in Unix milliseconds.
 *
 * @category models
 * @since 0.1.0
 */
export interface ListRequest {
  /** The id of the post. */
  readonly message_id: MessageId
  /** Return only these comments. Default: all comments. */
  readonly comment_ids?: ReadonlyArray<MessageId> | undefined
  /** Return only comments later than this time. Default: no limit. */
  readonly after?: number | undefined
  /** Return only comments earlier than this time. Default: no limit. */
  readonly before?: number | undefined
  /** Number of comments, 1 to 100. Default: 50. */
  readonly count?: number | undefined
  /** The `marker` of the previous page. Default: the first page. */
  readonly marker?: bigint | undefined
}

/**
 * Returns a page of the comments on a post. {@link stream} returns all comments. The bot must be an administrator of
 * the channel with the right `read_all_messages`.
 *
 * Fails with `Forbidden` if the bot has no right, and with `NotFound` if the post does not exist.
 *
 * **Example**
 *
 * ```ts
 * import { Comments, Message } from "@colloquy/core"
 *
 * const newest = Comments.list({ message_id: Message.MessageId.make("mid.1"), count: 10 })
 * ```
 *
 * API: GET /messages/{messageId}/comments.
 *
 * @assumption commentTimes
 * @assumption commentMarker
 * @category endpoints
 * @since 0.1.0
 */
export const list: Endpoint.Endpoint<ListRequest, CommentsPage, ApiError.Forbidden | ApiError.NotFound> = Endpoint.make(
  "Comments.list",
  () => ({
    method: "GET",
    path: "/messages/{messageId}/comments",
    params: { message_id: MessageId },
    query: {
      comment_ids: Schema.optional(rules.list(messageId, 1)),
      after: Schema.optional(rules.nonNegative),
      before: Schema.optional(rules.nonNegative),
      count: Schema.optional(rules.between(1, Platform.commentsPage)),
      marker: Schema.optional(Int64)
    },
    success: CommentsPage,
    errors: [ApiError.Forbidden, ApiError.NotFound]
  })
)

/**
 * Streams all comments on a post that are earlier than `before`, the newest first. The pages are requested as the
 * stream is pulled. Default of `before`: now. Default of `count`, the size of a page: 100.
 *
 * The next page is requested by the marker of the page. If the platform returns no marker, or ignores the marker, the
 * next page is requested by the time of the oldest comment. If more than 100 comments then have the same millisecond,
 * the stream has only 100 of these comments.
 *
 * **Example**
 *
 * ```ts
 * import { Comments, Message } from "@colloquy/core"
 * import { Stream } from "effect"
 *
 * const texts = Comments.stream({ message_id: Message.MessageId.make("mid.1") }).pipe(
 *   Stream.map((comment) => comment.body.text)
 * )
 * ```
 *
 * API: GET /messages/{messageId}/comments.
 *
 * @category streams
 * @since 0.1.0
 */
export const stream = (request: {
  readonly message_id: MessageId
  readonly before?: number | undefined
  readonly count?: number | undefined
}): Stream.Stream<Comment, Endpoint.Errors<typeof list>, BotApi> => {
  const { message_id, before, count = Platform.commentsPage.max } = request
  return page.byTime({
    count,
    from: before,
    timeOf: (comment) => comment.timestamp,
    idOf: (comment) => comment.body.mid,
    fetch: ({ before, marker }) =>
      Effect.map(list({ message_id, count, before, marker }), ({ marker, messages }) => ({ items: messages, marker }))
  })
}

/**
 * Returns one comment on a post.
 *
 * Fails with `NotFound` if the comment or the post does not exist, and with `Forbidden` if the bot has no right to read
 * the comment.
 *
 * **Example**
 *
 * ```ts
 * import { Comments, Message } from "@colloquy/core"
 *
 * const comment = Comments.get({
 *   message_id: Message.MessageId.make("mid.1"),
 *   comment_id: Message.MessageId.make("mid.2")
 * })
 * ```
 *
 * API: GET /messages/{messageId}/comments.
 *
 * @assumption getComment
 * @category endpoints
 * @since 0.1.0
 */
export const get: Endpoint.Endpoint<
  { readonly message_id: MessageId; readonly comment_id: MessageId },
  Comment,
  ApiError.Forbidden | ApiError.NotFound
> = Endpoint.make("Comments.get", () => ({
  method: "GET",
  path: "/messages/{messageId}/comments/{commentId}",
  params: { message_id: MessageId, comment_id: MessageId },
  success: Comment,
  errors: [ApiError.Forbidden, ApiError.NotFound]
}))

/**
 * The request of {@link send}.
 *
 * @category models
 * @since 0.1.0
 */
export interface SendRequest {
  /** The id of the post. */
  readonly message_id: MessageId
  /** The text, up to 4000 characters. */
  readonly text: string
  /** The comment to reply to. Default: none. */
  readonly link?: { readonly type: "reply"; readonly mid: MessageId } | null | undefined
  /** The markup of the text. Mentions and hyperlinks are not supported. Default: plain text. */
  readonly format?: NewMessage.TextFormat | null | undefined
  /** Whether links are shown without a preview. Default: `false`. */
  readonly disable_link_preview?: boolean | undefined
}

/** A plain comment, a comment in `message`, or both in one object, as from the emulator. */
const sentComment = () => {
  const both: Schema.Codec<Comment, unknown> = Schema.Struct({ ...Comment.fields, message: Comment }).pipe(
    // The struct has decoded the comment, so the comment is not checked again.
    Schema.decodeTo(Schema.Any, {
      decode: Getter.transform(({ message }): Comment => message),
      encode: Getter.transform((comment: Comment) => ({ ...comment, message: comment }))
    })
  )
  return Schema.Union([both, envelope("message", Comment), Comment]).annotate({ wire: Comment })
}

/**
 * Sends a comment on a post. Returns the comment. Comments must be enabled in the channel, and the bot must be an
 * administrator of the channel with the rights `read_all_messages` and `write`. A comment counts towards the limit of 2
 * messages per second in the channel.
 *
 * Fails with `Forbidden` if the bot has no right or comments are disabled, and with `NotFound` if the post does not
 * exist.
 *
 * **Example**
 *
 * ```ts
 * import { Comments, Message } from "@colloquy/core"
 *
 * const thanks = Comments.send({ message_id: Message.MessageId.make("mid.1"), text: "Thank you" })
 * ```
 *
 * API: POST /messages/{messageId}/comments.
 *
 * @assumption sendComment
 * @category endpoints
 * @since 0.1.0
 */
export const send: Endpoint.Endpoint<SendRequest, Comment, ApiError.Forbidden | ApiError.NotFound> = Endpoint.make(
  "Comments.send",
  () => ({
    method: "POST",
    path: "/messages/{messageId}/comments",
    params: { message_id: MessageId },
    query: { disable_link_preview: Schema.optional(rules.flag(false)) },
    body: NewMessage.commentFields,
    success: sentComment(),
    errors: [ApiError.Forbidden, ApiError.NotFound],
    limit: targets.comment,
    lookUp: {
      page: ({ execute, request: { message_id } }, before) =>
        Effect.map(execute(list, { message_id, before, count: Platform.commentsPage.max }), ({ messages }) => messages)
    }
  })
)

/**
 * The request of {@link edit}.
 *
 * @category models
 * @since 0.1.0
 */
export interface EditRequest {
  /** The id of the post. */
  readonly message_id: MessageId
  /** The id of the comment. */
  readonly comment_id: MessageId
  /** The text, up to 4000 characters. Default: the text does not change. */
  readonly text?: string | null | undefined
  /** The comment to reply to. Default: the comment does not change in this. */
  readonly link?: { readonly type: "reply"; readonly mid: MessageId } | null | undefined
  /** The markup of the text. Mentions and hyperlinks are not supported. Default: plain text. */
  readonly format?: NewMessage.TextFormat | null | undefined
}

/**
 * Edits a comment of the bot, or a comment on behalf of the channel if the bot is an administrator with the right
 * `edit`. The bot must be a member of the channel. Comments can also be edited in an archived channel and where
 * comments are disabled.
 *
 * Fails with `CommentsTimeoutExceeded` if the comment is more than 26 hours old, with `Forbidden` if the bot may not
 * edit the comment, with `NotFound` if the comment does not exist, and with `OperationRejected` if the platform rejects
 * the edit.
 *
 * **Example**
 *
 * ```ts
 * import { Comments, Message } from "@colloquy/core"
 *
 * const edited = Comments.edit({
 *   message_id: Message.MessageId.make("mid.1"),
 *   comment_id: Message.MessageId.make("mid.2"),
 *   text: "Thank you all"
 * })
 * ```
 *
 * API: PUT /messages/{messageId}/comments.
 *
 * @assumption editComment
 * @category endpoints
 * @since 0.1.0
 */
export const edit: Endpoint.Endpoint<
  EditRequest,
  void,
  ApiError.CommentsTimeoutExceeded | ApiError.Forbidden | ApiError.NotFound | ApiError.OperationRejected
> = Endpoint.make("Comments.edit", () => ({
  method: "PUT",
  path: "/messages/{messageId}/comments",
  params: { message_id: MessageId },
  query: { comment_id: messageId },
  body: { ...NewMessage.commentFields, text: optional(NewMessage.MessageText) },
  success: done,
  errors: [ApiError.CommentsTimeoutExceeded, ApiError.Forbidden, ApiError.NotFound, ApiError.OperationRejected],
  limit: targets.comment
}))

/**
 * Removes a comment. The bot must have the rights `read_all_messages` and `delete`, also to remove a comment of its own.
 *
 * Fails with `Forbidden` if the bot may not remove the comment, with `NotFound` if the comment does not exist, and with
 * `OperationRejected` if the platform rejects the removal.
 *
 * `NotFound` is a success if an earlier attempt of the same update, or a request whose response was lost, may have
 * removed the comment.
 *
 * **Example**
 *
 * ```ts
 * import { Comments, Message } from "@colloquy/core"
 *
 * const removed = Comments.remove({
 *   message_id: Message.MessageId.make("mid.1"),
 *   comment_id: Message.MessageId.make("mid.2")
 * })
 * ```
 *
 * API: Endpoints, PUT /messages/{messageId}/comments.
 *
 * @assumption removeComment
 * @category endpoints
 * @since 0.1.0
 */
export const remove: Endpoint.Endpoint<
  { readonly message_id: MessageId; readonly comment_id: MessageId },
  void,
  ApiError.Forbidden | ApiError.NotFound | ApiError.OperationRejected
> = Endpoint.make("Comments.remove", () => ({
  method: "DELETE",
  path: "/messages/{messageId}/comments",
  params: { message_id: MessageId },
  query: { comment_id: messageId },
  success: done,
  errors: [ApiError.Forbidden, ApiError.NotFound, ApiError.OperationRejected],
  repeated: { key: ({ comment_id }) => comment_id, errors: [ApiError.NotFound] }
}))
