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
export const makeSettling = <A>({ end, failures, fork, onHandled, spans }: Dependencies<A>) => {
  /** The deliveries that were handled in this turn. */
  let handled: Array<Settleable<A>> = []
  /** Fibers that settle a delivery after a failure. */
  const fibers = new Set<Fiber.Fiber<unknown, unknown>>()

  const forkTraced = <E>(deliveries: ReadonlyArray<Settleable<A>>, settled: Effect.Effect<void, E>) =>
    fork(spans === undefined ? settled : spans.commit(deliveries, settled))

  /** Settles a delivery by itself, after a failure. */
  const endAfter = (delivery: Settleable<A>, effect: Effect.Effect<void>): void => {
    const deliveries = [delivery]
    const fiber = forkTraced(deliveries, effect)
    fibers.add(fiber)
    fiber.addObserver(() => {
      fibers.delete(fiber)
      end(deliveries)
    })
  }

  const onFlushed = (deliveries: ReadonlyArray<Settleable<A>>, exit: Exit.Exit<void, StoreError>): void => {
    if (Exit.isSuccess(exit) || defectsOf(exit) !== undefined) {
      const refused = deliveries.filter(({ updates }) => refusalIn(updates) !== undefined)
      for (const delivery of refused) endAfter(delivery, failures.onRefusal(delivery))
      return end(refused.length === 0 ? deliveries : deliveries.filter((delivery) => !refused.includes(delivery)))
    }
    // The store refuses all of the deliveries, but one may be the cause, so each delivery is settled by itself.
    for (const delivery of deliveries) {
      const settled = persist(settleAll([delivery], acknowledged))
      endAfter(delivery, Effect.andThen(settled, failures.onRefusal(delivery)))
    }
  }

  return {
    /** The number of deliveries that the next `flush` settles. */
    count: (): number => handled.length,
    add: (delivery: Settleable<A>): void => void handled.push(delivery),
    /**
     * Settles the deliveries that were handled in this turn in one write, because a write for each update would cost more
     * than its handler.
     */
    flush: (): void => {
      if (handled.length === 0) return
      const deliveries = handled
      handled = []
      const settled = onHandled(deliveries)
      if (settled === Effect.void) return end(deliveries)
      forkTraced(deliveries, settled).addObserver((exit) => onFlushed(deliveries, exit))
    },
    endAfter,
    /** Ends a delivery that has lost an update. The other updates are emitted again at once. */
    endLost: (delivery: Settleable<A>): void => {
      if (delivery.updates.length === 1) end([delivery])
      else endAfter(delivery, persist(delivery.retry()))
    },
    /** Interrupts what settles deliveries after a failure. */
    interruptAll: (): void => fibers.forEach((fiber) => fiber.interruptUnsafe())
  }
}
