import type * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type * as Latch from "effect/Latch"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Backoff from "../../../base/Backoff.ts"
import { randomId } from "../../../base/internal/randomId.ts"
import { watchFiber } from "../../../base/internal/watchFiber.ts"
import type { OutageError } from "../../../client/Outage.ts"
import type { Delivery } from "../../Deliveries.ts"
import type { Inbox } from "../../Inbox.ts"
import { hooks } from "../hooks.ts"
import type { DeadLetter } from "../../QueuedUpdate.ts"
import * as deadLetters from "../consumer/deadLetters.ts"
import type { Common } from "../consumer/handling.ts"
import { monoNow } from "../consumer/lease.ts"
import { type HandlerMetrics, makeHandlerMetrics } from "../consumer/metrics.ts"
import { isTemporary } from "../consumer/persist.ts"
import * as journals from "../journal/journal.ts"
import { reporting } from "../log/reporting.ts"
import { type Queued, sharedHandling, type Source } from "./delivery.ts"
import { Emitter } from "./emitter.ts"
import { Interpreter } from "./interpreter.ts"
import { Kernel } from "./kernel.ts"
import { Leased } from "./leased.ts"
import * as monitoring from "./monitoring.ts"
import { type Run, Turns } from "./turns.ts"

/** How many chats a warning names. */
const maxNamed = 20

export interface Options<R> {
  readonly perChat: number
  readonly maxInMemory: number
  readonly maxUnsettled: number
  readonly maxCrashes: number
  readonly unsettledAfter: Duration.Duration
  readonly onDeadLetter: ((deadLetter: DeadLetter) => Effect.Effect<unknown, unknown, R>) | undefined
  readonly onDeadLetterTimeout: Duration.Duration
  /** The services that are provided to the effects that handle the updates. */
  readonly services: Context.Context<never> | undefined
  readonly onWaiting?: (() => void) | undefined
}

/** Runs a source, and emits the updates of an inbox as deliveries. */
export const deliveries = <E, R>(
  inbox: Inbox["Service"],
  source: Effect.Effect<void, E>,
  options: Options<R>
): Stream.Stream<Delivery, E | OutageError, R> => Stream.unwrap(open(inbox, source, options))

/** Returns a function that calls another function once at the end of the turn of the event loop, for all that end in the turn. */
const oncePerTurn = (f: () => void): (() => void) => {
  let isDue = false
  const run = (): void => {
    isDue = false
    f()
  }
  return () => {
    if (isDue) return
    isDue = true
    void Promise.resolve().then(run)
  }
}

const warnOfWaiting = (keys: ReadonlyArray<string>): Effect.Effect<void> => {
  const others = keys.length > maxNamed ? ` and ${keys.length - maxNamed} others` : ""
  return Effect.logWarning(
    `The updates of these chats stay in the inbox, because they need a newer program: ` +
      `${keys.slice(0, maxNamed).join(", ")}${others}.`
  )
}

const kernelOptions = <R>(inbox: Inbox["Service"], clock: Clock.Clock, name: string, options: Options<R>) => {
  const { maxCrashes, maxInMemory, maxUnsettled, perChat } = options
  const { isShared, listen } = inbox.store
  const { cap, first } = Backoff.pauses.newerData
  return {
    name,
    perChat,
    maxInMemory,
    maxUnsettled,
    crashingAfter: Math.min(2, maxCrashes - 1),
    isShared,
    isWoken: listen !== undefined,
    // Without other processes, no lease has to end before this process does.
    leaseMillis: isShared ? Duration.toMillis(inbox[hooks].leaseDuration) : Infinity,
    handBack: { first: Duration.toMillis(first), cap: Duration.toMillis(cap) },
    startedAt: monoNow(clock)
  }
}

