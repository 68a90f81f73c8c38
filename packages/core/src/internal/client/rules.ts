import * as Schema from "effect/Schema"
import type * as ApiError from "../../ApiError.ts"
import { MessageId } from "../../Recipient.ts"

/** A text of `min` to `max` UTF-16 code units. */
export const text = (min: number, max: number): Schema.Codec<string, string> =>
  Schema.String.check(Schema.isBetweenLength(min, max, { message: `must be ${min} to ${max} characters` }))

/** A text of at most `max` UTF-16 code units. */
export const short = (max: number): Schema.Codec<string, string> =>
  Schema.String.check(
    Schema.makeFilter((text) => text.length <= max || `must be at most ${max} characters`, {
      toJsonSchema: () => ({ maxLength: max }),
      arbitraryConstraint: { maxLength: max }
    })
  )

/** A whole number from `min` to `max`. */
export const between = (min: number, max: number): Schema.Codec<number, number> =>
  Schema.Int.check(
    Schema.isBetween({ minimum: min, maximum: max }, { message: `must be a whole number from ${min} to ${max}` })
  )

/** The id of a message, a post or a comment. */
export const messageId = MessageId.check(Schema.isMinLength(1, { message: "must not be empty" }))

/** A whole number that is not negative. */
export const natural = Schema.Int.check(
  Schema.isGreaterThanOrEqualTo(0, { message: "must be a whole number, 0 or greater" })
)

/** A list of `min` to `max` elements. */
export const list = <A, I>(item: Schema.Codec<A, I>, min: number, max?: number) =>
  Schema.Array(item).check(
    Schema.makeFilter((items) =>
      items.length < min
        ? `must hold at least ${min}`
        : max !== undefined && items.length > max
          ? `must hold at most ${max}, holds ${items.length}`
          : undefined
    )
  )

/** A text with something in it besides blanks. */
export const notBlank = Schema.String.check(
  Schema.makeFilter((value) => value.trim().length > 0 || "must have at least one character that is not blank")
)

/** Exactly one of the keys must be given. */
export const exactlyOne =
  (...keys: ReadonlyArray<string>) =>
  (request: object): ApiError.FieldIssue | undefined => {
    const count = Object.entries(request).filter(([key, value]) => keys.includes(key) && value != null).length
    return count === 1
      ? undefined
      : {
          field: keys.join(", "),
          problem: `must be exactly one of these, ${count === 0 ? "none" : "more than one"} is given`
        }
  }
