import * as Schema from "effect/Schema"
import type * as SchemaAST from "effect/SchemaAST"
import * as modules from "../../index.ts"

export type JsonSchema = Readonly<Record<string, unknown>>

type Names = ReadonlyMap<SchemaAST.AST, string>

const isNamed = ({ ast }: Schema.Top): boolean => ast._tag === "Objects" || ast._tag === "Union"

const pascalCase = (name: string): string =>
  name.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** The schemas that the modules of the package export, by the names of the exports. */
const exportedSchemas = (): Names => {
  const names = new Map<SchemaAST.AST, string>()
  for (const module of Object.values<Readonly<Record<string, unknown>>>(modules)) {
    for (const [name, value] of Object.entries(module)) {
      if (Schema.isSchema(value) && isNamed(value) && !names.has(value.ast)) names.set(value.ast, name)
    }
  }
  for (const [type, schema] of Object.entries(modules.Update.cases)) names.set(schema.ast, `${pascalCase(type)}Update`)
  return names
}

type CheckAnnotation = (context: { readonly type: unknown }) => JsonSchema | readonly [JsonSchema, true]

/** The schema of the JSON; where custom code parses the JSON, the schema of the parsed value. */
const wireOf = (ast: SchemaAST.AST): SchemaAST.AST => {
  const encoded = ast.encoding?.at(-1)?.to
  return encoded === undefined || encoded._tag === "Unknown" ? ast : wireOf(encoded)
}

const constraintsOf = (checks: SchemaAST.AST["checks"], type: unknown): ReadonlyArray<JsonSchema> =>
  (checks ?? []).flatMap((check): ReadonlyArray<JsonSchema> => {
    if (check._tag === "FilterGroup") return constraintsOf(check.checks, type)
    const annotation = check.annotations?.["toJsonSchema"] as CheckAnnotation | undefined
    const constraint = annotation?.({ type })
    return constraint === undefined ? [] : [(Array.isArray(constraint) ? constraint[0] : constraint) as JsonSchema]
  })

const flatten = ({ allOf, ...constraint }: JsonSchema): JsonSchema =>
  Object.assign({}, constraint, ...(Array.isArray(allOf) ? allOf : []))

const isSafe = (limit: unknown): boolean => limit === Number.MAX_SAFE_INTEGER || limit === Number.MIN_SAFE_INTEGER

/** Removes the bounds that every integer has. */
const withoutSafeBounds = ({ maximum, minimum, ...schema }: JsonSchema): JsonSchema => ({
  ...schema,
  ...(minimum === undefined || isSafe(minimum) ? {} : { minimum }),
  ...(maximum === undefined || isSafe(maximum) ? {} : { maximum })
})

const integer = { type: "integer", format: "int64" }

const checked = (schema: JsonSchema, checks: SchemaAST.AST["checks"]): JsonSchema => {
  const all: JsonSchema = Object.assign({}, schema, ...constraintsOf(checks, schema["type"]).map(flatten))
  return all["type"] === "integer" ? { ...withoutSafeBounds(all), ...integer } : all
}

const literalOf = (ast: SchemaAST.AST): string | undefined =>
  ast._tag === "Literal" && typeof ast.literal === "string" ? ast.literal : undefined

/** The variant that values of unknown kinds are decoded to. In JSON it is any other kind. */
const isUnknownKind = (ast: SchemaAST.AST): ast is SchemaAST.Objects =>
  ast._tag === "Objects" &&
  ast.propertySignatures.some(({ type }) => literalOf(type) === "unknown") &&
  ast.propertySignatures.some(({ name }) => name === "raw")

const kindIn = (ast: SchemaAST.AST, key: PropertyKey): string | undefined => {
  const property = ast._tag === "Objects" ? ast.propertySignatures.find(({ name }) => name === key) : undefined
  return property === undefined ? undefined : literalOf(wireOf(property.type))
}

const unknownKind = (ast: SchemaAST.Objects, members: ReadonlyArray<SchemaAST.AST>): JsonSchema => {
  const [{ name }] = ast.propertySignatures
  const known = members.filter((member) => member !== ast).flatMap((member) => kindIn(member, name) ?? [])
  return {
    type: "object",
    description: "A kind that was added later.",
    properties: { [String(name)]: { type: "string", not: { enum: known } } },
    required: [String(name)]
  }
}

