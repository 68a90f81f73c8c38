import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import type * as ApiError from "../../ApiError.ts"
import type { PermitExpired } from "../../RateLimiter.ts"
import type { Received } from "./classify.ts"

const requests = Metric.counter("colloquy_requests_total", {
  description: "Requests to the platform, by endpoint and status",
  incremental: true
})

const duration = Metric.histogram("colloquy_request_duration_seconds", {
  description: "Duration of requests to the platform, in seconds",
  boundaries: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 90]
})

type Sent = Effect.Effect<Received, ApiError.RequestFailed | PermitExpired>

/**
 * Measures a request. Without a response, its status is the kind of the failure. One that was
 * interrupted or not sent is not counted.
 */
export const measured = (endpoint: string, send: Sent): Sent =>
  Effect.contextWith((context: Context.Context<never>) => {
    const clock = Context.get(context, Clock.Clock)
    const startedAt = clock.currentTimeMillisUnsafe()
    const count = (status: string) =>
      Effect.sync(() => {
        const seconds = (clock.currentTimeMillisUnsafe() - startedAt) / 1000
        Metric.withAttributes(requests, { endpoint, status }).updateUnsafe(1, context)
        Metric.withAttributes(duration, { endpoint }).updateUnsafe(seconds, context)
      })
    return send.pipe(
      Effect.tap(({ status }) => count(String(status))),
      Effect.tapError((error) => {
        if (error._tag === "PermitExpired") return Effect.void
        return count(error.reason._tag === "Transport" ? error.reason.kind : error.reason._tag)
      })
    )
  })
