/**
 * Members of a chat and their rights.
 *
 * API: Endpoints, Other operations; the administrator rights.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { Millis, nullish, openEnum, optional } from "../base/internal/wire.ts"
import { UserId, UserWithPhoto } from "./User.ts"

/**
 * The known rights of administrators.
 *
 * @assumption permissions
 * @category models
 * @since 0.1.0
 */
export const permissions = [
  "read_all_messages",
  "add_remove_members",
  "add_admins",
  "change_chat_info",
  "pin_message",
  "edit_link",
  "write",
  "edit",
  "delete",
  "can_call",
  "view_stats"
] as const

/**
 * A right of an administrator: a known right, or any other string that the platform may add.
 *
 * @category models
 * @since 0.1.0
 */
export const Permission = openEnum(...permissions)

/**
 * @category models
 * @since 0.1.0
 */
export type Permission = typeof Permission.Type

/**
 * A member of a chat. Only administrators have `permissions`.
 *
 * @category models
 * @since 0.1.0
 */
export const ChatMember = Schema.Struct({
  ...UserWithPhoto.fields,
  last_access_time: nullish(Millis),
  is_owner: nullish(Schema.Boolean),
  is_admin: nullish(Schema.Boolean),
  join_time: nullish(Millis),
  permissions: nullish(Schema.Array(Permission)),
  alias: nullish(Schema.String)
})

/**
 * @category models
 * @since 0.1.0
 */
export interface ChatMember extends Schema.Schema.Type<typeof ChatMember> {}

/**
 * An administrator to appoint: the user, their rights, and the alias that is shown beside their name.
 *
 * @category models
 * @since 0.1.0
 */
export const ChatAdmin = Schema.Struct({
  user_id: UserId,
  permissions: Schema.Array(Permission),
  alias: optional(Schema.String)
})

/**
 * @category models
 * @since 0.1.0
 */
export interface ChatAdmin extends Schema.Schema.Type<typeof ChatAdmin> {}
