import * as Exit from "effect/Exit"
import { memoize } from "effect/Function"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as SchemaAST from "effect/SchemaAST"
import * as SchemaParser from "effect/SchemaParser"
import { leafOf, noLeaf, parseLeaf } from "./leaves.ts"
import { compileObject } from "./objects.ts"
import { type Compile, lazily, mismatch, type Mode, type Parse } from "./parse.ts"
import { compileUnion } from "./unions.ts"

const same: Parse = (input) => input

const typeOf =
  (type: string): Parse =>
  (input) =>
    typeof input === type ? input : mismatch

const constant =
  (value: unknown): Parse =>
  (input) =>
    input === value ? input : mismatch

const compileArray = ({ elements, rest }: SchemaAST.Arrays, mode: Mode, compile: Compile): Parse | undefined => {
  if (elements.length > 0 || rest.length !== 1) return undefined
  const parse = compile(rest[0])
  return (input) => {
    if (!Array.isArray(input)) return mismatch
    let output: Array<unknown> | undefined = mode.isJson ? undefined : []
    for (let index = 0; index < input.length; index++) {
      const parsed = parse(input[index])
      if (parsed === mismatch) return mismatch
      if (parsed !== input[index]) output ??= input.slice(0, index)
      output?.push(parsed)
    }
    return output ?? input
  }
}

const compileDeclaration = (ast: SchemaAST.Declaration): Parse | undefined => {
  if (ast.typeParameters.length > 0) return undefined
  const parse = ast.run([])
  return (input) => {
    const result = parse(input, ast, {})
    return Exit.isExit(result) && Exit.isSuccess(result) ? result.value : mismatch
  }
}

/** Compiles a node without its checks and its encoding. Returns `undefined` for a node that only Effect knows. */
const compileNode = (ast: SchemaAST.AST, mode: Mode, compile: Compile): Parse | undefined => {
  switch (ast._tag) {
    case "Any":
    case "Unknown":
      return same
    case "String":
      return typeOf("string")
    case "Boolean":
      return typeOf("boolean")
    case "Number":
      return typeOf("number")
    case "BigInt":
      return typeOf("bigint")
    case "Null":
      return constant(null)
    case "Undefined":
      return constant(undefined)
    case "Void":
      return () => undefined
    case "Literal":
      return constant(ast.literal)
    case "Arrays":
      return compileArray(ast, mode, compile)
    case "Objects":
      return compileObject(ast, mode, compile)
    case "Union":
      return compileUnion(ast, compile)
    case "Declaration":
      return compileDeclaration(ast)
    case "Suspend":
      return lazily(compile, ast.thunk)
    default:
      return undefined
  }
}

type Check = SchemaAST.Checks[number]

const accepts = (check: Check, value: unknown, ast: SchemaAST.AST): boolean =>
  check._tag === "FilterGroup"
    ? check.checks.every((inner: Check) => accepts(inner, value, ast))
    : check.run(value, ast, {}) === undefined

/** Checks the input of a node, if the node is used the other way round, and its output. */
const withChecks = (parse: Parse, ast: SchemaAST.AST): Parse => {
  const before: ReadonlyArray<Check> = ("encodingChecks" in ast ? ast.encodingChecks : undefined) ?? []
  const after: ReadonlyArray<Check> = ast.checks ?? []
  if (before.length + after.length === 0) return parse
  const passes = (checks: ReadonlyArray<Check>, value: unknown) => checks.every((check) => accepts(check, value, ast))
  return (input) => {
    const output = parse(input)
    return output !== mismatch && passes(before, input) && passes(after, output) ? output : mismatch
  }
}

const transformOf = ({ transformation }: SchemaAST.Link): Parse | undefined => {
  if (transformation._tag === "Middleware") return undefined
  const { decode } = transformation
  if (decode._tag === "Passthrough") return same
  return decode._tag === "Transform" ? decode.transform : undefined
}

/** The steps from the encoded form of a node to its input, in their order. */
const stepsOf = (encoding: SchemaAST.Encoding, compile: Compile): ReadonlyArray<Parse> | undefined => {
  const steps = new Array<Parse>()
  for (const link of encoding.toReversed()) {
    const transform = transformOf(link)
    if (transform === undefined) return undefined
    for (const step of [compile(link.to), transform]) if (step !== same) steps.push(step)
  }
  return steps
}

const inOrder = ([first, second, ...others]: ReadonlyArray<Parse>): Parse => {
  if (first === undefined) return same
  if (second === undefined) return first
  const both: Parse = (input) => {
    const output = first(input)
    return output === mismatch ? mismatch : second(output)
  }
  return others.length === 0 ? both : inOrder([both, ...others])
}

/** Parses with Effect's own parser. */
const interpret = (ast: SchemaAST.AST, { refusesUnknownKeys }: Mode): Parse => {
  const parse = SchemaParser.decodeUnknownResult(Schema.make<Schema.Codec<unknown>>(ast), {
    onExcessProperty: refusesUnknownKeys ? "error" : "ignore"
  })
  return (input) => Result.getOrElse(parse(input), () => mismatch)
}

const compileAny = (ast: SchemaAST.AST, mode: Mode, compile: Compile): Parse => {
  const leaf = leafOf(ast)
  if (leaf !== noLeaf) return parseLeaf(leaf)
  const node = compileNode(ast, mode, compile)
  const steps = ast.encoding === undefined ? [] : stepsOf(ast.encoding, compile)
  if (node === undefined || steps === undefined) return interpret(ast, mode)
  return inOrder([...steps, withChecks(node, ast)].filter((step) => step !== same))
}

/** Compiles a schema to closures. Each node is compiled once. */
export const compile = (ast: SchemaAST.AST, mode: Mode): Parse => {
  const compileOnce: Compile = memoize((ast) => compileAny(ast, mode, compileOnce))
  return compileOnce(ast)
}
