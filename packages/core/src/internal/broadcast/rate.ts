import * as Duration from "effect/Duration"

/** Number of results at a time. */
export interface Sample {
  readonly at: number
  readonly done: number
}

/** The rate is measured over this time, in milliseconds. */
const window = 10_000

/** Returns the samples of the window, and the results per second since the first of them. */
export const sampleOf = (
  samples: ReadonlyArray<Sample>,
  now: Sample
): { readonly kept: ReadonlyArray<Sample>; readonly rate: number } => {
  const kept = [...samples.filter(({ at }) => now.at - at <= window), now]
  const [first] = kept
  const millis = now.at - first.at
  return { kept, rate: millis > 0 ? ((now.done - first.done) * 1000) / millis : 0 }
}

export const timeLeftOf = (total: number | undefined, done: number, rate: number): Duration.Duration | undefined =>
  total === undefined || rate <= 0 ? undefined : Duration.millis((Math.max(0, total - done) * 1000) / rate)
