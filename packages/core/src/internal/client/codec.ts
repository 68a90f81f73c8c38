import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as ApiError from "../../ApiError.ts"
import type * as Endpoint from "../../Endpoint.ts"
import { stringifyPlain } from "./json.ts"
import { fieldIssues } from "./fieldIssues.ts"

/** The three parts of a request on the wire. */
export interface Wire {
  readonly path: string
  readonly query: string
  readonly body: string | undefined
}

export interface Codec {
  readonly encode: (request: unknown) => Result.Result<Wire, ReadonlyArray<ApiError.FieldIssue>>
  readonly decode: (json: unknown) => Result.Result<unknown, Schema.SchemaError>
}

/** The request's key for a `{chatId}` of the path. */
export const paramKey = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

const pathPart = /\{(\w+)\}/g

/** The keys of the path, in their order. */
export const paramKeys = (path: string): ReadonlyArray<string> =>
  [...path.matchAll(pathPart)].map(([, name]) => paramKey(name))

const isGiven = (value: unknown): boolean => value !== undefined && value !== null

const isWellFormed = (value: unknown): boolean =>
  typeof value === "string" ? value.isWellFormed() : !Array.isArray(value) || value.every(isWellFormed)

// Half of a surrogate pair has no encoding in an address.
const addressIssue = (key: string, value: unknown): ApiError.FieldIssue | undefined =>
  isWellFormed(value) ? undefined : { field: key, problem: "must not hold half of a surrogate pair" }

const segmentIssue = (key: string, value: unknown): ApiError.FieldIssue | undefined => {
  if (value === "") return { field: key, problem: "must not be empty" }
  return value === "." || value === ".." ? { field: key, problem: `must not be "${value}"` } : addressIssue(key, value)
}

type Encoded = Readonly<Record<string, unknown>>

const isObject = (request: unknown): request is object => typeof request === "object" && request !== null

const writePath = (declaration: Endpoint.Declaration<unknown, unknown, unknown>) => {
  const pieces = declaration.path.split(pathPart)
  if (pieces.length === 1) return () => declaration.path
  return (encoded: Encoded): string =>
    pieces
      .map((piece, index) => (index % 2 === 0 ? piece : encodeURIComponent(String(encoded[paramKey(piece)]))))
      .join("")
}

const writeQuery =
  (keys: ReadonlyArray<string>) =>
  (encoded: Encoded): string => {
    let query = ""
    for (const key of keys) {
      const value = encoded[key]
      if (!isGiven(value)) continue
      const text = Array.isArray(value)
        ? value.map((item) => encodeURIComponent(String(item))).join(",")
        : encodeURIComponent(String(value))
      query += `${query === "" ? "?" : "&"}${key}=${text}`
    }
    return query
  }

const writeBody = (keys: ReadonlyArray<string>) => {
  if (keys.length === 0) return () => undefined
  return (encoded: Encoded): string => {
    const body: Record<string, unknown> = {}
    for (const key of keys) if (encoded[key] !== undefined) body[key] = encoded[key]
    return stringifyPlain(body)
  }
}

/** The schema of a whole request, flat. */
export const requestSchema = ({ params, query, body }: Endpoint.Declaration<any, any, any>) =>
  Schema.Struct({ ...params, ...query, ...body }) as unknown as Schema.Codec<unknown, Encoded>

const make = (declaration: Endpoint.Declaration<any, any, any>): Codec => {
  const schema = requestSchema(declaration)
  const encodeRequest = Schema.encodeUnknownResult(schema, { onExcessProperty: "error" })
  // To name every issue costs more, so it waits until there is one.
  const explain = Schema.encodeUnknownResult(schema, { errors: "all", onExcessProperty: "error" })
  const params = paramKeys(declaration.path)
  const queryKeys = Object.keys(declaration.query)
  const path = writePath(declaration)
  const query = writeQuery(queryKeys)
  const body = writeBody(Object.keys(declaration.body))

  const brokenRules = (request: unknown): ReadonlyArray<ApiError.FieldIssue> =>
    isObject(request) ? declaration.rules.map((rule) => rule(request)).filter((issue) => issue !== undefined) : []

  const addressIssues = (encoded: Encoded): ReadonlyArray<ApiError.FieldIssue> =>
    [
      ...params.map((key) => segmentIssue(key, encoded[key])),
      ...queryKeys.map((key) => addressIssue(key, encoded[key]))
    ].filter((issue) => issue !== undefined)

  const encode = (request: unknown): Result.Result<Encoded, Schema.SchemaError> => {
    const encoded = encodeRequest(request)
    return Result.isSuccess(encoded) ? encoded : explain(request)
  }

  return {
    encode: (request = {}) => {
      const encoded = encode(request)
      const broken = brokenRules(request)
      if (Result.isFailure(encoded)) return Result.fail([...fieldIssues(encoded.failure.issue), ...broken])
      const parts = encoded.success
      const issues = [...broken, ...addressIssues(parts)]
      return issues.length > 0
        ? Result.fail(issues)
        : Result.succeed({ path: path(parts), query: query(parts), body: body(parts) })
    },
    decode: Schema.decodeUnknownResult(declaration.success)
  }
}

const codecs = new WeakMap<Endpoint.Any, Codec>()

/** The codec of an endpoint, built once. */
export const of = (endpoint: Endpoint.Any): Codec => {
  const known = codecs.get(endpoint)
  if (known !== undefined) return known
  const codec = make(endpoint.declaration)
  codecs.set(endpoint, codec)
  return codec
}
