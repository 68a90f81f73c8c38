import * as SchemaAST from "effect/SchemaAST"
import { isPlain, literalsOf } from "./leaves.ts"
import { type Compile, lazily, mismatch, type Parse } from "./parse.ts"

/** The literal that a member of a union requires at a key. */
const literalAt = (ast: SchemaAST.AST, key: PropertyKey): SchemaAST.LiteralValue | undefined => {
  if (ast._tag !== "Objects" || ast.encoding !== undefined) return undefined
  const type = ast.propertySignatures.find(({ name }) => name === key)?.type
  return type?._tag === "Literal" && isPlain(type) && !SchemaAST.isOptional(type) ? type.literal : undefined
}

const isDiscriminator = (key: PropertyKey, types: ReadonlyArray<SchemaAST.AST>): boolean => {
  const literals = types.map((type) => literalAt(type, key))
  return literals.every((literal) => literal !== undefined) && new Set(literals).size === types.length
}

/** The key whose literals distinguish all members, which are objects. */
const discriminatorOf = (types: ReadonlyArray<SchemaAST.AST>): PropertyKey | undefined => {
  const [first] = types
  const keys = first?._tag === "Objects" ? first.propertySignatures.map(({ name }) => name) : []
  return keys.find((key) => isDiscriminator(key, types))
}

const compileDiscriminated = (types: ReadonlyArray<SchemaAST.AST>, key: string, compile: Compile): Parse => {
  const members = new Map<unknown, Parse>(
    types.map((type) => [literalAt(type, key), lazily(compile, () => type)] as const)
  )
  return (input) => {
    if (typeof input !== "object" || input === null) return mismatch
    const parse = members.get((input as Record<string, unknown>)[key])
    return parse === undefined ? mismatch : parse(input)
  }
}

/** Compiles a union: the first member that accepts the input makes the output. */
export const compileUnion = (ast: SchemaAST.Union, compile: Compile): Parse | undefined => {
  if (ast.options?.mode === "oneOf") return undefined
  const { types } = ast
  const literals = types.map(literalsOf)
  if (literals.every((some) => some !== undefined)) {
    const accepted = new Set<unknown>(literals.flat())
    return (input) => (accepted.has(input) ? input : mismatch)
  }
  const key = discriminatorOf(types)
  if (typeof key === "string" && key !== "__proto__") return compileDiscriminated(types, key, compile)
  const [first, second, ...others] = types.map(compile)
  if (second === undefined) return first
  const either: Parse = (input) => {
    const output = first(input)
    return output === mismatch ? second(input) : output
  }
  if (others.length === 0) return either
  return (input) => {
    let output = either(input)
    for (let index = 0; output === mismatch && index < others.length; index++) output = others[index](input)
    return output
  }
}
