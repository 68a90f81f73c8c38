import * as SchemaAST from "effect/SchemaAST"
import * as SchemaIssue from "effect/SchemaIssue"
import { literalsOf } from "./codec/leaves.ts"

/** The text of a path. */
export const fieldOf = (path: ReadonlyArray<PropertyKey>): string =>
  path.reduce<string>(
    (field, key) =>
      typeof key === "number" ? `${field}[${key}]` : field === "" ? String(key) : `${field}.${String(key)}`,
    ""
  )

const oneOf = (literals: ReadonlyArray<SchemaAST.LiteralValue>): string =>
  literals.length === 1 ? JSON.stringify(String(literals[0])) : `one of ${literals.join(", ")}`

/** The key whose literals distinguish the members of a union. */
const discriminatorOf = (types: ReadonlyArray<SchemaAST.AST>) => {
  const tags = types.flatMap((type) =>
    type._tag === "Objects" ? (type.propertySignatures.find(({ type }) => literalsOf(type) !== undefined) ?? []) : []
  )
  return tags.length === types.length && tags.length > 0
    ? { name: String(tags[0].name), literals: tags.flatMap(({ type }) => literalsOf(type) ?? []) }
    : undefined
}

const describeTag = ({ literals, name }: NonNullable<ReturnType<typeof discriminatorOf>>): string =>
  `an object whose ${name} is ${oneOf(literals)}`

const describeUnion = (types: ReadonlyArray<SchemaAST.AST>): string => {
  const given = types.filter(({ _tag }) => _tag !== "Undefined" && _tag !== "Null")
  const orNull = types.some(({ _tag }) => _tag === "Null") ? " or null" : ""
  if (given.length === 1) return describe(given[0]) + orNull
  if (given.some(({ _tag }) => _tag === "String") && given.every(isText)) return `a string${orNull}`
  const literals = given.map(literalsOf)
  if (literals.every((some) => some !== undefined)) return oneOf(literals.flat()) + orNull
  const tag = discriminatorOf(given)
  if (tag !== undefined) return describeTag(tag) + orNull
  return given.map(describe).join(" or ") + orNull
}

const isText = (ast: SchemaAST.AST): boolean => ast._tag === "String" || literalsOf(ast) !== undefined

const descriptions: { readonly [Tag in SchemaAST.AST["_tag"]]?: string } = {
  String: "a string",
  Number: "a number",
  Boolean: "true or false",
  BigInt: "a whole number (bigint)",
  Null: "null",
  Arrays: "a list"
}

const describe = (ast: SchemaAST.AST): string => {
  if (ast._tag === "Union") return describeUnion(ast.types)
  if (ast._tag === "Literal") return typeof ast.literal === "string" ? oneOf([ast.literal]) : String(ast.literal)
  if (ast._tag === "Objects") {
    const tag = discriminatorOf([ast])
    return tag?.literals.length === 1 ? describeTag(tag) : "an object"
  }
  return descriptions[ast._tag] ?? (ast.encoding === undefined ? "of another type" : describe(SchemaAST.toEncoded(ast)))
}

const problemOf = (issue: SchemaIssue.Leaf | SchemaIssue.AnyOf): string => {
  switch (issue._tag) {
    case "MissingKey":
      return "is missing"
    case "UnexpectedKey":
      return "is not a field of this request"
    case "InvalidType":
    case "AnyOf":
      return `must be ${describe(issue.ast)}`
    default:
      return SchemaIssue.defaultLeafHook(issue)
  }
}

const ruleOf = (issue: SchemaIssue.Filter): string | undefined => {
  const message = SchemaIssue.defaultCheckHook(issue)
  const expected = issue.filter.annotations?.expected
  return message ?? (typeof expected === "string" ? `must be ${expected}` : undefined)
}

/** An issue that has no issues inside it. */
export interface Leaf {
  readonly path: ReadonlyArray<PropertyKey>
  readonly problem: string
}

/** Returns the issues that have no issues inside them. */
export const leaves = (
  issue: SchemaIssue.Issue,
  path: ReadonlyArray<PropertyKey> = [],
  rule?: string
): ReadonlyArray<Leaf> => {
  if ("issue" in issue) {
    const inside = issue._tag === "Pointer" ? [...path, ...issue.path] : path
    return leaves(issue.issue, inside, rule ?? (issue._tag === "Filter" ? ruleOf(issue) : undefined))
  }
  return "issues" in issue && issue.issues.length > 0
    ? issue.issues.flatMap((inner) => leaves(inner, path, rule))
    : [{ path, problem: rule ?? problemOf(issue as SchemaIssue.Leaf | SchemaIssue.AnyOf) }]
}
