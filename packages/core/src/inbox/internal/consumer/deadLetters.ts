import * as Cause from "effect/Cause"
import type * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { withSpan } from "../../../base/internal/tracing.ts"
import type { DeadLetter } from "../../QueuedUpdate.ts"
import { annotationsOf } from "./annotations.ts"
import { contextOf } from "./handling.ts"
import type { Queued } from "../kernel/delivery.ts"

export interface Options<R> {
  readonly maxCrashes: number
  readonly onDeadLetter: ((deadLetter: DeadLetter) => Effect.Effect<unknown, unknown, R>) | undefined
  readonly onDeadLetterTimeout: Duration.Duration
}

/** Why an update is not handled at all. */
const problemOf = ({ entry: { attempts, crashes, update } }: Queued, maxCrashes: number) => {
  if (Result.isFailure(update.decoded)) return { error: update.decoded.failure.message, attempts: 0 }
  if (crashes < maxCrashes) return undefined
  const error =
    `The process died ${crashes} times while the update was handled. It is not handled again, because it may be the ` +
    "cause."
  return { error, attempts }
}

/** Creates the operations that run before and after an update becomes a dead letter. */
export const make = <R>(context: Context.Context<R>, options: Options<R>) => {
  const { maxCrashes, onDeadLetter, onDeadLetterTimeout: timeout } = options

  const timedOut = () =>
    Effect.die(new Cause.TimeoutError(`The function \`onDeadLetter\` took longer than ${Duration.format(timeout)}.`))

  const prepareOne = (queued: Queued): Effect.Effect<void> => {
    const { entry, isLost, outcome, origin } = queued
    if (outcome?._tag !== "reject" || isLost) return Effect.void
    const problem = problemOf(queued, maxCrashes) ?? { error: Cause.pretty(outcome.cause), attempts: queued.attempt }
    const failure = { ...problem, failedAt: origin.clock.currentTimeMillisUnsafe() }
    queued.failure = failure
    // An update whose process died again and again must not do so in `onDeadLetter`.
    if (onDeadLetter === undefined || entry.crashes > maxCrashes || queued.isPrepared) return Effect.void
    return Effect.suspend(() => onDeadLetter({ id: entry.id, update: entry.update, ...failure })).pipe(
      (effect) => withSpan(effect, "Updates.onDeadLetter", () => ({ attributes: annotationsOf(queued.value) })),
      Effect.timeoutOrElse({ duration: timeout, orElse: timedOut }),
      Effect.provideContext(contextOf(context, { attempt: 1, updates: [queued] })),
      Effect.catchCause((cause) =>
        Effect.logError("The function `onDeadLetter` failed. The update is a dead letter nevertheless.", cause)
      ),
      Effect.map(() => void (queued.isPrepared = true))
    )
  }

  return {
    /** Whether the update becomes a dead letter without being handled. */
    isUnusable: (queued: Queued): boolean => problemOf(queued, maxCrashes) !== undefined,
    /** Runs `onDeadLetter` for the rejected updates. Only an interruption prevents them from becoming dead letters. */
    prepare: (settled: ReadonlyArray<Queued>): Effect.Effect<void> =>
      Effect.forEach(settled, prepareOne, { discard: true, concurrency: "unbounded" }),
    /** Logs that an update has become a dead letter. */
    announce: (queued: Queued): Effect.Effect<void> => {
      const { attempt, entry, origin, value } = queued
      if (Result.isFailure(entry.update.decoded)) return Effect.void
      origin.metrics.deadLettered(value)
      const why =
        problemOf(queued, maxCrashes)?.error ?? `The handler failed ${attempt === 1 ? "once" : `${attempt} times`}.`
      return Effect.annotateLogs(
        Effect.logError(`${why} The update is now a dead letter: see Inbox.deadLetters.`),
        annotationsOf(value)
      )
    }
  }
}

export type DeadLetters = ReturnType<typeof make>
