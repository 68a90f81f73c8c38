import * as ApiError from "@colloquy/core/ApiError"
import type * as Endpoint from "@colloquy/core/Endpoint"
import type { JsonSchema } from "./jsonSchema.ts"

export const json = (schema: JsonSchema) => ({ "application/json": { schema } })

const ref = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` })

const Problem: JsonSchema = {
  type: "object",
  description: 'The platform\'s "no".',
  properties: { code: { type: "string" }, message: { type: "string" }, error: { type: "string" } },
  required: ["code", "message"]
}

const failedUsers: JsonSchema = {
  type: "object",
  properties: {
    error_code: { type: "string", examples: ApiError.AddParticipantFailed.matcher.codes },
    user_ids: { type: "array", items: { type: "integer", format: "int64" } }
  },
  required: ["error_code", "user_ids"]
}

const Rejection: JsonSchema = {
  type: "object",
  description: "It was not carried out, although the status is 200.",
  properties: {
    success: { type: "boolean", const: false },
    message: { type: "string" },
    failed_user_ids: { type: "array", items: { type: "integer", format: "int64" } },
    failed_user_details: { type: "array", items: failedUsers }
  },
  required: ["success"]
}

/** What the answers refer to. */
export const shared: Readonly<Record<string, JsonSchema>> = { Problem, Rejection }

type AnyError = ApiError.ErrorClass<unknown>

const common: ReadonlyArray<AnyError> = [ApiError.Unauthorized, ApiError.RateLimited]

/** A code that comes with another status than the error which it is known as. */
const statusOfCode: Readonly<Record<string, number>> = { "deprecated.token": 403 }

/** The code of an error that is known by its status alone. */
const codesOfStatus: Readonly<Record<number, ReadonlyArray<string>>> = { 405: ["method.not.allowed"] }

/** Told by a body whatever the status is, which then is 200; told by a code without a status, which has been seen with 400. */
const statusOf = ({ matcher }: AnyError): number =>
  matcher.status ?? matcher.statusWithoutCode ?? (matcher.matches === undefined ? 400 : 200)

interface Told {
  readonly what: ReadonlyArray<string>
  readonly codes: ReadonlyArray<string>
}

const nothing: Told = { what: [], codes: [] }

const join = (told: Told, what: string, codes: ReadonlyArray<string>): Told => ({
  what: told.what.includes(what) ? told.what : [...told.what, what],
  codes: [...told.codes, ...codes]
})

const problem = ({ codes, what }: Told) => ({
  description: `${what.join(", ")}: ${codes.join(", ")}`,
  content: json({
    allOf: [ref("Problem"), { type: "object", properties: { code: { type: "string", examples: codes } } }]
  })
})

const toldBy = (errors: ReadonlyArray<AnyError>, hasBody: boolean): ReadonlyMap<number, Told> => {
  const byStatus = new Map<number, Told>()
  const tell = (status: number, what: string, codes: ReadonlyArray<string>) =>
    byStatus.set(status, join(byStatus.get(status) ?? nothing, what, codes))
  tell(400, "The request breaks a rule", ["proto.payload"])
  if (hasBody) tell(413, "The body is larger than 1 MiB", ["proto.payload"])
  for (const error of errors) {
    const status = statusOf(error)
    const { codes } = error.matcher
    if (codes.length === 0) tell(status, error.name, codesOfStatus[status] ?? [])
    for (const code of codes) tell(statusOfCode[code] ?? status, error.name, [code])
  }
  return byStatus
}

/** What an operation answers, by the status. */
export const answersOf = ({ body, errors }: Endpoint.Any["declaration"], described: JsonSchema) => {
  const { 200: rejected, ...refused } = Object.fromEntries(
    toldBy([...common, ...(errors as ReadonlyArray<AnyError>)], Object.keys(body).length > 0)
  )
  const mayReject = rejected !== undefined
  return {
    200: {
      description: mayReject ? "It was carried out, or `success` is false." : "It was carried out.",
      content: json(mayReject ? { anyOf: [described, ref("Rejection")] } : described)
    },
    ...Object.fromEntries(Object.entries(refused).map(([status, told]) => [status, problem(told)])),
    default: problem({ what: ["The platform has a problem"], codes: ["internal.error", "service.unavailable"] })
  }
}
