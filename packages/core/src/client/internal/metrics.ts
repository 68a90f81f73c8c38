import type * as Context from "effect/Context"
import * as Metric from "effect/Metric"
import { byKey } from "../../base/internal/byKey.ts"
import { counter } from "../../base/internal/counter.ts"
import { optionalReference } from "../../base/internal/optionalReference.ts"

/**
 * Number of requests, by the attributes `endpoint` and `status`. Without a response, `status` is the kind of the transport
 * failure.
 */
const requests = counter("colloquy_requests_total", "Requests to the platform, by endpoint and status")

/** Duration of requests in seconds, by the attribute `endpoint`. A long poll includes its wait. */
const duration = Metric.histogram("colloquy_request_duration_seconds", {
  description: "Duration of requests to the platform, in seconds",
  boundaries: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 90]
})

/**
 * Is called for each request that ended, with the name of its endpoint, its HTTP status and its duration in milliseconds.
 * Without a response, the status is the kind of the transport failure.
 */
type Observer = (endpoint: string, status: number | string, millis: number) => void

/** The observer of a client that is created in this context. Default: none. */
export const CurrentObserver = optionalReference<Observer>("@colloquy/core/BotApi/CurrentObserver")

/**
 * Returns an observer that keeps the metrics of requests. The metrics of each endpoint and status are kept, because adding
 * attributes takes longer than an update (benchmark `call-cpu-over-undici`).
 */
export const makeObserver = (context: Context.Context<never>): Observer => {
  const metricsOf = byKey((endpoint: string) => ({
    duration: Metric.withAttributes(duration, { endpoint }),
    requests: byKey((status: number | string) => Metric.withAttributes(requests, { endpoint, status: String(status) }))
  }))

  return (endpoint, status, millis) => {
    const { duration, requests } = metricsOf(endpoint)
    requests(status).updateUnsafe(1, context)
    duration.updateUnsafe(millis / 1000, context)
  }
}
