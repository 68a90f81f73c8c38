/**
 * Decoders and encoders that are compiled from a schema to closures, without generated code. The results and errors are
 * the same as the results and errors of `Schema.decodeUnknownResult` and `Schema.encodeUnknownResult`, in less time.
 * The client, the webhook and the emulator use this module.
 *
 * A closure handles valid values only. Effect's own parser makes the result for any other value, and for the parts of a
 * schema that cannot be compiled, such as transformations with effects.
 *
 * `effect/schema/SchemaCompiler` of Effect 4.1 does not replace the closures. The module is a registry of decoders and
 * compiles no schema. The closures have the same speed in the registry, and the registry lacks three properties:
 *
 * - A compiler without generated code. `SchemaJITCompiler` needs `new Function`, which Workers and content security
 *   policies forbid. `SchemaAOTCompiler` needs a step of the build, and leaves the members of a `Schema.suspend`, such as
 *   the types of updates, to Effect's own parser.
 * - A decoder for one use. A registered decoder serves all parsers of its schema in the process, but the closures of
 *   {@link decodeJsonResult} accept values of JSON only, and their output can share objects with the input.
 * - Effect's own parser as the fallback. A registered decoder must bring `decodeEffect`, and Effect exports its own parser
 *   only through the registry, so a fallback needs a second copy of the schema. A schema with transformations, such as an
 *   `Int64`, should have no `decode` at all.
 *
 * Microseconds for one update, medians of one run on Node 24 in which `JSON.parse` takes 1.96:
 *
 * | | closures | closures in the registry | `SchemaJITCompiler` | Effect's own parser |
 * |---|---|---|---|---|
 * | decode | 0.82 | 0.84 | 1.80 | 3.13 |
 * | encode | 1.13 | | 1.72 | 3.07 |
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as SchemaAST from "effect/SchemaAST"
import * as internal from "./internal/codec/run.ts"

/**
 * Decodes or encodes a value. Effect's own parser makes the result if `options` change which values are valid.
 *
 * @category models
 * @since 0.1.0
 */
export interface Run<A> {
  (value: unknown, options?: SchemaAST.ParseOptions): Result.Result<A, Schema.SchemaError>
}

const withSchemaError =
  <A>(run: internal.Run<A>): Run<A> =>
  (value, options) =>
    Result.mapError(run(value, options), (issue) => new Schema.SchemaError(issue))

/**
 * Creates a decoder of JSON values. The schema is compiled when the decoder is first used.
 *
 * The decoder accepts the values that `JSON.parse` and `Json.parse` return. The output can share objects with the
 * input, and the keys of its objects have the order of the input.
 *
 * **Example**
 *
 * ```ts
 * import * as CompiledSchema from "@colloquy/core/base/CompiledSchema"
 * import { Result, Schema } from "effect"
 *
 * const decode = CompiledSchema.decodeJsonResult(Schema.Struct({ name: Schema.String }))
 * Result.getOrThrow(decode({ name: "Ann", age: 7 })) // => { name: "Ann" }
 * ```
 *
 * @category decoding
 * @since 0.1.0
 */
export const decodeJsonResult = <A>(schema: Schema.Codec<A, unknown>): Run<A> =>
  withSchemaError(internal.decodeJson(schema))

/**
 * Creates an encoder. The schema is compiled when the encoder is first used. `onExcessProperty: "error"` fails for keys
 * that the schema does not know. Default: unknown keys are left out.
 *
 * **Example**
 *
 * ```ts
 * import * as CompiledSchema from "@colloquy/core/base/CompiledSchema"
 * import { Result, Schema } from "effect"
 *
 * const encode = CompiledSchema.encodeUnknownResult(Schema.Struct({ at: Schema.BigIntFromString }))
 * Result.getOrThrow(encode({ at: 5n })) // => { at: "5" }
 * ```
 *
 * @category encoding
 * @since 0.1.0
 */
export const encodeUnknownResult = <I>(
  schema: Schema.Codec<unknown, I>,
  options: Pick<SchemaAST.ParseOptions, "onExcessProperty"> = {}
): Run<I> => withSchemaError(internal.encodeUnknown(schema, options))
