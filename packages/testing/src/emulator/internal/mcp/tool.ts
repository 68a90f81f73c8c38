import type * as Endpoint from "@colloquy/core/client/Endpoint"
import { paramKey } from "@colloquy/core/client/Endpoint"
import * as Json from "@colloquy/core/base/Json"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { Handler, Listener, Response } from "../../EmulatorHttp.ts"
import { describe } from "../http/requestReader.ts"
import { textBody } from "../http/wire.ts"
import { shared } from "./fields.ts"

/** The emulator that the tools act on. */
export interface Emulated {
  /** Handles the calls of the control API. */
  readonly handle: Handler
  readonly uploads: Listener["uploads"]
  /** The base URL of the API. */
  readonly url: string
}

export type Answer = Pick<Response, "status" | "body">

type Arguments = Readonly<Record<string, unknown>>

/**
 * A field of the arguments: its description, or a narrower schema with its description and, for a list, the
 * descriptions of the fields of its items.
 */
type Field = string | readonly [schema: Schema.Top, description: string, items?: Readonly<Record<string, string>>]

/** The descriptions of arguments, of which those that tools share have a default. */
type Fields<Key extends PropertyKey> = { readonly [K in Exclude<Key, keyof typeof shared>]: Field } & {
  readonly [K in Extract<Key, keyof typeof shared>]?: Field
}

type OptionalIfEmpty<F> = {} extends F ? { readonly fields?: F } : { readonly fields: F }

interface About {
  readonly description: string
  /** Whether something is removed or replaced. Default: `false`. */
  readonly destroys?: boolean
}

export interface Tool extends About {
  readonly name: string
  readonly title: string
  /** The calls of the control API that the tool makes. */
  readonly endpoints: ReadonlyArray<Endpoint.Any>
  /** The JSON Schema of the arguments. */
  readonly inputSchema: Readonly<Record<string, unknown>>
  /** Never fails: a failure is an answer whose status is not 200. */
  readonly run: (args: unknown, emulated: Emulated) => Effect.Effect<Answer>
}

const isNull = (schema: unknown): boolean => (schema as { readonly type?: unknown }).type === "null"

/**
 * Removes parts of a schema that distract models or that their providers reject: `null` as an alternative of an
 * optional field, the bounds of safe integers, tuples, and lists without a type.
 */
const simplify = (schema: unknown): unknown => {
  if (Array.isArray(schema)) return schema.map(simplify)
  if (typeof schema !== "object" || schema === null) return schema
  const { anyOf, prefixItems, ...rest } = schema as Record<string, unknown>
  if (rest["maximum"] === Number.MAX_SAFE_INTEGER) delete rest["maximum"]
  if (rest["minimum"] === Number.MIN_SAFE_INTEGER) delete rest["minimum"]
  if (rest["additionalProperties"] === true) delete rest["additionalProperties"]
  if (rest["type"] === "array") rest["items"] ??= Array.isArray(prefixItems) ? prefixItems[0] : {}
  const others = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, simplify(value)]))
  if (!Array.isArray(anyOf)) return others
  const members = anyOf.filter((member) => !isNull(member)).map(simplify)
  return members.length === 1 ? { ...(members[0] as object), ...others } : { anyOf: members, ...others }
}

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, object>>
  readonly required?: ReadonlyArray<string>
}

/** Adds descriptions to the properties of the items of a list. */
const describeItems = (list: object, descriptions: Readonly<Record<string, string>>): object => {
  const { items } = list as { readonly items: ObjectSchema }
  const properties = Object.entries(items.properties ?? {}).map(
    ([key, property]) => [key, { ...property, description: descriptions[key] }] as const
  )
  return { ...list, items: { ...items, properties: Object.fromEntries(properties) } }
}

const toInputSchema = (schema: Schema.Top, fields: Readonly<Record<string, Field>>) => {
  const { definitions, schema: root } = Schema.toJsonSchemaDocument(schema)
  const { properties = {}, required } = simplify(root) as ObjectSchema
  const described = Object.entries(properties).map(([key, property]) => {
    const field = fields[key]
    const [, description, items] = typeof field === "string" ? [undefined, field] : field
    return [key, { ...(items === undefined ? property : describeItems(property, items)), description }] as const
  })
  return {
    type: "object",
    properties: Object.fromEntries(described),
    ...(required === undefined ? {} : { required }),
    additionalProperties: false,
    ...(Object.keys(definitions).length === 0 ? {} : { $defs: simplify(definitions) })
  }
}

