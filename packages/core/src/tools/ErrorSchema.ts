/**
 * Codecs of errors, to JSON and back, so that errors can cross a network: rpc, cluster, workflow.
 *
 * A decoded error is an instance of its class. A `cause` is decoded as an `Error` with the same message.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Record from "effect/Record"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Getter from "effect/SchemaGetter"
import * as SchemaIssue from "effect/SchemaIssue"
import * as Json from "../base/Json.ts"
import type { AnyClass } from "../base/TaggedError.ts"
import * as Errors from "../client/ApiError.ts"
import type * as Endpoint from "../client/Endpoint.ts"

/** JSON with exact integers, as text. */
const ExactJson = Schema.String.pipe(
  Schema.decodeTo(Schema.Unknown, {
    decode: Getter.transformEffect((text: string) => {
      const parsed = Result.try(() => Json.parse(text))
      return Result.isSuccess(parsed)
        ? Effect.succeed(parsed.success)
        : Effect.fail(new SchemaIssue.InvalidType(Schema.String.ast, text))
    }),
    encode: Getter.transform((value: unknown) => Json.stringify(value) ?? "null")
  })
)

const cause = Schema.optionalKey(Schema.Defect())

/** A field of several errors has a codec of each. A field of any JSON, such as an update, is text with exact integers. */
const fieldOf = (schema: Schema.Top, name: string): Schema.Top => {
  if (name === "cause") return cause
  const errors = Schema.resolveAnnotations(schema)?.["errors"] as ReadonlyArray<AnyClass<unknown>> | undefined
  if (errors !== undefined) return Schema.Union(errors.map(instanceOf))
  return Schema.toEncoded(schema).ast._tag === "Unknown" ? ExactJson.pipe(Schema.decodeTo(schema)) : schema
}

const instanceOf = <E>(error: AnyClass<E>): Schema.Codec<E, unknown> => {
  const fields = Record.map(error.fields() as Record<string, Schema.Top>, fieldOf)
  const names = Object.keys(fields)
  return Schema.Struct({ _tag: Schema.Literal(error.tag), ...fields }).pipe(
    Schema.decodeTo(
      Schema.declare((u): u is E => u instanceof error),
      {
        decode: Getter.transform(({ _tag, ...given }: { readonly _tag: string }) => new error(given as never)),
        encode: Getter.transform((instance: E) => {
          const given = names.flatMap((name) => {
            const value = instance[name as keyof E]
            return value === undefined ? [] : [[name, value]]
          })
          return Object.fromEntries([["_tag", error.tag], ...given]) as { readonly _tag: string }
        })
      }
    )
  ) as Schema.Codec<E, unknown>
}

/**
 * Returns the codec of a class of errors.
 *
 * **Example**
 *
 * ```ts
 * import { ErrorSchema, StoreError } from "@colloquy/core"
 *
 * const Failed = ErrorSchema.of(StoreError.StoreError)
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const of = <E>(error: AnyClass<E>): Schema.Codec<E, Schema.Json> =>
  Schema.toCodecJson(instanceOf(error)) as Schema.Codec<E, Schema.Json>

/** The errors that every endpoint can fail with. */
const common = [of(Errors.Unauthorized), of(Errors.RateLimited), of(Errors.RequestFailed)]

/**
 * Returns the codec of the errors of one endpoint.
 *
 * **Example** (An rpc that sends a message)
 *
 * ```ts
 * import { ErrorSchema, Messages } from "@colloquy/core"
 * import { Schema } from "effect"
 * import { Rpc } from "effect/rpc"
 *
 * const SendText = Rpc.make("SendText", {
 *   payload: { chat_id: Schema.Int, text: Schema.String },
 *   error: ErrorSchema.ofEndpoint(Messages.send)
 * })
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const ofEndpoint = <E extends Endpoint.Any>(endpoint: E): Schema.Codec<Endpoint.Errors<E>, Schema.Json> => {
  const errors: ReadonlyArray<AnyClass<Errors.Declared>> = endpoint.declaration.errors
  return Schema.Union([...common, ...errors.map((error) => of(error))]) as unknown as Schema.Codec<
    Endpoint.Errors<E>,
    Schema.Json
  >
}
