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

/**
 * The handlers of a pool that are suspended: these handlers can time out, be interrupted, and lose an update. `timeout`
 * is in milliseconds.
 */
export class SuspendedHandlers<A> {
  /** The oldest first. */
  readonly #all = new Set<Suspended<A>>()
  /** Open while handlers are suspended, so that a pool that is idle has no timer. */
  readonly #isRunning = Latch.makeUnsafe(false)
  readonly #timeout: number
  readonly #clock: Clock.Clock

  constructor(timeout: number, clock: Clock.Clock) {
    this.#timeout = timeout
    this.#clock = clock
  }

  add(delivery: Settleable<A>, fiber: Fiber.Fiber<unknown, unknown>, startedAt: number): Suspended<A> {
    const handler: Suspended<A> = {
      delivery,
      fiber,
      startedAt,
      isTimedOut: false,
      isLost: false,
      onLost: () => {
        handler.isLost = true
        this.#interrupt(handler)
      }
    }
    this.#all.add(handler)
    if (this.#all.size === 1) this.#isRunning.openUnsafe()
    for (const update of delivery.updates) update.watch(handler.onLost)
    return handler
  }

  remove(handler: Suspended<A>): void {
    this.#all.delete(handler)
    this.#unwatch(handler)
  }

  /** Interrupts all handlers. A source does not wait for handlers that cannot be interrupted. */
  interruptAll(): void {
    for (const handler of this.#all) {
      this.#unwatch(handler)
      this.#interrupt(handler)
    }
  }

  /** Interrupts handlers that time out. All have the same time limit, so the oldest handler is the first to time out. */
  get timeOuts(): Effect.Effect<never> {
    return Effect.gen({ self: this }, function* () {
      for (;;) {
        if (this.#all.size === 0) this.#isRunning.closeUnsafe()
        yield* this.#isRunning.await
        const now = this.#clock.currentTimeMillisUnsafe()
        for (const handler of this.#all) {
          if (handler.startedAt + this.#timeout > now) break
          handler.isTimedOut = true
          this.#interrupt(handler)
        }
        const [first] = this.#all
        // If the clock was set back, the difference can be longer than the time limit.
        yield* Effect.sleep(
          first === undefined ? this.#timeout : Math.min(this.#timeout, first.startedAt + this.#timeout - now)
        )
      }
    })
  }

  #interrupt(handler: Suspended<A>): void {
    this.#all.delete(handler)
    handler.fiber.interruptUnsafe()
  }

  #unwatch({ delivery, onLost }: Suspended<A>): void {
    for (const update of delivery.updates) update.unwatch(onLost)
  }
}
