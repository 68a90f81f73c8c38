import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type { Inbox, ReceiveError } from "../../Inbox.ts"
import { hooks } from "../hooks.ts"
import * as Backoff from "../../../base/Backoff.ts"
import { StoreError } from "../../../base/StoreError.ts"

const { cap, first } = Backoff.pauses.fullInbox

// Slow handlers should not make the source read the statistics often.
const checks = Schedule.min([Schedule.exponential(first), Schedule.spaced(cap)])

const isAway = (error: ReceiveError): boolean => error instanceof StoreError && error.isRetryable

const isFull = (error: ReceiveError): boolean => !(error instanceof StoreError)

/**
 * Repeats an operation of the inbox until the operation succeeds. The source waits meanwhile, and no update is
 * acknowledged. Dies if the inbox is unavailable for too long, or fails permanently.
 */
export const untilStored = <A>(inbox: Inbox["Service"], effect: Effect.Effect<A, ReceiveError>): Effect.Effect<A> =>
  Effect.orDie(
    Effect.catchIf(inbox[hooks].outage.retryOrDie(effect, isAway), isFull, (full) =>
      Effect.andThen(
        Effect.logWarning(`The inbox does not accept updates, so their source pauses. ${full.message}`),
        Effect.retry(inbox[hooks].outage.retryOrDie(effect, isAway), { schedule: checks, while: isFull })
      )
    )
  )

/** Waits until fewer than this many updates are queued, and returns their number. */
export const untilBelow = (inbox: Inbox["Service"], maxQueued: number): Effect.Effect<number> =>
  untilStored(
    inbox,
    Effect.suspend(() => inbox.stats)
  ).pipe(
    Effect.map(({ queued }) => queued),
    Effect.repeat({ until: (queued) => queued < maxQueued, schedule: checks })
  )
