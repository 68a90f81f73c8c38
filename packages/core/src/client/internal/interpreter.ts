import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as Headers from "effect/http/Headers"
import * as HttpBody from "effect/http/HttpBody"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientError from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as UrlParams from "effect/http/UrlParams"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Tracer from "effect/Tracer"
import * as ApiError from "../ApiError.ts"
import * as ClientResponse from "../ClientResponse.ts"
import type * as Endpoint from "../Endpoint.ts"
import * as FieldIssue from "../../base/FieldIssue.ts"
import * as RateLimiter from "../RateLimiter.ts"
import { CurrentLease, type Lease } from "./currentLease.ts"
import { CurrentCallContext } from "./callContext.ts"
import { type Accepted, type Body, classify, parseLarge, parseSmall, type Received } from "./classify.ts"
import { makeAllCreated } from "./journal/created.ts"
import { CurrentName, HasUniqueName, type Response } from "./journal/current.ts"
import { track } from "./journal/track.ts"
import * as codec from "./codec.ts"
import { CurrentRefresh } from "./refresh.ts"
import * as malformed from "../../base/internal/malformed.ts"
import { decodeResponse } from "./page.ts"
import { makePlatformTime } from "./platformTime.ts"
import { makeRedact } from "./redact.ts"
import { acceptRepeated } from "./repeated.ts"
import { readText } from "./responseText.ts"
import { withRetries } from "./retry.ts"
import * as transport from "./transport.ts"

export interface Options {
  readonly client: HttpClient.HttpClient
  readonly limiter: RateLimiter.RateLimiter["Service"]
  readonly token: Redacted.Redacted
  readonly baseUrl: string
  /** The time in milliseconds. */
  readonly now: () => number
  /** The time in milliseconds of the monotonic clock. */
  readonly monotonic: () => number
  /** In milliseconds. */
  readonly timeout: number
  /** In bytes. */
  readonly maxResponseSize: number
  readonly onRequest: ((endpoint: string, status: number | string, millis: number) => void) | undefined
}

type Attempt = Effect.Effect<Accepted, ApiError.ApiError | RateLimiter.PermitExpired>

const spanOptions = { kind: "client" as const }

// The span below has more attributes than the span of the HTTP client, and trace headers must not reach the platform.
const withoutTracing = () => true

const fail = ({ endpoint }: Endpoint.AnyNamed, reason: ApiError.Reason): Effect.Effect<never, ApiError.RequestFailed> =>
  Effect.fail(new ApiError.RequestFailed({ endpoint, reason }))

