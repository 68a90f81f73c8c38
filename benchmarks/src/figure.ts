/** A figure: the ratio of two costs measured in one run, or a count. */
export interface Figure {
  readonly figure: string
  /** What the value is, for docs/performance.md. */
  readonly measures: string
  readonly unit:
    | "ratio"
    | "ms"
    | "us"
    | "MB"
    | "rows"
    | "updates"
    | "messages"
    | "requests"
    | "per second"
    | "kB"
    | "packages"
    | "defects"
    | "seeds"
    | "states"
    | "hours"
  readonly goal: number
  /** A second value of the same measurement, with its goal. */
  readonly also?: { readonly name: string; readonly goal: number }
  /** Whether the value must be at least the goal. Otherwise it must be at most the goal. */
  readonly isMinimum?: boolean
  readonly measure: () => Promise<Measured>
}

export interface Measured {
  readonly value: number
  readonly also?: number
  /** Both costs, for the output. */
  readonly detail: string
}

export const median = (values: ReadonlyArray<number>): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]

/** The smallest value that is at least as high as a share of the values. */
export const percentile = (values: ReadonlyArray<number>, share: number): number =>
  [...values].sort((a, b) => a - b)[Math.max(0, Math.ceil(values.length * share) - 1)] ?? 0

/** Runs a measurement once for all figures that need it. */
export const lazily = <A>(make: () => Promise<A>): (() => Promise<A>) => {
  let made: Promise<A> | undefined
  return () => (made ??= make())
}

/** The median of the ratios of all rounds, so that a slow moment of the machine affects both sides. */
export const compare = (
  ours: { readonly name: string; readonly costs: ReadonlyArray<number> },
  theirs: { readonly name: string; readonly costs: ReadonlyArray<number> },
  unit: string
): Measured => ({
  value: median(ours.costs.map((cost, round) => cost / theirs.costs[round])),
  detail: `${ours.name} ${median(ours.costs).toFixed(1)} ${unit}, ${theirs.name} ${median(theirs.costs).toFixed(1)} ${unit}`
})
