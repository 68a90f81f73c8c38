/**
 * The recipient of a message or a comment.
 *
 * API: Resources and their fields, Message.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { nullish, openEnum } from "../base/internal/wire.ts"
import { UserId } from "./User.ts"

/**
 * The id of a chat: a safe integer, negative for group chats and channels, positive for dialogs. The `chat_id` of a
 * dialog is not the `user_id` of its user, so the two have different types.
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
 * The type of a chat. `chat` is a group chat. In calls for comments, `channel` also denotes a comment on a post.
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
 * The opaque id of a message, a post or a comment (`mid`).
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
 * The recipient of a message. Only dialogs have a `user_id`, and only comments have a `post_id`.
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
