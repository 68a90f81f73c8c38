import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Headers from "effect/http/Headers"
import * as HttpBody from "effect/http/HttpBody"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientError from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as UrlParams from "effect/http/UrlParams"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as ApiError from "../ApiError.ts"
import * as ClientResponse from "../ClientResponse.ts"
import type * as Endpoint from "../Endpoint.ts"
import * as RateLimiter from "../RateLimiter.ts"
import { type Accepted, type Body, classify, parseLarge, parseSmall, type Received } from "./classify.ts"
import type * as codec from "./codec.ts"
import type { Lease } from "./currentLease.ts"
import { makeRedact } from "./redact.ts"
import { readText } from "./responseText.ts"
import * as transport from "./transport.ts"

export interface Options {
  readonly client: HttpClient.HttpClient
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

// The span below has more attributes than the span of the HTTP client, and trace headers must not reach the platform.
const withoutTracing = () => true

export const fail = (
  { endpoint }: Endpoint.AnyNamed,
  reason: ApiError.Reason
): Effect.Effect<never, ApiError.RequestFailed> => Effect.fail(new ApiError.RequestFailed({ endpoint, reason }))

/** The cause of a failure of an HTTP client. */
export const causeOf = (error: unknown): unknown => {
  const reason = HttpClientError.isHttpClientError(error) ? error.reason : undefined
  return reason?._tag === "TransportError" ? reason.cause : error
}

/** A response that is too large, without its body. */
const withoutBody = (error: unknown): Effect.Effect<Received, unknown> => {
  const cause = causeOf(error)
  if (!(cause instanceof ClientResponse.ResponseTooLarge)) return Effect.fail(error)
  const problem = `${cause.message} (the option maxResponseSize, BOT_MAX_RESPONSE_SIZE)`
  return Effect.succeed({ status: cause.status, headers: {}, text: "", problem })
}

/** Sends encoded requests over HTTP, and classifies their responses. */
export const make = (options: Options) => {
  const { client, maxResponseSize, onRequest, now, token, baseUrl } = options
  const base = baseUrl.replace(/\/+$/, "")
  const headers = Headers.fromInput({ authorization: Redacted.value(token), accept: "application/json" })
  const redact = makeRedact(Redacted.value(token))

  const toHttpRequest = (method: string, { path, query, body }: codec.Encoded): HttpClientRequest.HttpClientRequest => {
    const url = base + path + query
    const request = HttpClientRequest.makeWith(method, url, UrlParams.empty, Option.none(), headers, HttpBody.empty)
    return body === undefined ? request : HttpClientRequest.setBody(request, HttpBody.text(body, "application/json"))
  }

  const failTransport = (endpoint: Endpoint.AnyNamed, cause: unknown, startedAt: number) => {
    const { code, detail, ...failure } = transport.describe(cause)
    onRequest?.(endpoint.endpoint, failure.kind, now() - startedAt)
    return fail(
      endpoint,
      new ApiError.Transport({
        ...failure,
        ...(code === undefined ? {} : { code }),
        detail: redact.text(detail),
        cause: redact.cause(cause)
      })
    )
  }

  const send = (
    method: string,
    encoded: codec.Encoded,
    { confirmPermit, lease, timeout }: Sending
  ): Effect.Effect<Received, unknown> => {
    const executed: Effect.Effect<HttpClientResponse.HttpClientResponse, unknown> = client.execute(
      toHttpRequest(method, encoded)
    )
    // Not every HTTP client confirms the permit, and this process may have stood still since the lease was confirmed.
    const sent =
      lease === undefined
        ? executed
        : Effect.suspend(() => (lease.isHeld() ? executed : Effect.fail(new RateLimiter.PermitExpired())))
    const received = Effect.flatMap(sent, (response) =>
      Effect.map(readText(response, maxResponseSize), (text): Received => ({
        status: response.status,
        headers: response.headers,
        text
      }))
    )
    const limited: Effect.Effect<Received, unknown> = Effect.catch(
      timeout < Infinity ? Effect.timeout(received, timeout) : received,
      withoutBody
    )
    return Effect.updateContext(limited, (context: Context.Context<never>) =>
      context.pipe(
        Context.add(HttpClient.TracerDisabledWhen, withoutTracing),
        Context.add(RateLimiter.ConfirmPermit, confirmPermit),
        Context.add(ClientResponse.MaxSize, maxResponseSize)
      )
    )
  }

  const read = (endpoint: Endpoint.AnyNamed, received: Received): Effect.Effect<Accepted, ApiError.ApiError> => {
    const read = (body: Body) => Effect.fromResult(classify(endpoint, received, body, redact.text, now()))
    const body = parseSmall(received)
    return body === undefined ? Effect.flatMap(parseLarge(received), read) : read(body)
  }

  return { send, read, failTransport, redact }
}