/** The cause of a failure of an HTTP client. */
const causeOf = (error: unknown): unknown => {
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

const details: Record<RateLimiter.RateLimiterError["reason"], string> = {
  QueueFull: "too many calls are waiting",
  MaxWaitExceeded: "no permit was available within the maximum wait",
  Replaced: "a newer call took its place"
}

const withoutPermit = ({ endpoint }: Endpoint.AnyNamed, { reason, retryAfter }: RateLimiter.RateLimiterError) =>
  new ApiError.RateLimited({
    endpoint,
    status: 0,
    detail: details[reason],
    body: "",
    isSent: false,
    retryAfter,
    ...(reason === "Replaced" ? { isReplaced: true } : {})
  })

export const make = (options: Options) => {
  const { client, limiter, maxResponseSize, monotonic, onRequest, now, token, baseUrl, timeout } = options
  const base = baseUrl.replace(/\/+$/, "")
  const headers = Headers.fromInput({ authorization: Redacted.value(token), accept: "application/json" })
  const redact = makeRedact(Redacted.value(token))
  const platformTime = makePlatformTime()
  const created = makeAllCreated()

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
    request: HttpClientRequest.HttpClientRequest,
    timeout: number,
    lease: Lease | undefined,
    confirmPermit: () => boolean
  ): Effect.Effect<Received, unknown> => {
    const executed: Effect.Effect<HttpClientResponse.HttpClientResponse, unknown> = client.execute(request)
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

  const execute = <Request, Success, E extends ApiError.Declared>(
    endpoint: Endpoint.Named<Request, Success, E>,
    request: Request
  ): Effect.Effect<Success, E | ApiError.Common> =>
    Effect.withFiber((fiber) => {
      const { dialog, idempotent, limit, longPoll, lookUp, method } = endpoint.declaration
      const { decoder, encode } = codec.of(endpoint.declaration)
      const encoded = encode(request)
      if (Result.isFailure(encoded)) return fail(endpoint, new ApiError.InvalidRequest({ issues: encoded.failure }))

      const waits = longPoll(request)
      const attemptTimeout = waits === undefined ? timeout : timeout + Duration.toMillis(waits)
      const target = limit(request)
      const refresh = fiber.getRef(CurrentRefresh)
      let body = encoded.success
      let permit: RateLimiter.Permit | undefined
      const confirm = (stage: RateLimiter.Stage) => {
        const confirmed = limiter.confirmUnsafe(permit!, stage)
        permit = confirmed ?? permit
        return confirmed !== undefined
      }
      let stage: RateLimiter.Stage = "connected"
      const lease = fiber.getRef(CurrentLease)
      const confirmPermit = () => {
        // A process that may have lost the chat whose update is being handled sends nothing.
        if (lease !== undefined && !lease.isHeld()) return false
        const isConfirmed = confirm(stage)
        if (!isConfirmed) stage = "final"
        return isConfirmed
      }
      // The HTTP request is created after the permit, because many calls can wait for a permit.
      const exchange = (span: Tracer.Span | undefined) => {
        const startedAt = now()
        return Effect.matchEffect(send(toHttpRequest(method, body), attemptTimeout, lease, confirmPermit), {
          onFailure: (cause): Attempt => {
            const expired = causeOf(cause)
            if (!(expired instanceof RateLimiter.PermitExpired)) return failTransport(endpoint, cause, startedAt)
            return span === undefined ? attempt : Effect.fail(expired)
          },
          onSuccess: (received): Attempt => {
            const receivedAt = now()
            onRequest?.(endpoint.endpoint, received.status, receivedAt - startedAt)
            platformTime.observeDate(received.headers["date"], monotonic())
            span?.attribute("http.response.status_code", received.status)
            const classified = read(endpoint, received)
            // The duration of a long poll says nothing about the network.
            return waits === undefined ? Effect.andThen(limiter.onResponse(permit!), classified) : classified
          }
        })
      }
      const permitted: Attempt = Effect.suspend(() => {
        if (!confirm("ready")) return attempt
        // Nobody sees the spans of the native tracer (`npm run bench`, `call-cpu-over-undici`).
        if (fiber.getRef(Tracer.Tracer) === Tracer.nativeTracer) return exchange(undefined)
        return Effect.catchTag(Effect.useSpan(endpoint.endpoint, spanOptions, exchange), "PermitExpired", () => attempt)
      })
      const leaseConfirmed = lease === undefined ? permitted : Effect.andThen(lease.confirm, permitted)
      // The journal is written after the permit, because a call can wait long for a permit, and before the lease is
      // checked.
      let begun = leaseConfirmed
      const granted = lease?.interruptsWait === true ? Effect.interruptible : identity
      // The request that the journal has recorded is sent, also with another permit, so that a look-up recognizes the
      // result.
      let isRecorded = false
      const attempt: Effect.Effect<Accepted, ApiError.ApiError> = Effect.suspend(() =>
        Effect.matchEffect(granted(limiter.acquire(target, permit)), {
          onFailure: (error) => Effect.fail(withoutPermit(endpoint, error)),
          onSuccess: (acquired) => {
            permit = acquired
            if (refresh?.endpoint === endpoint.endpoint && !isRecorded) {
              const newest = encode(refresh.read(request) as typeof request)
              if (Result.isFailure(newest)) {
                return fail(endpoint, new ApiError.InvalidRequest({ issues: newest.failure }))
              }
              body = newest.success
            }
            return begun as Effect.Effect<Accepted, ApiError.ApiError>
          }
        })
      )
      const onRateLimited = (retryAfter: Duration.Duration | undefined) => limiter.onRateLimited(permit!, retryAfter)
      const decode = ({ json, received }: Accepted): Effect.Effect<Response<Success>> => {
        const parts: Array<malformed.MalformedPart> = []
        return Effect.map(
          decodeResponse(decoder, json, parts),
          (decoded) => ({ received, parts, decoded }) as Response<Success>
        )
      }
      const finish = ({ decoded, parts, received: { status, text } }: Response<Success>) => {
        if (Result.isSuccess(decoded)) {
          const value = Effect.succeed(decoded.success)
          const success =
            parts.length === 0
              ? value
              : Effect.andThen(
                  Effect.logWarning(redact.text(`${endpoint.endpoint}: ${malformed.describe(parts)}`)),
                  value
                )
          const revealed = dialog(request, decoded.success)
          return revealed === undefined ? success : Effect.andThen(limiter.linkDialog(revealed), success)
        }
        const problem = redact.text(FieldIssue.format(decoded.failure))
        return fail(endpoint, new ApiError.InvalidResponse({ status, problem, body: redact.text(text) }))
      }
      const context = fiber.getRef(CurrentCallContext)
      const attempts = acceptRepeated(endpoint, request, context, attempt, (once) =>
        withRetries(once, idempotent, { onRateLimited, pause: limiter.pause })
      )
      const journal = method === "GET" ? undefined : context?.journal
      // A message that was changed would not be found if its answer were lost.
      if (journal !== undefined && idempotent) begun = Effect.andThen(journal.flush, leaseConfirmed)
      if (journal === undefined && lookUp !== undefined) {
        const tracked = track(endpoint, request, created)
        begun = Effect.andThen(tracked.begin, leaseConfirmed)
        return Effect.flatMap(Effect.onExitPrimitive(Effect.flatMap(attempts, decode), tracked.end), finish)
      }
      if (journal === undefined || idempotent) return Effect.flatMap(Effect.flatMap(attempts, decode), finish)
      const response = journal.callEndpoint({
        endpoint,
        request,
        encoded: () => body,
        name: fiber.getRef(CurrentName),
        hasUniqueName: fiber.getRef(HasUniqueName),
        execute,
        platformTime,
        created,
        run: (begin) => {
          const recorded = Effect.map(begin, () => void (isRecorded = true))
          begun = Effect.andThen(recorded, leaseConfirmed)
          return Effect.flatMap(attempts, decode)
        },
        read: (text) => Effect.flatMap(read(endpoint, { status: 200, headers: {}, text }), decode)
      })
      return Effect.flatMap(response, finish)
    }) as Effect.Effect<Success, E | ApiError.Common>

  return { execute }
}
