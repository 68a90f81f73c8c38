import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { constFalse } from "effect/Function"
import * as Latch from "effect/Latch"
import type { Delivery } from "../../Deliveries.ts"
import type { StoreError } from "../../../base/StoreError.ts"
import { timeoutBySystemClock } from "../../../base/internal/systemClock.ts"
import { watchFiber } from "../../../base/internal/watchFiber.ts"
import type { Lease } from "../../../client/internal/currentLease.ts"
import { RateLimiterStopped } from "../../../client/internal/rateLimiter/queue.ts"
import * as Outage from "../../../client/Outage.ts"
import type { Consumer } from "../kernel/consumer.ts"
import type { Queued } from "../kernel/delivery.ts"
import { CurrentTimeout } from "./currentTimeout.ts"
import { makeFailures } from "./failures.ts"
import { contextOf } from "./handling.ts"
import { newerIn } from "./newer.ts"
import { persist } from "./persist.ts"
import type { Retry } from "./retry.ts"
import { settleable, type Settleable, settleAll } from "./settlement.ts"
import { makeSettling } from "./settling.ts"
import { makeSpans } from "./spans.ts"
import { storeFailureIn } from "./storeFailure.ts"
import { makeSuspended, type Suspended } from "./suspended.ts"
import { makeWaiter } from "./waiter.ts"

/** The options of `Deliveries.HandleOptions`, with their defaults. */
export interface HandleOptions {
  readonly concurrency: number
  readonly timeout: Duration.Duration
  readonly retry: Retry
}

export interface Options<A, B, E, R> extends HandleOptions {
  /** Handles the value of a delivery. */
  readonly handle: (value: A) => Effect.Effect<B, E, R>
  /** Whether a failure means that the delivery is not to be handled, so that it counts as handled. Default: never. */
  readonly isDeclined?: ((cause: Cause.Cause<E>) => boolean) | undefined
  /** Called with each result. Default: results are ignored. */
  readonly onResult?: ((delivery: Settleable<A>, result: B) => void) | undefined
  /**
   * Settles or passes on the deliveries that were handled in one turn. This effect is neither timed out nor
   * interrupted.
   */
  readonly onHandled: (deliveries: ReadonlyArray<Settleable<A>>) => Effect.Effect<void, StoreError>
}

/** Time after the interruption of handlers for their finalizers and for the store. */
const interruptionTimeout = "5 seconds"

/** The same for an immediate shutdown. */
const immediateInterruptionTimeout = "100 millis"

/** Confirms the leases that are in doubt before the effect runs. */
const confirmed = <B, E, R>(effect: Effect.Effect<B, E, R>, updates: ReadonlyArray<Queued>): Effect.Effect<B, E, R> => {
  let last: Lease | undefined
  for (const { handling } of updates) {
    const { lease } = handling
    // Updates of a chat follow each other in a batch, and share their lease.
    if (lease === last || lease === undefined) continue
    last = lease
    if (!lease.isHeld()) effect = Effect.andThen(lease.confirm, effect)
  }
  return effect
}

/** The defects of a service that all handlers share: the next handlers would die of them. */
const sharedDefects = ({ reasons }: Cause.Cause<unknown>): ReadonlyArray<Cause.Die> =>
  reasons.filter(Cause.isDieReason).filter(({ defect }) => defect instanceof RateLimiterStopped)

