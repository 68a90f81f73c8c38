import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { constFalse } from "effect/Function"
import type * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import * as Schedule from "effect/Schedule"
import type { Delivery } from "../../Deliveries.ts"
import type { StoreError } from "../../../base/StoreError.ts"
import { RateLimiterStopped } from "../../../client/internal/rateLimiter/queue.ts"
import * as Outage from "../../../client/Outage.ts"
import { annotationsOf } from "./annotations.ts"
import type { Lease } from "../../../client/internal/currentLease.ts"
import { CurrentTimeout } from "./currentTimeout.ts"
import { contextOf } from "./handling.ts"
import { persist } from "./persist.ts"
import type { Retry } from "./retry.ts"
import { newerIn } from "./newer.ts"
import {
  acknowledged,
  type Origin,
  refusalIn,
  type UpdateDelivery,
  settleable,
  type Settleable,
  settleAll
} from "./settlement.ts"
import { isPassing, storeFailureIn } from "./storeFailure.ts"
import { makeSpans } from "./spans.ts"
import { makeWaiter } from "./waiter.ts"
import { defectsOf, watchFiber } from "../../../base/internal/watchFiber.ts"

export interface Options<A, B, E, R> {
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
  readonly concurrency: number
  readonly timeout: Duration.Duration
  readonly retry: Retry
}

type RetryStep = Effect.Success<ReturnType<typeof Schedule.toStep<unknown, Cause.Cause<unknown>, never, never>>>

/** A delivery whose handler runs or has ended. */
interface Handled<A> {
  readonly delivery: Settleable<A>
  readonly updates: ReadonlyArray<UpdateDelivery>
}

/** A delivery that is being handled. */
interface Worker<A> extends Handled<A> {
  startedAt: number
  isTimedOut: boolean
  isLost: boolean
  /** Called when an update of the delivery is lost. */
  onLost: (() => void) | undefined
  fiber: Fiber.Fiber<unknown, unknown> | undefined
}

/** Time after the interruption of handlers for their finalizers and for the store. */
const interruptionTimeout = "5 seconds"

/** The same for an immediate shutdown. */
const immediateInterruptionTimeout = "100 millis"

/**
 * Handles deliveries concurrently. The pool is a state machine around fibers, instead of a fiber for each step, because
 * the pool runs for every update: a handler that does not suspend costs one fiber and no timer (benchmark `pipeline`).
 */
