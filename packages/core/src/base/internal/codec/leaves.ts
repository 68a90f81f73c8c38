import * as Schema from "effect/Schema"
import type * as SchemaAST from "effect/SchemaAST"
import { mismatch, type Parse } from "./parse.ts"

/** The types of inputs that a schema accepts and returns unchanged, as a set of bits. */
export type Leaf = number

const string = 1
const integer = 2
const boolean = 4
const nothing = 8

/** The schema is no leaf. */
export const noLeaf: Leaf = 0

export const isAccepted = (leaf: Leaf, input: unknown): boolean =>
  typeof input === "string"
    ? (leaf & string) !== 0
    : typeof input === "number"
      ? (leaf & integer) !== 0 && Number.isSafeInteger(input)
      : typeof input === "boolean"
        ? (leaf & boolean) !== 0
        : input === null && (leaf & nothing) !== 0

const integerCheck = Schema.Int.ast.checks?.[0]

export const isPlain = (ast: SchemaAST.AST): boolean =>
  ast.encoding === undefined &&
  ast.checks === undefined &&
  !("encodingChecks" in ast && ast.encodingChecks !== undefined)

const isInteger = ({ checks, encoding }: SchemaAST.AST): boolean =>
  encoding === undefined && checks?.length === 1 && checks[0] === integerCheck

/** The literals of a literal or of a union of literals. */
export const literalsOf = (ast: SchemaAST.AST): ReadonlyArray<SchemaAST.LiteralValue> | undefined => {
  if (!isPlain(ast)) return undefined
  if (ast._tag === "Literal") return [ast.literal]
  if (ast._tag !== "Union" || ast.options?.mode === "oneOf") return undefined
  const literals = ast.types.map(literalsOf)
  return literals.every((some) => some !== undefined) ? literals.flat() : undefined
}

const leafOfUnion = ({ options, types }: SchemaAST.Union): Leaf => {
  if (options?.mode === "oneOf") return noLeaf
  const leaves = types.map(leafOf)
  const all = leaves.reduce((sum, leaf) => sum | leaf, noLeaf)
  // Literals beside any string are only for the editor.
  const isCovered = (type: SchemaAST.AST, index: number): boolean =>
    leaves[index] !== noLeaf ||
    ((all & string) !== 0 && literalsOf(type)?.every((literal) => typeof literal === "string") === true)
  return types.every(isCovered) ? all : noLeaf
}

export const leafOf = (ast: SchemaAST.AST): Leaf => {
  if (ast._tag === "Number") return isInteger(ast) ? integer : noLeaf
  if (!isPlain(ast)) return noLeaf
  switch (ast._tag) {
    case "String":
      return string
    case "Boolean":
      return boolean
    case "Null":
      return nothing
    case "Union":
      return leafOfUnion(ast)
    default:
      return noLeaf
  }
}

export const parseLeaf =
  (leaf: Leaf): Parse =>
  (input) =>
    isAccepted(leaf, input) ? input : mismatch
