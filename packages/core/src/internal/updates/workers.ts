import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import * as Tracer from "effect/Tracer"
import * as Handler from "../../Handler.ts"
import type { ClaimedUpdate, Completed, Failure, Partition } from "../../InboxStore.ts"
import { type DeadLetter, defaultPartitionKey } from "../../QueuedUpdate.ts"
import * as RateLimiter from "../../RateLimiter.ts"
import type { ChatId } from "../../Recipient.ts"
import { chatOf, type Update, withMalformedWarning } from "../../Update.ts"
import { type AnswerLog, CurrentAnswerLog } from "./answers.ts"
import { type Change, type Leases, releaseOf } from "./leases.ts"
import { makeHandlerMetrics } from "./metrics.ts"

export interface Options<E, R> {
  readonly handler: Handler.Handler<E, R>
  readonly concurrency: number
  readonly timeout: Duration.Duration
  readonly retry: Schedule.Schedule<unknown, Cause.Cause<unknown>>
  readonly commit: Leases["commit"]
  readonly isHeld: Leases["isHeld"]
  /** Called when a worker has ended, and no longer holds its partition. */
  readonly onEnd: () => void
  /** Runs when an update is about to become a dead letter. */
  readonly onDeadLetter: ((deadLetter: DeadLetter) => Effect.Effect<unknown, unknown, R>) | undefined
}

type Fork<R> = ReturnType<typeof Effect.runForkWith<R>>

type RetryStep = (cause: Cause.Cause<unknown>) => Effect.Effect<unknown, Cause.Done<unknown>>

/** Handles the updates of one partition, one after the other. */
interface Worker<R> {
  readonly partition: Partition
  index: number
  attempts: number
  retryStep: RetryStep | undefined
  startedAt: number
  /** Whether the handler has succeeded and the commit is running, which is neither timed out nor interrupted. */
  isCommitting: boolean
  /** Whether the running commit releases the partition. */
  isReleasing: boolean
  isTimedOut: boolean
  /** The chat of the last update, and how to run a handler with it. The next update mostly has the same chat. */
  chat_id: ChatId | undefined
  fork: Fork<R> | undefined
  readonly answers: AnswerLog
  /** The running handler, including its commit. */
  fiber: Fiber.Fiber<unknown, unknown> | undefined
}

/** Time after the interruption of handlers for their finalizers and for the store. */
const interruptionTimeout = "5 seconds"

/** The same for an immediate shutdown. */
const immediateInterruptionTimeout = "100 millis"

const annotationsOf = (update: Update) => ({ update_type: update.update_type, chat: defaultPartitionKey(update) })

/**
 * Handles the updates of many partitions concurrently. This is a state machine around fibers, not a fiber for each step,
 * because it runs for every update: a handler that does not suspend costs one fiber and no timer (benchmark `pipeline`).
 */
