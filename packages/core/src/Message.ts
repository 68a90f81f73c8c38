/**
 * Messages as the platform gives them.
 *
 * API: Resources and their fields, Message.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { Attachments } from "./Attachment.ts"
import { Int64, Millis, nullish, openEnum } from "./internal/client/wire.ts"
import { MarkupElements } from "./Markup.ts"
import { ChatId, MessageId, Recipient } from "./Recipient.ts"
import { User } from "./User.ts"

export { MessageId, Recipient }

/**
 * What was said: the id `mid`, the position `seq` in the chat (always beyond 2^53, hence a bigint), text, attachments
 * and markup.
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
 * How a message points to another.
 *
 * @category models
 * @since 0.1.0
 */
export const MessageLinkType = openEnum("forward", "reply")

/**
 * The message that this one forwards or replies to. `chat_id` says where a forwarded one was first published.
 *
 * @category models
 * @since 0.1.0
 */
export const LinkedMessage = Schema.Struct({
  type: MessageLinkType,
  sender: nullish(User),
  chat_id: nullish(ChatId),
  message: MessageBody
})

/**
 * @category models
 * @since 0.1.0
 */
export interface LinkedMessage extends Schema.Schema.Type<typeof LinkedMessage> {}

/**
 * Views of a channel post.
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
 * A message or a channel post. `sender` is absent for posts, `body` may be absent in a pure forward, `stat` and `url`
 * come for channels only.
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
