/**
 * Users and bots.
 *
 * API: Resources and their fields, User (sender) and UserWithPhoto.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { Millis, nullish } from "../base/internal/wire.ts"

/**
 * The id of a user or a bot: a safe integer. An id beyond 2^53 fails to decode, and is never rounded to another id.
 *
 * **Example**
 *
 * ```ts
 * import { User } from "@colloquy/core"
 *
 * const ann = User.UserId.make(123456789)
 * ```
 *
 * @category ids
 * @since 0.1.0
 */
export const UserId = Schema.Int.pipe(Schema.brand("UserId"))

/**
 * @category ids
 * @since 0.1.0
 */
export type UserId = typeof UserId.Type

const fields = {
  user_id: UserId,
  first_name: Schema.String,
  last_name: nullish(Schema.String),
  username: nullish(Schema.String),
  is_bot: Schema.Boolean,
  last_activity_time: nullish(Millis),
  name: nullish(Schema.String)
}

/**
 * A user or a bot, as the sender of a message. The platform deprecates `name`.
 *
 * @category models
 * @since 0.1.0
 */
export const User = Schema.Struct(fields)

/**
 * @category models
 * @since 0.1.0
 */
export interface User extends Schema.Schema.Type<typeof User> {}

const withPhotoFields = {
  ...fields,
  description: nullish(Schema.String),
  avatar_url: nullish(Schema.String),
  full_avatar_url: nullish(Schema.String)
}

/**
 * A user with a description and an avatar.
 *
 * @category models
 * @since 0.1.0
 */
export const UserWithPhoto = Schema.Struct(withPhotoFields)

/**
 * @category models
 * @since 0.1.0
 */
export interface UserWithPhoto extends Schema.Schema.Type<typeof UserWithPhoto> {}

/**
 * A command that the messenger offers to users.
 *
 * @category models
 * @since 0.1.0
 */
export const BotCommand = Schema.Struct({ name: Schema.String, description: nullish(Schema.String) })

/**
 * @category models
 * @since 0.1.0
 */
export interface BotCommand extends Schema.Schema.Type<typeof BotCommand> {}

/**
 * The bot, with its commands.
 *
 * @assumption botInfo
 * @category models
 * @since 0.1.0
 */
export const BotInfo = Schema.Struct({ ...withPhotoFields, commands: nullish(Schema.Array(BotCommand)) })

/**
 * @category models
 * @since 0.1.0
 */
export interface BotInfo extends Schema.Schema.Type<typeof BotInfo> {}
