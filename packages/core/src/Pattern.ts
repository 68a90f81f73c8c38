/**
 * Patterns of texts: a text itself, or a regular expression whose groups may be read by schemas.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Handler from "./Handler.ts"
import * as Update from "./Update.ts"

/**
 * The schemas of named groups, by name: each reads a text. A group that need not take part is `Schema.optionalKey`.
 *
 * @category models
 * @since 0.1.0
 */
export type Groups = Readonly<Record<string, Schema.ConstraintCodec<unknown, string>>>

/**
 * What {@link make} takes besides the pattern: the `types` of updates whose text is looked at, new messages unless told.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options<Type extends Update.TextType> {
  readonly types?: ReadonlyArray<Type> | undefined
}

/**
 * A pattern. `match` looks at a text; `on` makes a handler, which has what was matched beside the update.
 *
 * @category models
 * @since 0.1.0
 */
export interface Pattern<A, Type extends Update.TextType> {
  readonly match: (text: string) => Option.Option<A>
  readonly on: <O extends Handler.Outcome>(
    handler: (update: Update.Of<Type>, matched: A) => O
  ) => Handler.Handler<Effect.Error<O>, Effect.Services<O>>
}

const same = (pattern: string) => (text: string) =>
  text.trim() === pattern.trim() ? Option.some(text.trim()) : Option.none()

const exec = (pattern: RegExp) => (text: string) => {
  // A global or sticky expression goes on where it stopped in the text before.
  pattern.lastIndex = 0
  return Option.fromNullOr(pattern.exec(text))
}

const readGroups = (pattern: RegExp, groups: Groups) => {
  const read = Schema.decodeUnknownOption(Schema.Struct(groups))
  const taking = ({ groups = {} }: RegExpExecArray) =>
    Object.fromEntries(Object.entries(groups).filter(([, text]) => text !== undefined))
  return (text: string) => Option.flatMap(exec(pattern)(text), (found) => read(taking(found)))
}

/**
 * A pattern of texts. A string matches the text that is the same, blanks around it aside. A regular expression matches
 * where it is found, and gives what `RegExp.exec` gives; with `groups` it gives the named groups, read by their schemas,
 * and a text whose groups cannot be read does not match.
 *
 * **Example**
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
  const find =
    typeof pattern === "string" ? same(pattern) : groups === undefined ? exec(pattern) : readGroups(pattern, groups)
  const match = find as (text: string) => Option.Option<A>
  const self: Pattern<A, Type> = {
    match,
    on: (handler) =>
      Handler.on(types as ReadonlyArray<Type>, (update) =>
        Option.fromUndefinedOr(Update.textOf(update)).pipe(
          Option.flatMap(match),
          Option.map((matched) => handler(update, matched)),
          Option.getOrUndefined
        )
      )
  }
  return self as never
}
