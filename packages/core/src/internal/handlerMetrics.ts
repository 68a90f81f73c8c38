import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"

const handled = Metric.counter("colloquy_updates_handled", { description: "updates whose handler succeeded" })
const failed = Metric.counter("colloquy_updates_failed", { description: "attempts of a handler that failed" })
const dead = Metric.counter("colloquy_updates_dead", { description: "updates that were put aside" })
const time = Metric.histogram("colloquy_update_ms", {
  description: "how long handlers took, in milliseconds",
  boundaries: Metric.exponentialBoundaries({ start: 1, factor: 2, count: 16 })
})

export const handledIn = (millis: number): Effect.Effect<void> =>
  Effect.andThen(Metric.update(handled, 1), Metric.update(time, millis))

export const failedOnce: Effect.Effect<void> = Metric.update(failed, 1)

export const diedOnce: Effect.Effect<void> = Metric.update(dead, 1)
