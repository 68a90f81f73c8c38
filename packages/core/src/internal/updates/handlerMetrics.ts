import type * as Context from "effect/Context"
import * as Metric from "effect/Metric"
import { metricContext } from "./metricContext.ts"

const handled = Metric.counter("colloquy_updates_handled", { description: "updates whose handler succeeded" })
const unhandled = Metric.counter("colloquy_updates_unhandled", { description: "updates that no handler took" })
const failed = Metric.counter("colloquy_updates_failed", { description: "attempts of a handler that failed" })
const dead = Metric.counter("colloquy_updates_dead", { description: "updates that were put aside" })
const time = Metric.histogram("colloquy_update_ms", {
  description: "how long handlers took, in milliseconds",
  boundaries: Metric.exponentialBoundaries({ start: 1, factor: 2, count: 16 })
})

export const make = (program: Context.Context<never>) => {
  const context = metricContext(program)
  return {
    handled: (millis: number): void => {
      handled.updateUnsafe(1, context)
      time.updateUnsafe(millis, context)
    },
    unhandled: (): void => unhandled.updateUnsafe(1, context),
    failed: (): void => failed.updateUnsafe(1, context),
    died: (): void => dead.updateUnsafe(1, context)
  }
}