/** Lets the store wake this process. */
const listening = ({ store, [hooks]: { outage } }: Inbox["Service"], wakeUp: Latch.Latch, kernel: Kernel<Queued>) => {
  const onWake = (): void => {
    // Another process may have set a timer.
    kernel.claiming.polling.timersChanged()
    wakeUp.openUnsafe()
  }
  const registered = Effect.tap(
    store.listen!(onWake),
    Effect.sync(() => (kernel.claiming.polling.isListening = true))
  )
  return Effect.ignore(outage.retryOrDie(registered, isTemporary))
}

/** The members that all deliveries of a consumer share. */
const makeSource = <E>(of: {
  readonly emitter: Emitter<E>
  readonly fail: (cause: Cause.Cause<never>) => void
  readonly inbox: Inbox["Service"]
  readonly kernel: Kernel<Queued>
  readonly leased: Leased
  readonly metrics: HandlerMetrics
  readonly openJournal: Effect.Success<ReturnType<typeof journals.make>>
  readonly services: Context.Context<never> | undefined
  readonly stop: Effect.Effect<void>
  readonly turns: Turns
}): Source => {
  const { emitter, inbox, kernel, leased, openJournal, services, turns } = of
  const common: Common = { base: undefined, context: undefined }
  return {
    ...of,
    store: inbox.store,
    settle: (settled, restore) => emitter.settle(settled as ReadonlyArray<Queued>, restore),
    openJournal: (queued) =>
      openJournal(queued.entry.update, queued.entry.journal, (rows) => leased.record(queued, rows)),
    handlingOf: (held, update) =>
      sharedHandling(held, update, (chat_id) => {
        const { partition } = held
        const lease = inbox.store.isShared
          ? { confirm: leased.confirm(partition), isHeld: () => leased.isValid(partition) }
          : undefined
        return { chat_id, services, lease, common, base: undefined, context: undefined }
      }),
    isValid: ({ partition }) => leased.isValid(partition),
    watched: (held) => kernel.watched(held),
    unwatched: (held) => {
      kernel.unwatched(held)
      if (held.partition.isLost) turns.turn()
    }
  }
}

