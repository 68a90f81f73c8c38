import { StoreError } from "@colloquy/core/base/StoreError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import type { Options } from "../SqlInboxStore.ts"
import { withTimeLimit } from "../../base/internal/stores/timeLimit.ts"

/**
 * Limits the time of operations on a database, and prepares the database once before the first of them. After a failed
 * preparation, the next operation tries again.
 */
export const make = Effect.fnUntraced(function* <E0>(
  { operationTimeout = "10 seconds" }: Options,
  prepare: Effect.Effect<void, E0>
) {
  const limit = Duration.fromInputUnsafe(operationTimeout)
  const reason = `the database did not answer within ${Duration.format(limit)}`
  const preparing = yield* Semaphore.make(1)
  let isPrepared = false
  const prepareOnce = preparing.withPermit(
    Effect.suspend(() => (isPrepared ? Effect.void : Effect.map(prepare, () => void (isPrepared = true))))
  )
  const prepared = <A, E>(effect: Effect.Effect<A, E>) =>
    Effect.suspend(() => (isPrepared ? effect : Effect.andThen(prepareOnce, effect)))

  return {
    /** Prepares the database, unless the database is prepared. */
    ready: prepared(Effect.void),
    run: <A, E>(operation: string, effect: Effect.Effect<A, E>) => {
      const onLimit = () => new StoreError({ store: "inbox", operation, reason, isRetryable: true })
      return prepared(withTimeLimit(limit, onLimit)(effect))
    }
  }
})
