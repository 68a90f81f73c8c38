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
import type { Failure, Partition } from "../../InboxStore.ts"
import type * as QueuedUpdate from "../../QueuedUpdate.ts"
import * as RateLimiter from "../../RateLimiter.ts"
import type { ChatId } from "../../Recipient.ts"
import { chatOf, type Update } from "../../Update.ts"
import * as handlerMetrics from "./handlerMetrics.ts"
import { originOf } from "./origin.ts"
import type { Reader } from "./leases.ts"

export interface Options<E, R> {
  readonly handler: Handler.Handler<E, R>
  readonly concurrency: number
  readonly timeout: Duration.Duration
  readonly retry: Schedule.Schedule<unknown, Cause.Cause<unknown>>
  readonly commit: Reader["commit"]
  /** Told when a turn has ended. */
  readonly onEnd: () => void
}

type Fork<R> = ReturnType<typeof Effect.runForkWith<R>>

type Step = (cause: Cause.Cause<unknown>) => Effect.Effect<unknown, Cause.Done<unknown>>

/** A partition whose updates are handled one after the other. */
interface Turn<R> {
  readonly partition: Partition
  index: number
  attempts: number
  step: Step | undefined
  since: number
  /** Whether the handler has succeeded, and the inbox is told: that is neither late nor to be interrupted. */
  isCommitting: boolean
  /** Whether the partition is given back with the update that is handled. */
  isLast: boolean
  isLate: boolean
  /** The chat of the update before, which is mostly that of the next one too, and what runs its handler there. */
  chat_id: ChatId | undefined
  fork: Fork<R>
  /** A handler that runs, and then tells the inbox. */
  fiber: Fiber.Fiber<unknown, unknown> | undefined
}

/** For handlers that were interrupted, and for a store that has not answered yet. */
const grace = "5 seconds"

const about = (update: Update) => ({ update_type: update.update_type, chat: originOf(update) })

/**
 * Handles the updates of many partitions at once. It runs once for every update of a bot, so it is a state machine around
 * fibers rather than a fiber around each step: a handler that does not wait costs one fiber and no timer.
 */