const isAbsent = ({ _tag }: SchemaAST.AST): boolean => _tag === "Undefined" || _tag === "Void"

/** Describes schemas as JSON Schema. A schema that a module exports is described once, in `definitions`. */
export const make = () => {
  const names = exportedSchemas()
  const definitions: Record<string, JsonSchema> = {}

  const union = (ast: SchemaAST.Union): JsonSchema => {
    const members = ast.types.map(wireOf).filter((member) => !isAbsent(member))
    const literals = members.map(literalOf)
    if (literals.every((literal) => literal !== undefined)) return { type: "string", enum: literals }
    const isString = ({ _tag }: SchemaAST.AST) => _tag === "String"
    const known = ast.types.find((member) => member._tag === "Union")
    if (members.length === 2 && members.some(isString) && known !== undefined) {
      const { enum: examples } = describe(known)
      if (Array.isArray(examples)) {
        return {
          type: "string",
          description: `One of ${examples.join(", ")}, or a value that was added later.`,
          examples
        }
      }
    }
    const schemas = ast.types
      .filter((member) => !isAbsent(member))
      .map((member) => (isUnknownKind(member) ? unknownKind(member, members) : describe(member)))
    const described = [...new Map(schemas.map((schema) => [JSON.stringify(schema), schema])).values()]
    if (described.length === 1) return described[0]
    const [first, second] = described
    const isNullable = described.length === 2 && second["type"] === "null" && typeof first["type"] === "string"
    return isNullable && !("enum" in first) ? { ...first, type: [first["type"], "null"] } : { anyOf: described }
  }

  const object = (ast: SchemaAST.Objects): JsonSchema => {
    const { indexSignatures, propertySignatures } = ast
    const isRequired = ({ type }: { readonly type: SchemaAST.AST }) =>
      type.context?.isOptional !== true && !(type._tag === "Union" && type.types.some(isAbsent))
    const properties = Object.fromEntries(propertySignatures.map(({ name, type }) => [String(name), describe(type)]))
    const required = propertySignatures.filter(isRequired).map(({ name }) => String(name))
    return {
      type: "object",
      ...(propertySignatures.length === 0 ? {} : { properties }),
      ...(required.length === 0 ? {} : { required }),
      ...(indexSignatures.length === 0 ? {} : { additionalProperties: describe(indexSignatures[0].type) })
    }
  }

  const array = (ast: SchemaAST.Arrays): JsonSchema =>
    ast.elements.length === 0
      ? { type: "array", items: describe(ast.rest[0]) }
      : {
          type: "array",
          prefixItems: ast.elements.map(describe),
          minItems: ast.elements.length,
          ...(ast.rest.length === 0 ? { maxItems: ast.elements.length } : { items: describe(ast.rest[0]) })
        }

  const write = (ast: SchemaAST.AST): JsonSchema => {
    switch (ast._tag) {
      case "String":
        return { type: "string" }
      case "Number":
        return { type: "number" }
      case "Boolean":
        return { type: "boolean" }
      case "BigInt":
        return integer
      case "Null":
        return { type: "null" }
      case "Literal":
        return { type: typeof ast.literal, const: ast.literal }
      case "Union":
        return union(ast)
      case "Arrays":
        return array(ast)
      case "Objects":
        return object(ast)
      case "Suspend":
        return describe(ast.thunk())
      case "Declaration": {
        const wire = ast.annotations?.["wire"] as Schema.Top | undefined
        return wire === undefined ? {} : describe(wire.ast)
      }
      default:
        return {}
    }
  }

  const describe = (ast: SchemaAST.AST): JsonSchema => {
    const name = names.get(ast)
    if (name === undefined) {
      const wire = wireOf(ast)
      return checked(write(wire), wire.checks)
    }
    if (definitions[name] === undefined) {
      definitions[name] = {}
      const wire = wireOf(ast)
      definitions[name] = checked(write(wire), wire.checks)
    }
    return { $ref: `#/components/schemas/${name}` }
  }

  return { describe: (schema: Schema.Top): JsonSchema => describe(schema.ast), definitions }
}
