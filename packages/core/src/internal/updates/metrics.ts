import * as Context from "effect/Context"
import * as Metric from "effect/Metric"
import type { Stats } from "../../InboxStore.ts"

/**
 * Returns a small context for metric updates. Every metric update looks up two references, which is slow in the context
 * of a whole program because it has many services and mostly lacks these two.
 */
export const metricContext = (context: Context.Context<never>): Context.Context<never> =>
  Context.make(Metric.MetricRegistry, Context.get(context, Metric.MetricRegistry)).pipe(
    Context.add(Metric.CurrentMetricAttributes, Context.get(context, Metric.CurrentMetricAttributes))
  )

const received = Metric.counter("colloquy_updates_received", { description: "Updates added to the inbox" })
const duplicate = Metric.counter("colloquy_updates_duplicate", { description: "Duplicate updates left out" })
const queued = Metric.gauge("colloquy_inbox_queued", { description: "Queued updates, including those being handled" })
const oldestAge = Metric.gauge("colloquy_inbox_oldest_age_ms", {
  description: "Age of the oldest queued update, in milliseconds"
})
const deadLetters = Metric.gauge("colloquy_inbox_dead_letters", { description: "Dead letters in the inbox" })

export const makeInboxMetrics = (program: Context.Context<never>) => {
  const context = metricContext(program)
  return {
    received: (added: number, duplicates: number): void => {
      received.updateUnsafe(added, context)
      if (duplicates > 0) duplicate.updateUnsafe(duplicates, context)
    },
    stats: (stats: Stats, now: number): void => {
      queued.updateUnsafe(stats.queued, context)
      oldestAge.updateUnsafe(stats.oldestReceivedAt === undefined ? 0 : now - stats.oldestReceivedAt, context)
      deadLetters.updateUnsafe(stats.deadLetters, context)
    }
  }
}

const handled = Metric.counter("colloquy_updates_handled", { description: "Updates whose handler succeeded" })
const unhandled = Metric.counter("colloquy_updates_unhandled", { description: "Updates that no handler took" })
const failed = Metric.counter("colloquy_updates_failed", { description: "Attempts of handlers that failed" })
const deadLettered = Metric.counter("colloquy_updates_dead_lettered", {
  description: "Updates that became dead letters after their last attempt"
})
const duration = Metric.histogram("colloquy_handler_duration_ms", {
  description: "Duration of successful handlers, in milliseconds",
  boundaries: Metric.exponentialBoundaries({ start: 1, factor: 2, count: 16 })
})

export const makeHandlerMetrics = (program: Context.Context<never>) => {
  const context = metricContext(program)
  return {
    handled: (millis: number): void => {
      handled.updateUnsafe(1, context)
      duration.updateUnsafe(millis, context)
    },
    unhandled: (): void => unhandled.updateUnsafe(1, context),
    failed: (): void => failed.updateUnsafe(1, context),
    deadLettered: (): void => deadLettered.updateUnsafe(1, context)
  }
}
