/**
 * Handlers of commands: `/start`, `/remind 10 tea`, `/help@the_bot`.
 *
 * @since 0.1.0
 */
import { downcast } from "../base/internal/downcast.ts"
import { toEffect } from "../inbox/internal/handlers/toEffect.ts"
import type * as ApiError from "../client/ApiError.ts"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import * as Transformation from "effect/SchemaTransformation"
import type { BotApi } from "../client/BotApi.ts"
import * as Handler from "../inbox/Handler.ts"
import { onTypes } from "../inbox/internal/handlers/onTypes.ts"
import { startedBy } from "../inbox/internal/handlers/parts.ts"
import * as FieldIssue from "../base/FieldIssue.ts"
import { isBotUsername, splitArguments } from "./internal/handlers/command.ts"
import { parse } from "../model/internal/text/command.ts"
import { PermanentTaggedError } from "../base/internal/permanentTaggedError.ts"
import * as Update from "../model/Update.ts"

/**
 * An integer in decimal digits: `42`, `-7`.
 *
 * @category arguments
 * @since 0.1.0
 */
export const Integer: Schema.Codec<number, string> = Schema.String.check(
  Schema.isPattern(/^[+-]?\d+$/, { message: "must be a whole number" })
).pipe(
  Schema.decodeTo(
    Schema.Number.check(Schema.isInt({ message: "must be a whole number of at most 9007199254740991" })),
    Transformation.numberFromString
  )
)

/**
 * A decimal number: `42`, `-7.5`.
 *
 * @category arguments
 * @since 0.1.0
 */
export const Number: Schema.Codec<number, string> = Schema.String.check(
  Schema.isPattern(/^[+-]?(\d+\.?\d*|\.\d+)$/, { message: "must be a number" })
).pipe(Schema.decodeTo(Schema.Finite, Transformation.numberFromString))

/**
 * A single word. Use `Word` for the last argument, which otherwise receives the rest of the text.
 *
 * @category arguments
 * @since 0.1.0
 */
export const Word: Schema.Codec<string, string> = Schema.String.check(
  Schema.isPattern(/^\S+$/, { message: "must be one word" })
)

/**
 * The words of the rest of the text, each decoded by a schema. Use `words` for the last argument.
 *
 * **Example** (A list of numbers)
 *
 * ```ts
 * import { Command } from "@colloquy/core"
 *
 * const sum = Command.make("sum", { arguments: { numbers: Command.words(Command.Number) } })
 * sum.usage // => "/sum <numbers>"
 * ```
 *
 * @category arguments
 * @since 0.1.0
 */
export const words = <A, RD, RE>(
  word: Schema.Codec<A, string, RD, RE>
): Schema.Codec<ReadonlyArray<A>, string, RD, RE> =>
  Schema.String.pipe(
    Schema.decodeTo(
      Schema.Array(word),
      Transformation.transform({
        decode: (text: string): ReadonlyArray<string> => text.split(/\s+/).filter((part) => part !== ""),
        encode: (parts) => parts.join(" ")
      })
    )
  )

/**
 * The schemas of the arguments of a command, by name and in order. Each one decodes a string. The last arguments may be
 * optional, by `Schema.optionalKey`.
 *
 * @category models
 * @since 0.1.0
 */
export type Arguments = Readonly<Record<string, Schema.ConstraintCodec<unknown, string, unknown, unknown>>>

/**
 * The text after a command cannot be decoded as its arguments. `message` is written for the user who sent the command:
 * it names each wrong argument and the usage of the command.
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidArguments extends PermanentTaggedError("InvalidArguments", () => ({
  /** The name of the command, without the slash. */
  command: Schema.String,
  /** How to write the command: `/remind <minutes> <text>`. */
  usage: Schema.String,
  /** Each wrong argument with its problem. */
  issues: Schema.Array(FieldIssue.FieldIssue),
  /** The update with the command, so that the handler of this error can reply to it. */
  update: Update.Update as Schema.Codec<Update.Of<Update.TextType>, unknown>
})) {
  override get message() {
    const problems = this.issues.map(({ field, problem }) => `<${field}> ${problem}`).join(", ")
    return `${problems}. Usage: ${this.usage}`
  }
}

/**
 * The options of {@link make}.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options<Args extends Arguments, Type extends Update.TextType> {
  /** The description that the messenger shows beside the command. Default: none. */
  readonly description?: string | undefined
  /** The schemas of the arguments. Default: none, and the text after the command is ignored. */
  readonly arguments?: Args | undefined
  /** The types of the updates whose text may be a command. Default: `["message_created"]`. */
  readonly types?: ReadonlyArray<Type> | undefined
}

type ArgumentsError<Args extends Arguments> = {} extends Args ? never : InvalidArguments

