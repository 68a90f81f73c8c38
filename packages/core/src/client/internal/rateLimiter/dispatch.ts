import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"

interface Pending {
  readonly at: number
  readonly latch: Latch.Latch
}

/**
 * Delays requests until the times of their permits. A single timer serves all requests in the order of their permits,
 * because two timers with a resolution of a millisecond could fire in another order.
 */
export const make = (now: () => number, fork: (effect: Effect.Effect<void>) => unknown) => {
  const waiting: Array<Pending> = []

  const leave: Effect.Effect<void> = Effect.suspend(() => {
    while (waiting.length > 0 && waiting[0].at <= now()) waiting.shift()!.latch.openUnsafe()
    return waiting.length > 0 ? Effect.andThen(Effect.sleep(Math.ceil(waiting[0].at - now())), leave) : Effect.void
  })

  return {
    /** Completes when a request may leave. `undefined`: now. The times of successive calls do not decrease. */
    until: (at: number): Effect.Effect<void> | undefined => {
      if (waiting.length === 0 && at <= now()) return undefined
      const latch = Latch.makeUnsafe(false)
      waiting.push({ at, latch })
      if (waiting.length === 1) fork(leave)
      return latch.await
    }
  }
}
