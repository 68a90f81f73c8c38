/**
 * Messages and channel posts.
 *
 * API: Resources and their fields, Message.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { Attachments } from "./Attachment.ts"
import { Int64, Millis, nullish, openEnum } from "../base/internal/wire.ts"
import { MarkupElements } from "./Markup.ts"
import { ChatId, MessageId, Recipient } from "./Recipient.ts"
import { User } from "./User.ts"

export { MessageId }

/**
 * The body of a message: its id `mid`, its position `seq` in the chat, its text, attachments and markup. `seq` is a
 * bigint, because its value is always greater than 2^53.
 *
 * @category models
 * @since 0.1.0
 */
export const MessageBody = Schema.Struct({
  mid: MessageId,
  seq: Int64,
  text: nullish(Schema.String),
  attachments: nullish(Attachments),
  markup: nullish(MarkupElements)
})

/**
 * @category models
 * @since 0.1.0
 */
export interface MessageBody extends Schema.Schema.Type<typeof MessageBody> {}

/**
 * The type of a link to another message.
 *
 * @category models
 * @since 0.1.0
 */
export const MessageLinkType = openEnum("forward", "reply")

/**
 * The message that a message forwards or replies to. `message` can be missing if the linked message was deleted.
 * `chat_id` is the chat in which a forwarded message was first published.
 *
 * @category models
 * @since 0.1.0
 */
export const LinkedMessage = Schema.Struct({
  type: MessageLinkType,
  sender: nullish(User),
  chat_id: nullish(ChatId),
  message: nullish(MessageBody)
})

/**
 * @category models
 * @since 0.1.0
 */
export interface LinkedMessage extends Schema.Schema.Type<typeof LinkedMessage> {}

/**
 * Statistics of a channel post: the number of views.
 *
 * @category models
 * @since 0.1.0
 */
export const MessageStat = Schema.Struct({ views: Schema.Int })

/**
 * @category models
 * @since 0.1.0
 */
export interface MessageStat extends Schema.Schema.Type<typeof MessageStat> {}

/**
 * A message or a channel post. `sender` is missing in posts, and `body` can be missing in a forwarded message. Only
 * posts have `stat` and `url`.
 *
 * @category models
 * @since 0.1.0
 */
export const Message = Schema.Struct({
  sender: nullish(User),
  recipient: Recipient,
  timestamp: Millis,
  link: nullish(LinkedMessage),
  body: nullish(MessageBody),
  stat: nullish(MessageStat),
  url: nullish(Schema.String)
})

/**
 * @category models
 * @since 0.1.0
 */
export interface Message extends Schema.Schema.Type<typeof Message> {}

/**
 * The body of a comment. `seq` is its position in the comments on the post.
 *
 * @category models
 * @since 0.1.0
 */
export const CommentBody = Schema.Struct({
  mid: MessageId,
  seq: Int64,
  text: nullish(Schema.String),
  markup: nullish(MarkupElements)
})

/**
 * A comment on a channel post. A comment has no attachments and cannot be forwarded. `sender` is missing if the comment
 * was published on behalf of the channel.
 *
 * @category models
 * @since 0.1.0
 */
export const Comment = Schema.Struct({
  sender: nullish(User),
  recipient: Recipient,
  timestamp: Millis,
  link: nullish(LinkedMessage),
  body: CommentBody
})

/**
 * @category models
 * @since 0.1.0
 */
export interface Comment extends Schema.Schema.Type<typeof Comment> {}
