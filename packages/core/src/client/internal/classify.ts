import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { memoize } from "effect/Function"
import * as Result from "effect/Result"
import * as ApiError from "../ApiError.ts"
import { isRejected, isSuccess } from "./accepted.ts"
import type * as Endpoint from "../Endpoint.ts"
import { parseMarked } from "../../base/internal/json.ts"
import { Unparsed } from "../../base/internal/nesting.ts"
import { runSliced } from "./pausing.ts"
import { maxUnslicedLength, parseSliced } from "./sliced.ts"
import { memberOf } from "../../base/internal/wire.ts"

/** A received response. */
export interface Received {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly text: string
  /** The reason for which the text of the response was not read. */
  readonly problem?: string
}

/** A successful response, with its JSON. */
export interface Accepted {
  readonly json: unknown
  readonly received: Received
}

const common = [ApiError.Unauthorized, ApiError.RateLimited] as const

/** The JSON of a body, or the problem of a body without JSON. */
export type Body = { readonly json: unknown } | { readonly problem: string }

const notJson = (text: string, error: unknown): Body => {
  if (error instanceof Unparsed) return { problem: `the JSON ${error.problem}` }
  return {
    problem: text === "" ? "the body is empty" : `the body is not JSON, or is incomplete (${text.length} characters)`
  }
}

const parseText = (text: string): Body => {
  const parsed = Result.try({ try: () => parseMarked(text), catch: (error) => notJson(text, error) })
  return Result.isSuccess(parsed) ? { json: parsed.success } : parsed.failure
}

/** Parses the body of a response, or returns `undefined` for a large body. A large body of an error is not parsed. */
export const parseSmall = ({ problem, status, text }: Received): Body | undefined => {
  if (problem !== undefined) return { problem }
  if (text.length <= maxUnslicedLength) return parseText(text)
  return isSuccess(status) ? undefined : { problem: `the body is too large (${text.length} characters)` }
}

/** Parses the body of a large response. */
export const parseLarge = ({ text }: Received): Effect.Effect<Body> =>
  Effect.match(
    runSliced(() => parseSliced(text)),
    { onSuccess: (json) => ({ json }), onFailure: (error) => notJson(text, error) }
  )

const jsonOf = (text: string): unknown => {
  const body = text.length <= maxUnslicedLength ? parseText(text) : {}
  return "json" in body ? body.json : undefined
}

const stringOf = (key: string, body: unknown): string | undefined => {
  const value = memberOf(key, body)
  return typeof value === "string" && value !== "" ? value : undefined
}

/** The delay that `Retry-After` asks for, in seconds or as a date. */
const retryAfterOf = ({ headers }: Received, now: number): Duration.Duration | undefined => {
  const header = headers["retry-after"]?.trim()
  if (header === undefined || header === "") return undefined
  const millis = /^\d+(\.\d+)?$/.test(header) ? Number(header) * 1000 : Date.parse(header) - now
  return Number.isFinite(millis) ? Duration.millis(Math.max(0, Math.ceil(millis))) : undefined
}

const optional = <const Key extends string, A>(key: Key, value: A | undefined): { readonly [K in Key]?: A } =>
  (value === undefined ? {} : { [key]: value }) as { readonly [K in Key]?: A }

type ErrorClasses = ReadonlyArray<ApiError.ErrorClass<ApiError.ApiError>>

/** The errors of the declaration of an endpoint, and the errors among them that the body as a whole can match. */
const classesOf = memoize(({ errors }: Endpoint.AnyNamed["declaration"]) => {
  const all: ErrorClasses = [...errors, ...common]
  return { all, matchingBodies: all.filter(({ matcher }) => matcher.matches !== undefined) }
})

const findError = (
  endpoint: Endpoint.AnyNamed,
  { status }: Received,
  json: unknown,
  code: string | undefined
): ErrorClasses[number] | undefined => {
  const { all, matchingBodies } = classesOf(endpoint.declaration)
  return (
    (code === undefined ? undefined : all.find(({ matcher }) => matcher.codes.includes(code))) ??
    matchingBodies.find(({ matcher }) => matcher.matches!(json, status)) ??
    (isSuccess(status)
      ? undefined
      : all.find(
          ({ matcher }) => matcher.status === status || (code === undefined && matcher.statusWithoutCode === status)
        ))
  )
}

/** Classifies a response: a success, or an error. Errors match by the code in the body, then the body, then the status. */
export const classify = (
  endpoint: Endpoint.AnyNamed,
  received: Received,
  parsed: Body,
  redact: (text: string) => string,
  now: number
): Result.Result<Accepted, ApiError.ApiError> => {
  const { status, text } = received
  const fail = (reason: ApiError.Reason) =>
    Result.fail(new ApiError.RequestFailed({ endpoint: endpoint.endpoint, reason }))
  const isAccepted = isSuccess(status)
  if (isAccepted && "problem" in parsed) {
    return fail(new ApiError.InvalidResponse({ status, problem: parsed.problem, body: redact(text) }))
  }
  const json = "json" in parsed ? parsed.json : undefined
  const code = stringOf("code", json)
  const error = findError(endpoint, received, json, code)
  // `success: false` is never a success, even for an endpoint that does not declare `OperationRejected`.
  if (isAccepted && error === undefined && !isRejected(json, status)) {
    return Result.succeed({ json, received })
  }
  const detail = stringOf("message", json) ?? stringOf("error", json)
  const retryAfter = retryAfterOf(received, now)
  const response = {
    status,
    ...optional("code", code === undefined ? undefined : redact(code)),
    ...optional("detail", detail === undefined ? undefined : redact(detail)),
    body: redact(text)
  }
  if (error === undefined) {
    return fail(new ApiError.UnexpectedStatus({ ...response, ...optional("retryAfter", retryAfter) }))
  }
  return Result.fail(
    new error({
      endpoint: endpoint.endpoint,
      ...response,
      ...(error === ApiError.RateLimited ? optional("retryAfter", retryAfter) : {}),
      ...error.matcher.read?.(jsonOf(redact(text)))
    } as never)
  )
}
