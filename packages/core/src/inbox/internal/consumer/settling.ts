import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Exit from "effect/Exit"
import type { StoreError } from "../../../base/StoreError.ts"
import { defectsOf } from "../../../base/internal/watchFiber.ts"
import type { Failures } from "./failures.ts"
import { persist } from "./persist.ts"
import { acknowledged, refusalIn, type Settleable, settleAll } from "./settlement.ts"
import type { makeSpans } from "./spans.ts"

/** The dependencies of the settlement of deliveries. */
interface Dependencies<A> {
  readonly fork: <B, E>(effect: Effect.Effect<B, E>) => Fiber.Fiber<B, E>
  readonly spans: ReturnType<typeof makeSpans>
  readonly failures: Failures
  /** Settles or passes on the deliveries that were handled in one turn. */
  readonly onHandled: (deliveries: ReadonlyArray<Settleable<A>>) => Effect.Effect<void, StoreError>
  /** Called with deliveries that are settled. */
  readonly end: (deliveries: ReadonlyArray<Settleable<A>>) => void
}

/** Settles the deliveries of a pool, whose handlers have ended. */
export class Settling<A> {
  readonly #use: Dependencies<A>
  /** The deliveries that were handled in this turn. */
  #handled: Array<Settleable<A>> = []
  /** Fibers that settle a delivery after a failure. */
  readonly #fibers = new Set<Fiber.Fiber<unknown, unknown>>()

  constructor(dependencies: Dependencies<A>) {
    this.#use = dependencies
  }

  /** The number of deliveries that the next `flush` settles. */
  get count(): number {
    return this.#handled.length
  }

  add(delivery: Settleable<A>): void {
    this.#handled.push(delivery)
  }

  /**
   * Settles the deliveries that were handled in this turn in one write, because a write for each update would cost more
   * than its handler.
   */
  flush(): void {
    if (this.#handled.length === 0) return
    const deliveries = this.#handled
    this.#handled = []
    const settled = this.#use.onHandled(deliveries)
    if (settled === Effect.void) return this.#use.end(deliveries)
    this.#fork(deliveries, settled).addObserver((exit) => this.#onFlushed(deliveries, exit))
  }

  /** Settles a delivery by itself, after a failure. */
  endAfter(delivery: Settleable<A>, effect: Effect.Effect<void>): void {
    const deliveries = [delivery]
    const fiber = this.#fork(deliveries, effect)
    this.#fibers.add(fiber)
    fiber.addObserver(() => {
      this.#fibers.delete(fiber)
      this.#use.end(deliveries)
    })
  }

  /** Ends a delivery that has lost an update. The other updates are emitted again at once. */
  endLost(delivery: Settleable<A>): void {
    if (delivery.updates.length === 1) this.#use.end([delivery])
    else this.endAfter(delivery, persist(delivery.retry()))
  }

  /** Interrupts what settles deliveries after a failure. */
  interruptAll(): void {
    for (const fiber of this.#fibers) fiber.interruptUnsafe()
  }

  #fork<E>(deliveries: ReadonlyArray<Settleable<A>>, settled: Effect.Effect<void, E>): Fiber.Fiber<void, E> {
    const { fork, spans } = this.#use
    return fork(spans === undefined ? settled : spans.commit(deliveries, settled))
  }

  #onFlushed(deliveries: ReadonlyArray<Settleable<A>>, exit: Exit.Exit<void, StoreError>): void {
    const { end, failures } = this.#use
    if (Exit.isSuccess(exit) || defectsOf(exit) !== undefined) {
      const refused = deliveries.filter(({ updates }) => refusalIn(updates) !== undefined)
      for (const delivery of refused) this.endAfter(delivery, failures.onRefusal(delivery))
      return end(refused.length === 0 ? deliveries : deliveries.filter((delivery) => !refused.includes(delivery)))
    }
    // The store refuses all of the deliveries, but one may be the cause, so each delivery is settled by itself.
    for (const delivery of deliveries) {
      const settled = persist(settleAll([delivery], acknowledged))
      this.endAfter(delivery, Effect.andThen(settled, failures.onRefusal(delivery)))
    }
  }
}
