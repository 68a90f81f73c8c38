import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { Progress, Summary } from "../Broadcast.ts"
import { BroadcastStore } from "../BroadcastStore.ts"

/** Number of results at a time. */
interface Sample {
  readonly at: number
  readonly done: number
}

/** The rate is measured over this time, in milliseconds. */
const window = 10_000

/** Returns the samples of the window, and the results per second since the first of them. */
const sampleOf = (
  samples: ReadonlyArray<Sample>,
  now: Sample
): { readonly kept: ReadonlyArray<Sample>; readonly rate: number } => {
  const kept = [...samples.filter(({ at }) => now.at - at <= window), now]
  const [first] = kept
  const millis = now.at - first.at
  return { kept, rate: millis > 0 ? ((now.done - first.done) * 1000) / millis : 0 }
}

const timeLeftOf = (total: number | undefined, done: number, rate: number): Duration.Duration | undefined =>
  total === undefined || rate <= 0 ? undefined : Duration.millis((Math.max(0, total - done) * 1000) / rate)

const doneOf = ({ counts }: Summary): number => counts.Sent + counts.Forbidden + counts.NotFound + counts.Failed

const isOver = ({ status }: Summary): boolean => status === "finished" || status === "cancelled"

/** Emits the progress of a broadcast at an interval until the broadcast is over or removed. */
export const observe = (name: string, every: Duration.Input) =>
  Stream.paginate([] as ReadonlyArray<Sample>, (samples) =>
    Effect.gen(function* () {
      if (samples.length > 0) yield* Effect.sleep(every)
      const store = yield* BroadcastStore
      const found = yield* store.summary(name)
      if (Option.isNone(found)) {
        if (samples.length > 0) return [[], Option.none()] as const
        yield* Effect.sleep(every)
        return [[], Option.some(samples)] as const
      }
      const summary = found.value
      const done = doneOf(summary)
      const { kept, rate } = sampleOf(samples, { at: yield* Clock.currentTimeMillis, done })
      const now: Progress = { ...summary, done, rate, timeLeft: timeLeftOf(summary.total, done, rate) }
      return [[now], isOver(summary) ? Option.none() : Option.some(kept)] as const
    })
  )
