import type * as Context from "effect/Context"
import * as Metric from "effect/Metric"
import * as Result from "effect/Result"
import type { Received } from "../../Inbox.ts"
import type { Stats } from "../../InboxStore.ts"
import type { Update } from "../../../model/Update.ts"
import { byKey } from "../../../base/internal/byKey.ts"
import { metricContext } from "../../../base/internal/metricContext.ts"

type Attributes = Metric.Metric.AttributeSet

/** Metrics for each type of updates. With `Metric.withAttributes`, each update of a metric would create a context. */
const byType = <Input, State>(make: (attributes: Attributes) => Metric.Metric<Input, State>) =>
  byKey((update_type: string) => make({ update_type }))

const counter = (name: string, description: string) => (attributes?: Attributes) =>
  Metric.counter(name, { description, incremental: true, attributes })

const received = byType(counter("colloquy_updates_received_total", "Updates that arrived, duplicates included"))
const duplicate = counter("colloquy_updates_duplicate_total", "Duplicate updates that were left out")()
const queued = Metric.gauge("colloquy_inbox_queued", { description: "Queued updates, including those being handled" })
const oldestAge = Metric.gauge("colloquy_inbox_oldest_age_seconds", {
  description: "Age of the oldest queued update, in seconds"
})
const deadLetters = Metric.gauge("colloquy_inbox_dead_letters", { description: "Dead letters in the inbox" })

/** Counts updates by type. Updates that arrive together mostly have the same type, so few metrics are looked up. */
const countByType = <A>(
  metric: (update_type: string) => Metric.Metric<number, unknown>,
  typeOf: (value: A) => string,
  context: Context.Context<never>
): ((values: ReadonlyArray<A>) => void) => {
  return (values) => {
    let count = 0
    let type = ""
    for (const value of values) {
      const next = typeOf(value)
      if (next !== type && count > 0) {
        metric(type).updateUnsafe(count, context)
        count = 0
      }
      type = next
      count++
    }
    if (count > 0) metric(type).updateUnsafe(count, context)
  }
}

const typeOf = ({ decoded }: Received): string =>
  Result.isSuccess(decoded) ? decoded.success.update_type : "malformed"

export const makeInboxMetrics = (program: Context.Context<never>) => {
  const context = metricContext(program)
  const countReceived = countByType(received, typeOf, context)
  return {
    received: (updates: ReadonlyArray<Received>, added: number): void => {
      countReceived(updates)
      if (added < updates.length) duplicate.updateUnsafe(updates.length - added, context)
    },
    stats: (stats: Stats, now: number): void => {
      queued.updateUnsafe(stats.queued, context)
      oldestAge.updateUnsafe(stats.oldestReceivedAt === undefined ? 0 : (now - stats.oldestReceivedAt) / 1000, context)
      deadLetters.updateUnsafe(stats.deadLetters, context)
    }
  }
}

const handled = byType(counter("colloquy_updates_handled_total", "Updates that were acknowledged"))
const unsettled = byType(
  counter("colloquy_updates_unsettled_total", "Deliveries that were neither acknowledged nor rejected for a long time")
)
const unhandled = byType(counter("colloquy_updates_unhandled_total", "Updates that no handler took"))
const failed = byType(counter("colloquy_updates_failed_total", "Attempts of handlers that failed"))
const deadLettered = byType(
  counter("colloquy_updates_dead_lettered_total", "Updates that became dead letters after their last attempt")
)
const conflicts = byType(
  counter("colloquy_state_conflicts_total", "Updates that were handled again because state was changed meanwhile")
)
const duration = byType((attributes) =>
  Metric.histogram("colloquy_handler_duration_seconds", {
    attributes,
    description: "Duration of successful handlers, in seconds",
    boundaries: Metric.exponentialBoundaries({ start: 0.001, factor: 2, count: 16 })
  })
)

export const makeHandlerMetrics = (program: Context.Context<never>) => {
  const context = metricContext(program)
  return {
    handled: countByType(handled, ({ update_type }: Update) => update_type, context),
    duration: ({ update_type }: Update, millis: number): void =>
      duration(update_type).updateUnsafe(millis / 1000, context),
    unsettled: ({ update_type }: Update): void => unsettled(update_type).updateUnsafe(1, context),
    unhandled: ({ update_type }: Update): void => unhandled(update_type).updateUnsafe(1, context),
    failed: ({ update_type }: Update): void => failed(update_type).updateUnsafe(1, context),
    conflict: ({ update_type }: Update): void => conflicts(update_type).updateUnsafe(1, context),
    deadLettered: ({ update_type }: Update): void => deadLettered(update_type).updateUnsafe(1, context)
  }
}

export type HandlerMetrics = ReturnType<typeof makeHandlerMetrics>
