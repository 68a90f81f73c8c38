import * as Cause from "effect/Cause"
import type * as Clock from "effect/Clock"
import type * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { withSpan } from "../../../base/internal/tracing.ts"
import type { Failure } from "../../InboxStore.ts"
import type { DeadLetter } from "../../QueuedUpdate.ts"
import { annotationsOf } from "./annotations.ts"
import { contextOf } from "./handling.ts"
import type { Queued } from "../kernel/delivery.ts"
import type { HandlerMetrics } from "./metrics.ts"

export interface Options<R> {
  readonly context: Context.Context<R>
  readonly clock: Clock.Clock
  readonly metrics: HandlerMetrics
  readonly maxCrashes: number
  readonly onDeadLetter: ((deadLetter: DeadLetter) => Effect.Effect<unknown, unknown, R>) | undefined
  readonly timeout: Duration.Duration
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

/** Creates the operations that run before an update becomes a dead letter. */
export const make = <R>({ clock, context, maxCrashes, metrics, onDeadLetter, timeout }: Options<R>) => {
  const failureOf = (queued: Queued, cause: Cause.Cause<unknown>): Failure => {
    const problem = problemOf(queued, maxCrashes) ?? { error: Cause.pretty(cause), attempts: queued.attempt }
    return { ...problem, failedAt: clock.currentTimeMillisUnsafe() }
  }

  const timedOut = () =>
    Effect.die(new Cause.TimeoutError(`The function \`onDeadLetter\` took longer than ${Duration.format(timeout)}.`))

  /** The updates for which `onDeadLetter` has run. If the store refuses them, they are settled again. */
  const isPrepared = new WeakSet<Queued>()

  const run = (queued: Queued, failure: Failure): Effect.Effect<void> => {
    // An update whose process died again and again must not do so in `onDeadLetter`.
    if (onDeadLetter === undefined || queued.entry.crashes > maxCrashes || isPrepared.has(queued)) return Effect.void
    const { id, update } = queued.entry
    return Effect.suspend(() => onDeadLetter({ id, update, ...failure })).pipe(
      (effect) => withSpan(effect, "Updates.onDeadLetter", () => ({ attributes: annotationsOf(queued.value) })),
      Effect.timeoutOrElse({ duration: timeout, orElse: timedOut }),
      Effect.provideContext(contextOf(context, { attempt: 1, updates: [queued] })),
      Effect.catchCause((cause) =>
        Effect.logError("The function `onDeadLetter` failed. The update is a dead letter nevertheless.", cause)
      ),
      Effect.map(() => void isPrepared.add(queued))
    )
  }

  const announce = (queued: Queued, cause: Cause.Cause<unknown>): Effect.Effect<void> => {
    const { decoded } = queued.entry.update
    if (Result.isFailure(decoded)) return Effect.void
    metrics.deadLettered(decoded.success)
    const { attempts } = failureOf(queued, cause)
    const why =
      problemOf(queued, maxCrashes)?.error ?? `The handler failed ${attempts === 1 ? "once" : `${attempts} times`}.`
    return Effect.annotateLogs(
      Effect.logError(`${why} The update is now a dead letter: see Inbox.deadLetters.`),
      annotationsOf(decoded.success)
    )
  }

  return {
    failureOf,
    /** Whether the update becomes a dead letter without being handled. */
    isUnusable: (queued: Queued): boolean => problemOf(queued, maxCrashes) !== undefined,
    /** Runs `onDeadLetter` for the rejected updates. Only an interruption prevents them from becoming dead letters. */
    prepare: (settled: ReadonlyArray<Queued>): Effect.Effect<void> =>
      Effect.forEach(
        settled,
        (queued) => {
          const { isLost, outcome } = queued
          return outcome?._tag === "reject" && !isLost ? run(queued, failureOf(queued, outcome.cause)) : Effect.void
        },
        { discard: true, concurrency: "unbounded" }
      ),
    /** Logs that an update has become a dead letter. */
    announce
  }
}

export type DeadLetters = ReturnType<typeof make>
