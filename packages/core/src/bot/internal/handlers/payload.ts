import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { continues, rehearsedBy } from "../../../inbox/internal/rehearsal.ts"
import { toEffect } from "../../../inbox/internal/handlers/toEffect.ts"
import type * as Handler from "../../../inbox/Handler.ts"
import { onTypes } from "../../../inbox/internal/handlers/onTypes.ts"
import { lengthOf } from "../../../base/Platform.ts"
import type * as Update from "../../../model/Update.ts"
import * as FieldIssue from "../../../base/FieldIssue.ts"
import { parsePlain } from "../../../base/internal/json.ts"

/** A payload is its name, or its name, a separator and a value as text. */
export interface Format {
  readonly maxLength: number
  readonly separator: string
  readonly encode: (json: string) => string
  readonly decode: (text: string) => Result.Result<string, unknown>
}

type ValueSchema = Schema.ConstraintCodec<unknown, unknown, unknown, unknown>

interface Codec {
  readonly encode: (value: unknown) => Effect.Effect<string, string, unknown>
  /** Returns `undefined` for a payload of another name. */
  readonly decode: (payload: string) => Effect.Effect<unknown, string, unknown> | undefined
}

const namePattern = /^\w+$/

const allIssues = { errors: "all" } as const

const parseJson = (json: string): Result.Result<unknown, unknown> => Result.try(() => parsePlain(json))

const check = (name: string, payload: string, maxLength: number): Effect.Effect<string, string> => {
  if (!namePattern.test(name)) return Effect.fail("its name may contain only letters, digits and _")
  const length = lengthOf(payload)
  if (length <= maxLength) return Effect.succeed(payload)
  return Effect.fail(
    `it has ${length} characters, and the maximum is ${maxLength}: store the value and put its id in the payload`
  )
}

const withoutValue = (name: string, { maxLength }: Format): Codec => ({
  encode: () => check(name, name, maxLength),
  decode: (payload) => (payload === name ? Effect.void : undefined)
})

const withValue = (name: string, schema: ValueSchema, format: Format): Codec => {
  const json = Schema.toCodecJson(schema)
  const encode = Schema.encodeEffect(json, allIssues)
  const decode = Schema.decodeUnknownEffect(json, allIssues)
  const prefix = name + format.separator
  return {
    encode: (value) =>
      encode(value).pipe(
        Effect.mapError(({ issue }) => FieldIssue.formatSchemaIssue(issue)),
        Effect.flatMap((encoded) => check(name, prefix + format.encode(JSON.stringify(encoded)), format.maxLength))
      ),
    decode: (payload) => {
      if (payload === name) return Effect.fail("it has no value")
      if (!payload.startsWith(prefix)) return undefined
      const value = Result.flatMap(format.decode(payload.slice(prefix.length)), parseJson)
      return Result.isFailure(value)
        ? Effect.fail("its value is truncated or is not valid JSON")
        : Effect.mapError(decode(value.success), ({ issue }) => FieldIssue.formatSchemaIssue(issue))
    }
  }
}

/** The part that `Payload` and `DeepLink` have in common: one codec and one handler of one type of update. */
export const make = <const Type extends Update.UpdateType, Invalid, Malformed>(
  name: string,
  schema: ValueSchema | undefined,
  options: {
    readonly kind: "button" | "link"
    readonly format: Format
    readonly type: Type
    readonly payloadOf: (update: Update.Of<Type>) => string | null | undefined
    readonly invalid: (problem: string) => Invalid
    readonly malformed: (problem: string, payload: string, update: Update.Of<Type>) => Malformed
  }
) => {
  const { format } = options
  const codec = schema === undefined ? withoutValue(name, format) : withValue(name, schema, format)
  const part = { kind: options.kind, name, definition: codec, starts: undefined } as const
  return {
    name,
    encode: (value: unknown) => Effect.mapError(codec.encode(value), options.invalid),
    on: <O extends Handler.Return>(
      handler: (update: Update.Of<Type>, value: unknown) => O
    ): Handler.Handler<Handler.ReturnError<O> | Malformed, unknown> =>
      onTypes(
        options.type,
        (update) => {
          const payload = options.payloadOf(update) ?? ""
          const decoded = codec.decode(payload)
          if (decoded === undefined) return undefined
          return Effect.mapError(decoded, (problem) => options.malformed(problem, payload, update)).pipe(
            Effect.flatMap((value) =>
              rehearsedBy(
                Effect.suspend(() => toEffect(handler(update, value))),
                continues
              )
            )
          )
        },
        part
      )
  }
}
