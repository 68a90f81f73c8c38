import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Backoff from "../../Backoff.ts"
import type { StoreError } from "../../StoreError.ts"

/** When an operation of a store that is unavailable is repeated. Each failure is logged. */
export const storeBackoff = Backoff.make({ first: "200 millis", cap: "10 seconds" }).pipe(
  Schedule.setInputType<StoreError>(),
  Schedule.tap(({ input }) => Effect.logWarning(`${input.message} The operation is retried until it succeeds.`))
)

/** Settles a delivery. Retries until the store has applied it. */
export const persist = (settled: Effect.Effect<void, StoreError>): Effect.Effect<void> =>
  Effect.catch(
    settled,
    (error) => Effect.retry(Backoff.failedOnce(settled, Cause.fail(error)), storeBackoff) as Effect.Effect<void>
  )