/**
 * A command.
 *
 * @category models
 * @since 0.1.0
 */
export interface Command<Args extends Arguments, Type extends Update.TextType> {
  /** The name in lower case, without the slash. */
  readonly name: string
  /** The description that the messenger shows beside the command. */
  readonly description: string | undefined
  /** How to write the command: `/remind <minutes> [text]`. Optional arguments are in square brackets. */
  readonly usage: string
  /**
   * Handles this command. The handler receives the update and the decoded arguments. Fails with
   * {@link InvalidArguments}, and with the errors of `Me.get` when the handler has to read the username of the bot.
   */
  readonly on: <O extends Handler.Return>(
    handler: (update: Update.Of<Type>, args: Schema.Struct<Args>["Type"]) => O
  ) => Handler.Handler<
    Handler.ReturnError<O> | ApiError.Common | ArgumentsError<Args>,
    Effect.Services<O> | BotApi | Schema.Struct<Args>["DecodingServices"]
  >
}

const usageOf = (name: string, args: Arguments): string =>
  [
    `/${name}`,
    ...Object.entries(args).map(([key, schema]) =>
      SchemaAST.isOptional(SchemaAST.toEncoded(schema.ast)) ? `[${key}]` : `<${key}>`
    )
  ].join(" ")

/**
 * Creates a command from its name. The case of the name and a leading slash are ignored.
 *
 * A text is a command if it begins with `/` and the name. `/help@the_bot` is a command of the bot with that username
 * only: the handler calls `Me.get` for the username of the bot when the first such command arrives, and does not take
 * the commands of other bots. Edited messages and comments are not commands unless `types` contains their types.
 *
 * Arguments are separated by whitespace. The last argument receives the rest of the text unchanged, line breaks
 * included, so `Schema.String` is a free text there. If the schemas do not accept this text, they receive the text
 * without the whitespace at its end. {@link Word}, {@link Integer}, {@link Number} and {@link words} accept less, and
 * so does any other schema that decodes a string.
 *
 * Errors: {@link InvalidArguments} if the arguments cannot be decoded. The error has the update, so one handler of the
 * error can reply for all commands.
 *
 * **Example** (A command with arguments)
 *
 * ```ts
 * import { Command, Handler, Messages } from "@colloquy/core"
 * import { Effect, Schema } from "effect"
 *
 * const remind = Command.make("remind", {
 *   description: "Sends a reminder",
 *   arguments: { minutes: Command.Integer, text: Schema.String }
 * })
 *
 * const bot = Handler.transform(
 *   remind.on((update, { minutes, text }) => Messages.reply(update, `In ${minutes} minutes: ${text}`)),
 *   Effect.catchTag("InvalidArguments", (error) => Messages.reply(error.update, error.message))
 * )
 * ```
 *
 * API: Events.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = <const Args extends Arguments = {}, const Type extends Update.TextType = "message_created">(
  name: string,
  options: Options<Args, Type> = {}
): Command<Args, Type> => {
  const command = name.replace(/^\//, "").toLowerCase()
  const { arguments: args = {} as Args, types = ["message_created"] as unknown as ReadonlyArray<Type> } = options
  const keys = Object.keys(args)
  const usage = usageOf(command, args)
  const decode = Schema.decodeUnknownEffect(Schema.Struct(args), { errors: "all" })
  const decodeText = (text: string) => decode(splitArguments(keys, text))
  const decodeArguments = (
    update: Update.Of<Type>,
    text: string
  ): Effect.Effect<Schema.Struct<Args>["Type"], ArgumentsError<Args>, Schema.Struct<Args>["DecodingServices"]> =>
    downcast(
      Effect.mapError(
        // Keyboards of phones add a space after a word, which most schemas do not accept.
        text === text.trimEnd() ? decodeText(text) : Effect.catch(decodeText(text), () => decodeText(text.trimEnd())),
        ({ issue }) => new InvalidArguments({ command, usage, issues: FieldIssue.fromSchemaIssue(issue), update })
      )
    )
  const part = { kind: "command", name: command, description: options.description, definition: {} } as const
  return {
    name: command,
    description: options.description,
    usage,
    on: (handler) =>
      onTypes(
        types,
        (update) => {
          const parsed = parse(Update.textOf(update) ?? "")
          if (parsed?.name !== command) return undefined
          const handled = Effect.flatMap(decodeArguments(update, parsed.rest), (args) =>
            toEffect(handler(update, args))
          )
          if (parsed.username === undefined) return handled
          return Effect.flatMap(isBotUsername(parsed.username), (isOwn) => (isOwn ? handled : Handler.notHandled))
        },
        { ...part, starts: startedBy(handler, `the command "${command}"`) }
      )
  }
}
