/**
 * The markup of a received text.
 *
 * API: Resources and their fields, Attachment and MarkupElement.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { nullish, openList, openUnion } from "./internal/client/wire.ts"
import { UserId } from "./User.ts"

const span = { from: Schema.Int, length: Schema.Int }

const plain = <const Kind extends string>(type: Kind) => Schema.Struct({ type: Schema.tag(type), ...span })

const kinds = {
  strong: plain("strong"),
  emphasized: plain("emphasized"),
  strikethrough: plain("strikethrough"),
  underline: plain("underline"),
  monospaced: plain("monospaced"),
  highlighted: plain("highlighted"),
  quote: plain("quote"),
  heading: plain("heading"),
  link: Schema.Struct({ type: Schema.tag("link"), ...span, url: nullish(Schema.String) }),
  user_mention: Schema.Struct({
    type: Schema.tag("user_mention"),
    ...span,
    user_link: nullish(Schema.String),
    user_id: nullish(UserId)
  })
}

/**
 * One element of markup: `from` and `length` count UTF-16 code units, as JavaScript's string indices do. A kind that
 * this version does not know arrives as `{ type: "unknown", raw }`.
 *
 * @assumption markupTypes
 * @assumption markupUnits
 * @category models
 * @since 0.1.0
 */
export const MarkupElement = openUnion("type", kinds)

/**
 * @category models
 * @since 0.1.0
 */
export type MarkupElement = typeof MarkupElement.Type

/**
 * The markup of a text.
 *
 * @category models
 * @since 0.1.0
 */
export const MarkupElements = openList("type", kinds)
