/**
 * What a limiter does, as metrics of Effect.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import { metricContext } from "./internal/updates/metricContext.ts"
import { priorities, Watcher } from "./RateLimiter.ts"

/**
 * How many calls wait, by the attribute `lane`.
 *
 * @category metrics
 * @since 0.1.0
 */
export const waiting = Metric.gauge("colloquy_limiter_waiting", { description: "Calls that wait for their place" })

/**
 * How many requests departed, by the attribute `lane`.
 *
 * @category metrics
 * @since 0.1.0
 */
export const departures = Metric.counter("colloquy_limiter_departures", {
  description: "Requests that were let go",
  incremental: true
})

/**
 * How many milliseconds they had waited, by the attribute `lane`.
 *
 * @category metrics
 * @since 0.1.0
 */
export const waits = Metric.histogram("colloquy_limiter_wait_ms", {
  description: "How long requests waited for their place, in milliseconds",
  boundaries: [1, 10, 35, 100, 200, 500, 1000, 2000, 5000, 10_000, 30_000, 60_000, 600_000]
})

/**
 * How many calls failed because too many waited or their deadline passed, by the attribute `lane`.
 *
 * @category metrics
 * @since 0.1.0
 */
export const turnedAway = Metric.counter("colloquy_limiter_turned_away", {
  description: "Calls that were not let go within their deadline or for want of room",
  incremental: true
})

/**
 * How many requests the platform refused with 429.
 *
 * @category metrics
 * @since 0.1.0
 */
export const refused = Metric.counter("colloquy_limiter_429", {
  description: "Requests that the platform refused with 429",
  incremental: true
})

/**
 * How often everybody paused.
 *
 * @category metrics
 * @since 0.1.0
 */
export const pauses = Metric.counter("colloquy_limiter_pauses", {
  description: "Pauses of all calls",
  incremental: true
})

/**
 * Lets the limiters that get this layer keep the metrics. It costs about a microsecond for a call.
 *
 * **Example**
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
  Watcher,
  Effect.map(Effect.context<never>(), (program) => {
    const context = metricContext(program)
    const byLane = <Input, State>(metric: Metric.Metric<Input, State>) =>
      priorities.map((lane) => Metric.withAttributes(metric, { lane }))
    const [gauges, counters, histograms, failures] = [
      byLane(waiting),
      byLane(departures),
      byLane(waits),
      byLane(turnedAway)
    ]
    const counts = priorities.map(() => 0)
    return {
      waits: (rank, by) => gauges[rank].updateUnsafe((counts[rank] += by), context),
      departed: (rank, waited) => {
        counters[rank].updateUnsafe(1, context)
        histograms[rank].updateUnsafe(waited, context)
      },
      notLetGo: (rank) => failures[rank].updateUnsafe(1, context),
      refused: () => refused.updateUnsafe(1, context),
      paused: () => pauses.updateUnsafe(1, context)
    }
  })
)
