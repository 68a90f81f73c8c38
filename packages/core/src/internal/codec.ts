import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as SchemaIssue from "effect/SchemaIssue"
import type * as ApiError from "../ApiError.ts"
import type * as Endpoint from "../Endpoint.ts"
import { stringify } from "../Json.ts"
import { fieldIssues, tell } from "./issues.ts"

/** The three parts of a request on the wire. */
export interface Wire {
  readonly path: string
  readonly query: string
  readonly body: string | undefined
}

export interface Codec {
  readonly encode: (request: unknown) => Result.Result<Wire, ReadonlyArray<ApiError.FieldIssue>>
  readonly decode: (json: unknown) => Result.Result<unknown, string>
}

const issueOf = (exit: Exit.Exit<unknown, Schema.SchemaError>): SchemaIssue.Issue | undefined => {
  const failure = Exit.findErrorOption(exit)
  return failure._tag === "Some" ? failure.value.issue : undefined
}

/** The request's key for a `{chatId}` of the path. */
export const paramKey = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

const pathPart = /\{(\w+)\}/g

/** The keys of the path, in their order. */
export const paramKeys = (path: string): ReadonlyArray<string> =>
  [...path.matchAll(pathPart)].map(([, name]) => paramKey(name))

const isGiven = (value: unknown): boolean => value !== undefined && value !== null

const segmentIssue = (key: string, value: unknown): ApiError.FieldIssue | undefined => {
  const text = String(value)
  return text === "" || text === "." || text === ".."
    ? { field: key, problem: text === "" ? "must not be empty" : `must not be "${text}"` }
    : addressIssue(key, value)
}

// Half of a surrogate pair has no encoding in an address.
const addressIssue = (key: string, value: unknown): ApiError.FieldIssue | undefined =>
  (Array.isArray(value) ? value : [value]).every((item) => String(item).isWellFormed())
    ? undefined
    : { field: key, problem: "must not hold half of a surrogate pair" }

type Encoded = Readonly<Record<string, unknown>>

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
    return stringify(body)
  }
}

/** The schema of a whole request, flat. */
export const requestSchema = ({ params, query, body }: Endpoint.Declaration<any, any, any>) =>
  Schema.Struct({ ...params, ...query, ...body }) as unknown as Schema.Codec<unknown, Encoded>

const make = (declaration: Endpoint.Declaration<any, any, any>): Codec => {
  const encodeRequest = Schema.encodeUnknownExit(requestSchema(declaration), {
    errors: "all",
    onExcessProperty: "error"
  })
  const decodeSuccess = Schema.decodeUnknownExit(declaration.success)
  const params = paramKeys(declaration.path)
  const path = writePath(declaration)
  const queryKeys = Object.keys(declaration.query)
  const query = writeQuery(queryKeys)
  const body = writeBody(Object.keys(declaration.body))

  const brokenRules = (request: unknown, encoded: Encoded): ReadonlyArray<ApiError.FieldIssue> =>
    [
      ...params.map((key) => segmentIssue(key, encoded[key])),
      ...queryKeys.map((key) => addressIssue(key, encoded[key])),
      ...declaration.rules.map((rule) => rule(request))
    ].filter((issue) => issue !== undefined)

  return {
    encode: (request = {}) => {
      const exit = encodeRequest(request)
      if (Exit.isFailure(exit)) {
        const issue = issueOf(exit)
        return Result.fail(issue === undefined ? [{ field: "", problem: String(exit.cause) }] : fieldIssues(issue))
      }
      const encoded = exit.value
      const broken = brokenRules(request, encoded)
      return broken.length > 0
        ? Result.fail(broken)
        : Result.succeed({ path: path(encoded), query: query(encoded), body: body(encoded) })
    },
    decode: (json) => {
      const exit = decodeSuccess(json)
      if (Exit.isSuccess(exit)) return Result.succeed(exit.value)
      const issue = issueOf(exit)
      return Result.fail(issue === undefined ? String(exit.cause) : tell(issue))
    }
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
