/**
 * The markup of received texts.
 *
 * API: Resources and their fields, Attachment and MarkupElement.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { lazily, nullish, openList, openUnion } from "../base/internal/wire.ts"
import { UserId } from "./User.ts"

/**
 * A type of markup, by its name on the wire.
 *
 * API: Resources and their fields, MarkupElement.
 *
 * @category models
 * @since 0.1.0
 */
export type MarkupType =
  | "strong"
  | "emphasized"
  | "strikethrough"
  | "underline"
  | "monospaced"
  | "highlighted"
  | "quote"
  | "heading"
  | "link"
  | "user_mention"

/**
 * The formatting of a range of a `Text`.
 *
 * @category models
 * @since 0.1.0
 */
export interface Span {
  /** The type of the formatting. */
  readonly type: MarkupType
  /** Index of the first UTF-16 code unit. */
  readonly from: number
  /** Index after the last UTF-16 code unit. */
  readonly to: number
  /** The URL of a link or a mention. */
  readonly url?: string
  /** The ID of the mentioned user. */
  readonly user_id?: number
}

const range = { from: Schema.Int, length: Schema.Int }

const plain = <const Type extends MarkupType>(type: Type) => Schema.Struct({ type: Schema.tag(type), ...range })

const types = lazily({
  strong: () => plain("strong"),
  emphasized: () => plain("emphasized"),
  strikethrough: () => plain("strikethrough"),
  underline: () => plain("underline"),
  monospaced: () => plain("monospaced"),
  highlighted: () => plain("highlighted"),
  quote: () => plain("quote"),
  heading: () => plain("heading"),
  link: () => Schema.Struct({ type: Schema.tag("link"), ...range, url: nullish(Schema.String) }),
  user_mention: () =>
    Schema.Struct({
      type: Schema.tag("user_mention"),
      ...range,
      user_link: nullish(Schema.String),
      user_id: nullish(UserId)
    })
})

/**
 * An element of markup. `from` and `length` count UTF-16 code units, as the indices of JavaScript strings do. An
 * unknown type is decoded as `{ type: "unknown", raw }`.
 *
 * API: Resources and their fields, MarkupElement.
 *
 * @assumption markupTypes
 * @assumption markupUnits
 * @category models
 * @since 0.1.0
 */
export const MarkupElement = openUnion("type", () => types)

/**
 * @category models
 * @since 0.1.0
 */
export type MarkupElement = typeof MarkupElement.Type

/**
 * The markup of a text.
 *
 * API: Resources and their fields, MessageBody.
 *
 * @category models
 * @since 0.1.0
 */
export const MarkupElements = openList("type", () => types)