/** The two ways to stop a pool. */
const stopping = (
  begin: Effect.Effect<void>,
  interrupt: Effect.Effect<void>,
  whenIdle: Effect.Effect<void>,
  active: () => number
) => {
  const abandon = Effect.suspend(() =>
    Effect.logWarning(
      `${active()} updates were not released: a handler cannot be interrupted, or the store of the inbox is unavailable. ` +
        "They are handled again after the restart."
    )
  )
  return {
    /**
     * Starts no more handlers, waits for the running handlers until the time-out, and then interrupts them. Returns
     * after 5 more seconds, even if a handler cannot be interrupted or the store fails.
     */
    stop: (shutdownTimeout: Duration.Duration): Effect.Effect<void> =>
      begin.pipe(
        Effect.andThen(Effect.timeoutOption(whenIdle, shutdownTimeout)),
        Effect.andThen(interrupt),
        Effect.andThen(Effect.timeoutOrElse(whenIdle, { duration: interruptionTimeout, orElse: () => abandon }))
      ),
    /**
     * Interrupts the running handlers, and waits for a moment by the clock of the system, even if the program has
     * another clock.
     */
    stopNow: begin.pipe(
      Effect.andThen(interrupt),
      Effect.andThen(timeoutBySystemClock(whenIdle, immediateInterruptionTimeout))
    )
  }
}

/**
 * Handles deliveries concurrently. The pool is a state machine around fibers, instead of a fiber for each step, because
 * the pool runs for every update: a handler that does not suspend costs one fiber and no timer (benchmark `pipeline`).
 */
