/**
 * Commands: `/start`, `/remind 10 tea`, `/help@the_bot`.
 *
 * A message is a command when it begins with one. Capitals do not matter. With a username behind it the command is for
 * that bot alone: the bot's own name is asked for once, by `Me.get`, when the first such command comes. Edited messages
 * and comments are no commands unless asked for.
 *
 * @since 0.1.0
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import * as Transformation from "effect/SchemaTransformation"
import type * as ApiError from "./ApiError.ts"
import type { BotApi } from "./BotApi.ts"
import * as Handler from "./Handler.ts"
import { andHandle } from "./internal/handlers/andHandle.ts"
import { parse, split } from "./internal/handlers/commandText.ts"
import { fieldIssues } from "./internal/client/fieldIssues.ts"
import { isOwnName } from "./internal/handlers/ownName.ts"
import type * as Me from "./Me.ts"
import * as Update from "./Update.ts"

/**
 * A whole number, as it is written: `42`, `-7`.
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
 * A number, as it is written: `42`, `-7.5`.
 *
 * @category arguments
 * @since 0.1.0
 */
export const Number: Schema.Codec<number, string> = Schema.String.check(
  Schema.isPattern(/^[+-]?(\d+\.?\d*|\.\d+)$/, { message: "must be a number" })
).pipe(Schema.decodeTo(Schema.Finite, Transformation.numberFromString))

/**
 * One word: for the last argument, which takes all that is left unless its schema refuses.
 *
 * @category arguments
 * @since 0.1.0
 */
export const Word: Schema.Codec<string, string> = Schema.String.check(
  Schema.isPattern(/^\S+$/, { message: "must be one word" })
)

/**
 * All words that are left, each read by a schema: for the last argument.
 *
 * **Example**
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
 * The arguments of a command, by name and in order: each is a schema that reads a text. Those at the end may be
 * optional, by `Schema.optionalKey`.
 *
 * @category models
 * @since 0.1.0
 */
export type Arguments = Readonly<Record<string, Schema.ConstraintCodec<unknown, string, unknown, unknown>>>

/**
 * What a person gave a command does not fit its arguments. `message` says to them what is wrong and how it is used.
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidArguments extends Data.TaggedError("InvalidArguments")<{
  readonly command: string
  readonly usage: string
  readonly issues: ReadonlyArray<ApiError.FieldIssue>
  readonly update: Update.Of<Update.TextType>
}> {
  /** The same update would fail again: `Updates.run` does not try it again. */
  readonly isRetryable = false

  override get message() {
    const problems = this.issues.map(({ field, problem }) => `<${field}> ${problem}`).join(", ")
    return `${problems}. Usage: ${this.usage}`
  }
}

/**
 * What {@link make} takes besides the name: the `description` that the messenger shows beside the command, its
 * `arguments`, and the `types` of updates whose text may be a command, new messages unless told.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options<Args extends Arguments, Type extends Update.TextType> {
  readonly description?: string | undefined
  readonly arguments?: Args | undefined
  readonly types?: ReadonlyArray<Type> | undefined
}

/**
 * A command. `on` makes a handler of it, which has the arguments beside the update. `usage` is how it is written:
 * `/remind <minutes> <text>`.
 *
 * @category models
 * @since 0.1.0
 */
export interface Command<Args extends Arguments, Type extends Update.TextType> {
  readonly name: string
  readonly description: string | undefined
  readonly usage: string
  readonly on: <O extends Handler.Outcome>(
    handler: (update: Update.Of<Type>, args: Schema.Struct<Args>["Type"]) => O
  ) => Handler.Handler<
    Effect.Error<O> | ApiError.Common | ({} extends Args ? never : InvalidArguments),
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
 * A command by its name. Capitals and a slash before it do not matter.
 *
 * Blanks and line breaks stand between arguments. The last argument takes all that is left as it was written, line
 * breaks included, so `Schema.String` reads a whole text there; {@link Word}, {@link Integer}, {@link Number} and
 * {@link words} are more narrow, and any other schema of a text will do. A command without arguments does not mind what
 * follows.
 *
 * Errors: {@link InvalidArguments} where what was given does not fit. It holds the update, so one place can answer for
 * all commands.
 *
 * **Example**
 *
 * ```ts
 * import { Command, Handler, Messages } from "@colloquy/core"
 * import { Effect, Schema } from "effect"
 *
 * const remind = Command.make("remind", {
 *   description: "Reminds you in so many minutes",
 *   arguments: { minutes: Command.Integer, text: Schema.String }
 * })
 *
 * const bot = Handler.transform(
 *   remind.on((update, { minutes, text }) => Messages.reply(update, `In ${minutes} minutes: ${text}`)),
 *   Effect.catchTag("InvalidArguments", (error) => Messages.reply(error.update, error.message))
 * )
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = <const Args extends Arguments = {}, const Type extends Update.TextType = "message_created">(
  called: string,
  options: Options<Args, Type> = {}
): Command<Args, Type> => {
  const name = called.replace(/^\//, "").toLowerCase()
  const { arguments: args = {} as Args, types = ["message_created"] as unknown as ReadonlyArray<Type> } = options
  const keys = Object.keys(args)
  const usage = usageOf(name, args)
  const decode = Schema.decodeUnknownEffect(Schema.Struct(args), { errors: "all" })
  const read = (update: Update.Of<Type>, text: string) =>
    Effect.mapError(
      decode(split(keys, text)),
      ({ issue }) => new InvalidArguments({ command: name, usage, issues: fieldIssues(issue), update })
    )
  return {
    name,
    description: options.description,
    usage,
    on: (handler) =>
      Handler.on(types, (update) => {
        const said = parse(Update.textOf(update) ?? "")
        if (said?.name !== name) return undefined
        const work = andHandle(read(update, said.rest), (args) => handler(update, args))
        if (said.mention === undefined) return work
        return Effect.flatMap(isOwnName(said.mention), (isOwn) => (isOwn ? work : Handler.unhandled))
      }) as never
  }
}

/**
 * Commands as `Me.setCommands` takes them, so that the messenger offers them.
 *
 * **Example**
 *
 * ```ts
 * import { Command, Me } from "@colloquy/core"
 *
 * const help = Command.make("help", { description: "What this bot can do" })
 *
 * const offered = Me.setCommands({ commands: Command.menu(help) })
 * ```
 *
 * API: Endpoints, Other operations (PATCH /me/commands).
 *
 * @category getters
 * @since 0.1.0
 */
export const menu = (
  ...commands: ReadonlyArray<Pick<Command<Arguments, Update.TextType>, "name" | "description">>
): ReadonlyArray<Me.NewCommand> => commands.map(({ description, name }) => ({ name, description }))
