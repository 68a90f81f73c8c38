/**
 * Comments on channel posts.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Stream from "effect/Stream"
import * as ApiError from "./ApiError.ts"
import type { BotApi } from "./BotApi.ts"
import { Comment } from "./Comment.ts"
import * as Endpoint from "./Endpoint.ts"
import * as targets from "./internal/rateLimiter/targets.ts"
import * as page from "./internal/client/pagination.ts"
import * as rules from "./internal/client/rules.ts"
import { done, envelope, Int64, nullish } from "./internal/client/wire.ts"
import * as NewMessage from "./NewMessage.ts"
import * as Platform from "./Platform.ts"
import { MessageId } from "./Recipient.ts"

/**
 * A page of comments, the newest first.
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
 * What {@link list} takes. `message_id` is the post. With `comment_ids` just these are given. `after` and `before` are
 * Unix milliseconds: later than, earlier than. `marker` is that of the page before.
 *
 * @category models
 * @since 0.1.0
 */
export interface ListRequest {
  readonly message_id: MessageId
  readonly comment_ids?: ReadonlyArray<MessageId> | undefined
  readonly after?: number | undefined
  readonly before?: number | undefined
  readonly count?: number | undefined
  readonly marker?: bigint | undefined
}

/**
 * A page of the comments under a post: `count` 1 to 100, 50 unless told. {@link stream} gives them all. The bot must be
 * an administrator of the channel with the right `read_all_messages`.
 *
 * Errors: `Forbidden` where the right is missing, `NotFound` for an unknown post.
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
      comment_ids: Schema.optional(rules.list(rules.messageId, 1)),
      after: Schema.optional(rules.natural),
      before: Schema.optional(rules.natural),
      count: Schema.optional(rules.between(1, Platform.commentsPage.max)),
      marker: Schema.optional(Int64)
    },
    success: CommentsPage,
    errors: [ApiError.Forbidden, ApiError.NotFound]
  })
)

/**
 * All comments under a post, the newest first, fetched page by page as they are pulled. More than 100 comments of one
 * millisecond cannot be told apart by time: those beyond the hundredth are not given.
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
    fetch: (before) => Effect.map(list({ message_id, count, before }), ({ messages }) => messages)
  })
}

/**
 * One comment of a post.
 *
 * Errors: `NotFound`, `Forbidden`.
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
 * What {@link send} takes. `message_id` is the post; `link` the comment replied to.
 *
 * @category models
 * @since 0.1.0
 */
export interface SendRequest {
  readonly message_id: MessageId
  readonly text: string
  readonly link?: { readonly type: "reply"; readonly mid: MessageId } | null | undefined
  readonly format?: NewMessage.TextFormat | null | undefined
  readonly disable_link_preview?: boolean | undefined
}

/**
 * Comments on a post with a text of at most 4000 characters; gives the comment. Comments must be enabled in the
 * channel; the bot must be its administrator with the rights `read_all_messages` and `write`. Mentions and hyperlinks
 * do not work in comments.
 *
 * Errors: `Forbidden` where a right is missing or comments are disabled, `NotFound` for an unknown post.
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
    query: { disable_link_preview: Schema.optional(Schema.Boolean) },
    body: NewMessage.commentFields,
    success: Schema.Union([Comment, envelope("message", Comment)]),
    errors: [ApiError.Forbidden, ApiError.NotFound],
    limit: targets.comment
  })
)

/**
 * What {@link edit} takes.
 *
 * @category models
 * @since 0.1.0
 */
export interface EditRequest {
  readonly message_id: MessageId
  readonly comment_id: MessageId
  readonly text: string
  readonly link?: { readonly type: "reply"; readonly mid: MessageId } | null | undefined
  readonly format?: NewMessage.TextFormat | null | undefined
}

/**
 * Edits a comment of the bot, or one published on behalf of the channel where the bot has the right `edit`. The bot
 * must be a member of the channel. Old comments can be edited even where the channel is archived or comments are
 * disabled.
 *
 * Errors: `CommentsTimeoutExceeded` where it is too old, `Forbidden` for somebody else's comment, `NotFound`, and
 * `OperationRejected` with the platform's text.
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
  query: { comment_id: rules.messageId },
  body: NewMessage.commentFields,
  success: done,
  errors: [ApiError.CommentsTimeoutExceeded, ApiError.Forbidden, ApiError.NotFound, ApiError.OperationRejected],
  limit: targets.comment
}))

/**
 * Removes a comment.
 *
 * Errors: `Forbidden` where the bot may not, `NotFound`, and `OperationRejected` with the platform's text.
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
  query: { comment_id: rules.messageId },
  success: done,
  errors: [ApiError.Forbidden, ApiError.NotFound, ApiError.OperationRejected]
}))