export const make = Effect.fnUntraced(function* <A, B, E, R>(options: Options<A, B, E, R>) {
  const { concurrency, handle, isDeclined = constFalse, onHandled, onResult } = options
  const timeout = Duration.toMillis(options.timeout)
  const context = Context.add(yield* Effect.context<R>(), CurrentTimeout, timeout)
  const clock = yield* Clock.Clock
  /** Done when a fiber of the pool ends with a defect. */
  const died = yield* Deferred.make<never>()
  const onDefect = (cause: Cause.Cause<never>): void => {
    if (Outage.errorIn(cause) === undefined) return void Deferred.doneUnsafe(died, Exit.failCause(cause))
    for (const origin of origins) origin.fail(cause)
  }
  const run = Effect.runForkWith(context)
  /**
   * A store of several processes can write one half of the handled deliveries while the other half is being handled
   * (benchmark `redis-over-groupmq`).
   */
  const maxFlushed = Math.ceil(concurrency / 2)

  const queue: Array<Settleable<A>> = []
  const origins = new Set<Consumer>()
  const idle = Latch.makeUnsafe(true)
  let lastOrigin: Consumer | undefined
  /** The time of the last start or end of a handler in this turn. */
  let now = 0
  let active = 0
  let isDispatching = false
  let isStopping = false
  let isInterrupting = false

  const free = makeWaiter(() => queue.length === 0 && active < concurrency)
  const spans = makeSpans(context, isDeclined)
  const suspended = makeSuspended<A>(timeout, clock)
  const failures = makeFailures(options.retry, clock, () => isStopping)
  const settling = makeSettling<A>({
    fork: (effect) => watchFiber(run(effect), onDefect),
    spans,
    failures,
    onHandled,
    end: (deliveries) => {
      active -= deliveries.length
      spans?.end(deliveries)
      // All deliveries that wait may be lost, so that none of them begins.
      if (queue.length > 0) dispatch()
      if (active === 0) idle.openUnsafe()
      free.wake()
    }
  })

  const onHandledOne = (delivery: Settleable<A>, startedAt: number): void => {
    now = clock.currentTimeMillisUnsafe()
    for (const { origin, value } of delivery.updates) origin.metrics.duration(value, now - startedAt)
    settling.add(delivery)
    if (!isDispatching) settling.flush()
  }

  const onSuccess = (delivery: Settleable<A>, result: B, startedAt: number): void => {
    onResult?.(delivery, result)
    onHandledOne(delivery, startedAt)
  }

  /** `handler` is `undefined` if the handler has not suspended. */
  const onFailure = (
    delivery: Settleable<A>,
    cause: Cause.Cause<E>,
    startedAt: number,
    handler: Suspended<A> | undefined
  ): void => {
    const { updates } = delivery
    const isTimedOut = handler?.isTimedOut === true
    if (isInterrupting) return settling.endAfter(delivery, persist(delivery.retry()))
    const newer = isTimedOut ? undefined : newerIn(cause)
    if (newer !== undefined)
      return settling.endAfter(delivery, persist(settleAll([delivery], { _tag: "handBack", newer })))
    if (isDeclined(cause)) {
      for (const { current, origin, value } of updates) {
        origin.metrics.unhandled(value)
        current.isDeclined = true
      }
      return onHandledOne(delivery, startedAt)
    }
    const storeFailure = isTimedOut
      ? updates.map(({ storeFailure }) => storeFailure).find((failure) => failure !== undefined)
      : storeFailureIn(cause)
    if (storeFailure !== undefined) return settling.endAfter(delivery, failures.onStoreFailure(delivery, storeFailure))
    for (const { origin, value } of updates) origin.metrics.failed(value)
    const shared = sharedDefects(cause)
    if (shared.length > 0) onDefect(Cause.fromReasons(shared))
    const timedOut = `The handler took longer than ${Duration.format(options.timeout)}.`
    const failure = isTimedOut ? Cause.fail(new Cause.TimeoutError(timedOut)) : cause
    settling.endAfter(delivery, failures.onFailure(delivery, failure))
  }

  const start = (delivery: Settleable<A>): void => {
    const { updates } = delivery
    for (const { origin } of updates) if (origin !== lastOrigin) origins.add((lastOrigin = origin))
    if (active++ === 0) idle.closeUnsafe()
    if (updates.some(({ isLost }) => isLost)) return settling.endLost(delivery)
    const startedAt = now
    const handled = handle(delivery.value)
    const effect = confirmed(spans === undefined ? handled : spans.handler(delivery, handled), updates)
    const fiber = Effect.runForkWith(contextOf(context, delivery))(effect)
    const exit = fiber.pollUnsafe()
    if (exit === undefined) {
      const handler = suspended.add(delivery, fiber, startedAt)
      fiber.addObserver((exit) => {
        suspended.remove(handler)
        if (handler.isLost) settling.endLost(delivery)
        else if (Exit.isSuccess(exit)) onSuccess(delivery, exit.value, startedAt)
        else onFailure(delivery, exit.cause, startedAt, handler)
      })
    } else if (Exit.isSuccess(exit)) onSuccess(delivery, exit.value, startedAt)
    else {
      now = clock.currentTimeMillisUnsafe()
      onFailure(delivery, exit.cause, startedAt, undefined)
    }
  }

  // Starts deliveries in a loop, so that handlers that end synchronously do not grow the stack.
  const dispatch = (): void => {
    if (isDispatching) return
    isDispatching = true
    now = clock.currentTimeMillisUnsafe()
    do {
      while (queue.length > 0 && active < concurrency && !isStopping) {
        start(queue.shift()!)
        if (settling.count() >= maxFlushed && lastOrigin?.store.isShared === true) settling.flush()
      }
      settling.flush()
    } while (queue.length > 0 && active < concurrency && !isStopping)
    isDispatching = false
  }

  if (Number.isFinite(timeout)) watchFiber(yield* Effect.forkScoped(suspended.timeOuts), onDefect)

  const beginStop = Effect.suspend(() => {
    isStopping = true
    queue.length = 0
    return Effect.forEach(origins, (origin) => origin.stop, { discard: true })
  })

  const interruptRunning = Effect.sync(() => {
    isInterrupting = true
    suspended.interruptAll()
    settling.interruptAll()
  })

  return {
    /** Handles deliveries. Deliveries beyond the concurrency wait. */
    add: (deliveries: ReadonlyArray<Delivery<A>>): void => {
      for (const delivery of deliveries) queue.push(settleable(delivery))
      dispatch()
    },
    /**
     * Dies with a defect of a fiber that settles deliveries, or of a service that the handlers share with other
     * updates.
     */
    died: Deferred.await(died),
    /** Waits until another delivery could be handled at once. */
    whenFree: free.until,
    /** Waits until every delivery was handled. */
    whenIdle: idle.await,
    ...stopping(beginStop, interruptRunning, idle.await, () => active)
  }
})