export const refused = (status: number, code: string, message: string): Answer => ({
  status,
  body: Json.stringify({ code, message })
})

/**
 * Creates a tool. Its arguments are validated, and unknown arguments are rejected, because they are probably
 * misspelled.
 */
export const make = <S extends Schema.Struct.Fields>(
  name: string,
  title: string,
  {
    fields,
    run,
    schema: parts,
    ...about
  }: About & {
    readonly endpoints: ReadonlyArray<Endpoint.Any>
    readonly schema: S
    readonly fields: Fields<keyof S>
    readonly run: (args: Schema.Struct.Type<S>, emulated: Emulated, given: Arguments) => Effect.Effect<Answer>
  }
): Tool => {
  const schema = Schema.Struct(parts)
  const decode = Schema.decodeUnknownResult(schema as unknown as Schema.Codec<Schema.Struct.Type<S>, unknown>, {
    errors: "all",
    onExcessProperty: "error"
  })
  return {
    name,
    title,
    ...about,
    inputSchema: toInputSchema(schema, { ...shared, ...fields }),
    run: (args, emulated) => {
      const given = (args ?? {}) as Arguments
      const decoded = decode(given)
      return Result.isFailure(decoded)
        ? Effect.succeed(refused(400, "arguments.invalid", describe(decoded.failure)))
        : run(decoded.success, emulated, given)
    }
  }
}

const toText = (value: unknown): string => encodeURIComponent(Array.isArray(value) ? value.join(",") : String(value))

/** Makes a call of the control API with encoded arguments. */
export const call = (endpoint: Endpoint.Any, args: Arguments, { handle, uploads }: Emulated): Effect.Effect<Answer> => {
  const { body, method, path, query } = endpoint.declaration
  const given = Object.entries(args).filter(([, value]) => value != null)
  const search = given.filter(([key]) => Object.hasOwn(query, key)).map(([key, value]) => `${key}=${toText(value)}`)
  const fields = Object.fromEntries(given.filter(([key]) => Object.hasOwn(body, key)))
  return Effect.orDie(
    handle({
      method,
      path: path.replaceAll(/\{(\w+)\}/g, (_, name: string) => toText(args[paramKey(name)])),
      query: search.length === 0 ? "" : `?${search.join("&")}`,
      headers: {},
      body: textBody(Object.keys(body).length === 0 ? "" : Json.stringify(fields)),
      listener: { kind: "api", uploads }
    })
  )
}

/** Creates a tool that makes one call of the control API, with its fields as arguments. */
export const ofCall = <E extends Endpoint.Any>(
  name: string,
  title: string,
  endpoint: E,
  options: About & OptionalIfEmpty<Fields<keyof Endpoint.Request<E>>>
): Tool => {
  const { fields = {}, ...about } = options as About & { readonly fields?: Readonly<Record<string, Field>> }
  const { body, params, query } = endpoint.declaration
  const narrowed = Object.entries(fields).flatMap(([key, field]) =>
    typeof field === "string" ? [] : [[key, field[0]] as const]
  )
  return make(name, title, {
    ...about,
    endpoints: [endpoint],
    schema: { ...params, ...query, ...body, ...Object.fromEntries(narrowed) } as Schema.Struct.Fields,
    fields,
    run: (_, emulated, given) => call(endpoint, given, emulated)
  })
}

/** Maximum number of entries that a tool returns by default. */
export const defaultCount = 20

export const countOf = `Maximum number of entries, which are the latest ones. Default: ${defaultCount}`

export const counted = {
  count: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1000 })))
}

/**
 * Creates a tool that returns the last entries of `list`, a field of the response, because a whole list may not fit the
 * context of a model.
 */
export const ofList = (name: string, title: string, endpoint: Endpoint.Any, list: string, about: About): Tool => {
  const { params, query } = endpoint.declaration
  return make(name, title, {
    ...about,
    endpoints: [endpoint],
    schema: { ...params, ...query, ...counted } as Schema.Struct.Fields,
    fields: { count: countOf },
    run: (_, emulated, given) => {
      const { count = defaultCount, ...args } = given as { readonly count?: number }
      return Effect.map(call(endpoint, args, emulated), (answer) => {
        if (answer.status !== 200) return answer
        const lists = Json.parse(answer.body) as Readonly<Record<string, ReadonlyArray<unknown>>>
        const entries = lists[list]
        const shown = count === 0 ? [] : entries.slice(-count)
        return { ...answer, body: Json.stringify({ ...lists, [list]: shown, total: entries.length }) }
      })
    }
  })
}