export const make = Effect.fnUntraced(function* <E, R>(options: Options<E, R>) {
  const { commit, concurrency, handler, retry } = options
  // Calls of a handler have a high priority, and answers count for the chat of the update.
  const context = Context.add(yield* Effect.context<R>(), RateLimiter.CurrentPriority, "reply")
  const clock = yield* Clock.Clock
  const fork: Fork<R> = Effect.runForkWith(context)
  const metrics = makeHandlerMetrics(context)
  const timeout = Duration.toMillis(options.timeout)
  const isTraced = Context.get(context, Tracer.Tracer) !== Tracer.nativeTracer
  const timedOut = (what: string) =>
    Cause.fail(new Cause.TimeoutError(`${what} took longer than ${Duration.format(options.timeout)}.`))

  const ready: Array<Worker<R>> = []
  /** Workers whose handler is suspended, the oldest first. They can time out and be interrupted. */
  const running = new Set<Worker<R>>()
  /** Fibers of workers that wait for the next attempt. */
  const retrying = new Set<Fiber.Fiber<unknown, unknown>>()
  const idle = Latch.makeUnsafe(true)
  let workers = 0
  let active = 0
  let updates = 0
  let isDispatching = false
  let isStopping = false
  let isInterrupting = false

  const forkFor = (worker: Worker<R>, update: Update): Fork<R> => {
    const chat_id = chatOf(update)
    if (worker.fork === undefined || chat_id !== worker.chat_id) {
      const ofWorker = Context.add(context, CurrentAnswerLog, worker.answers)
      worker.chat_id = chat_id
      worker.fork = Effect.runForkWith(
        chat_id === undefined ? ofWorker : Context.add(ofWorker, RateLimiter.CurrentChat, chat_id)
      )
    }
    return worker.fork
  }

  const entryOf = ({ index, partition }: Worker<R>): ClaimedUpdate => partition.updates[index]

  const runThen = (effect: Effect.Effect<void>, then: () => void): void => {
    const fiber = fork(effect)
    if (fiber.pollUnsafe() === undefined) fiber.addObserver(then)
    else then()
  }

  const end = (worker: Worker<R>): void => {
    updates -= worker.partition.updates.length
    if (--workers === 0) idle.openUnsafe()
    options.onEnd()
  }

  const release = (worker: Worker<R>): void => runThen(commit(releaseOf(worker.partition.key)), () => end(worker))

  /** Ends a worker before its updates are handled. Its update may have been handled in part, which the store counts. */
  const giveUp = (worker: Worker<R>): void => {
    const failed = worker.attempts > 0 ? [entryOf(worker).id] : []
    runThen(commit({ ...releaseOf(worker.partition.key), failed }), () => end(worker))
  }

  const isLast = ({ index, partition }: Worker<R>): boolean => isStopping || index === partition.updates.length - 1

  /** The change that completes the first update of a worker. The attempt of the next update begins with it. */
  const changeOf = (worker: Worker<R>, completed: Completed, release: boolean): Change => ({
    partitionKey: worker.partition.key,
    completed: [completed],
    failed: [],
    begun: release ? [] : [worker.partition.updates[worker.index + 1].id],
    release
  })

  const onCommitted = (worker: Worker<R>, isReleased: boolean): void => {
    if (isReleased) return end(worker)
    worker.index++
    worker.attempts = 0
    worker.retryStep = undefined
    worker.answers.attempts = undefined
    enqueue(worker)
  }

  const commitFailure = (worker: Worker<R>, failure: Failure): void => {
    const releases = isLast(worker)
    const completed = { id: entryOf(worker).id, failure }
    runThen(commit(changeOf(worker, completed, releases)), () => onCommitted(worker, releases))
  }

  /** Runs `onDeadLetter`, and then commits the failure. The update stays queued if the consumer stops meanwhile. */
  const makeDeadLetter = (worker: Worker<R>, failure: Failure, fork: Fork<R>): void => {
    const { onDeadLetter } = options
    if (onDeadLetter === undefined) return commitFailure(worker, failure)
    const { id, update } = entryOf(worker)
    const effect = Effect.suspend(() => onDeadLetter({ id, update, ...failure }))
    worker.startedAt = clock.currentTimeMillisUnsafe()
    worker.isTimedOut = false
    active++
    running.add(worker)
    worker.fiber = fork(isTraced ? Effect.withSpan(effect, "Updates.onDeadLetter") : effect)
    worker.fiber.addObserver((exit) => {
      running.delete(worker)
      worker.fiber = undefined
      active--
      if (Exit.isFailure(exit) && isInterrupting) return giveUp(worker)
      if (Exit.isFailure(exit)) {
        const cause = worker.isTimedOut ? timedOut("The function `onDeadLetter`") : exit.cause
        fork(Effect.logError("The function `onDeadLetter` failed. The update is a dead letter nevertheless.", cause))
      }
      commitFailure(worker, failure)
      dispatch()
    })
  }

  const deadLetter = (worker: Worker<R>, update: Update, cause: Cause.Cause<unknown>): void => {
    const { attempts } = worker
    metrics.deadLettered(update)
    const message = `The handler failed ${attempts} times. The update is now a dead letter: see Inbox.deadLetters.`
    fork(Effect.annotateLogs(Effect.logError(message), annotationsOf(update)))
    const failure = { error: Cause.pretty(cause), attempts, failedAt: clock.currentTimeMillisUnsafe() }
    makeDeadLetter(worker, failure, forkFor(worker, update))
  }

  const retryLater = (worker: Worker<R>, update: Update, cause: Cause.Cause<unknown>): void => {
    const waiting = Effect.gen(function* () {
      const message = `Attempt ${worker.attempts} of the handler failed. The retry schedule decides whether it is retried.`
      yield* Effect.annotateLogs(Effect.logWarning(message, cause), annotationsOf(update))
      if (isStopping) return
      worker.retryStep ??= (yield* Schedule.toStepWithSleep(retry)) as RetryStep
      yield* worker.retryStep(cause)
    })
    const fiber = fork(waiting)
    retrying.add(fiber)
    fiber.addObserver((exit) => {
      retrying.delete(fiber)
      if (isStopping) giveUp(worker)
      else if (Exit.isSuccess(exit)) enqueue(worker)
      else deadLetter(worker, update, cause)
    })
  }

  const onHandled = (worker: Worker<R>, update: Update, exit: Exit.Exit<void, unknown>): void => {
    active--
    worker.fiber = undefined
    if (Exit.isSuccess(exit)) return onCommitted(worker, worker.isReleasing)
    worker.attempts++
    if (isInterrupting) giveUp(worker)
    else {
      metrics.failed(update)
      retryLater(worker, update, worker.isTimedOut ? timedOut("The handler") : exit.cause)
    }
  }

  const handle = (update: Update): Effect.Effect<boolean, E, R> => {
    const handled = Handler.run(handler, update)
    return isTraced ? Effect.withSpan(handled, "Updates.handle", { attributes: annotationsOf(update) }) : handled
  }

  // The commit counts as active, so that at most `concurrency` handled updates are handled again after a crash.
  const handleAndCommit = (worker: Worker<R>, update: Update): Effect.Effect<void, E, R> =>
    Effect.flatMap(handle(update), (isHandled) => {
      running.delete(worker)
      worker.isCommitting = true
      if (!isHandled) metrics.unhandled(update)
      metrics.handled(update, clock.currentTimeMillisUnsafe() - worker.startedAt)
      worker.isReleasing = isLast(worker)
      return commit(changeOf(worker, { id: entryOf(worker).id }, worker.isReleasing))
    })

  const start = (worker: Worker<R>): void => {
    // Another process may handle the rest of the partition. A retry continues, because its update was handled in part.
    if (worker.attempts === 0 && !options.isHeld(worker.partition.key)) return release(worker)
    const { attempts, update: queued } = entryOf(worker)
    const { decoded } = queued
    const now = clock.currentTimeMillisUnsafe()
    if (Result.isFailure(decoded)) {
      return makeDeadLetter(worker, { error: decoded.failure.message, attempts: 0, failedAt: now }, fork)
    }
    const update = decoded.success
    const attempt = worker.attempts + 1
    worker.answers.attempt = attempt
    worker.answers.isRedelivered = attempts > 0
    active++
    worker.startedAt = now
    worker.isTimedOut = false
    worker.isCommitting = false
    const handled = handleAndCommit(worker, update)
    const effect = attempt === 1 ? withMalformedWarning(update, handled) : handled
    const fiber = forkFor(
      worker,
      update
    )(attempt === 1 ? effect : Effect.provideService(effect, Handler.CurrentAttempt, attempt))
    const exit = fiber.pollUnsafe()
    if (exit !== undefined) return onHandled(worker, update, exit)
    worker.fiber = fiber
    if (!worker.isCommitting) running.add(worker)
    fiber.addObserver((exit) => {
      running.delete(worker)
      onHandled(worker, update, exit)
      dispatch()
    })
  }

  // Starts workers in a loop, so that handlers that end synchronously do not grow the stack.
  const dispatch = (): void => {
    if (isDispatching) return
    isDispatching = true
    while (ready.length > 0 && (active < concurrency || isStopping)) {
      const worker = ready.shift()!
      if (isStopping) giveUp(worker)
      else start(worker)
    }
    isDispatching = false
  }

  const enqueue = (worker: Worker<R>): void => {
    ready.push(worker)
    dispatch()
  }

  // All handlers have the same time-out, so the one that started first is the first to time out.
  const interruptTimedOut = Effect.gen(function* () {
    for (;;) {
      const now = clock.currentTimeMillisUnsafe()
      for (const worker of running) {
        if (worker.startedAt + timeout > now) break
        running.delete(worker)
        worker.isTimedOut = true
        worker.fiber?.interruptUnsafe()
      }
      const [first] = running
      // If the clock was set back, the difference can be longer than the time-out.
      yield* Effect.sleep(first === undefined ? timeout : Math.min(timeout, first.startedAt + timeout - now))
    }
  })
  if (Number.isFinite(timeout)) yield* Effect.forkScoped(interruptTimedOut)

  const abandon = Effect.suspend(() =>
    Effect.logWarning(
      `${workers} partitions were not released: a handler cannot be interrupted, or the store of the inbox is ` +
        "unavailable. Their updates are handled again after the restart."
    )
  )

  const beginStop = Effect.sync(() => {
    isStopping = true
    for (const fiber of retrying) fiber.interruptUnsafe()
    dispatch()
  })

  const interruptRunning = Effect.sync(() => {
    isInterrupting = true
    for (const worker of running) worker.fiber?.interruptUnsafe()
  })

  return {
    /** Number of updates in memory. */
    size: (): number => updates,
    start: (partition: Partition): void => {
      const worker: Worker<R> = {
        partition,
        index: 0,
        attempts: 0,
        retryStep: undefined,
        startedAt: 0,
        isCommitting: false,
        isReleasing: false,
        isTimedOut: false,
        chat_id: undefined,
        fork: undefined,
        answers: { attempt: 1, isRedelivered: false, attempts: undefined },
        fiber: undefined
      }
      workers++
      updates += partition.updates.length
      idle.closeUnsafe()
      // The updates may have been deleted from the database by hand.
      if (partition.updates.length === 0) release(worker)
      else enqueue(worker)
    },
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
