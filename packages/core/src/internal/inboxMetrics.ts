import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import type { Stats } from "../InboxStore.ts"

const received = Metric.counter("colloquy_updates_received", { description: "updates that were stored" })
const duplicate = Metric.counter("colloquy_updates_duplicate", { description: "updates that had come before" })
const backlog = Metric.gauge("colloquy_inbox_backlog", { description: "letters that wait or are being handled" })
const age = Metric.gauge("colloquy_inbox_age_ms", { description: "how long the oldest letter has been waiting" })
const dead = Metric.gauge("colloquy_inbox_dead", { description: "letters that were put aside" })

export const receivedNow = (fresh: number, repeated: number, context: Context.Context<never>): void => {
  received.updateUnsafe(fresh, context)
  if (repeated > 0) duplicate.updateUnsafe(repeated, context)
}

export const backlogNow = (stats: Stats, now: number): Effect.Effect<void> =>
  Effect.all(
    [
      Metric.update(backlog, stats.waiting),
      Metric.update(age, stats.oldest === undefined ? 0 : now - stats.oldest),
      Metric.update(dead, stats.dead)
    ],
    { discard: true }
  )