export const make = Effect.fnUntraced(function* <E, R>(options: Options<E, R>) {
  const { concurrency, handler, retry } = options
  // What a handler sends goes before what nobody waits for, and answers count in the chat of their update.
  const context = Context.add(yield* Effect.context<R>(), RateLimiter.CurrentPriority, "reply")
  const clock = yield* Clock.Clock
  const fork: Fork<R> = Effect.runForkWith(context)
  const metrics = handlerMetrics.make(context)
  const timeout = Duration.toMillis(options.timeout)
  const isTraced = Context.get(context, Tracer.Tracer) !== Tracer.nativeTracer
  const tooLate = () =>
    Cause.fail(new Cause.TimeoutError(`the handler took longer than ${Duration.format(options.timeout)}`))

  const waiting: Array<Turn<R>> = []
  /** Those whose handler did not end at once: it may be late, or be interrupted. */
  const running = new Set<Turn<R>>()
  /** Until the next attempt. */
  const pauses = new Set<Fiber.Fiber<unknown, unknown>>()
  const idle = Latch.makeUnsafe(true)
  let held = 0
  let active = 0
  let updates = 0
  let isPumping = false
  let isStopping = false
  let isAborted = false

  const forkIn = (chat_id: ChatId): Fork<R> =>
    Effect.runForkWith(Context.add(context, RateLimiter.CurrentChat, chat_id))

  const forkFor = (turn: Turn<R>, update: Update): Fork<R> => {
    const chat_id = chatOf(update)
    if (chat_id !== turn.chat_id) {
      turn.chat_id = chat_id
      turn.fork = chat_id === undefined ? fork : forkIn(chat_id)
    }
    return turn.fork
  }

  const entryOf = ({ index, partition }: Turn<R>): QueuedUpdate.Entry => partition.updates[index]

  const perform = (effect: Effect.Effect<void>, then: () => void): void => {
    const fiber = fork(effect)
    if (fiber.pollUnsafe() === undefined) fiber.addObserver(then)
    else then()
  }

  const end = (turn: Turn<R>): void => {
    updates -= turn.partition.updates.length
    if (--held === 0) idle.openUnsafe()
    options.onEnd()
  }

  const release = (turn: Turn<R>): void => perform(options.commit(turn.partition.key, undefined, true), () => end(turn))

  const isLast = ({ index, partition }: Turn<R>): boolean => isStopping || index === partition.updates.length - 1

  const completed = (turn: Turn<R>, wasLast: boolean): void => {
    if (wasLast) return end(turn)
    turn.index++
    turn.attempts = 0
    turn.step = undefined
    ready(turn)
  }

  const putAside = (turn: Turn<R>, failure: Failure): void => {
    const last = isLast(turn)
    const update = { id: entryOf(turn).id, failure }
    perform(options.commit(turn.partition.key, update, last), () => completed(turn, last))
  }

  const deadLetter = (turn: Turn<R>, update: Update, cause: Cause.Cause<unknown>): void => {
    const { attempts } = turn
    metrics.died()
    fork(
      Effect.annotateLogs(
        Effect.logError(`An update is a dead letter after ${attempts} attempts: see Inbox.deadLetters.`),
        about(update)
      )
    )
    putAside(turn, { error: Cause.pretty(cause), attempts, failedAt: clock.currentTimeMillisUnsafe() })
  }

  const pause = (turn: Turn<R>, update: Update, cause: Cause.Cause<unknown>): void => {
    const pausing = Effect.gen(function* () {
      yield* Effect.annotateLogs(Effect.logWarning(`A handler failed, attempt ${turn.attempts}.`, cause), about(update))
      if (isStopping) return
      turn.step ??= (yield* Schedule.toStepWithSleep(retry)) as Step
      yield* turn.step(cause)
    })
    const fiber = fork(pausing)
    pauses.add(fiber)
    fiber.addObserver((exit) => {
      pauses.delete(fiber)
      if (isStopping) release(turn)
      else if (Exit.isSuccess(exit)) ready(turn)
      else deadLetter(turn, update, cause)
    })
  }

  const ended = (turn: Turn<R>, update: Update, exit: Exit.Exit<void, unknown>): void => {
    active--
    turn.fiber = undefined
    if (Exit.isSuccess(exit)) {
      completed(turn, turn.isLast)
    } else if (isAborted) {
      release(turn)
    } else {
      turn.attempts++
      metrics.failed()
      pause(turn, update, turn.isLate ? tooLate() : exit.cause)
    }
  }

  const handling = (update: Update): Effect.Effect<boolean, E, R> => {
    const handled = Handler.run(handler, update)
    return isTraced ? Effect.withSpan(handled, "Updates.handle", { attributes: about(update) }) : handled
  }

  // A handler keeps its place until its update is completed, so that a process that is killed has at most `concurrency`
  // updates whose handler succeeded and that come again.
  const handlingOnce = (turn: Turn<R>, update: Update): Effect.Effect<void, E, R> =>
    Effect.flatMap(handling(update), (isHandled) => {
      running.delete(turn)
      turn.isCommitting = true
      if (!isHandled) metrics.unhandled()
      metrics.handled(clock.currentTimeMillisUnsafe() - turn.since)
      turn.isLast = isLast(turn)
      return options.commit(turn.partition.key, { id: entryOf(turn).id }, turn.isLast)
    })

  const start = (turn: Turn<R>): void => {
    const { decoded: read } = entryOf(turn).update
    const now = clock.currentTimeMillisUnsafe()
    if (Result.isFailure(read)) return putAside(turn, { error: read.failure.message, attempts: 0, failedAt: now })
    const update = read.success
    active++
    turn.since = now
    turn.isLate = false
    turn.isCommitting = false
    const fiber = forkFor(turn, update)(handlingOnce(turn, update))
    const exit = fiber.pollUnsafe()
    if (exit !== undefined) return ended(turn, update, exit)
    turn.fiber = fiber
    if (!turn.isCommitting) running.add(turn)
    fiber.addObserver((exit) => {
      running.delete(turn)
      ended(turn, update, exit)
      pump()
    })
  }

  // Handlers that end at once call each other through here, so that the stack does not grow.
  const pump = (): void => {
    if (isPumping) return
    isPumping = true
    while (waiting.length > 0 && (active < concurrency || isStopping)) {
      const turn = waiting.shift()!
      if (isStopping) release(turn)
      else start(turn)
    }
    isPumping = false
  }

  const ready = (turn: Turn<R>): void => {
    waiting.push(turn)
    pump()
  }

  /** All handlers have the same time, so the first one that began is the first to be late. */
  const watch = Effect.gen(function* () {
    for (;;) {
      const now = clock.currentTimeMillisUnsafe()
      for (const turn of running) {
        if (turn.since + timeout > now) break
        running.delete(turn)
        turn.isLate = true
        turn.fiber?.interruptUnsafe()
      }
      const [first] = running
      // No longer than a time-out, also where the clock was set back.
      yield* Effect.sleep(first === undefined ? timeout : Math.min(timeout, first.since + timeout - now))
    }
  })
  if (Number.isFinite(timeout)) yield* Effect.forkScoped(watch)

  const leave = Effect.suspend(() =>
    Effect.logWarning(
      `${held} chats are left as they are: a handler cannot be interrupted, or the inbox cannot be reached. ` +
        "What they were at comes again."
    )
  )

  return {
    /** How many updates are held. */
    size: (): number => updates,
    begin: (partition: Partition): void => {
      const turn: Turn<R> = {
        partition,
        index: 0,
        attempts: 0,
        step: undefined,
        since: 0,
        isCommitting: false,
        isLast: false,
        isLate: false,
        chat_id: undefined,
        fork,
        fiber: undefined
      }
      held++
      updates += partition.updates.length
      idle.closeUnsafe()
      // Somebody may have taken its updates out of the database.
      if (partition.updates.length === 0) release(turn)
      else ready(turn)
    },
    /**
     * Begins nothing more, waits for the running handlers until the deadline, and then interrupts them. It does not wait
     * for ever: not for a handler that cannot be interrupted, nor for a store that is away.
     */
    stop: (deadline: Duration.Input): Effect.Effect<void> =>
      Effect.suspend(() => {
        isStopping = true
        for (const pause of pauses) pause.interruptUnsafe()
        pump()
        return Effect.timeoutOption(idle.await, deadline)
      }).pipe(
        Effect.andThen(
          Effect.suspend(() => {
            isAborted = true
            for (const turn of running) turn.fiber?.interruptUnsafe()
            return Effect.timeoutOrElse(idle.await, { duration: grace, orElse: () => leave })
          })
        )
      )
  }
})
