import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Headers from "effect/http/Headers"
import { identity } from "effect/Function"
import * as HttpBody from "effect/http/HttpBody"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as UrlParams from "effect/http/UrlParams"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import type * as Tracer from "effect/Tracer"
import * as ApiError from "../../ApiError.ts"
import type * as Endpoint from "../../Endpoint.ts"
import type * as RateLimiter from "../../RateLimiter.ts"
import * as targets from "../rateLimiter/targets.ts"
import { classify, type Received } from "./classify.ts"
import * as codec from "./codec.ts"
import { tell } from "./fieldIssues.ts"
import { redacting } from "./redact.ts"
import { retrying } from "./retry.ts"
import * as transport from "./transport.ts"

export interface Options {
  readonly client: HttpClient.HttpClient
  readonly limiter: RateLimiter.RateLimiter["Service"]
  readonly token: Redacted.Redacted
  readonly baseUrl: string
  /** In milliseconds. */
  readonly timeout: number
}

const spanOptions = { kind: "client" as const }

// The client's own spans and trace headers stay off: headers would go to the platform, and the span here says more.
const withoutTracing = () => true

const failed = (endpoint: Endpoint.Any, reason: ApiError.Reason): Effect.Effect<never, ApiError.RequestFailed> =>
  Effect.fail(new ApiError.RequestFailed({ endpoint: endpoint.endpoint, reason }))

const notSent = ({ endpoint }: Endpoint.Any, { reason, retryAfter }: RateLimiter.RateLimiterError) =>
  new ApiError.RateLimited({
    endpoint,
    status: 0,
    detail: reason === "QueueFull" ? "too many calls are waiting" : "no permit was available within the maximum wait",
    body: "",
    isSent: false,
    retryAfter
  })

export const interpret = ({ client, limiter, token, baseUrl, timeout }: Options) => {
  const base = baseUrl.replace(/\/+$/, "")
  const headers = Headers.fromInput({ authorization: Redacted.value(token), accept: "application/json" })
  const redact = redacting(Redacted.value(token))

  const toHttp = (method: string, { path, query, body }: codec.Wire): HttpClientRequest.HttpClientRequest => {
    const url = base + path + query
    const request = HttpClientRequest.makeWith(method, url, UrlParams.empty, Option.none(), headers, HttpBody.empty)
    return body === undefined ? request : HttpClientRequest.setBody(request, HttpBody.text(body, "application/json"))
  }

  const lost = (endpoint: Endpoint.Any, cause: unknown) => {
    const { code, detail, ...failure } = transport.describe(cause)
    return failed(
      endpoint,
      new ApiError.Transport({
        ...failure,
        ...(code === undefined ? {} : { code }),
        detail: redact.text(detail),
        cause: redact.cause(cause)
      })
    )
  }

  const send = (endpoint: Endpoint.Any, request: HttpClientRequest.HttpClientRequest, within: number) =>
    Effect.flatMap(client.execute(request), (response) =>
      Effect.map(response.text, (text): Received => ({ status: response.status, headers: response.headers, text }))
    ).pipe(
      within < Infinity ? Effect.timeout(within) : identity,
      Effect.provideService(HttpClient.TracerDisabledWhen, withoutTracing),
      Effect.catch((cause) => lost(endpoint, cause))
    )

  const execute = <Request, Success, E extends ApiError.Declared>(
    endpoint: Endpoint.Endpoint<Request, Success, E>,
    request: Request
  ): Effect.Effect<Success, E | ApiError.Common> =>
    Effect.suspend(() => {
      const { method, limit, longPoll, idempotent } = endpoint.declaration
      const { encode, decode } = codec.of(endpoint)
      const encoded = encode(request)
      if (Result.isFailure(encoded)) return failed(endpoint, new ApiError.InvalidRequest({ issues: encoded.failure }))

      const deliberate = longPoll(request)
      const within = deliberate === undefined ? timeout : timeout + Duration.toMillis(deliberate)
      const target = limit(request)
      let permit: RateLimiter.Permit | undefined
      // The request is built after its permit is granted, because many calls may wait for one.
      const exchange = (span: Tracer.Span) =>
        Effect.flatMap(send(endpoint, toHttp(method, encoded.success), within), (received) => {
          span.attribute("http.response.status_code", received.status)
          const read = Effect.clockWith((clock) =>
            Effect.fromResult(classify(endpoint, received, redact.text, clock.currentTimeMillisUnsafe()))
          )
          return deliberate === undefined ? Effect.andThen(limiter.onResponse(permit!), read) : read
        })
      const attempt = Effect.suspend(() => limiter.acquire(target, permit)).pipe(
        Effect.mapError((error) => notSent(endpoint, error)),
        Effect.flatMap((granted) => {
          permit = granted
          return Effect.useSpan(endpoint.endpoint, spanOptions, exchange)
        })
      )
      const refused = (asked: Duration.Duration | undefined) => limiter.onRateLimited(permit!, asked)
      return Effect.flatMap(retrying(attempt, idempotent, { refused, pause: limiter.pause }), ({ json, received }) => {
        const decoded = decode(json)
        if (Result.isSuccess(decoded)) {
          const dialog = targets.dialogOf(target, decoded.success)
          const success = Effect.succeed(decoded.success)
          return dialog === undefined ? success : Effect.andThen(limiter.linkDialog(dialog), success)
        }
        const { status, text } = received
        const problem = redact.text(tell(decoded.failure.issue))
        return failed(endpoint, new ApiError.InvalidResponse({ status, problem, body: redact.text(text) }))
      })
    }) as Effect.Effect<Success, E | ApiError.Common>

  return { execute }
}
