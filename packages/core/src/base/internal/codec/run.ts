import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import type * as SchemaIssue from "effect/SchemaIssue"
import * as SchemaParser from "effect/SchemaParser"
import { compile } from "./compile.ts"
import { mismatch, type Mode, type Parse } from "./parse.ts"

/**
 * Decodes or encodes a value, as `CompiledSchema.Run`. A failure is the issue itself, because `SchemaError` and its messages would
 * come into each bundle.
 */
export interface Run<A> {
  (value: unknown, options?: SchemaAST.ParseOptions): Result.Result<A, SchemaIssue.Issue>
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

/** See `CompiledSchema.decodeJsonResult`. */
export const decodeJson = <A>(schema: Schema.Codec<A, unknown>): Run<A> =>
  withClosures(
    () => schema.ast,
    { isJson: true, refusesUnknownKeys: false },
    () => SchemaParser.decodeUnknownResult(schema)
  )

/** See `CompiledSchema.encodeUnknownResult`. */
export const encodeUnknown = <I>(
  schema: Schema.Codec<unknown, I>,
  options: Pick<SchemaAST.ParseOptions, "onExcessProperty"> = {}
): Run<I> =>
  withClosures(
    () => SchemaAST.flip(schema.ast),
    { isJson: false, refusesUnknownKeys: options.onExcessProperty === "error" },
    () => SchemaParser.encodeUnknownResult(schema, options)
  )
