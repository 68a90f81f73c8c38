/**
 * Where a message or a comment was sent.
 *
 * API: Resources and their fields, Message.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { nullish, openEnum } from "./internal/client/wire.ts"
import { UserId } from "./User.ts"

/**
 * The id of a chat: a safe integer, negative for group chats and channels, positive for dialogs. A dialog's `chat_id`
 * is not its user's `user_id`, which is why the two are different types.
 *
 * **Example**
 *
 * ```ts
 * import { Chat } from "@colloquy/core"
 *
 * const team = Chat.ChatId.make(-70000000000001)
 * ```
 *
 * @category ids
 * @since 0.1.0
 */
export const ChatId = Schema.Int.pipe(Schema.brand("ChatId"))

/**
 * @category ids
 * @since 0.1.0
 */
export type ChatId = typeof ChatId.Type

/**
 * `chat` is a group chat. In calls of the comments group `channel` also denotes a comment to a post.
 *
 * @category models
 * @since 0.1.0
 */
export const ChatType = openEnum("chat", "channel", "dialog")

/**
 * @category models
 * @since 0.1.0
 */
export type ChatType = typeof ChatType.Type

/**
 * The id of a message, a post or a comment (`mid`). Opaque.
 *
 * @category ids
 * @since 0.1.0
 */
export const MessageId = Schema.String.pipe(Schema.brand("MessageId"))

/**
 * @category ids
 * @since 0.1.0
 */
export type MessageId = typeof MessageId.Type

/**
 * The recipient of a message. `user_id` stands in dialogs, `post_id` in comments.
 *
 * @category models
 * @since 0.1.0
 */
export const Recipient = Schema.Struct({
  chat_id: nullish(ChatId),
  chat_type: ChatType,
  user_id: nullish(UserId),
  post_id: nullish(MessageId)
})

/**
 * @category models
 * @since 0.1.0
 */
export interface Recipient extends Schema.Schema.Type<typeof Recipient> {}
