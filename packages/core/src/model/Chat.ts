/**
 * Group chats, channels and dialogs.
 *
 * API: Resources and their fields, Chat; States and transitions.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { Millis, nullish, openEnum } from "../base/internal/wire.ts"
import { Message } from "./Message.ts"
import { ChatId, ChatType } from "./Recipient.ts"
import { UserId, UserWithPhoto } from "./User.ts"

export { ChatId, ChatType }

/**
 * The status of the bot in a chat, or any other string that the platform may add.
 *
 * - `active`: the bot is a participant.
 * - `removed`: the bot was removed.
 * - `left`: the bot left.
 * - `closed`: the chat was closed.
 * - `suspended`: the user stopped the dialog.
 *
 * @assumption suspendedStatus
 * @category models
 * @since 0.1.0
 */
export const ChatStatus = openEnum("active", "removed", "left", "closed", "suspended")

/**
 * @category models
 * @since 0.1.0
 */
export type ChatStatus = typeof ChatStatus.Type

/**
 * An image by its address.
 *
 * @category models
 * @since 0.1.0
 */
export const Image = Schema.Struct({ url: Schema.String })

/**
 * @category models
 * @since 0.1.0
 */
export interface Image extends Schema.Schema.Type<typeof Image> {}

/**
 * A group chat, a channel or a dialog. `participants` maps user ids to the time of their last activity in the chat.
 * Only a request of one chat returns `pinned_message`.
 *
 * @category models
 * @since 0.1.0
 */
export const Chat = Schema.Struct({
  chat_id: ChatId,
  type: ChatType,
  status: ChatStatus,
  title: nullish(Schema.String),
  icon: nullish(Image),
  last_event_time: Millis,
  participants_count: Schema.Int,
  owner_id: nullish(UserId),
  participants: nullish(Schema.Record(Schema.String, Millis)),
  is_public: Schema.Boolean,
  link: nullish(Schema.String),
  description: nullish(Schema.String),
  dialog_with_user: nullish(UserWithPhoto),
  messages_count: nullish(Schema.Int),
  pinned_message: nullish(Message)
})

/**
 * @category models
 * @since 0.1.0
 */
export interface Chat extends Schema.Schema.Type<typeof Chat> {}
