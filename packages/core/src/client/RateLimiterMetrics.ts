/**
 * Effect metrics of the rate limiter.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import { metricContext } from "../base/internal/metricContext.ts"
import { CurrentObserver, type Priority, priorities } from "./RateLimiter.ts"

/**
 * Number of waiting calls, by the attribute `priority`.
 *
 * @category metrics
 * @since 0.1.0
 */
export const waiting = Metric.gauge("colloquy_limiter_waiting", { description: "Calls that wait for a permit" })

/**
 * Number of granted permits, by the attribute `priority`.
 *
 * @category metrics
 * @since 0.1.0
 */
export const permits = Metric.counter("colloquy_limiter_permits_total", {
  description: "Permits that were granted",
  incremental: true
})

/**
 * The time that calls waited for their permits, in seconds, by the attribute `priority`.
 *
 * @category metrics
 * @since 0.1.0
 */
export const waitTime = Metric.histogram("colloquy_limiter_wait_seconds", {
  description: "How long calls waited for their permits, in seconds",
  boundaries: [0.001, 0.01, 0.035, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 600]
})

/**
 * Number of calls that failed with `RateLimiterError`, by the attribute `priority`.
 *
 * @category metrics
 * @since 0.1.0
 */
export const rejected = Metric.counter("colloquy_limiter_rejected_total", {
  description: "Calls that got no permit, because the queue was full or the maximum wait was exceeded",
  incremental: true
})

/**
 * Number of 429 responses.
 *
 * @category metrics
 * @since 0.1.0
 */
export const rateLimited = Metric.counter("colloquy_limiter_rate_limited_total", {
  description: "Requests that the platform answered with 429",
  incremental: true
})

/**
 * Number of pauses of all calls.
 *
 * @category metrics
 * @since 0.1.0
 */
export const pauses = Metric.counter("colloquy_limiter_pauses_total", {
  description: "Pauses of all calls",
  incremental: true
})

/**
 * Keeps the metrics of the rate limiters that are built with this layer. The metrics cost about a microsecond for each
 * call. `NodeBot.layer` uses this layer.
 *
 * **Example** (Keep the metrics of a rate limiter)
 *
 * ```ts
 * import { RateLimiter, RateLimiterMetrics } from "@colloquy/core"
 * import { Layer } from "effect"
 *
 * const limiter = RateLimiter.layerMemory().pipe(Layer.provide(RateLimiterMetrics.layer))
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<never> = Layer.effect(
  CurrentObserver,
  Effect.map(Effect.context<never>(), (services) => {
    const context = metricContext(services)
    const byPriority = <A>(make: (priority: Priority) => A) =>
      Object.fromEntries(priorities.map((priority) => [priority, make(priority)])) as Record<Priority, A>
    const metrics = byPriority((priority) => ({
      waiting: Metric.withAttributes(waiting, { priority }),
      permits: Metric.withAttributes(permits, { priority }),
      waitTime: Metric.withAttributes(waitTime, { priority }),
      rejected: Metric.withAttributes(rejected, { priority })
    }))
    const counts = byPriority(() => 0)
    return {
      onWaiting: (priority, delta) => metrics[priority].waiting.updateUnsafe((counts[priority] += delta), context),
      onPermit: (priority, waited) => {
        metrics[priority].permits.updateUnsafe(1, context)
        metrics[priority].waitTime.updateUnsafe(waited / 1000, context)
      },
      onRejected: (priority) => metrics[priority].rejected.updateUnsafe(1, context),
      onRateLimited: () => rateLimited.updateUnsafe(1, context),
      onPaused: () => pauses.updateUnsafe(1, context)
    }
  })
)
