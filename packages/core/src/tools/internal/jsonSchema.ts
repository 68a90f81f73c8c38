import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import * as ApiError from "../../client/ApiError.ts"
import * as Chats from "../../endpoints/Chats.ts"
import * as Comments from "../../endpoints/Comments.ts"
import * as Me from "../../endpoints/Me.ts"
import * as Members from "../../endpoints/Members.ts"
import * as Subscriptions from "../../endpoints/Subscriptions.ts"
import * as UpdatesPage from "../../endpoints/UpdatesPage.ts"
import * as Upload from "../../endpoints/Upload.ts"
import * as Attachment from "../../model/Attachment.ts"
import * as AttachmentRequest from "../../model/AttachmentRequest.ts"
import * as Chat from "../../model/Chat.ts"
import * as Keyboard from "../../model/Keyboard.ts"
import * as Markup from "../../model/Markup.ts"
import * as Member from "../../model/Member.ts"
import * as Message from "../../model/Message.ts"
import * as MiniApp from "../../model/MiniApp.ts"
import * as NewMessage from "../../model/NewMessage.ts"
import * as Recipient from "../../model/Recipient.ts"
import * as Subscription from "../../model/Subscription.ts"
import * as Update from "../../model/Update.ts"
import * as User from "../../model/User.ts"
import { constraints, type JsonSchema, merge } from "./constraints.ts"

type Names = ReadonlyMap<SchemaAST.AST, string>

const isNamed = ({ ast }: Schema.Top): boolean =>
  ast._tag === "Objects" || ast._tag === "Union" || ast._tag === "Suspend"

const pascalCase = (name: string): string =>
  name.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** The modules with schemas of requests and responses. */
const modules = {
  ApiError,
  Attachment,
  AttachmentRequest,
  Chat,
  Chats,
  Comments,
  Keyboard,
  Markup,
  Me,
  Member,
  Members,
  Message,
  MiniApp,
  NewMessage,
  Recipient,
  Subscription,
  Subscriptions,
  Update,
  UpdatesPage,
  Upload,
  User
}

/** The schemas that the modules export, by the names of the exports. */
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
  if (encoded !== undefined && encoded._tag !== "Unknown") return wireOf(encoded)
  return ast._tag === "Suspend" ? wireOf(ast.thunk()) : ast
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

/** The variant to which values of unknown kinds are decoded. In JSON, the variant is any other kind. */
const isUnknownKind = (ast: SchemaAST.AST): ast is SchemaAST.Objects =>
  ast._tag === "Objects" &&
  ast.propertySignatures.some(({ type }) => literalOf(type) === "unknown") &&
  ast.propertySignatures.some(({ name }) => name === "raw")

const kindIn = (ast: SchemaAST.AST, key: PropertyKey): string | undefined => {
  const property = ast._tag === "Objects" ? ast.propertySignatures.find(({ name }) => name === key) : undefined
  return property === undefined ? undefined : literalOf(wireOf(property.type))
}

/** Returns the variants of a union that differ in the literal of one key. An open union accepts other kinds. */
const tagged = (ast: SchemaAST.AST) => {
  const union = wireOf(ast)
  if (union._tag !== "Union") return undefined
  const known = union.types.filter((member) => !isUnknownKind(wireOf(member)))
  const [first] = known.map(wireOf)
  const tag =
    first?._tag === "Objects" ? first.propertySignatures.find(({ type }) => literalOf(wireOf(type))) : undefined
  if (tag === undefined || known.length < 2) return undefined
  const variants = known.flatMap((member) => {
    const kind = kindIn(wireOf(member), tag.name)
    return kind === undefined ? [] : [{ kind, ast: member }]
  })
  if (variants.length < known.length) return undefined
  return { key: String(tag.name), variants, isOpen: known.length < union.types.length }
}

type TaggedUnion = NonNullable<ReturnType<typeof tagged>>

/** The exported tagged unions by their first variant. A list of such a union has the same variants. */
const exportedUnions = (names: Names): Names =>
  new Map(
    [...names].flatMap(([ast, name]) => {
      const union = tagged(ast)
      return union === undefined ? [] : [[union.variants[0].ast, name] as const]
    })
  )

const isAbsent = ({ _tag }: SchemaAST.AST): boolean => _tag === "Undefined" || _tag === "Void"

/** Whether a field can be missing. */
export const isOptional = (ast: SchemaAST.AST): boolean =>
  ast.context?.isOptional === true || (ast._tag === "Union" && ast.types.some(isAbsent))

/** Describes schemas as JSON Schema. A schema that a module exports is described once, in `definitions`. */
export const make = () => {
  const names = exportedSchemas()
  const unions = exportedUnions(names)
  const definitions: Record<string, JsonSchema> = {}

  const define = (name: string, write: () => JsonSchema): JsonSchema => {
    if (definitions[name] === undefined) {
      definitions[name] = {}
      definitions[name] = merge(write(), constraints[name] ?? {})
    }
    return { $ref: `#/components/schemas/${name}` }
  }

  const taggedUnion = (name: string, { isOpen, key, variants }: TaggedUnion): JsonSchema => {
    const known = variants.map(({ ast, kind }) => {
      const schema = define(names.get(ast) ?? `${pascalCase(kind)}${name}`, () => writeChecked(ast))
      return [kind, schema] as const
    })
    const unknown = () => ({
      type: "object",
      description: "A kind that was added later.",
      properties: { [key]: { type: "string", not: { enum: variants.map(({ kind }) => kind) } } },
      required: [key]
    })
    return {
      oneOf: [...known.map(([, schema]) => schema), ...(isOpen ? [define(`Unknown${name}`, unknown)] : [])],
      discriminator: {
        propertyName: key,
        mapping: Object.fromEntries(known.map(([kind, { $ref }]) => [kind, $ref]))
      }
    }
  }

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
    const schemas = ast.types.filter((member) => !isAbsent(member)).map(describe)
    const described = [...new Map(schemas.map((schema) => [JSON.stringify(schema), schema])).values()]
    if (described.length === 1) return described[0]
    const [first, second] = described
    const isNullable = described.length === 2 && second["type"] === "null" && typeof first["type"] === "string"
    return isNullable && !("enum" in first) ? { ...first, type: [first["type"], "null"] } : { anyOf: described }
  }

  const object = (ast: SchemaAST.Objects): JsonSchema => {
    const { indexSignatures, propertySignatures } = ast
    const properties = Object.fromEntries(propertySignatures.map(({ name, type }) => [String(name), describe(type)]))
    const required = propertySignatures.filter(({ type }) => !isOptional(type)).map(({ name }) => String(name))
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
      default:
        return {}
    }
  }

  const writeChecked = (ast: SchemaAST.AST): JsonSchema => {
    const wire = wireOf(ast)
    const schema = checked(write(wire), wire.checks)
    const fallback = SchemaAST.resolve(wire)?.["default"]
    return fallback === undefined ? schema : { ...schema, default: fallback }
  }

  const describe = (ast: SchemaAST.AST): JsonSchema => {
    const union = tagged(ast)
    if (union !== undefined) {
      const name = names.get(ast) ?? unions.get(union.variants[0].ast)
      if (name !== undefined) return define(name, () => taggedUnion(name, union))
    }
    const declared = SchemaAST.resolve(ast)?.["wire"] as Schema.Top | undefined
    if (declared !== undefined) return describe(declared.ast)
    const name = names.get(ast)
    return name === undefined ? writeChecked(ast) : define(name, () => writeChecked(ast))
  }

  return { describe: (schema: Schema.Top): JsonSchema => describe(schema.ast), definitions }
}
