import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { tell } from "../client/fieldIssues.ts"

/** How payloads of one kind are written: `name`, or `name`, the separator and the value. */
export interface Form {
  readonly limit: number
  readonly separator: string
  readonly write: (json: string) => string
  readonly read: (text: string) => Result.Result<string, unknown>
}

const nameForm = /^\w+$/

const allIssues = { errors: "all" } as const

const parse = (json: string): Result.Result<unknown, unknown> => Result.try(() => JSON.parse(json))

/** A value of one name as a text, and back. What is wrong is told in words. */
export interface Codec<in out A, out RD, out RE> {
  readonly encode: (value: A) => Effect.Effect<string, string, RE>
  /** Undefined for a text of another name. */
  readonly decode: (text: string) => Effect.Effect<A, string, RD> | undefined
}

const fitting =
  (name: string, limit: number) =>
  (text: string): Effect.Effect<string, string> => {
    if (!nameForm.test(name)) return Effect.fail("its name must be of letters, digits and _")
    if (text.length <= limit) return Effect.succeed(text)
    return Effect.fail(`it has ${text.length} characters, and ${limit} fit: put an id in, and keep the rest yourself`)
  }

const ofName = (name: string, { limit }: Form): Codec<void, never, never> => ({
  encode: () => fitting(name, limit)(name),
  decode: (text) => (text === name ? Effect.void : undefined)
})

const ofValue = <A, RD, RE>(
  name: string,
  schema: Schema.ConstraintCodec<A, unknown, RD, RE>,
  { limit, read, separator, write }: Form
): Codec<A, RD, RE> => {
  const json = Schema.toCodecJson(schema)
  const encode = Schema.encodeEffect(json, allIssues)
  const decode = Schema.decodeUnknownEffect(json, allIssues)
  const prefix = name + separator
  return {
    encode: (value) =>
      encode(value).pipe(
        Effect.mapError(({ issue }) => tell(issue)),
        Effect.flatMap((encoded) => fitting(name, limit)(prefix + write(JSON.stringify(encoded))))
      ),
    decode: (text) => {
      if (text === name) return Effect.fail("it carries no value")
      if (!text.startsWith(prefix)) return undefined
      const value = Result.flatMap(read(text.slice(prefix.length)), parse)
      return Result.isFailure(value)
        ? Effect.fail("it is cut short or garbled")
        : Effect.mapError(decode(value.success), ({ issue }) => tell(issue))
    }
  }
}

/** Without a schema the name is all there is. */
export const make = <A, RD, RE>(
  name: string,
  schema: Schema.ConstraintCodec<A, unknown, RD, RE> | undefined,
  form: Form
): Codec<A, RD, RE> => (schema === undefined ? (ofName(name, form) as never) : ofValue(name, schema, form))
