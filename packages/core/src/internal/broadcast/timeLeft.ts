import * as Duration from "effect/Duration"

/** How much was done at a time. */
export interface Sample {
  readonly at: number
  readonly done: number
}

/** The rate is that of the last ten seconds. */
const span = 10_000

/** The samples that still count, and how much is done a second since the first of them. */
export const sampleOf = (
  samples: ReadonlyArray<Sample>,
  now: Sample
): { readonly kept: ReadonlyArray<Sample>; readonly rate: number } => {
  const kept = [...samples.filter(({ at }) => now.at - at <= span), now]
  const [first] = kept
  const millis = now.at - first.at
  return { kept, rate: millis > 0 ? ((now.done - first.done) * 1000) / millis : 0 }
}

export const timeLeftOf = (total: number | undefined, done: number, rate: number): Duration.Duration | undefined =>
  total === undefined || rate <= 0 ? undefined : Duration.millis((Math.max(0, total - done) * 1000) / rate)
