import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { once } from "../../../base/internal/once.ts"

/** Writes the results of a step, and reads them. */
interface ResultCodec<Stored> {
  readonly encode: (value: unknown) => Effect.Effect<Stored, Schema.SchemaError>
  readonly decode: (stored: unknown) => Effect.Effect<unknown, Schema.SchemaError>
}

type StepSchema = Schema.Codec<unknown, unknown>

const make = <Stored>(schema: Schema.Codec<unknown, Stored>): ResultCodec<Stored> => ({
  encode: Schema.encodeEffect(schema),
  decode: Schema.decodeUnknownEffect(schema)
})

/** Stores the results of a schema as JSON. Steps run often, so each schema has one codec. */
export const jsonCodecOf = once((schema: StepSchema) => make(Schema.toCodecJson(schema)))

/** Stores the results of a schema as JSON text. */
export const textCodecOf = once((schema: StepSchema) => make(Schema.fromJsonString(Schema.toCodecJson(schema))))
