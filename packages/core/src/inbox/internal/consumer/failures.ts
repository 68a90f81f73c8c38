import * as Cause from "effect/Cause"
import type * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schedule from "effect/Schedule"
import * as Outage from "../../../client/Outage.ts"
import type { Queued } from "../kernel/delivery.ts"
import { annotationsOf } from "./annotations.ts"
import { persist } from "./persist.ts"
import type { Retry } from "./retry.ts"
import { refusalIn, type Settleable, settleAll } from "./settlement.ts"
import { isPassing } from "./storeFailure.ts"

type RetryStep = Effect.Success<ReturnType<typeof Schedule.toStep<unknown, Cause.Cause<unknown>, never, never>>>

const annotate = (effect: Effect.Effect<void>, { updates }: Settleable<unknown>): Effect.Effect<void> =>
  updates.length === 1 ? Effect.annotateLogs(effect, annotationsOf(updates[0]!.value)) : effect

/** Settles deliveries whose attempt has failed. `isStopping`: a delivery that fails is then left to the next start. */
export const makeFailures = (retry: Retry, clock: Clock.Clock, isStopping: () => boolean) => {
  /** The state of the retry schedule of updates that failed. */
  const steps = new WeakMap<Queued, RetryStep>()
  /** The failures of the inbox because of which updates are handled again. */
  const outages = new WeakMap<Queued, Outage.Attempts>()

  /** Emits the delivery again, or makes its updates dead letters. */
  const onFailure = (delivery: Settleable<unknown>, cause: Cause.Cause<unknown>): Effect.Effect<void> =>
    Effect.gen(function* () {
      const { updates } = delivery
      for (const { current } of updates) current.cause = cause
      const message = `Attempt ${delivery.attempt} of the handler failed. The retry schedule decides whether it is retried.`
      yield* annotate(Effect.logWarning(message, cause), delivery)
      if (isStopping()) return yield* persist(delivery.retry())
      const known = updates.find((update) => steps.has(update))
      const step = known === undefined ? ((yield* Schedule.toStep(retry)) as RetryStep) : steps.get(known)!
      for (const update of updates) steps.set(update, step)
      const next = yield* Effect.exit(step(clock.currentTimeMillisUnsafe(), cause))
      if (Exit.isSuccess(next)) return yield* persist(delivery.retry({ after: next.value[1] }))
      for (const update of updates) steps.delete(update)
      return yield* persist(delivery.reject(cause))
    })

  return {
    onFailure,
    /** Handles the delivery again in the same attempt, because the inbox failed and not the handler. */
    onStoreFailure: (delivery: Settleable<unknown>, failure: Outage.OutageError): Effect.Effect<void> =>
      Effect.gen(function* () {
        if (!isPassing(failure)) return yield* Effect.die(failure)
        const known = delivery.updates.map((update) => outages.get(update)).find((known) => known !== undefined)
        const outage = known ?? (yield* Outage.attempts("The inbox"))
        for (const update of delivery.updates) outages.set(update, outage)
        const { count, pause } = yield* Effect.orDie(outage.failed(failure))
        const reason = count === 1 ? failure.message : `The inbox has failed ${count} times.`
        const after = Duration.format(Duration.millis(Math.round(pause)))
        const message = `${reason} The handler runs again in ${after}. The attempt does not count as failed.`
        yield* annotate(Effect.logWarning(message), delivery)
        yield* persist(settleAll([delivery], { _tag: "again", after: pause }))
      }),
    /** Fails the attempt if a statement of the handler has failed. */
    onRefusal: (delivery: Settleable<unknown>): Effect.Effect<void> =>
      Effect.suspend(() => {
        const refusal = refusalIn(delivery.updates)
        if (refusal === undefined) return Effect.void
        for (const { origin, value } of delivery.updates) origin.metrics.failed(value)
        return onFailure(delivery, Cause.fail(refusal.error))
      })
  }
}

export type Failures = ReturnType<typeof makeFailures>
