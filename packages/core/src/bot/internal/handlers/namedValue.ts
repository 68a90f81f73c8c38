import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

/** The schema of a value that belongs to a name, such as the parameters of a page. `Schema.Void`: there is none. */
export type ValueSchema = Schema.ConstraintCodec<unknown, unknown>

/** Writes values that belong to a name as JSON, and reads them. */
export interface ValueCodec {
  readonly hasValue: boolean
  readonly encode: (value: unknown) => Effect.Effect<Schema.Json, Schema.SchemaError>
  readonly decode: (json: unknown) => Effect.Effect<unknown, Schema.SchemaError>
}

const withoutValue: ValueCodec = {
  hasValue: false,
  encode: () => Effect.succeed(null),
  decode: () => Effect.undefined
}

const allIssues = { errors: "all" } as const

export const makeCodec = (schema: ValueSchema): ValueCodec => {
  if (schema.ast._tag === "Void" || schema.ast._tag === "Undefined") return withoutValue
  const json = Schema.toCodecJson(schema)
  return {
    hasValue: true,
    encode: Schema.encodeEffect(json, allIssues) as ValueCodec["encode"],
    decode: Schema.decodeUnknownEffect(json, allIssues) as ValueCodec["decode"]
  }
}
