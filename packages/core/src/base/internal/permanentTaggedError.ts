import { mark, type PermanentError } from "../PermanentError.ts"
import { type Fields, TaggedError, type TaggedErrorClass } from "../TaggedError.ts"

/** The class that a permanent error extends. */
export interface PermanentErrorClass<Tag extends string, F extends Fields> extends Pick<
  TaggedErrorClass<Tag, F>,
  "tag" | "fields"
> {
  new (
    ...fields: ConstructorParameters<TaggedErrorClass<Tag, F>>
  ): InstanceType<TaggedErrorClass<Tag, F>> & PermanentError
}

/** Declares an error that would occur again with the same update. */
export const PermanentTaggedError = <const Tag extends string, F extends Fields = {}>(
  tag: Tag,
  fields?: () => F
): PermanentErrorClass<Tag, F> => {
  const error = TaggedError(tag, fields) as unknown as PermanentErrorClass<Tag, F> & { readonly prototype: object }
  mark(error.prototype)
  return error
}
