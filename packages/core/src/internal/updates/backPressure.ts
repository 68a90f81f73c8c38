import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type { Inbox, ReceiveError } from "../../Inbox.ts"
import { backoff } from "../client/retry.ts"

const storeBackoff = backoff.pipe(
  Schedule.setInputType<ReceiveError>(),
  Schedule.tap(({ input }) =>
    Effect.logWarning(
      `The inbox did not accept updates. The source pauses, and nothing is acknowledged. ${input.message}`
    )
  )
)

/** Repeats an operation of the inbox until it succeeds. The source waits meanwhile. */
export const untilStored = <A>(effect: Effect.Effect<A, ReceiveError>): Effect.Effect<A> =>
  Effect.retry(effect, storeBackoff) as Effect.Effect<A>

// Fast handlers empty the inbox within milliseconds, and slow ones should not make the source read the statistics often.
const checks = Schedule.min([Schedule.exponential("5 millis"), Schedule.spaced("250 millis")])

/** Waits until fewer than this many updates are queued, and returns their number. */
export const untilBelow = (inbox: Inbox["Service"], maxQueued: number): Effect.Effect<number> =>
  Effect.suspend(() => inbox.stats).pipe(
    untilStored,
    Effect.map(({ queued }) => queued),
    Effect.repeat({ until: (queued) => queued < maxQueued, schedule: checks })
  )
