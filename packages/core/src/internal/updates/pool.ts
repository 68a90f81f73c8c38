import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import * as Schedule from "effect/Schedule"
import * as Tracer from "effect/Tracer"
import type { Delivery } from "../../Delivery.ts"
import type { StoreError } from "../../StoreError.ts"
import { annotationsOf } from "./annotations.ts"
import { contextOf } from "./handling.ts"
import { persist } from "./leases.ts"
import type { Retry } from "./retry.ts"
import { type Origin, type Root, settleable, type Settleable } from "./settlement.ts"

export interface Options<A, B, E, R> {
  /** Handles the value of a delivery. */
  readonly handle: (value: A) => Effect.Effect<B, E, R>
  /** Settles or passes on the delivery. It is neither timed out nor interrupted, and repeated until the store accepts it. */
  readonly onHandled: (delivery: Settleable<A>, result: B) => Effect.Effect<void, StoreError>
  readonly concurrency: number
  readonly timeout: Duration.Duration
  readonly retry: Retry
}

type RetryStep = Effect.Success<ReturnType<typeof Schedule.toStep<unknown, Cause.Cause<unknown>, never, never>>>

/** A delivery that is being handled. */
interface Worker<A> {
  readonly delivery: Settleable<A>
  readonly roots: ReadonlyArray<Root>
  startedAt: number
  isTimedOut: boolean
  isLost: boolean
  /** Whether the value was handled, so that the fiber is not interrupted any more. */
  isHandled: boolean
  fiber: Fiber.Fiber<unknown, unknown> | undefined
}

/** Time after the interruption of handlers for their finalizers and for the store. */
const interruptionTimeout = "5 seconds"

/** The same for an immediate shutdown. */
const immediateInterruptionTimeout = "100 millis"

/**
 * Handles deliveries concurrently. This is a state machine around fibers, not a fiber for each step, because it runs for
 * every update: a handler that does not suspend costs one fiber and no timer (benchmark `pipeline`).
 */
