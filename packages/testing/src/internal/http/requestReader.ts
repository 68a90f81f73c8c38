import * as FieldIssue from "@colloquy/core/FieldIssue"
import type * as Declaration from "@colloquy/core/Declaration"
import * as Json from "@colloquy/core/Json"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"

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

const int64 = 2n ** 63n

/** What is beyond the integers that a double holds is as far as they go: nothing is there. */
const nearest = (integer: bigint): number =>
  Math.max(Number.MIN_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, Number(integer)))

const integerIn = (text: string): bigint | undefined => {
  const integer = /^-?\d+$/.test(text) ? BigInt(text) : undefined
  return integer === undefined || integer < -int64 || integer >= int64 ? undefined : integer
}

const isAbsence = ({ _tag }: SchemaAST.AST): boolean => _tag === "Undefined" || _tag === "Null"

/** What a text of the path or the query says, by the type that the declaration expects there. */
const readText = (encoded: SchemaAST.AST): ReadText => {
  switch (encoded._tag) {
    case "Number":
      return (text) => {
        const integer = integerIn(text)
        return integer === undefined ? text : nearest(integer)
      }
    // Only 64-bit integers are read by hand.
    case "Unknown":
      return (text) => integerIn(text) ?? Number.NaN
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

/** A list of ids says it all: what would choose or page beside it is ignored, even where it is wrong. */
const choosers = new Set(["message_ids", "comment_ids", "user_ids"])

type TextReaders = ReadonlyArray<readonly [field: string, read: ReadText]>

const textReaders = (fields: Declaration.Fields): TextReaders =>
  Object.entries(fields).map(([key, { ast }]) => [key, readText(SchemaAST.toEncoded(ast))] as const)

const mostIssues = 10

/** The issues, each with the field it is about; not all of them where there are many. */
export const describe = (error: Schema.SchemaError): string => {
  const issues = FieldIssue.fromSchemaIssue(error.issue)
  const told = issues
    .slice(0, mostIssues)
    .map(({ field, problem }) => (field === "" ? problem : `${field}: ${problem}`))
  const rest = issues.length - told.length
  return [...told, ...(rest === 0 ? [] : [`and ${rest} more`])].join("; ")
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

/** In a body that is longer, only the first issue is looked for: each of its many items may be one. */
const longBody = 2 ** 14

/** Reads requests with the schemas of the declaration. Fields that it does not know are ignored; null is absence. */
export const make = ({ params, query, body, rules }: Declaration.Declaration<any, any, any>): RequestReader => {
  const schema = Schema.Struct({ ...params, ...query, ...body }) as Schema.Codec<any, any>
  const decode = Schema.decodeUnknownResult(schema)
  const ofPath = textReaders(params)
  const ofQuery = textReaders(query)
  const ofBody = Object.keys(body)

  const chooser = ofQuery.filter(([key]) => choosers.has(key))

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

    const decoded = decode(given, {
      errors: (parts.body?.length ?? 0) > longBody ? "first" : "all",
      ...(parts.isStrict ? { onExcessProperty: "error" } : {})
    })
    if (Result.isFailure(decoded)) return Result.fail(describe(decoded.failure))
    for (const rule of rules) {
      const issue = rule(decoded.success)
      if (issue !== undefined) return Result.fail(`${issue.field}: ${issue.problem}`)
    }
    return Result.succeed(decoded.success)
  }

  return (parts) => {
    const parsed = parseBody(ofBody.length === 0 && !parts.isStrict ? undefined : parts.body)
    if (Result.isFailure(parsed)) return Result.fail(parsed.failure)
    const search = new URLSearchParams(parts.query)
    const excess = parts.isStrict ? excessOf(search, parsed.success) : ""
    if (excess !== "") return Result.fail(excess)
    const whole = read(parts, search, parsed.success, ofQuery)
    const isChosen = chooser.some(([key]) => search.has(key))
    return Result.isFailure(whole) && isChosen ? read(parts, search, parsed.success, chooser) : whole
  }
}
