/**
 * Comments on channel posts.
 *
 * API: Resources and their fields, Comment.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { Int64, Millis, nullish } from "../base/internal/wire.ts"
import { MarkupElements } from "./Markup.ts"
import { LinkedMessage } from "./Message.ts"
import { MessageId, Recipient } from "./Recipient.ts"
import { User } from "./User.ts"

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
