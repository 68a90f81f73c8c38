import type * as Endpoint from "@colloquy/core/Endpoint"
import * as Json from "@colloquy/core/Json"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import * as SchemaIssue from "effect/SchemaIssue"

/** The parts of a request as text. */
export interface Parts {
  readonly params: Readonly<Record<string, string>>
  readonly query: string
  readonly body: string | undefined
  /** Whether fields that the declaration does not know are refused. */
  readonly isStrict?: boolean
}

/** Gives the flat request of an endpoint, or what is wrong with it. */
export type RequestReader = (parts: Parts) => Result.Result<unknown, string>

type ReadText = (text: string) => unknown

const asIs: ReadText = (text) => text

const isAbsence = ({ _tag }: SchemaAST.AST): boolean => _tag === "Undefined" || _tag === "Null"

/** What a text of the path or the query says, by the type that the declaration expects there. */
const readText = (encoded: SchemaAST.AST): ReadText => {
  switch (encoded._tag) {
    case "Number":
      return (text) => (/^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text)
    case "Boolean":
      return (text) => (text === "true" || text === "false" ? text === "true" : text)
    case "Arrays": {
      const item = encoded.rest.length === 1 ? readText(encoded.rest[0]) : asIs
      return (text) => text.split(",").map(item)
    }
    case "Union": {
      const members = encoded.types.filter((member) => !isAbsence(member))
      return members.length === 1 ? readText(members[0]) : asIs
    }
    default:
      return asIs
  }
}

const textReaders = (fields: Endpoint.Fields): ReadonlyArray<readonly [string, ReadText]> =>
  Object.entries(fields).map(([key, { ast }]) => [key, readText(SchemaAST.toEncoded(ast))] as const)

const toStandardIssues = SchemaIssue.makeFormatterStandardSchemaV1()

/** Every issue with the field it is about. */
export const describe = (error: Schema.SchemaError): string =>
  toStandardIssues(error.issue)
    .issues.map(({ path, message }) => {
      const field = (path ?? []).map((part) => (typeof part === "object" ? part.key : part)).join(".")
      return field === "" ? message : `${field}: ${message}`
    })
    .join("; ")
    .replaceAll("\n", " ")

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const parseBody = (body: string | undefined): Result.Result<Readonly<Record<string, unknown>>, string> => {
  if (body === undefined || body.trim() === "") return Result.succeed({})
  const parsed = Result.try(() => Json.parse(body))
  if (Result.isFailure(parsed)) return Result.fail("The body is not JSON")
  return isRecord(parsed.success) ? Result.succeed(parsed.success) : Result.fail("The body is not a JSON object")
}

/** Reads requests with the schemas of the declaration. Fields that it does not know are ignored; null is absence. */
export const make = ({ params, query, body, rules }: Endpoint.Declaration<any, any, any>): RequestReader => {
  const schema = Schema.Struct({ ...params, ...query, ...body }) as Schema.Codec<any, any>
  const decodeLiberally = Schema.decodeUnknownResult(schema, { errors: "all" })
  const decodeStrictly = Schema.decodeUnknownResult(schema, { errors: "all", onExcessProperty: "error" })
  const ofPath = textReaders(params)
  const ofQuery = textReaders(query)
  const ofBody = Object.keys(body)

  return (parts) => {
    const parsed = parseBody(ofBody.length === 0 ? undefined : parts.body)
    if (Result.isFailure(parsed)) return Result.fail(parsed.failure)
    const search = new URLSearchParams(parts.query)
    const given: Record<string, unknown> = {}
    if (parts.isStrict) Object.assign(given, Object.fromEntries(search), parsed.success)
    for (const key of ofBody) if (parsed.success[key] != null) given[key] = parsed.success[key]
    for (const [key, read] of ofQuery) {
      const text = search.get(key)
      if (text !== null) given[key] = read(text)
    }
    for (const [key, read] of ofPath) given[key] = read(parts.params[key])

    const decoded = (parts.isStrict ? decodeStrictly : decodeLiberally)(given)
    if (Result.isFailure(decoded)) return Result.fail(describe(decoded.failure))
    for (const rule of rules) {
      const issue = rule(decoded.success)
      if (issue !== undefined) return Result.fail(`${issue.field}: ${issue.problem}`)
    }
    return Result.succeed(decoded.success)
  }
}
