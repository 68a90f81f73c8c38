import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Metric from "effect/Metric"
import { metricContext } from "../updates/metrics.ts"

const requests = Metric.counter("colloquy_requests_total", {
  description: "Requests to the platform, by endpoint and status",
  incremental: true
})

const duration = Metric.histogram("colloquy_request_duration_seconds", {
  description: "Duration of requests to the platform, in seconds",
  boundaries: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 90]
})

interface EndpointMetrics {
  readonly duration: typeof duration
  readonly byStatus: Map<string | number, typeof requests>
}

/**
 * Measures requests. It keeps the metrics of each endpoint and status, because adding attributes takes longer than an update
 * (benchmark `call-cpu-over-undici`).
 */
export const makeRequestMetrics = (program: Context.Context<never>) => {
  const context = metricContext(program)
  const clock = Context.get(program, Clock.Clock)
  const byEndpoint = new Map<string, EndpointMetrics>()

  const metricsOf = (endpoint: string): EndpointMetrics => {
    const existing = byEndpoint.get(endpoint)
    if (existing !== undefined) return existing
    const added = { duration: Metric.withAttributes(duration, { endpoint }), byStatus: new Map() }
    byEndpoint.set(endpoint, added)
    return added
  }

  return {
    now: (): number => clock.currentTimeMillisUnsafe(),
    /** Counts a request that ended. `status` is its HTTP status, or the kind of the failure if it has none. */
    ended: (endpoint: string, status: string | number, startedAt: number): void => {
      const { byStatus, duration } = metricsOf(endpoint)
      const counter = byStatus.get(status) ?? Metric.withAttributes(requests, { endpoint, status: String(status) })
      byStatus.set(status, counter)
      counter.updateUnsafe(1, context)
      duration.updateUnsafe((clock.currentTimeMillisUnsafe() - startedAt) / 1000, context)
    }
  }
}

export type RequestMetrics = ReturnType<typeof makeRequestMetrics>
