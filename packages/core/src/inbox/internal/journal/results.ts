import { memoize } from "effect/Function"
import * as Schema from "effect/Schema"

type StepSchema = Schema.Codec<unknown, unknown>

/** Writes the results of a step, and reads them. */
const make = <Stored>(schema: Schema.Codec<unknown, Stored>) => ({
  encode: Schema.encodeEffect(schema),
  decode: Schema.decodeUnknownEffect(schema)
})

/** Stores the results of a schema as JSON. Steps run often, so each schema has one codec. */
export const jsonCodecOf = memoize((schema: StepSchema) => make(Schema.toCodecJson(schema)))

/** Stores the results of a schema as JSON text. */
export const textCodecOf = memoize((schema: StepSchema) => make(Schema.fromJsonString(Schema.toCodecJson(schema))))
