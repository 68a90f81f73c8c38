/** What several runs did together. */
import type { Outcome } from "./run.ts"

export interface Totals {
  readonly seeds: number
  readonly broken: number
  /** Milliseconds of virtual time. */
  readonly virtual: number
  readonly tasks: number
  readonly faults: ReadonlyMap<string, number>
  readonly programs: ReadonlyMap<string, number>
}

export const emptyTotals: Totals = { seeds: 0, broken: 0, virtual: 0, tasks: 0, faults: new Map(), programs: new Map() }

const plus = (counts: ReadonlyMap<string, number>, key: string, count: number): ReadonlyMap<string, number> =>
  new Map(counts).set(key, (counts.get(key) ?? 0) + count)

export const addTo = (totals: Totals, { faults, plan, tasks, violations, virtual }: Outcome): Totals => ({
  seeds: totals.seeds + 1,
  broken: totals.broken + (violations.length > 0 ? 1 : 0),
  virtual: totals.virtual + virtual,
  tasks: totals.tasks + tasks,
  faults: [...faults].reduce((counts, [kind, count]) => plus(counts, kind, count), totals.faults),
  programs: plus(totals.programs, plan.program.kind, 1)
})

const listOf = (counts: ReadonlyMap<string, number>): string =>
  [...counts]
    .sort(([, a], [, b]) => b - a)
    .map(([kind, count]) => `${kind} ${count}`)
    .join(", ")

/** The totals as text. `millis` is the real time, and `cpuMillis` the CPU time. */
export const linesOf = (
  { broken, faults, programs, seeds, tasks, virtual }: Totals,
  millis: number,
  cpuMillis: number
): ReadonlyArray<string> => [
  `${seeds} seeds in ${Math.round(millis / 1000)} s, ${broken} of them with a failure`,
  `${(virtual / 3_600_000).toFixed(1)} virtual hours (${Math.round(virtual / cpuMillis)} for each hour of CPU time), ${tasks} tasks`,
  `programs: ${listOf(programs)}`,
  `faults: ${listOf(faults)}`
]
