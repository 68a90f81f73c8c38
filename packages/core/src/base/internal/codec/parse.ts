import type * as SchemaAST from "effect/SchemaAST"

/** The result of a compiled schema for an input that the schema rejects, or whose result only Effect's parser knows. */
export const mismatch: unique symbol = Symbol("mismatch")

/** A compiled schema. Returns the output, or {@link mismatch}. */
export type Parse = (input: unknown) => unknown

/** The purpose for which a schema is compiled. */
export interface Mode {
  /** Whether inputs are values of JSON, so that an object can be its own output. */
  readonly isJson: boolean
  /** Whether a key that the schema does not know is a mismatch. Otherwise the key is left out. */
  readonly refusesUnknownKeys: boolean
}

export type Compile = (ast: SchemaAST.AST) => Parse

/** Compiles a schema at its first use. */
export const lazily = (compile: Compile, ast: () => SchemaAST.AST): Parse => {
  let parse: Parse | undefined
  return (input) => (parse ??= compile(ast()))(input)
}
