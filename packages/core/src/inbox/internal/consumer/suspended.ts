import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import type { Settleable } from "./settlement.ts"

/** A delivery whose handler is suspended. */
export interface Suspended<A> {
  readonly delivery: Settleable<A>
  readonly fiber: Fiber.Fiber<unknown, unknown>
  readonly startedAt: number
  isTimedOut: boolean
  isLost: boolean
  readonly onLost: () => void
}

const unwatch = <A>({ delivery, onLost }: Suspended<A>): void => {
  for (const update of delivery.updates) update.unwatch(onLost)
}

/**
 * The handlers of a pool that are suspended: these handlers can time out, be interrupted, and lose an update. `timeout`
 * is in milliseconds.
 */
export const makeSuspended = <A>(timeout: number, clock: Clock.Clock) => {
  /** The oldest first. */
  const all = new Set<Suspended<A>>()
  /** Open while handlers are suspended, so that a pool that is idle has no timer. */
  const isRunning = Latch.makeUnsafe(false)

  const interrupt = (handler: Suspended<A>): void => {
    all.delete(handler)
    handler.fiber.interruptUnsafe()
  }

  return {
    add: (delivery: Settleable<A>, fiber: Fiber.Fiber<unknown, unknown>, startedAt: number): Suspended<A> => {
      const onLost = () => {
        handler.isLost = true
        interrupt(handler)
      }
      const handler: Suspended<A> = { delivery, fiber, startedAt, isTimedOut: false, isLost: false, onLost }
      all.add(handler)
      if (all.size === 1) isRunning.openUnsafe()
      for (const update of delivery.updates) update.watch(onLost)
      return handler
    },
    remove: (handler: Suspended<A>): void => {
      all.delete(handler)
      unwatch(handler)
    },
    /** Interrupts all handlers. A source does not wait for handlers that cannot be interrupted. */
    interruptAll: (): void => {
      for (const handler of all) {
        unwatch(handler)
        interrupt(handler)
      }
    },
    /** Interrupts handlers that time out. All have the same time limit, so the oldest handler is the first to time out. */
    timeOuts: Effect.gen(function* () {
      for (;;) {
        if (all.size === 0) isRunning.closeUnsafe()
        yield* isRunning.await
        const now = clock.currentTimeMillisUnsafe()
        for (const handler of all) {
          if (handler.startedAt + timeout > now) break
          handler.isTimedOut = true
          interrupt(handler)
        }
        const [first] = all
        // If the clock was set back, the difference can be longer than the time limit.
        yield* Effect.sleep(first === undefined ? timeout : Math.min(timeout, first.startedAt + timeout - now))
      }
    })
  }
}
