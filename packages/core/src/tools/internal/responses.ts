import * as ApiError from "../../client/ApiError.ts"
import type * as Endpoint from "../../client/Endpoint.ts"
import * as Platform from "../../base/Platform.ts"
import type { JsonSchema } from "./constraints.ts"

export const json = (schema: JsonSchema) => ({ "application/json": { schema } })

const ref = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` })

const Problem: JsonSchema = {
  type: "object",
  description: "An error of the platform.",
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
  description: "The request was not executed, although the status is 200.",
  properties: {
    success: { type: "boolean", const: false },
    message: { type: "string" },
    failed_user_ids: { type: "array", items: { type: "integer", format: "int64" } },
    failed_user_details: { type: "array", items: failedUsers }
  },
  required: ["success"]
}

/** The schemas that responses refer to. */
export const components: Readonly<Record<string, JsonSchema>> = { Problem, Rejection }

type AnyError = ApiError.ErrorClass<unknown>

const commonErrors: ReadonlyArray<AnyError> = [ApiError.Unauthorized, ApiError.RateLimited]

/** Codes whose status differs from the status of their error. */
const statusOfCode: Readonly<Record<string, number>> = { [Platform.codeDeprecatedToken]: 403 }

/** The codes of errors that are recognized by their status alone. */
const codesOfStatus: Readonly<Record<number, ReadonlyArray<string>>> = { 405: [Platform.codeMethodNotAllowed] }

/**
 * An error that is recognized by its body has the status 200. An error that is recognized by its code has the status
 * 400.
 */
const statusOf = ({ matcher }: AnyError): number =>
  matcher.status ?? matcher.statusWithoutCode ?? (matcher.matches === undefined ? 400 : 200)

interface ErrorResponse {
  readonly names: ReadonlyArray<string>
  readonly codes: ReadonlyArray<string>
}

const describeError = ({ codes, names }: ErrorResponse) => ({
  description: `${names.join(", ")}: ${codes.join(", ")}`,
  content: json({
    allOf: [ref("Problem"), { type: "object", properties: { code: { type: "string", examples: codes } } }]
  })
})

const errorsByStatus = (errors: ReadonlyArray<AnyError>, hasBody: boolean): ReadonlyMap<number, ErrorResponse> => {
  const byStatus = new Map<number, ErrorResponse>()
  const add = (status: number, name: string, codes: ReadonlyArray<string>) => {
    const { codes: known, names } = byStatus.get(status) ?? { names: [], codes: [] }
    byStatus.set(status, { names: names.includes(name) ? names : [...names, name], codes: [...known, ...codes] })
  }
  add(400, "The request is invalid", [Platform.codeInvalidPayload])
  if (hasBody)
    add(413, `The body is larger than ${Platform.maxRequestSize / 2 ** 20} MiB`, [Platform.codeInvalidPayload])
  for (const error of errors) {
    const status = statusOf(error)
    const { codes } = error.matcher
    if (codes.length === 0) add(status, error.name, codesOfStatus[status] ?? [])
    for (const code of codes) add(statusOfCode[code] ?? status, error.name, [code])
  }
  return byStatus
}

/** The responses of an operation by status. */
export const responsesOf = ({ body, errors }: Endpoint.Any["declaration"], success: JsonSchema) => {
  const { 200: rejected, ...failed } = Object.fromEntries(
    errorsByStatus([...commonErrors, ...(errors as ReadonlyArray<AnyError>)], Object.keys(body).length > 0)
  )
  const mayReject = rejected !== undefined
  return {
    200: {
      description: mayReject
        ? "The request was executed, or `success` is false and it was not."
        : "The request was executed.",
      content: json(mayReject ? { anyOf: [success, ref("Rejection")] } : success)
    },
    ...Object.fromEntries(Object.entries(failed).map(([status, response]) => [status, describeError(response)])),
    500: describeError({ names: ["The platform has a problem"], codes: [Platform.codeInternalError] }),
    default: describeError({ names: ["The platform has a problem"], codes: ["service.unavailable"] })
  }
}
