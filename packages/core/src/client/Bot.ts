/**
 * The bot itself and its commands.
 *
 * API: Endpoints, Other operations.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { nullish } from "../base/internal/wire.ts"
import { withPhotoFields } from "../model/User.ts"

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
