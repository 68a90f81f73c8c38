import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type * as Latch from "effect/Latch"
import * as Backoff from "../../../base/Backoff.ts"
import type { StoreError } from "../../../base/StoreError.ts"
import { watchFiber } from "../../../base/internal/watchFiber.ts"
import type * as Fallback from "./fallback.ts"
import type { Queue } from "./queue.ts"
import type * as StoreSession from "./storeSession.ts"

export interface Options {
  readonly session: ReturnType<typeof StoreSession.make>
  readonly fallback: ReturnType<typeof Fallback.make>
  readonly scope: Scope.Scope
  readonly now: () => number
  /** Opened when the store is available again. */
  readonly wakeUp: Latch.Latch
  /** Stopped if the attempts to reach the store end with a defect. */
  readonly queue: Queue
}

/** Knows whether the store is available. While the store is unavailable, this process sends at most its share. */
export const make = ({ fallback, now, queue, scope, session, wakeUp }: Options) => {
  let isUnavailable = false

  const reconnect: Effect.Effect<void> = Effect.suspend(() =>
    Effect.andThen(
      Effect.sleep(Backoff.pauses.rateLimiterStore.first),
      Effect.matchEffect(session.readClock, {
        onFailure: () => reconnect,
        onSuccess: () =>
          Effect.suspend(() => {
            isUnavailable = false
            fallback.stop()
            session.resume()
            wakeUp.openUnsafe()
            return Effect.logInfo("The rate limiter store is available again. All processes share the limits.")
          })
      })
    )
  )

  return {
    isUnavailable: (): boolean => isUnavailable,
    /** An operation of the store failed. A call that is interrupted meanwhile also lets this process reconnect. */
    onFailure: (error: StoreError): Effect.Effect<void> =>
      Effect.suspend(() => {
        if (isUnavailable) return Effect.void
        isUnavailable = true
        const at = now()
        const from = session.fallbackFrom()
        const share = session.reservedAt(at)
        if (share > 0) fallback.start(from, session.reservedUntil(), share)
        const consequence =
          share > 0
            ? `Calls wait for ${((from - at) / 1000).toFixed(1)} seconds, then this process sends at most ${share} requests in a window`
            : "Calls wait"
        const warning = Effect.logWarning(
          `The rate limiter store is unavailable. ${consequence} until the store is available again.`,
          error
        )
        const reconnecting = Effect.map(Effect.forkIn(reconnect, scope), (fiber) => watchFiber(fiber, queue.stop))
        return Effect.andThen(warning, reconnecting)
      }).pipe(Effect.uninterruptible)
  }
}
