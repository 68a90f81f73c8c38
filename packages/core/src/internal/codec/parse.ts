import type * as SchemaAST from "effect/SchemaAST"

/** What a compiled schema returns for an input that it does not accept, or whose result it does not know. */
export const mismatch: unique symbol = Symbol("mismatch")

/** A compiled schema. Returns the output, or {@link mismatch}. */
export type Parse = (input: unknown) => unknown

/** What a schema is compiled for. */
export interface Mode {
  /** Whether inputs are the values of JSON. Then an object can be its own output. */
  readonly isJson: boolean
  /** Whether a key that the schema does not know is a mismatch. Otherwise it is left out. */
  readonly refusesUnknownKeys: boolean
}

export type Compile = (ast: SchemaAST.AST) => Parse

/** Compiles a schema when it is first used. */
export const lazily = (compile: Compile, ast: () => SchemaAST.AST): Parse => {
  let parse: Parse | undefined
  return (input) => (parse ??= compile(ast()))(input)
}
