import type * as Context from "effect/Context"
import * as Metric from "effect/Metric"
import type { Stats } from "../../InboxStore.ts"
import { metricContext } from "./metricContext.ts"

const received = Metric.counter("colloquy_updates_received", { description: "updates that were stored" })
const duplicate = Metric.counter("colloquy_updates_duplicate", { description: "updates that had come before" })
const backlog = Metric.gauge("colloquy_inbox_backlog", { description: "updates that wait or are being handled" })
const age = Metric.gauge("colloquy_inbox_age_ms", { description: "how long the oldest update has been waiting" })
const dead = Metric.gauge("colloquy_inbox_dead", { description: "updates that were put aside" })

export const make = (program: Context.Context<never>) => {
  const context = metricContext(program)
  return {
    received: (fresh: number, repeated: number): void => {
      received.updateUnsafe(fresh, context)
      if (repeated > 0) duplicate.updateUnsafe(repeated, context)
    },
    waiting: (stats: Stats, now: number): void => {
      backlog.updateUnsafe(stats.queued, context)
      age.updateUnsafe(stats.oldestReceivedAt === undefined ? 0 : now - stats.oldestReceivedAt, context)
      dead.updateUnsafe(stats.deadLetters, context)
    }
  }
}
