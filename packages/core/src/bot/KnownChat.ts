/**
 * The facts that a bot knows about a chat. `ChatStore` stores these facts.
 *
 * API: Events.
 *
 * @since 0.1.0
 */
import type * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { Millis } from "../base/internal/wire.ts"
import { Permission } from "../model/Member.ts"
import { ChatId, ChatType } from "../model/Recipient.ts"
import { User } from "../model/User.ts"

/**
 * The rights of the bot in a chat, according to the latest `bot_admin_permissions_changed`.
 *
 * @category models
 * @since 0.1.0
 */
export const Rights = Schema.Struct({ is_admin: Schema.Boolean, permissions: Schema.Array(Permission) })

/**
 * @category models
 * @since 0.1.0
 */
export interface Rights extends Schema.Schema.Type<typeof Rights> {}

/**
 * A chat that the bot knows. Facts that no update contained yet are absent, for example the title of a group whose
 * title never changed. `ChatStore.refresh` gets them from the platform.
 *
 * - `user` is the user of a dialog, without the times of their activity.
 * - `first_seen` and `last_seen` are the times of the first and the last update, in Unix milliseconds.
 *
 * @category models
 * @since 0.1.0
 */
export const KnownChat = Schema.Struct({
  chat_id: ChatId,
  type: Schema.optionalKey(ChatType),
  title: Schema.optionalKey(Schema.String),
  user: Schema.optionalKey(User),
  rights: Schema.optionalKey(Rights),
  first_seen: Millis,
  last_seen: Millis
})

/**
 * @category models
 * @since 0.1.0
 */
export interface KnownChat extends Schema.Schema.Type<typeof KnownChat> {}

/**
 * Selects chats. A chat matches if the chat fulfils every given condition.
 *
 * @category models
 * @since 0.1.0
 */
export interface Filter {
  /** The type of the chat. A chat whose type is not known yet does not match. Default: every type. */
  readonly type?: ChatType | undefined
  /** The time of the last update must not be earlier than this, in Unix milliseconds. Default: any time. */
  readonly activeSince?: number | undefined
}

/**
 * A page of chats.
 *
 * @category models
 * @since 0.1.0
 */
export interface Page {
  /** The chats in ascending order of their ids. */
  readonly chats: ReadonlyArray<KnownChat>
  /** The id after which the next page begins, or none if this is the last page. */
  readonly next: Option.Option<ChatId>
}