export const make = Effect.fnUntraced(function* <A, B, E, R>(options: Options<A, B, E, R>) {
  const { concurrency, handle, isDeclined = constFalse, onHandled, onResult, retry } = options
  const timeout = Duration.toMillis(options.timeout)
  const context = Context.add(yield* Effect.context<R>(), CurrentTimeout, timeout)
  const clock = yield* Clock.Clock
  /** Done when a fiber of the pool ends with a defect. */
  const died = yield* Deferred.make<never>()
  const onDefect = (cause: Cause.Cause<never>): void => {
    if (Outage.errorIn(cause) === undefined) return void Deferred.doneUnsafe(died, Exit.failCause(cause))
    for (const { fail } of origins) fail(cause)
  }
  const run = Effect.runForkWith(context)
  const fork = <A, E>(effect: Effect.Effect<A, E, R>) => watchFiber(run(effect), onDefect)
  /**
   * A store can write one half of the handled deliveries while the other half is being handled (benchmark
   * `redis-over-groupmq`).
   */
  const maxFlushed = Math.ceil(concurrency / 2)
  const spans = makeSpans(context, isDeclined)
  const timedOut = (): Cause.Cause<unknown> =>
    Cause.fail(new Cause.TimeoutError(`The handler took longer than ${Duration.format(options.timeout)}.`))

  const queue: Array<Settleable<A>> = []
  /** Workers whose handler is suspended, the oldest first. These handlers can time out and be interrupted. */
  const running = new Set<Worker<A>>()
  /** Open while handlers are suspended, so that a pool that is idle has no timer. */
  const isRunning = Latch.makeUnsafe(false)
  /** Fibers that settle a delivery after a failure. */
  const settling = new Set<Fiber.Fiber<unknown, unknown>>()
  const origins = new Set<Origin>()
  /** The state of the retry schedule of updates that failed. */
  const steps = new WeakMap<UpdateDelivery, RetryStep>()
  /** The failures of the inbox because of which updates are handled again. */
  const outages = new WeakMap<UpdateDelivery, Outage.Attempts>()
  const idle = Latch.makeUnsafe(true)
  let lastOrigin: Origin | undefined
  /** The deliveries that were handled in this turn. */
  let handled: Array<Settleable<A>> = []
  /** The time of the last start or end of a handler in this turn. */
  let now = 0
  let active = 0
  let isDispatching = false
  let isStopping = false
  let isInterrupting = false

  const free = makeWaiter(() => queue.length === 0 && active < concurrency)

  const end = (deliveries: ReadonlyArray<Settleable<A>>): void => {
    active -= deliveries.length
    spans?.end(deliveries)
    // All deliveries that wait may be lost, so that none of them begins.
    if (queue.length > 0) dispatch()
    if (active === 0) idle.openUnsafe()
    free.wake()
  }

  /** Ends a worker when its delivery is settled after a failure. */
  const endAfter = (delivery: Settleable<A>, effect: Effect.Effect<void>): void => {
    const fiber = fork(spans === undefined ? effect : spans.commit([delivery], effect))
    if (fiber.pollUnsafe() !== undefined) return end([delivery])
    settling.add(fiber)
    fiber.addObserver(() => {
      settling.delete(fiber)
      end([delivery])
    })
  }

  /** Ends a worker whose delivery has lost an update. The other updates are emitted again at once. */
  const endLost = (delivery: Settleable<A>): void =>
    delivery.updates.length === 1 ? end([delivery]) : endAfter(delivery, persist(delivery.retry()))

  /** Fails the attempt if a statement of the handler has failed. */
  const failIfRefused = (delivery: Settleable<A>): Effect.Effect<void> => {
    const { updates } = delivery
    const refusal = refusalIn(updates)
    if (refusal === undefined) return Effect.void
    for (const { origin, value } of updates) origin.metrics.failed(value)
    return onFailure({ delivery, updates }, Cause.fail(refusal.error))
  }

  const onFlushed = (deliveries: ReadonlyArray<Settleable<A>>, exit: Exit.Exit<void, StoreError>): void => {
    if (Exit.isSuccess(exit) || defectsOf(exit) !== undefined) {
      const refused = deliveries.filter(({ updates }) => refusalIn(updates) !== undefined)
      for (const delivery of refused) endAfter(delivery, failIfRefused(delivery))
      return end(refused.length === 0 ? deliveries : deliveries.filter((delivery) => !refused.includes(delivery)))
    }
    // The store refuses all of them, but one may be the cause, so each is settled by itself.
    for (const delivery of deliveries) {
      const settled = persist(settleAll([delivery], acknowledged))
      endAfter(
        delivery,
        Effect.andThen(
          settled,
          Effect.suspend(() => failIfRefused(delivery))
        )
      )
    }
  }

  /**
   * Settles the deliveries that were handled in this turn in one write, because a write for each update would cost more
   * than its handler.
   */
  const flush = (): void => {
    if (handled.length === 0) return
    const deliveries = handled
    handled = []
    const settled = onHandled(deliveries)
    if (settled === Effect.void) return end(deliveries)
    const fiber = fork(spans === undefined ? settled : spans.commit(deliveries, settled))
    const exit = fiber.pollUnsafe()
    if (exit !== undefined) onFlushed(deliveries, exit)
    else fiber.addObserver((exit) => onFlushed(deliveries, exit))
  }

  const annotate = <E, R>(effect: Effect.Effect<void, E, R>, { updates }: Handled<A>): Effect.Effect<void, E, R> =>
    updates.length === 1 ? Effect.annotateLogs(effect, annotationsOf(updates[0]!.value)) : effect

  /** Handles the delivery again in the same attempt, because the inbox failed and not the handler. */
  const onStoreFailure = (worker: Worker<A>, failure: Outage.OutageError): Effect.Effect<void> => {
    const { delivery, updates } = worker
    return Effect.gen(function* () {
      if (!isPassing(failure)) return yield* Effect.die(failure)
      const known = updates.map((update) => outages.get(update)).find((known) => known !== undefined)
      const outage = known ?? (yield* Outage.attempts("The inbox"))
      for (const update of updates) outages.set(update, outage)
      const { count, pause } = yield* Effect.orDie(outage.failed(failure))
      const what = count === 1 ? failure.message : `The inbox has failed ${count} times.`
      const after = Duration.format(Duration.millis(Math.round(pause)))
      const message = `${what} The handler runs again in ${after}. The attempt does not count as failed.`
      yield* annotate(Effect.logWarning(message), worker)
      yield* persist(settleAll([delivery], { _tag: "retry", after: pause, isSameAttempt: true }))
    })
  }

  /** Emits the delivery again, or makes the update a dead letter. */
  const onFailure = (worker: Handled<A>, cause: Cause.Cause<unknown>): Effect.Effect<void> => {
    const { delivery, updates } = worker
    return Effect.gen(function* () {
      const message = `Attempt ${delivery.attempt} of the handler failed. The retry schedule decides whether it is retried.`
      yield* annotate(Effect.logWarning(message, cause), worker)
      if (isStopping) return yield* persist(delivery.retry())
      const known = updates.find((update) => steps.has(update))
      const step = known === undefined ? ((yield* Schedule.toStep(retry)) as RetryStep) : steps.get(known)!
      for (const update of updates) steps.set(update, step)
      const next = yield* Effect.exit(step(clock.currentTimeMillisUnsafe(), cause))
      if (Exit.isSuccess(next)) return yield* persist(delivery.retry({ after: next.value[1] }))
      for (const update of updates) steps.delete(update)
      return yield* persist(delivery.reject(cause))
    })
  }

  /** The next handlers would die of the same defect. */
  const failIfShared = ({ reasons }: Cause.Cause<unknown>): void => {
    const shared = reasons.filter(Cause.isDieReason).filter(({ defect }) => defect instanceof RateLimiterStopped)
    if (shared.length > 0) onDefect(Cause.fromReasons(shared))
  }

  const onHandledOne = (delivery: Settleable<A>, updates: ReadonlyArray<UpdateDelivery>, startedAt: number): void => {
    now = clock.currentTimeMillisUnsafe()
    for (const { origin, value } of updates) origin.metrics.duration(value, now - startedAt)
    handled.push(delivery)
    if (!isDispatching) flush()
  }

  const unwatch = ({ onLost, updates }: Worker<A>): void => {
    if (onLost !== undefined) for (const update of updates) update.unwatch(onLost)
  }

  const onExit = (worker: Worker<A>, exit: Exit.Exit<B, E>): void => {
    const { delivery, isLost, updates, startedAt } = worker
    worker.fiber = undefined
    unwatch(worker)
    if (isLost) return endLost(delivery)
    if (Exit.isSuccess(exit)) {
      onResult?.(delivery, exit.value)
      return onHandledOne(delivery, updates, startedAt)
    }
    if (isInterrupting) return endAfter(delivery, persist(delivery.retry()))
    const newer = newerIn(exit.cause)
    if (newer !== undefined && !worker.isTimedOut)
      return endAfter(delivery, persist(settleAll([delivery], { _tag: "handBack", newer })))
    if (isDeclined(exit.cause)) {
      for (const { origin, value } of updates) origin.metrics.unhandled(value)
      return onHandledOne(delivery, updates, startedAt)
    }
    const failure = worker.isTimedOut
      ? updates.map(({ storeFailure }) => storeFailure).find((failure) => failure !== undefined)
      : storeFailureIn(exit.cause)
    if (failure !== undefined) return endAfter(delivery, onStoreFailure(worker, failure))
    for (const { origin, value } of updates) origin.metrics.failed(value)
    if (Cause.hasDies(exit.cause)) failIfShared(exit.cause)
    endAfter(delivery, onFailure(worker, worker.isTimedOut ? timedOut() : exit.cause))
  }

  const prepared = (delivery: Settleable<A>, updates: ReadonlyArray<UpdateDelivery>): Effect.Effect<B, E, R> => {
    let effect = handle(delivery.value)
    if (spans !== undefined) effect = spans.handler(delivery, effect)
    let last: Lease | undefined
    for (const current of updates) {
      const { lease } = current.handling
      // Updates of a chat follow each other in a batch, and share their lease.
      if (lease === last || lease === undefined) continue
      last = lease
      if (current.isDoubtful) effect = Effect.andThen(lease.confirm, effect)
    }
    return effect
  }

  const interrupt = (worker: Worker<A>): void => {
    running.delete(worker)
    worker.fiber?.interruptUnsafe()
  }

  const start = (delivery: Settleable<A>): void => {
    const { updates } = delivery
    for (const { origin } of updates) if (origin !== lastOrigin) origins.add((lastOrigin = origin))
    if (active++ === 0) idle.closeUnsafe()
    if (updates.some(({ isLost }) => isLost)) return endLost(delivery)
    const startedAt = now
    const fiber = Effect.runForkWith(contextOf(context, delivery))(prepared(delivery, updates))
    const exit = fiber.pollUnsafe()
    if (exit !== undefined && Exit.isSuccess(exit)) {
      onResult?.(delivery, exit.value)
      return onHandledOne(delivery, updates, startedAt)
    }
    const worker: Worker<A> = {
      delivery,
      updates,
      startedAt,
      isTimedOut: false,
      isLost: false,
      onLost: undefined,
      fiber: undefined
    }
    if (exit !== undefined) {
      now = clock.currentTimeMillisUnsafe()
      return onExit(worker, exit)
    }
    worker.fiber = fiber
    running.add(worker)
    if (running.size === 1) isRunning.openUnsafe()
    const onLost = () => {
      worker.isLost = true
      interrupt(worker)
    }
    worker.onLost = onLost
    for (const update of updates) update.watch(onLost)
    fiber.addObserver((exit) => {
      running.delete(worker)
      onExit(worker, exit)
    })
  }

  // Starts deliveries in a loop, so that handlers that end synchronously do not grow the stack.
  const dispatch = (): void => {
    if (isDispatching) return
    isDispatching = true
    now = clock.currentTimeMillisUnsafe()
    do {
      while (queue.length > 0 && active < concurrency && !isStopping) {
        start(queue.shift()!)
        if (handled.length >= maxFlushed) flush()
      }
      flush()
    } while (queue.length > 0 && active < concurrency && !isStopping)
    isDispatching = false
  }

  // All handlers have the same time-out, so the handler that started first is the first to time out.
  const interruptTimedOut = Effect.gen(function* () {
    for (;;) {
      if (running.size === 0) isRunning.closeUnsafe()
      yield* isRunning.await
      const now = clock.currentTimeMillisUnsafe()
      for (const worker of running) {
        if (worker.startedAt + timeout > now) break
        worker.isTimedOut = true
        interrupt(worker)
      }
      const [first] = running
      // If the clock was set back, the difference can be longer than the time-out.
      yield* Effect.sleep(first === undefined ? timeout : Math.min(timeout, first.startedAt + timeout - now))
    }
  })
  if (Number.isFinite(timeout)) watchFiber(yield* Effect.forkScoped(interruptTimedOut), onDefect)

  const abandon = Effect.suspend(() =>
    Effect.logWarning(
      `${active} updates were not released: a handler cannot be interrupted, or the store of the inbox is unavailable. ` +
        "They are handled again after the restart."
    )
  )

  const beginStop = Effect.suspend(() => {
    isStopping = true
    queue.length = 0
    return Effect.forEach(origins, (origin) => origin.stop, { discard: true })
  })

  const interruptRunning = Effect.sync(() => {
    isInterrupting = true
    for (const worker of running) {
      // The source does not wait for handlers that cannot be interrupted.
      unwatch(worker)
      interrupt(worker)
    }
    for (const fiber of settling) fiber.interruptUnsafe()
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
    /**
     * Starts no more handlers, waits for the running handlers until the time-out, and then interrupts them. Returns
     * after 5 more seconds, even if a handler cannot be interrupted or the store fails.
     */
    stop: (shutdownTimeout: Duration.Duration): Effect.Effect<void> =>
      beginStop.pipe(
        Effect.andThen(Effect.timeoutOption(idle.await, shutdownTimeout)),
        Effect.andThen(interruptRunning),
        Effect.andThen(Effect.timeoutOrElse(idle.await, { duration: interruptionTimeout, orElse: () => abandon }))
      ),
    /**
     * Interrupts the running handlers, and waits for a moment by the clock of the system, even if the program has
     * another clock.
     */
    stopNow: beginStop.pipe(
      Effect.andThen(interruptRunning),
      Effect.andThen(
        Effect.provideService(
          Effect.timeoutOption(idle.await, immediateInterruptionTimeout),
          Clock.Clock,
          Clock.Clock.defaultValue()
        )
      )
    )
  }
})
