/**
 * Decoders and encoders that are compiled from a schema to closures, without generated code. The results and errors are
 * the same as those of `Schema.decodeUnknownResult` and `Schema.encodeUnknownResult`, in less time. The client, the
 * webhook and the emulator use this module.
 *
 * A closure handles valid values only. Effect's own parser makes the result for any other value, and for the parts of a
 * schema that cannot be compiled, such as transformations with effects.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import { compile } from "./internal/codec/compile.ts"
import { mismatch, type Mode, type Parse } from "./internal/codec/parse.ts"

/**
 * Decodes or encodes a value. Effect's own parser makes the result if `options` change which values are valid.
 *
 * @category models
 * @since 0.1.0
 */
export interface Run<A> {
  (value: unknown, options?: SchemaAST.ParseOptions): Result.Result<A, Schema.SchemaError>
}

// The benchmarks `decode-over-json-parse` and `call-cpu-over-undici` show the gain of the closures. Effect's own parser
// is made when first needed, because an encoder reverses the whole schema, which takes time at the start.
const withClosures = <A>(ast: () => SchemaAST.AST, mode: Mode, makeParser: () => Run<A>): Run<A> => {
  let parse: Parse | undefined
  let parser: Run<A> | undefined
  const run: Run<A> = (value, options) => (parser ??= makeParser())(value, options)
  return (value, options) => {
    if (options?.onExcessProperty !== undefined || options?.disableChecks === true) return run(value, options)
    const parsed = Result.try(() => (parse ??= compile(ast(), mode))(value))
    return Result.isSuccess(parsed) && parsed.success !== mismatch
      ? (parsed as Result.Result<A, never>)
      : run(value, options)
  }
}

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
  withClosures(
    () => schema.ast,
    { isJson: true, refusesUnknownKeys: false },
    () => Schema.decodeUnknownResult(schema)
  )

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
): Run<I> =>
  withClosures(
    () => SchemaAST.flip(schema.ast),
    { isJson: false, refusesUnknownKeys: options.onExcessProperty === "error" },
    () => Schema.encodeUnknownResult(schema, options)
  )
