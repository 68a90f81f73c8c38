/**
 * Errors that are declared once: a class whose fields are schemas. `ErrorSchema.of` returns the codec of the class.
 *
 * The errors are no `Schema.TaggedError`, because a bundle that sends a message has 2.1 kB more with the classes of Effect and
 * 0.7 kB more with these classes (minified and gzipped), compared with errors without schemas. The schemas of the fields are
 * created when `ErrorSchema.of` reads them, and the constructor does not check the fields.
 *
 * @since 0.1.0
 */
import type * as Cause from "effect/Cause"
import * as Data from "effect/Data"
import * as Schema from "effect/Schema"

/**
 * The fields of an error, as `Schema.Struct` has them.
 *
 * @category models
 * @since 0.1.0
 */
export type Fields = Schema.Struct.Fields

/**
 * The class that an error extends.
 *
 * @category models
 * @since 0.1.0
 */
export interface TaggedErrorClass<Tag extends string, F extends Fields> {
  new (
    ...fields: {} extends Schema.Struct.Type<F> ? [fields?: Schema.Struct.Type<F>] : [fields: Schema.Struct.Type<F>]
  ): Cause.YieldableError & { readonly _tag: Tag } & Schema.Struct.Type<F>
  /** The tag of the error. */
  readonly tag: Tag
  /** Returns the schemas of the fields. */
  readonly fields: () => F
}

/**
 * Any class of an error that is declared with {@link TaggedError}.
 *
 * @category models
 * @since 0.1.0
 */
export interface AnyClass<E> {
  new (fields: never): E
  /** The tag of the error. */
  readonly tag: string
  /** Returns the schemas of the fields. */
  readonly fields: () => Fields
}

/**
 * Declares an error. `ErrorSchema.of` calls `fields`.
 *
 * **Example**
 *
 * ```ts
 * import { TaggedError } from "@colloquy/core/base/TaggedError"
 * import { Schema } from "effect"
 *
 * class OutOfStock extends TaggedError("OutOfStock", () => ({ product: Schema.String })) {
 *   override get message() {
 *     return `${this.product} is out of stock.`
 *   }
 * }
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const TaggedError = <const Tag extends string, F extends Fields = {}>(
  tag: Tag,
  fields: () => F = () => ({}) as F
): TaggedErrorClass<Tag, F> => Object.assign(Data.TaggedError(tag), { tag, fields }) as TaggedErrorClass<Tag, F>

/**
 * A field with one of several errors.
 *
 * @category schemas
 * @since 0.1.0
 */
export const oneOf = <E>(...errors: ReadonlyArray<AnyClass<E>>): Schema.declare<E> =>
  Schema.declare((u): u is E => errors.some((error) => u instanceof error), { errors })