const open = Effect.fnUntraced(function* <E, R>(
  inbox: Inbox["Service"],
  updates: Effect.Effect<void, E>,
  options: Options<R>
) {
  const { services } = options
  yield* inbox[hooks].open
  const program = yield* Effect.context<R>()
  const context = services === undefined ? program : Context.merge(program, services)
  const clock = yield* Clock.Clock
  const runFork = Effect.runForkWith(context)
  const run: Run = (effect) => watchFiber(runFork(effect), fail)
  const metrics = makeHandlerMetrics(context)
  const { maxCrashes, onDeadLetter, onDeadLetterTimeout: timeout } = options
  const dead = deadLetters.make({ clock, context, metrics, maxCrashes, onDeadLetter, timeout })
  const openJournal = yield* journals.make(inbox[hooks])
  const wakeUp = yield* inbox[hooks].wakeUp
  const fiber = yield* Effect.forkScoped(updates)

  const turns: Turns = new Turns({
    clock,
    run,
    at: (wall, mono) => kernel.at(wall, mono),
    advance: (wall, mono) => {
      if (timerChanges !== (timerChanges = inbox[hooks].timerChanges())) kernel.claiming.polling.timersChanged()
      kernel.advance(wall, mono)
      return kernel.wakeAt
    },
    onEnd: () => {
      emitter.wake()
      leased.onTurn()
      if (kernel.claiming.isWaiting) turns.wait(wakeUp, () => kernel.claiming.woken())
      if (kernel.held.phase === "closed") onClosed()
    },
    onDefect: (cause) => fail(cause)
  })
  const emitter: Emitter<E | OutageError> = new Emitter({
    clock,
    dead,
    kernel: () => kernel,
    metrics,
    run,
    source: (): Source => source,
    turns
  })
  const interpreter: Interpreter = new Interpreter({
    inbox,
    kernel: () => kernel,
    turns,
    run,
    wakeUp,
    onClaimed: () => monitor.onClaimed(),
    onCommitDied: (settlements, defects) => {
      for (const settlement of settlements) settlement.end(Exit.failCause(defects))
    }
  })
  const kernel: Kernel<Queued> = new Kernel<Queued>(kernelOptions(inbox, clock, yield* randomId, options), {
    make: (held) => emitter.make(held),
    knows: (known, delivery, stored) => emitter.knows(known, delivery, stored),
    start: (held) => emitter.start(held),
    interrupt: (held) => emitter.interrupt(held),
    settled: (held, end) => emitter.settled(held, end),
    refused: (held, reason) => emitter.refused(held, reason),
    resolve: (settlement, error) => emitter.resolve(settlement, error),
    claim: (request) => interpreter.claim(request),
    renew: (owners) => interpreter.renew(owners),
    commit: (write) => interpreter.commit(write),
    release: (leases) => interpreter.release(leases),
    ask: (isPoll) => interpreter.ask(isPoll),
    count: () => interpreter.count(),
    announce: oncePerTurn(inbox[hooks].wakeAll),
    end: (waiting) =>
      turns.do(() => {
        if (waiting.length > 0) {
          options.onWaiting?.()
          run(warnOfWaiting(waiting))
        }
        emitter.end(fiber.pollUnsafe() ?? Exit.void)
      }),
    releaseAll: (owners) => interpreter.releaseAll(owners)
  })
  const leased = new Leased(kernel, turns, clock, inbox.store)
  const onReported = (): void => turns.turn()
  const { unsettledAfter } = options
  const monitor = monitoring.make({ clock, inbox, kernel, metrics, onReported, unsettledAfter })

  let timerChanges = inbox[hooks].timerChanges()
  let onClosed: () => void = () => undefined

  /** Ends the stream of deliveries with a defect. Handlers are interrupted, because their leases may not be renewed any more. */
  const fail = (cause: Cause.Cause<never>): void => {
    const failed = Effect.sync(() => {
      emitter.end(Exit.failCause(cause))
      if (!turns.isBroken) turns.event(() => kernel.closing.fail())
      emitter.wake()
    })
    // The writes of this turn are carried out.
    runFork(Effect.andThen(Effect.yieldNow, failed))
  }

  const stop = Effect.suspend(() => {
    if (kernel.held.isStopping) return Effect.void
    emitter.interruptBackground()
    turns.turn()
    turns.event(() => kernel.closing.stop())
    return Effect.andThen(inbox[hooks].close, Fiber.interrupt(fiber))
  })

  const { isShared, listen } = inbox.store
  const source = makeSource({ emitter, fail, inbox, kernel, leased, metrics, openJournal, services, stop, turns })

  const closed = Effect.callback<void>((resume) => {
    if (turns.isBroken) return resume(Effect.void)
    onClosed = () => resume(Effect.void)
    emitter.interruptBackground()
    turns.event(() => kernel.closing.close())
  })
  const inBackground = (effect: Effect.Effect<unknown, never, Scope.Scope>) =>
    Effect.map(Effect.forkScoped(effect, { startImmediately: true }), (fiber) => watchFiber(fiber, fail))
  if (isShared && listen !== undefined) yield* inBackground(listening(inbox, wakeUp, kernel))
  yield* inBackground(inbox[hooks].died)
  yield* inBackground(reporting(inbox[hooks].log, context))
  yield* inBackground(monitor.run)
  yield* inBackground(interpreter.claiming)
  // Claims that are under way and renewals go on until everything is given back.
  const unhold = inbox[hooks].log.process.holds(() => kernel.held.byKey.keys())
  yield* Effect.addFinalizer(() =>
    Effect.andThen(
      Effect.andThen(inbox[hooks].close, closed),
      Effect.sync(() => {
        unhold()
        turns.end()
      })
    )
  )
  fiber.addObserver((exit) => turns.event(() => kernel.claiming.sourceEnded(Exit.isFailure(exit))))
  return Stream.fromPull(Effect.succeed(emitter.pull))
  // An interruption cannot come between the first claim and the finalizer that releases the claimed partitions.
}, Effect.uninterruptible)
