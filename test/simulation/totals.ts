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

const sumOf = (one: ReadonlyMap<string, number>, other: ReadonlyMap<string, number>): ReadonlyMap<string, number> => {
  const sum = new Map(one)
  for (const [key, count] of other) sum.set(key, (sum.get(key) ?? 0) + count)
  return sum
}

export const totalsOf = ({ faults, plan, tasks, violations, virtual }: Outcome): Totals => ({
  seeds: 1,
  broken: violations.length > 0 ? 1 : 0,
  virtual,
  tasks,
  faults,
  programs: new Map([[plan.program.kind, 1]])
})

export const merged = (one: Totals, other: Totals): Totals => ({
  seeds: one.seeds + other.seeds,
  broken: one.broken + other.broken,
  virtual: one.virtual + other.virtual,
  tasks: one.tasks + other.tasks,
  faults: sumOf(one.faults, other.faults),
  programs: sumOf(one.programs, other.programs)
})

const listOf = (counts: ReadonlyMap<string, number>): string =>
  [...counts]
    .sort(([one, a], [other, b]) => b - a || (one < other ? -1 : 1))
    .map(([kind, count]) => `${kind} ${count}`)
    .join(", ")

/** The totals as text. `millis` is the real time, and `cpuMillis` the CPU time. */
export const linesOf = (
  { broken, faults, programs, seeds, tasks, virtual }: Totals,
  millis: number,
  cpuMillis: number
): ReadonlyArray<string> => [
  `${seeds} seeds in ${Math.round(millis / 1000)} s (${(cpuMillis / 1000).toFixed(1)} s of CPU time), ${broken} of them with a failure`,
  `${(virtual / 3_600_000).toFixed(1)} virtual hours (${Math.round(virtual / cpuMillis)} for each hour of CPU time), ${tasks} tasks`,
  `programs: ${listOf(programs)}`,
  `faults: ${listOf(faults)}`
]

/** What was done so far, in one line. */
export const progressOf = ({ broken, faults, seeds, virtual }: Totals, millis: number, memory: number): string => {
  const hours = (virtual / 3_600_000).toFixed(1)
  const kills = faults.get("killed") ?? 0
  const minutes = Math.round(millis / 60_000)
  return `${minutes} min: ${seeds} seeds, ${broken} with a failure, ${hours} virtual hours, ${kills} kills, ${Math.round(memory / 2 ** 20)} MB`
}
