import * as Duration from "effect/Duration"
import * as Result from "effect/Result"
import * as ApiError from "../../ApiError.ts"
import type * as Endpoint from "../../Endpoint.ts"
import { parseMarked } from "./json.ts"
import { isRejected, isSuccess, member } from "./rejected.ts"

/** An answer as it came. */
export interface Received {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly text: string
}

const common = [ApiError.Unauthorized, ApiError.RateLimited] as const

/** The JSON of a text, nothing where it is none. */
const parseJson = (text: string): { readonly json?: unknown } => {
  const parsed = Result.try(() => parseMarked(text))
  return Result.isSuccess(parsed) ? { json: parsed.success } : {}
}

const stringMember = (body: unknown, key: string): string | undefined => {
  const value = member(body, key)
  return typeof value === "string" && value !== "" ? value : undefined
}

/** The pause that `Retry-After` asks for, in seconds or as a date. */
const retryAfter = ({ headers }: Received, now: number): Duration.Duration | undefined => {
  const header = headers["retry-after"]?.trim()
  if (header === undefined || header === "") return undefined
  const millis = /^\d+(\.\d+)?$/.test(header) ? Number(header) * 1000 : Date.parse(header) - now
  return Number.isFinite(millis) ? Duration.millis(Math.max(0, Math.ceil(millis))) : undefined
}

const given = <const Key extends string, A>(key: Key, value: A | undefined): { readonly [K in Key]?: A } =>
  (value === undefined ? {} : { [key]: value }) as { readonly [K in Key]?: A }

/** A success: the JSON of the answer, and the answer. */
export interface Accepted {
  readonly json: unknown
  readonly received: Received
}

/**
 * Reads an answer: a success, or the error that it is. Recognised by the code in the body, then by the body as a whole,
 * then by the status.
 */
export const classify = (
  endpoint: Endpoint.Any,
  received: Received,
  redact: (text: string) => string,
  now: number
): Result.Result<Accepted, ApiError.ApiError> => {
  const { status, text } = received
  const failed = (reason: ApiError.Reason) =>
    Result.fail(new ApiError.RequestFailed({ endpoint: endpoint.endpoint, reason }))
  const isAccepted = isSuccess(status)
  const parsed = parseJson(text)
  if (isAccepted && !("json" in parsed)) {
    const problem =
      text === "" ? "the body is empty" : `the body is not JSON, or is cut short (${text.length} characters)`
    return failed(new ApiError.InvalidResponse({ status, problem, body: redact(text) }))
  }
  const { json } = parsed
  const rules: ReadonlyArray<ApiError.ErrorClass<ApiError.ApiError>> = [...endpoint.declaration.errors, ...common]
  const code = stringMember(json, "code")
  const recognised =
    (code === undefined ? undefined : rules.find(({ matcher }) => matcher.codes.includes(code))) ??
    rules.find(({ matcher }) => matcher.matches?.(json, status) === true) ??
    (isAccepted
      ? undefined
      : rules.find(
          ({ matcher }) => matcher.status === status || (code === undefined && matcher.statusWithoutCode === status)
        ))
  // Endpoints that declare no OperationRejected must not take it for a success either.
  if (isAccepted && recognised === undefined && !isRejected(json, status)) return Result.succeed({ json, received })
  const detail = stringMember(json, "message") ?? stringMember(json, "error")
  const pause = retryAfter(received, now)
  const answer = {
    status,
    ...given("code", code === undefined ? undefined : redact(code)),
    ...given("detail", detail === undefined ? undefined : redact(detail)),
    body: redact(text)
  }
  if (recognised === undefined)
    return failed(new ApiError.UnexpectedStatus({ ...answer, ...given("retryAfter", pause) }))
  return Result.fail(
    new recognised({
      endpoint: endpoint.endpoint,
      ...answer,
      ...(recognised === ApiError.RateLimited ? given("retryAfter", pause) : {}),
      ...recognised.matcher.read?.(parseJson(redact(text)).json)
    } as never)
  )
}
