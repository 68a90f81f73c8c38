import type * as Context from "effect/Context"
import * as Metric from "effect/Metric"
import { counter } from "../../../base/internal/counter.ts"
import { optionalReference } from "../../../base/internal/optionalReference.ts"
import type { Priority } from "../../RateLimiter.ts"

/** Number of waiting calls, by the attribute `priority`. */
export const waiting = Metric.gauge("colloquy_limiter_waiting", { description: "Calls that wait for a permit" })

/** Number of granted permits, by the attribute `priority`. */
export const permits = counter("colloquy_limiter_permits_total", "Permits that were granted")

/** The time that calls waited for their permits, in seconds, by the attribute `priority`. */
export const waitTime = Metric.histogram("colloquy_limiter_wait_seconds", {
  description: "How long calls waited for their permits, in seconds",
  boundaries: [0.001, 0.01, 0.035, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 600]
})

/** Number of calls that failed with `RateLimiterError`, by the attribute `priority`. */
export const rejected = counter(
  "colloquy_limiter_rejected_total",
  "Calls that got no permit, because the queue was full or the maximum wait was exceeded"
)

/** Number of 429 responses. */
export const rateLimited = counter(
  "colloquy_limiter_rate_limited_total",
  "Requests that the platform answered with 429"
)

/** Number of pauses of all calls. */
export const pauses = counter("colloquy_limiter_pauses_total", "Pauses of all calls")

/** Returns an observer that keeps the metrics of a rate limiter. Its functions are called synchronously, and do not throw. */
export const makeObserver = (priorities: ReadonlyArray<Priority>, context: Context.Context<never>) => {
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
    onWaiting: (priority: Priority, delta: 1 | -1): void =>
      metrics[priority].waiting.updateUnsafe((counts[priority] += delta), context),
    onPermit: (priority: Priority, waited: number): void => {
      metrics[priority].permits.updateUnsafe(1, context)
      metrics[priority].waitTime.updateUnsafe(waited / 1000, context)
    },
    onRejected: (priority: Priority): void => metrics[priority].rejected.updateUnsafe(1, context),
    onRateLimited: (): void => rateLimited.updateUnsafe(1, context),
    onPaused: (): void => pauses.updateUnsafe(1, context)
  }
}

export type Observer = ReturnType<typeof makeObserver>

/** The observer of a rate limiter that is created in this context. Default: none. */
export const CurrentObserver = optionalReference<Observer>("@colloquy/core/RateLimiter/CurrentObserver")
