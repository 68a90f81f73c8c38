import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as Result from "effect/Result"
import * as Tracer from "effect/Tracer"
import { isTraced } from "../../base/internal/tracing.ts"
import * as ApiError from "../ApiError.ts"
import type * as Endpoint from "../Endpoint.ts"
import * as FieldIssue from "../../base/FieldIssue.ts"
import * as RateLimiter from "../RateLimiter.ts"
import { CurrentLease } from "./currentLease.ts"
import { CurrentCallContext } from "./callContext.ts"
import * as callRecord from "./callRecord.ts"
import type { Accepted } from "./classify.ts"
import { makeAllCreated } from "./journal/created.ts"
import { CurrentName, HasUniqueName, type Response } from "./journal/current.ts"
import { track } from "./journal/track.ts"
import * as codec from "./codec.ts"
import { fail, make as makeExchange, type Options as ExchangeOptions } from "./exchange.ts"
import { CurrentRefresh } from "./refresh.ts"
import * as malformed from "../../base/internal/malformed.ts"
import { decodeResponse } from "./page.ts"
import { makePlatformTime } from "./platformTime.ts"
import { acceptRepeated } from "./repeated.ts"
import { withRetries } from "./retry.ts"

export interface Options extends ExchangeOptions {
  readonly limiter: RateLimiter.RateLimiter["Service"]
  /** The time in milliseconds of the monotonic clock. */
  readonly monotonic: () => number
  /** In milliseconds. */
  readonly timeout: number
}

type Attempt = Effect.Effect<Accepted, ApiError.ApiError | RateLimiter.PermitExpired>

const spanOptions = { kind: "client" as const }

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
  const { limiter, monotonic, onRequest, now, timeout } = options
  const exchange = makeExchange(options)
  const { redact } = exchange
  const platformTime = makePlatformTime()
  const created = makeAllCreated()

  const execute = <Request, Success, E extends ApiError.Declared>(
    endpoint: Endpoint.Named<Request, Success, E>,
    request: Request
  ): Effect.Effect<Success, E | ApiError.Common> =>
    Effect.withFiber((fiber) => {
      const { dialog, idempotent, limit, longPoll, lookUp, method } = endpoint.declaration
      const { decoder, encode } = codec.of(endpoint.declaration)
      const encoded = encode(request)
      if (Result.isFailure(encoded)) return fail(endpoint, new ApiError.InvalidRequest({ issues: encoded.failure }))
      const context = fiber.getRef(CurrentCallContext)
      const made = context?.record && callRecord.begin(context.record, endpoint, now())

      const waits = longPoll(request)
      const attemptTimeout = waits === undefined ? timeout : timeout + Duration.toMillis(waits)
      const target = limit(request)
      const refresh = fiber.getRef(CurrentRefresh)
      let body = encoded.success
      let permit: RateLimiter.Permit | undefined
      let stage: RateLimiter.Stage = "connected"
      const lease = fiber.getRef(CurrentLease)
      const confirmPermit = () => {
        // A process that may have lost the chat whose update is being handled sends nothing.
        if (lease !== undefined && !lease.isHeld()) return false
        const isConfirmed = permit!.confirm(stage)
        if (!isConfirmed) stage = "final"
        return isConfirmed
      }
      // The HTTP request is created after the permit, because many calls can wait for a permit.
      const sendOnce = (span: Tracer.Span | undefined) => {
        const startedAt = now()
        if (made !== undefined) made.request = body
        return Effect.matchEffect(exchange.send(method, body, { timeout: attemptTimeout, lease, confirmPermit }), {
          onFailure: (cause): Attempt => {
            if (!(cause instanceof RateLimiter.PermitExpired)) return exchange.failTransport(endpoint, cause, startedAt)
            return span === undefined ? attempt : Effect.fail(cause)
          },
          onSuccess: (received): Attempt => {
            const receivedAt = now()
            if (made !== undefined) made.answer = received
            onRequest?.(endpoint.endpoint, received.status, receivedAt - startedAt)
            platformTime.observeDate(received.headers["date"], monotonic())
            span?.attribute("http.response.status_code", received.status)
            const classified = exchange.read(endpoint, received)
            // The duration of a long poll says nothing about the network.
            return waits === undefined ? Effect.andThen(permit!.responded, classified) : classified
          }
        })
      }
      const permitted: Attempt = Effect.suspend(() => {
        if (!permit!.confirm("ready")) return attempt
        if (!isTraced(fiber.getRef(Tracer.Tracer))) return sendOnce(undefined)
        return Effect.catchTag(Effect.useSpan(endpoint.endpoint, spanOptions, sendOnce), "PermitExpired", () => attempt)
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
      const onRateLimited = (retryAfter: Duration.Duration | undefined) => permit!.rejected(retryAfter)
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
      const attempts = acceptRepeated(endpoint, request, context, attempt, (once) =>
        withRetries(once, idempotent, { onRateLimited, pause: limiter.pause })
      )
      const ended = <A, E>(effect: Effect.Effect<A, E>) => callRecord.ending(made, effect, now)
      const journal = method === "GET" ? undefined : context?.journal
      // A message that was changed would not be found if its answer were lost.
      if (journal !== undefined && idempotent) begun = Effect.andThen(journal.flush, leaseConfirmed)
      if (journal === undefined && lookUp !== undefined) {
        const tracked = track(endpoint, request, created)
        begun = Effect.andThen(tracked.begin, leaseConfirmed)
        return ended(Effect.flatMap(Effect.onExitPrimitive(Effect.flatMap(attempts, decode), tracked.end), finish))
      }
      if (journal === undefined || idempotent) return ended(Effect.flatMap(Effect.flatMap(attempts, decode), finish))
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
        read: (text) => Effect.flatMap(exchange.read(endpoint, { status: 200, headers: {}, text }), decode)
      })
      return ended(Effect.flatMap(response, finish))
    }) as Effect.Effect<Success, E | ApiError.Common>

  return { execute }
}
