import * as Schema from "effect/Schema"

/** A field that may be left out, and where null is absence. */
export const maybe = <S extends Schema.Top>(schema: S) => Schema.optional(Schema.NullOr(schema))
