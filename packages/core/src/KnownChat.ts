/**
 * What a bot remembers of a chat.
 *
 * API: Events.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { Millis } from "./internal/client/wire.ts"
import { Permission } from "./Member.ts"
import { ChatId, ChatType } from "./Recipient.ts"
import { User } from "./User.ts"

/**
 * What the bot may do in a chat, as the platform last said when somebody changed it.
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
 * A chat that the bot knows. What no update has told yet is absent: the type of a chat of which only a removed message
 * was seen, the title of a group that never changed it. `Chats.get`, through `ChatStore.refresh`, tells the rest.
 *
 * - `user` is the other side of a dialog, without the times of their activity.
 * - `first_seen` and `last_seen` are the times of the first and the last update, in milliseconds.
 * - `data` is what the program keeps with the chat, by name; `ChatData` reads and writes it.
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
  last_seen: Millis,
  data: Schema.Record(Schema.String, Schema.Json)
})

/**
 * @category models
 * @since 0.1.0
 */
export interface KnownChat extends Schema.Schema.Type<typeof KnownChat> {}
