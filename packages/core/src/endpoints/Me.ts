/**
 * Reads the bot itself and sets its commands.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { BotCommand, BotInfo } from "../model/User.ts"
import * as Endpoint from "../client/Endpoint.ts"
import * as rules from "../base/internal/rules.ts"
import { nullish, optional } from "../base/internal/wire.ts"
import * as Platform from "../base/Platform.ts"

/**
 * Returns the bot: its id, its name and its commands. A success proves that the token is valid.
 *
 * Fails with `Unauthorized` if the token is wrong.
 *
 * **Example**
 *
 * ```ts
 * import { Me } from "@colloquy/core"
 * import { Effect } from "effect"
 *
 * const name = Me.get().pipe(Effect.map((me) => me.first_name))
 * ```
 *
 * API: Endpoints, Other operations (GET /me).
 *
 * @category endpoints
 * @since 0.1.0
 */
export const get: Endpoint.Endpoint<void, BotInfo> = Endpoint.make("Me.get", () => ({
  method: "GET",
  path: "/me",
  success: BotInfo,
  errors: []
}))

/**
 * A command to set: a name of 1 to 64 characters and a description of 1 to 128 characters.
 *
 * @category models
 * @since 0.1.0
 */
export const NewCommand = Schema.Struct({
  name: rules.text(1, Platform.maxCommandNameLength),
  description: optional(rules.text(1, Platform.maxCommandDescriptionLength))
})

/**
 * @category models
 * @since 0.1.0
 */
export interface NewCommand extends Schema.Schema.Type<typeof NewCommand> {}

/**
 * The commands of the bot.
 *
 * @category models
 * @since 0.1.0
 */
export const CommandsResult = Schema.Struct({ commands: nullish(Schema.Array(BotCommand)) })

/**
 * @category models
 * @since 0.1.0
 */
export interface CommandsResult extends Schema.Schema.Type<typeof CommandsResult> {}

/**
 * Sets the commands that the messenger offers, at most 32. The commands replace all previous commands; an empty array
 * removes all commands. Returns the commands.
 *
 * **Example**
 *
 * ```ts
 * import { Me } from "@colloquy/core"
 *
 * const set = Me.setCommands({ commands: [{ name: "help", description: "What this bot can do" }] })
 * ```
 *
 * API: Endpoints, Other operations (PATCH /me/commands).
 *
 * @assumption setCommands
 * @category endpoints
 * @since 0.1.0
 */
export const setCommands: Endpoint.Endpoint<{ readonly commands: ReadonlyArray<NewCommand> }, CommandsResult> =
  Endpoint.make("Me.setCommands", () => ({
    method: "PATCH",
    path: "/me/commands",
    body: { commands: rules.list(NewCommand, 0, Platform.maxCommands) },
    success: CommandsResult,
    errors: []
  }))
