/** A figure: a ratio of two costs that are measured in one run, or a count. */
export interface Figure {
  readonly figure: string
  readonly unit: "ratio" | "ms" | "us" | "MB" | "updates" | "requests" | "per second"
  readonly toReach: number
  /** A second value that is measured with the first: what it is, and what is to be reached. */
  readonly also?: { readonly name: string; readonly toReach: number }
  /** Whether more is better. */
  readonly isLeast?: boolean
  readonly measure: () => Promise<Measured>
}

export interface Measured {
  readonly value: number
  readonly also?: number
  /** What the two costs were, for people. */
  readonly detail: string
}

export const median = (values: ReadonlyArray<number>): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]

/** The median of the ratios of rounds, so that a slow moment of the machine hurts both sides alike. */
export const compare = (
  ours: { readonly name: string; readonly costs: ReadonlyArray<number> },
  theirs: { readonly name: string; readonly costs: ReadonlyArray<number> },
  unit: string
): Measured => ({
  value: median(ours.costs.map((cost, round) => cost / theirs.costs[round])),
  detail: `${ours.name} ${median(ours.costs).toFixed(1)} ${unit}, ${theirs.name} ${median(theirs.costs).toFixed(1)} ${unit}`
})
