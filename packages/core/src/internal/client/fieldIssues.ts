import * as SchemaIssue from "effect/SchemaIssue"
import * as SchemaAST from "effect/SchemaAST"
import type * as ApiError from "../../ApiError.ts"

const fieldOf = (path: ReadonlyArray<PropertyKey>): string =>
  path.reduce<string>(
    (field, key) =>
      typeof key === "number" ? `${field}[${key}]` : field === "" ? String(key) : `${field}.${String(key)}`,
    ""
  )

const literalsOf = (ast: SchemaAST.AST): ReadonlyArray<string> | undefined =>
  ast._tag === "Literal"
    ? [String(ast.literal)]
    : ast._tag === "Union" && ast.types.every(({ _tag }) => _tag === "Literal")
      ? ast.types.flatMap((type) => literalsOf(type) ?? [])
      : undefined

const oneOf = (literals: ReadonlyArray<string>): string =>
  literals.length === 1 ? JSON.stringify(literals[0]) : `one of ${literals.join(", ")}`

/** The key by whose literals the members of a union are told apart. */
const tagOf = (types: ReadonlyArray<SchemaAST.AST>) => {
  const tags = types.map((type) =>
    type._tag === "Objects" ? type.propertySignatures.find((property) => literalsOf(property.type) !== undefined) : type
  )
  const literals = tags.map((tag) => (tag !== undefined && "name" in tag ? (literalsOf(tag.type) ?? []) : []))
  const first = tags[0]
  return first !== undefined && "name" in first && literals.every(({ length }) => length > 0)
    ? { name: String(first.name), literals: literals.flat() }
    : undefined
}

const describeUnion = (types: ReadonlyArray<SchemaAST.AST>): string => {
  const given = types.filter(({ _tag }) => _tag !== "Undefined" && _tag !== "Null")
  const orNull = types.some(({ _tag }) => _tag === "Null") ? " or null" : ""
  if (given.length === 1) return describe(given[0]) + orNull
  if (given.some(({ _tag }) => _tag === "String") && given.every(isText)) return `a string${orNull}`
  const literals = given.map(literalsOf)
  if (literals.every((some) => some !== undefined)) return oneOf(literals.flat()) + orNull
  const tag = tagOf(given)
  if (tag !== undefined) return `an object whose ${tag.name} is ${oneOf(tag.literals)}${orNull}`
  return given.map(describe).join(" or ") + orNull
}

const isText = (ast: SchemaAST.AST): boolean => ast._tag === "String" || literalsOf(ast) !== undefined

const describe = (ast: SchemaAST.AST): string => {
  switch (ast._tag) {
    case "String":
      return "a string"
    case "Number":
      return "a number"
    case "Boolean":
      return "true or false"
    case "BigInt":
      return "a whole number (bigint)"
    case "Null":
      return "null"
    case "Arrays":
      return "a list"
    case "Objects":
      return "an object"
    case "Literal":
      return oneOf([String(ast.literal)])
    case "Union":
      return describeUnion(ast.types)
    default:
      return ast.encoding === undefined ? "of another type" : describe(SchemaAST.toEncoded(ast))
  }
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
  const said = SchemaIssue.defaultCheckHook(issue)
  const expected = issue.filter.annotations?.expected
  return said ?? (typeof expected === "string" ? `must be ${expected}` : undefined)
}

const collect = (
  issue: SchemaIssue.Issue,
  path: ReadonlyArray<PropertyKey>,
  rule: string | undefined
): ReadonlyArray<ApiError.FieldIssue> => {
  switch (issue._tag) {
    case "Pointer":
      return collect(issue.issue, [...path, ...issue.path], rule)
    case "Encoding":
      return collect(issue.issue, path, rule)
    case "Filter":
      return collect(issue.issue, path, rule ?? ruleOf(issue))
    case "Composite":
      return issue.issues.flatMap((inner) => collect(inner, path, rule))
    case "AnyOf":
      if (issue.issues.length > 0) return issue.issues.flatMap((inner) => collect(inner, path, rule))
      return [{ field: fieldOf(path), problem: rule ?? problemOf(issue) }]
    default:
      return [{ field: fieldOf(path), problem: rule ?? problemOf(issue) }]
  }
}

/** What is wrong, field by field, in words for the people who wrote the fields. */
export const fieldIssues = (issue: SchemaIssue.Issue): ReadonlyArray<ApiError.FieldIssue> =>
  collect(issue, [], undefined)

/** What is wrong, in one line. */
export const tell = (issue: SchemaIssue.Issue): string =>
  fieldIssues(issue)
    .map(({ field, problem }) => (field === "" ? problem : `\`${field}\` ${problem}`))
    .join("; ")
