import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type { Delivery } from "../../Deliveries.ts"
import { persist } from "./persist.ts"
import { delayAfter } from "./retry.ts"
import { acknowledged, refusalIn, settleable, settleAll } from "./settlement.ts"

/** A statement of the delivery has failed, and no handler follows whose schedule would decide. */
const onRefused = (delivery: Delivery<unknown>, error: unknown): Effect.Effect<void> => {
  const cause = Cause.fail(error)
  const after = delayAfter(delivery.attempt)
  const settled = after === undefined ? delivery.reject(cause) : delivery.retry({ after })
  return Effect.andThen(
    Effect.logWarning(`A statement of attempt ${delivery.attempt} failed.`, cause),
    persist(settled)
  )
}

/** Acknowledges deliveries, or retries those whose statements fail. */
export const drain = (deliveries: ReadonlyArray<Delivery<unknown>>): Effect.Effect<void> =>
  Effect.flatMap(persist(settleAll(deliveries, acknowledged)), () =>
    Effect.forEach(
      deliveries,
      (delivery) => {
        const refusal = refusalIn(settleable(delivery).updates)
        return refusal === undefined ? Effect.void : onRefused(delivery, refusal.error)
      },
      { discard: true }
    )
  )
