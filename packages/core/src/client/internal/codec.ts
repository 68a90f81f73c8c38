import { memoize } from "effect/Function"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as SchemaIssue from "effect/SchemaIssue"
import { encodeUnknown } from "../../base/internal/codec/run.ts"
import type { Declaration, Rule } from "../Endpoint.ts"
import { paramKey } from "./path.ts"
import * as FieldIssue from "../../base/FieldIssue.ts"
import { stringifyPlain } from "../../base/internal/json.ts"
import { makeDecoder } from "./page.ts"

/** The parts of an HTTP request. */
export interface Encoded {
  readonly path: string
  readonly query: string
  readonly body: string | undefined
}

const pathPart = /\{(\w+)\}/g

/** The fields of the path, in order. */
const paramKeys = (path: string): ReadonlyArray<string> =>
  [...path.matchAll(pathPart)].map(([, name]) => paramKey(name))

const isGiven = (value: unknown): boolean => value !== undefined && value !== null

const isWellFormed = (value: unknown): boolean =>
  typeof value === "string" ? value.isWellFormed() : !Array.isArray(value) || value.every(isWellFormed)

// A lone surrogate cannot be percent-encoded.
const addressIssue = (key: string, value: unknown): FieldIssue.FieldIssue | undefined =>
  isWellFormed(value) ? undefined : { field: key, problem: "must not have a lone surrogate" }

const segmentIssue = (key: string, value: unknown): FieldIssue.FieldIssue | undefined => {
  if (value === "") return { field: key, problem: "must not be empty" }
  return value === "." || value === ".." ? { field: key, problem: `must not be "${value}"` } : addressIssue(key, value)
}

type Values = Readonly<Record<string, unknown>>

const isObject = (request: unknown): request is object => typeof request === "object" && request !== null

const writePath = (declaration: Declaration<unknown, unknown, unknown>) => {
  const pieces = declaration.path.split(pathPart)
  if (pieces.length === 1) return () => declaration.path
  return (values: Values): string =>
    pieces
      .map((piece, index) => (index % 2 === 0 ? piece : encodeURIComponent(String(values[paramKey(piece)]))))
      .join("")
}

const writeQuery =
  (keys: ReadonlyArray<string>) =>
  (values: Values): string => {
    let query = ""
    for (const key of keys) {
      const value = values[key]
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
  return (values: Values): string => {
    const body: Record<string, unknown> = {}
    for (const key of keys) if (values[key] !== undefined) body[key] = values[key]
    return stringifyPlain(body)
  }
}

/** Adds the problems of the rules that a value breaks. */
const addBroken = <A>(rules: ReadonlyArray<Rule<A>>, value: A, issues: Array<FieldIssue.FieldIssue>): void => {
  for (const rule of rules) {
    const issue = rule(value)
    if (issue !== undefined) issues.push(issue)
  }
}

const requestSchema = ({ params, query, body }: Declaration<any, any, any>) =>
  Schema.Struct({ ...params, ...query, ...body }) as unknown as Schema.Codec<unknown, Values>

const make = (declaration: Declaration<any, any, any>) => {
  const schema = requestSchema(declaration)
  const encodeRequest = encodeUnknown(schema, { onExcessProperty: "error" })
  const queryKeys = Object.keys(declaration.query)
  const path = writePath(declaration)
  const query = writeQuery(queryKeys)
  const body = writeBody(Object.keys(declaration.body))

  const addressRules: ReadonlyArray<Rule<Values>> = [
    ...paramKeys(declaration.path).map((key) => (values: Values) => segmentIssue(key, values[key])),
    ...queryKeys.map((key) => (values: Values) => addressIssue(key, values[key]))
  ]

  const encode = (request: unknown): Result.Result<Values, SchemaIssue.Issue> => {
    const encoded = encodeRequest(request)
    // Collecting all issues is slower, and needed only after a failure.
    return Result.isSuccess(encoded) ? encoded : encodeRequest(request, { errors: "all" })
  }

  return {
    encode: (request: unknown = {}): Result.Result<Encoded, ReadonlyArray<FieldIssue.FieldIssue>> => {
      const encoded = encode(request)
      const issues = new Array<FieldIssue.FieldIssue>()
      if (isObject(request)) addBroken(declaration.rules, request, issues)
      if (Result.isFailure(encoded)) {
        return Result.fail([...FieldIssue.fromSchemaIssue(encoded.failure), ...issues])
      }
      const values = encoded.success
      addBroken(addressRules, values, issues)
      return issues.length > 0
        ? Result.fail(issues)
        : Result.succeed({ path: path(values), query: query(values), body: body(values) })
    },
    decoder: makeDecoder(declaration.success)
  }
}

/** The codec of a declaration, built once. */
export const of = memoize(make)