export const make = Effect.fnUntraced(function* <A, B, E, R>(options: Options<A, B, E, R>) {
  const { concurrency, handle, onHandled, retry } = options
  const context = yield* Effect.context<R>()
  const clock = yield* Clock.Clock
  const fork = Effect.runForkWith(context)
  const timeout = Duration.toMillis(options.timeout)
  const isTraced = Context.get(context, Tracer.Tracer) !== Tracer.nativeTracer
  const timedOut = (): Cause.Cause<unknown> =>
    Cause.fail(new Cause.TimeoutError(`The handler took longer than ${Duration.format(options.timeout)}.`))

  const queue: Array<Delivery<A>> = []
  /** Workers whose handler is suspended, the oldest first. They can time out and be interrupted. */
  const running = new Set<Worker<A>>()
  /** Fibers that settle a delivery after a failure. */
  const settling = new Set<Fiber.Fiber<unknown, unknown>>()
  const origins = new Set<Origin>()
  /** The state of the retry schedule of updates that failed. */
  const steps = new WeakMap<Root, RetryStep>()
  const idle = Latch.makeUnsafe(true)
  let onFree: (() => void) | undefined
  let lastOrigin: Origin | undefined
  let active = 0
  let isDispatching = false
  let isStopping = false
  let isInterrupting = false

  const end = (): void => {
    if (--active === 0) idle.openUnsafe()
    if (queue.length > 0) return dispatch()
    const waiter = onFree
    onFree = undefined
    waiter?.()
  }

  /** Ends a worker when its delivery is settled. */
  const endAfter = (effect: Effect.Effect<void>): void => {
    const fiber = fork(effect)
    if (fiber.pollUnsafe() !== undefined) return end()
    settling.add(fiber)
    fiber.addObserver(() => {
      settling.delete(fiber)
      end()
    })
  }

  const annotate = <E, R>(effect: Effect.Effect<void, E, R>, { roots }: Worker<A>): Effect.Effect<void, E, R> =>
    roots.length === 1 ? Effect.annotateLogs(effect, annotationsOf(roots[0]!.value)) : effect

  /** Emits the delivery again, or makes it a dead letter. */
  const onFailure = (worker: Worker<A>, cause: Cause.Cause<unknown>): Effect.Effect<void> => {
    const { delivery, roots } = worker
    return Effect.gen(function* () {
      const message = `Attempt ${delivery.attempt} of the handler failed. The retry schedule decides whether it is retried.`
      yield* annotate(Effect.logWarning(message, cause), worker)
      if (isStopping) return yield* persist(delivery.retry())
      const known = roots.find((root) => steps.has(root))
      const step = known === undefined ? ((yield* Schedule.toStep(retry)) as RetryStep) : steps.get(known)!
      for (const root of roots) steps.set(root, step)
      const next = yield* Effect.exit(step(clock.currentTimeMillisUnsafe(), cause))
      if (Exit.isSuccess(next)) return yield* persist(delivery.retry({ after: next.value[1] }))
      for (const root of roots) steps.delete(root)
      return yield* persist(delivery.reject(cause))
    })
  }

  const onExit = (worker: Worker<A>, exit: Exit.Exit<unknown, unknown>): void => {
    worker.fiber = undefined
    for (const root of worker.roots) root.onLost = undefined
    if (Exit.isSuccess(exit) || worker.isLost) return end()
    if (worker.isHandled) return endAfter(persist(worker.delivery.ack))
    if (isInterrupting) return endAfter(persist(worker.delivery.retry()))
    for (const { origin, value } of worker.roots) origin.metrics.failed(value)
    endAfter(onFailure(worker, worker.isTimedOut ? timedOut() : exit.cause))
  }

  const handled = (worker: Worker<A>): Effect.Effect<void, E | StoreError, R> => {
    const { delivery, roots } = worker
    const [root] = roots
    const handled = handle(delivery.value)
    const spanned =
      isTraced && root !== undefined
        ? Effect.withSpan(handled, "Updates.handle", { attributes: annotationsOf(root.value) })
        : handled
    return Effect.flatMap(spanned, (result) => {
      running.delete(worker)
      worker.isHandled = true
      const millis = clock.currentTimeMillisUnsafe() - worker.startedAt
      for (const { origin, value } of roots) origin.metrics.duration(value, millis)
      return onHandled(delivery, result)
    })
  }

  const prepared = (worker: Worker<A>): Effect.Effect<void, E | StoreError, R> => {
    let effect = handled(worker)
    for (const { handling, isDoubtful } of worker.roots) {
      if (isDoubtful && handling.lease !== undefined) effect = Effect.andThen(handling.lease, effect)
    }
    return effect
  }

  const interrupt = (worker: Worker<A>): void => {
    running.delete(worker)
    worker.fiber?.interruptUnsafe()
  }

  const start = (delivery: Settleable<A>): void => {
    const { roots } = delivery
    if (roots.some(({ isLost }) => isLost)) return
    const worker: Worker<A> = {
      delivery,
      roots,
      startedAt: clock.currentTimeMillisUnsafe(),
      isTimedOut: false,
      isLost: false,
      isHandled: false,
      fiber: undefined
    }
    for (const { origin } of roots) if (origin !== lastOrigin) origins.add((lastOrigin = origin))
    if (active++ === 0) idle.closeUnsafe()
    const fiber = Effect.runForkWith(contextOf(context, roots, delivery.attempt))(prepared(worker))
    const exit = fiber.pollUnsafe()
    if (exit !== undefined) return onExit(worker, exit)
    worker.fiber = fiber
    if (!worker.isHandled) running.add(worker)
    for (const root of roots) {
      root.onLost = () => {
        worker.isLost = true
        if (!worker.isHandled) interrupt(worker)
      }
    }
    fiber.addObserver((exit) => {
      running.delete(worker)
      onExit(worker, exit)
    })
  }

  // Starts deliveries in a loop, so that handlers that end synchronously do not grow the stack.
  const dispatch = (): void => {
    if (isDispatching) return
    isDispatching = true
    while (queue.length > 0 && active < concurrency && !isStopping) start(settleable(queue.shift()!))
    isDispatching = false
  }

  // All handlers have the same time-out, so the one that started first is the first to time out.
  const interruptTimedOut = Effect.gen(function* () {
    for (;;) {
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
  if (Number.isFinite(timeout)) yield* Effect.forkScoped(interruptTimedOut)

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
    for (const worker of running) interrupt(worker)
    for (const fiber of settling) fiber.interruptUnsafe()
  })

  return {
    /** Handles deliveries. Those beyond the concurrency wait. */
    add: (deliveries: ReadonlyArray<Delivery<A>>): void => {
      for (const delivery of deliveries) queue.push(delivery)
      dispatch()
    },
    /** Waits until another delivery could be handled at once. */
    whenFree: Effect.suspend(() =>
      queue.length === 0 && active < concurrency
        ? Effect.void
        : Effect.callback<void>((resume) => {
            onFree = () => resume(Effect.void)
            return Effect.sync(() => {
              onFree = undefined
            })
          })
    ),
    /** Waits until every delivery was handled. */
    whenIdle: idle.await,
    /**
     * Starts no more handlers, waits for the running ones until the time-out, and then interrupts them. Returns after 5
     * more seconds, even if a handler cannot be interrupted or the store fails.
     */
    stop: (shutdownTimeout: Duration.Duration): Effect.Effect<void> =>
      beginStop.pipe(
        Effect.andThen(Effect.timeoutOption(idle.await, shutdownTimeout)),
        Effect.andThen(interruptRunning),
        Effect.andThen(Effect.timeoutOrElse(idle.await, { duration: interruptionTimeout, orElse: () => abandon }))
      ),
    /** Interrupts the running handlers, and waits for a moment by the clock of the system, whatever the clock of the program. */
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
