import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as ApiError from "../ApiError.ts"
import { ResponseTooLarge } from "../ClientResponse.ts"
import type * as Endpoint from "../Endpoint.ts"
import * as RateLimiter from "../RateLimiter.ts"
import { type Accepted, type Body, classify, parseLarge, parseSmall, type Received } from "./classify.ts"
import type * as codec from "./codec.ts"
import type { Lease } from "./currentLease.ts"
import { makeRedact } from "./redact.ts"
import { toTransport } from "./transport.ts"

/** An HTTP request. A body is JSON. */
export interface Request {
  readonly method: string
  readonly url: string
  readonly body: string | undefined
  /** In bytes. A larger response is not read, and fails with `ResponseTooLarge`. */
  readonly maxResponseSize: number
  /** Returns whether the request may still be sent, for a transport that waits for a connection. */
  readonly confirmPermit: () => boolean
}

/** Sends requests with these headers, and reads their responses. */
export type Transport = (
  headers: Readonly<Record<string, string>>
) => (request: Request) => Effect.Effect<Received, unknown>

export interface Options {
  readonly transport: Transport
  readonly token: Redacted.Redacted
  readonly baseUrl: string
  /** The time in milliseconds. */
  readonly now: () => number
  /** In bytes. */
  readonly maxResponseSize: number
  readonly onRequest: ((endpoint: string, status: number | string, millis: number) => void) | undefined
}

/** The conditions of one request. */
interface Sending {
  /** In milliseconds. */
  readonly timeout: number
  readonly lease: Lease | undefined
  readonly confirmPermit: () => boolean
}

export const fail = (
  { endpoint }: Endpoint.AnyNamed,
  reason: ApiError.Reason
): Effect.Effect<never, ApiError.RequestFailed> => Effect.fail(new ApiError.RequestFailed({ endpoint, reason }))

/** A response that is too large, without its body. */
const withoutBody = (error: unknown): Effect.Effect<Received, unknown> => {
  if (!(error instanceof ResponseTooLarge)) return Effect.fail(error)
  const problem = `${error.message} (the option maxResponseSize, BOT_MAX_RESPONSE_SIZE)`
  return Effect.succeed({ status: error.status, headers: {}, text: "", problem })
}

/** Sends encoded requests over HTTP, and classifies their responses. */
export const make = (options: Options) => {
  const { maxResponseSize, onRequest, now, token, baseUrl } = options
  const base = baseUrl.replace(/\/+$/, "")
  const execute = options.transport({ authorization: Redacted.value(token), accept: "application/json" })
  const redact = makeRedact(Redacted.value(token))

  const failTransport = (endpoint: Endpoint.AnyNamed, cause: unknown, startedAt: number) => {
    const reason = toTransport(cause, redact)
    onRequest?.(endpoint.endpoint, reason.kind, now() - startedAt)
    return fail(endpoint, reason)
  }

  const send = (
    method: string,
    { path, query, body }: codec.Encoded,
    { confirmPermit, lease, timeout }: Sending
  ): Effect.Effect<Received, unknown> => {
    const executed = execute({ method, url: base + path + query, body, maxResponseSize, confirmPermit })
    // Not every transport confirms the permit, and this process may have stood still since the lease was confirmed.
    const sent: Effect.Effect<Received, unknown> =
      lease === undefined
        ? executed
        : Effect.suspend(() => (lease.isHeld() ? executed : Effect.fail(new RateLimiter.PermitExpired())))
    return Effect.catch(timeout < Infinity ? Effect.timeout(sent, timeout) : sent, withoutBody)
  }

  const read = (endpoint: Endpoint.AnyNamed, received: Received): Effect.Effect<Accepted, ApiError.ApiError> => {
    const read = (body: Body) => Effect.fromResult(classify(endpoint, received, body, redact.text, now()))
    const body = parseSmall(received)
    return body === undefined ? Effect.flatMap(parseLarge(received), read) : read(body)
  }

  return { send, read, failTransport, redact }
}
