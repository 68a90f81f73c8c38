import * as Effect from "effect/Effect"
import type { StoreError } from "../../../base/StoreError.ts"
import * as Outage from "../../../client/Outage.ts"

export const isTemporary = (error: StoreError): boolean => error.isRetryable

/** Settles a delivery. Retries until the store has applied the settlement, and dies if the store cannot. */
export const persist = (settled: Effect.Effect<void, StoreError>): Effect.Effect<void> =>
  Effect.orDie(Outage.make("The inbox").retryOrDie(settled, isTemporary))
