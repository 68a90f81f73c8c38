import * as CompiledSchema from "@colloquy/core/base/CompiledSchema"
import * as FieldIssue from "@colloquy/core/base/FieldIssue"
import type * as Endpoint from "@colloquy/core/client/Endpoint"
import * as Json from "@colloquy/core/base/Json"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"

/** The parts of a request as text. */
export interface Parts {
  readonly params: Readonly<Record<string, string>>
  readonly query: string
  readonly body: string | undefined
  /** Whether a request with fields that the declaration does not have is rejected. */
  readonly isStrict?: boolean
}

/** Returns the decoded request of an endpoint, or its problem. */
type RequestReader = (parts: Parts) => Result.Result<unknown, string>

type ReadText = (text: string) => unknown

const identity: ReadText = (text) => text

const int64 = 2n ** 63n

/** Nothing has an id outside of the safe integers, so such an id is replaced by the nearest safe integer. */
const clampToSafe = (integer: bigint): number =>
  Math.max(Number.MIN_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, Number(integer)))

const integerIn = (text: string): bigint | undefined => {
  const integer = /^-?\d+$/.test(text) ? BigInt(text) : undefined
  return integer === undefined || integer < -int64 || integer >= int64 ? undefined : integer
}

const isAbsence = ({ _tag }: SchemaAST.AST): boolean => _tag === "Undefined" || _tag === "Null"

/** Returns the parser of a text of the path or the query, for the type in the declaration. */
const readText = (encoded: SchemaAST.AST): ReadText => {
  switch (encoded._tag) {
    case "Number":
      return (text) => {
        const integer = integerIn(text)
        return integer === undefined ? text : clampToSafe(integer)
      }
    // Only 64-bit integers have an encoding of this type.
    case "Unknown":
      return (text) => integerIn(text) ?? Number.NaN
    case "Boolean":
      return (text) => (text === "true" || text === "false" ? text === "true" : text)
    case "Arrays": {
      const item = encoded.rest.length === 1 ? readText(encoded.rest[0]) : identity
      return (text) => text.split(",").map(item)
    }
    case "Union": {
      const members = encoded.types.filter((member) => !isAbsence(member))
      return members.length === 1 ? readText(members[0]) : identity
    }
    default:
      return identity
  }
}

/** If one of these lists of ids is present, the other parameters of the query are ignored, even if they are invalid. */
const idLists = new Set(["message_ids", "comment_ids", "user_ids"])

type TextReaders = ReadonlyArray<readonly [field: string, read: ReadText]>

const textReaders = (fields: Endpoint.Fields): TextReaders =>
  Object.entries(fields).map(([key, { ast }]) => [key, readText(SchemaAST.toEncoded(ast))] as const)

const maxListedIssues = 10

/** Returns the first issues with their fields, and the number of the others. */
export const describe = (error: Schema.SchemaError): string => {
  const issues = FieldIssue.fromSchemaIssue(error.issue)
  const listed = issues
    .slice(0, maxListedIssues)
    .map(({ field, problem }) => (field === "" ? problem : `${field}: ${problem}`))
  const rest = issues.length - listed.length
  return [...listed, ...(rest === 0 ? [] : [`and ${rest} more`])].join("; ")
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** The problem that `Json.parse` reports for a text that is JSON. */
const nesting = /is nested deeper than \d+ levels/

const parseBody = (body: string | undefined): Result.Result<Readonly<Record<string, unknown>>, string> => {
  if (body === undefined || body.trim() === "") return Result.succeed({})
  const parsed = Result.try(() => Json.parse(body))
  if (Result.isFailure(parsed))
    return Result.fail(`The body ${nesting.exec(String(parsed.failure))?.[0] ?? "is not JSON"}`)
  return isRecord(parsed.success) ? Result.succeed(parsed.success) : Result.fail("The body is not a JSON object")
}

/** For a longer body, only the first issue is reported, because each of its many items may have an issue. */
const longBody = 2 ** 14

/** Decodes requests by the schemas of a declaration. Unknown fields are ignored, and `null` means that a field is absent. */
export const make = ({ params, query, body, rules }: Endpoint.Declaration<any, any, any>): RequestReader => {
  const schema = Schema.Struct({ ...params, ...query, ...body }) as Schema.Codec<any, any>
  const decode = CompiledSchema.decodeJsonResult(schema)
  const ofPath = textReaders(params)
  const ofQuery = textReaders(query)
  const ofBody = Object.keys(body)

  // All issues are collected only for an invalid request, because the decoder is faster without options.
  const decodeRequest = (given: object, isStrict: boolean, isLong: boolean): Result.Result<unknown, string> => {
    const options = isStrict ? ({ onExcessProperty: "error" } as const) : undefined
    const decoded = decode(given, options)
    const reported = Result.isFailure(decoded) && !isLong ? decode(given, { ...options, errors: "all" }) : decoded
    return Result.mapError(reported, describe)
  }

  const idList = ofQuery.filter(([key]) => idLists.has(key))

  const excessOf = (search: URLSearchParams, fields: object): string =>
    [
      ...[...search.keys()].flatMap((key) =>
        Object.hasOwn(query, key) ? [] : `${key}: the query has no such parameter`
      ),
      ...Object.keys(fields).flatMap((key) => (Object.hasOwn(body, key) ? [] : `${key}: the body has no such field`))
    ].join("; ")

  const read = (
    parts: Parts,
    search: URLSearchParams,
    fields: Readonly<Record<string, unknown>>,
    ofQuery: TextReaders
  ): Result.Result<unknown, string> => {
    const given: Record<string, unknown> = {}
    for (const key of ofBody) if (fields[key] != null) given[key] = fields[key]
    for (const [key, read] of ofQuery) {
      const text = search.get(key)
      if (text !== null) given[key] = read(text)
    }
    for (const [key, read] of ofPath) given[key] = read(parts.params[key])

    const decoded = decodeRequest(given, parts.isStrict === true, (parts.body?.length ?? 0) > longBody)
    if (Result.isFailure(decoded)) return decoded
    for (const rule of rules) {
      const issue = rule(decoded.success)
      if (issue !== undefined) return Result.fail(`${issue.field}: ${issue.problem}`)
    }
    return decoded
  }

  return (parts) => {
    const parsed = parseBody(ofBody.length === 0 && !parts.isStrict ? undefined : parts.body)
    if (Result.isFailure(parsed)) return Result.fail(parsed.failure)
    const search = new URLSearchParams(parts.query)
    const excess = parts.isStrict ? excessOf(search, parsed.success) : ""
    if (excess !== "") return Result.fail(excess)
    const whole = read(parts, search, parsed.success, ofQuery)
    const isChosen = idList.some(([key]) => search.has(key))
    return Result.isFailure(whole) && isChosen ? read(parts, search, parsed.success, idList) : whole
  }
}
