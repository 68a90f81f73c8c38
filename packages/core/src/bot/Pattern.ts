/**
 * Handlers of texts that match a string or a regular expression.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as Handler from "../inbox/Handler.ts"
import { onTypes } from "../inbox/internal/handlers/onTypes.ts"
import * as Update from "../model/Update.ts"

/**
 * The schemas of the named groups of a regular expression, by name. Each one decodes a string. A group that may be
 * missing from a match is `Schema.optionalKey`.
 *
 * @category models
 * @since 0.1.0
 */
export type Groups = Readonly<Record<string, Schema.ConstraintCodec<unknown, string>>>

/**
 * The options of {@link make}.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options<Type extends Update.TextType> {
  /** The types of the updates whose text is matched. Default: `["message_created"]`. */
  readonly types?: ReadonlyArray<Type> | undefined
}

/**
 * A pattern of texts. `A` is the type of a match.
 *
 * @category models
 * @since 0.1.0
 */
export interface Pattern<A, Type extends Update.TextType> {
  /** Returns the match of a text, or `undefined` if the text does not match. */
  readonly match: (text: string) => A | undefined
  /** Handles updates whose text matches. The handler receives the update and the match. */
  readonly on: <O extends Handler.Return>(
    handler: (update: Update.Of<Type>, matched: A) => O
  ) => Handler.Handler<Handler.ReturnError<O>, Effect.Services<O>>
}

const matchString = (pattern: string) => (text: string) => (text.trim() === pattern.trim() ? text.trim() : undefined)

const matchRegExp = (pattern: RegExp) => (text: string) => {
  // A global or sticky expression would continue where the match of the text before ended.
  pattern.lastIndex = 0
  return pattern.exec(text) ?? undefined
}

const matchGroups = (pattern: RegExp, groups: Groups) => {
  const match = matchRegExp(pattern)
  const decode = Schema.decodeUnknownOption(Schema.Struct(groups))
  const presentGroups = ({ groups = {} }: RegExpExecArray) =>
    Object.fromEntries(Object.entries(groups).filter(([, text]) => text !== undefined))
  return (text: string) => {
    const found = match(text)
    return found && Option.getOrUndefined(decode(presentGroups(found)))
  }
}

/**
 * Creates a pattern of texts.
 *
 * - A string matches the same text. Whitespace around the text is ignored.
 * - A regular expression matches where `RegExp.exec` finds a match. The match is the result of `RegExp.exec`.
 * - With `groups`, the match is the named groups of the regular expression, decoded by their schemas. A text whose groups
 *   cannot be decoded does not match.
 *
 * An update without a text does not match.
 *
 * **Example** (A regular expression, and a regular expression with groups)
 *
 * ```ts
 * import { Command, Messages, Pattern } from "@colloquy/core"
 *
 * const thanks = Pattern.make(/\bthank(s| you)\b/i).on((update) => Messages.reply(update, "You are welcome"))
 *
 * const add = Pattern.make(/^(?<a>\d+) ?\+ ?(?<b>\d+)$/, { groups: { a: Command.Integer, b: Command.Integer } }).on(
 *   (update, { a, b }) => Messages.reply(update, String(a + b))
 * )
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make: {
  <const G extends Groups, const Type extends Update.TextType = "message_created">(
    pattern: RegExp,
    options: Options<Type> & { readonly groups: G }
  ): Pattern<Schema.Struct<G>["Type"], Type>
  <const Type extends Update.TextType = "message_created">(
    pattern: RegExp,
    options?: Options<Type>
  ): Pattern<RegExpExecArray, Type>
  <const Type extends Update.TextType = "message_created">(
    pattern: string,
    options?: Options<Type>
  ): Pattern<string, Type>
} = <A, Type extends Update.TextType>(
  pattern: RegExp | string,
  { groups, types = ["message_created"] }: Options<Update.TextType> & { readonly groups?: Groups | undefined } = {}
) => {
  const matcher =
    typeof pattern === "string"
      ? matchString(pattern)
      : groups === undefined
        ? matchRegExp(pattern)
        : matchGroups(pattern, groups)
  const match = matcher as (text: string) => A | undefined
  const self: Pattern<A, Type> = {
    match,
    on: (handler) =>
      onTypes(types as ReadonlyArray<Type>, (update) => {
        const text = Update.textOf(update)
        const matched = text === undefined ? undefined : match(text)
        return matched === undefined ? undefined : handler(update, matched)
      })
  }
  return self as never
}
