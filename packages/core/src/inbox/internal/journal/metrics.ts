import type * as Context from "effect/Context"
import * as Metric from "effect/Metric"
import { counter } from "../../../base/internal/counter.ts"
import { metricContext } from "../../../base/internal/metricContext.ts"

/**
 * The outcome of a call that the journal knows. `replayed`: the recorded answer was returned. The other outcomes are of
 * calls whose outcome was not known.
 */
export type Outcome = "replayed" | "adopted" | "repeated" | "skipped"

const replayed = counter("colloquy_journal_replayed_total", "Calls whose recorded answer was returned")
const uncertain = counter("colloquy_journal_uncertain_total", "Calls that may have been carried out, by outcome")

const metrics = {
  replayed,
  adopted: Metric.withAttributes(uncertain, { outcome: "adopted" }),
  repeated: Metric.withAttributes(uncertain, { outcome: "repeated" }),
  skipped: Metric.withAttributes(uncertain, { outcome: "skipped" })
}

export const makeJournalMetrics = (program: Context.Context<never>) => {
  const context = metricContext(program)
  return (outcome: Outcome): void => metrics[outcome].updateUnsafe(1, context)
}
