import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import { identity } from "effect/Function"
import type { ClaimedUpdate } from "../../InboxStore.ts"
import type { DeadLetter } from "../../QueuedUpdate.ts"
import type { StoreError } from "../../../base/StoreError.ts"
import { type Update, withMalformedWarning } from "../../../model/Update.ts"
import * as journals from "../journal/journal.ts"
import { annotationsOf } from "./annotations.ts"
import * as deadLetters from "./deadLetters.ts"
import type { Common } from "./handling.ts"
import { makeHandBacks } from "./handBacks.ts"
import { makeDeliveryQueue } from "./deliveryQueue.ts"
import { ClaimedPartition, makePartitionSet, type OpenChange, type Queued, type Source } from "./partitions.ts"
import { type Claimed, monoNow } from "./lease.ts"
import type { Leases } from "./leases.ts"
import { persist } from "./persist.ts"
import { makeHandlerMetrics } from "./metrics.ts"
import { makeSelection } from "./selection.ts"
import type { Restore, UpdateDelivery } from "./settlement.ts"
import { makeWaiter } from "./waiter.ts"
import { defectsOf, watchFiber } from "../../../base/internal/watchFiber.ts"
import {
  type Conflicts,
  makePrepare,
  makeAcknowledgements,
  mark,
  openChange,
  withoutConflicts,
  type Write
} from "./write.ts"

export interface Options<R> {
  readonly perChat: number
  readonly maxUnsettled: number
  readonly maxCrashes: number
  readonly onDeadLetter: ((deadLetter: DeadLetter) => Effect.Effect<unknown, unknown, R>) | undefined
  readonly onDeadLetterTimeout: Duration.Duration
  readonly services: Context.Context<never> | undefined
  /** Stops the source of the updates. */
  readonly stopSource: Effect.Effect<void>
  /** Called when partitions may be claimed again. */
  readonly onEnd: () => void
  /** Called after updates were emitted, and when others may be. */
  readonly onDispatched: () => void
  /** Called with the defects of fibers in the background. */
  readonly onDefect: (cause: Cause.Cause<never>) => void
}

/**
 * The time for which other processes may claim a partition that this process gave back, before this process claims
 * again, with and without a notification. Without a notification, other processes claim every 5 seconds.
 */
const headStart = { notified: "1 second", polling: "6 seconds" } as const

/** Maximum number of deliveries that wait until they are pulled, so that few of them count as begun. */
const maxBuffered = 64

/** A stream that is closed waits for the handlers of its updates for at most this time. */
const closeTimeout = "10 seconds"

/** For this time after the start, updates whose process died again and again are not handled. */
const calmMillis = 10_000

const none: ReadonlyArray<never> = []

/**
 * Emits the updates of claimed partitions as deliveries, and settles them. An update is marked in the store as begun
 * before it is emitted. The mark is part of the claim, or of the commit that settles the update before, so the mark
 * costs no write.
 */
export const make = Effect.fnUntraced(function* <E, R>(leases: Leases, options: Options<R>) {
  const { maxCrashes, maxUnsettled, onDefect, perChat, services } = options
  const program = yield* Effect.context<R>()
  const context = services === undefined ? program : Context.merge(program, services)
  const clock = yield* Clock.Clock
  const run = Effect.runForkWith(context)
  const fork = <A, E>(effect: Effect.Effect<A, E, R>) => watchFiber(run(effect), onDefect)
  const metrics = makeHandlerMetrics(context)
  const { onDeadLetter, onDeadLetterTimeout: timeout } = options
  const dead = deadLetters.make({ clock, context, metrics, maxCrashes, onDeadLetter, timeout })
  const prepare = makePrepare(clock, dead)
  const openJournal = yield* journals.make(leases.inbox.outage)
  const selection = makeSelection({
    now: () => monoNow(clock),
    calmAt: monoNow(clock) + calmMillis,
    selectIn: (time) => dispatchIn(time)
  })
  const partitions = makePartitionSet()
  /** Lost partitions whose handlers have not ended yet, by key. */
  const interrupted = new Map<string, ClaimedPartition>()
  const allCommitted = makeWaiter(() => partitions.all().every(({ commits }) => commits === 0))
  const handBacks = makeHandBacks(clock)
  /** Fibers of updates that wait until they are emitted again, or become dead letters without being emitted. */
  const background = new Set<Fiber.Fiber<unknown, unknown>>()
  const bufferSize = perChat === 1 ? Math.min(maxBuffered, maxUnsettled) : maxUnsettled
  const deliveries = makeDeliveryQueue<E>(clock, () => dispatch())
  /** Number of updates that are emitted and not settled, including updates that are being settled. */
  let unsettled = 0
  /** The number of unsettled updates that were reported. Crashing updates do not wait for these updates. */
  let reported = 0
  const settledAll = makeWaiter(() => unsettled === reported)
  let isStopping = false
  let hasCapacity = false

  const inBackground = (effect: Effect.Effect<unknown, unknown>, then: () => void): void => {
    const fiber = fork(effect)
    background.add(fiber)
    fiber.addObserver(() => {
      background.delete(fiber)
      then()
    })
  }

  /** When `dispatch` is called at the latest. */
  let dispatchAt = Infinity

  const dispatchIn = (time: number): void => {
    // A sleep of less than a millisecond ends at once.
    const millis = Math.max(1, Math.ceil(time))
    const at = monoNow(clock) + millis
    if (at >= dispatchAt) return
    dispatchAt = at
    inBackground(Effect.sleep(millis), () => {
      if (at === dispatchAt) dispatchAt = Infinity
      dispatch()
    })
  }

  const available = (): number => Math.min(maxUnsettled - unsettled, bufferSize - deliveries.size())

  const endPartition = (partition: ClaimedPartition): void => {
    if (!partitions.remove(partition)) return
    const { listen } = leases.inbox.store
    if (partition.isLeft)
      inBackground(Effect.sleep(headStart[listen === undefined ? "polling" : "notified"]), options.onEnd)
    else hasCapacity = true
  }

  /** Lets others be claimed, once for all partitions that ended in the same commit. */
  const announceCapacity = (): void => {
    if (!hasCapacity) return
    hasCapacity = false
    options.onEnd()
  }

  const close = (queued: Queued): void => {
    queued.partition.settled(queued)
    unsettled--
    if (queued.isReported) reported--
    queued.isReported = false
    settledAll.wake()
  }

  const warn = ({ value }: Queued): void => {
    const warning = withMalformedWarning(value, Effect.void)
    if (warning !== Effect.void) fork(Effect.annotateLogs(warning, annotationsOf(value)))
  }

  const emit = (queued: Queued): void => {
    if (queued.isLost) return
    queued.isMarked = true
    if (isStopping || queued.partition.isLeft) {
      close(queued)
      queued.partition.open--
      endIfFinished(queued.partition)
    } else if (dead.isUnusable(queued)) {
      const cause = Cause.die("The update is not handled.")
      inBackground(persist(queued.reject(cause)), () => undefined)
    } else {
      if (queued.attempt === 1) warn(queued)
      deliveries.add(queued)
    }
  }

  const emitAll = (started: ReadonlyArray<Queued>): void => {
    for (const queued of started) emit(queued)
    if (deliveries.size() > 0) deliveries.wake()
  }

  const requeueAll = (started: ReadonlyArray<Queued>): void => {
    for (const queued of started) {
      if (queued.isLost) continue
      close(queued)
      if (isStopping || queued.partition.isLeft) queued.partition.open--
      else queued.partition.requeue(queued)
      selection.add(queued.partition)
    }
  }

  /** Takes updates to emit beside `others`, and marks them as begun. */
  const take = (
    changes: Array<OpenChange>,
    count: number,
    others: number,
    settled: ReadonlyArray<Queued>
  ): ReadonlyArray<Queued> => {
    const started = selection.take(count, others, settled)
    unsettled += started.length
    if (leases.isShared) mark(changes, started, selection.takeJoined())
    return started
  }

  /** Emits the updates that may be emitted. */
  const emitReady = (): void => {
    if (isStopping) return
    const changes: Array<OpenChange> = []
    const started = take(changes, available(), unsettled - reported, none)
    if (started.length === 0) return
    if (changes.length === 0) return emitAll(started)
    fork(commit({ changes, settled: none, started, wasStopping: isStopping }))
  }

  const dispatch = (): void => {
    emitReady()
    options.onDispatched()
  }

  const onApplied = ({ changes, settled, started, wasStopping }: Write, conflicts: Conflicts): void => {
    for (const change of changes) {
      change.partition.commits--
      if (conflicts.has(change)) change.partition.isReleasing = change.release = false
    }
    const handled: Array<Update> = []
    for (const queued of settled) {
      if (onSettled(queued, wasStopping, conflicts)) handled.push(queued.value)
    }
    metrics.handled(handled)
    if (conflicts.size === 0) emitAll(started)
    else {
      emitAll(started.filter(({ change }) => !conflicts.has(change)))
      requeueAll(started.filter(({ change }) => conflicts.has(change)))
    }
    for (const { partition, release } of changes) {
      if (release) endPartition(partition)
      else {
        endIfFinished(partition)
        selection.add(partition)
      }
    }
    announceCapacity()
    dispatch()
    allCommitted.wake()
  }

  const onRefused = ({ changes, settled, started, wasStopping }: Write): void => {
    for (const { partition, release } of changes) {
      partition.commits--
      if (release) partition.isReleasing = false
    }
    for (const queued of settled) onNotSettled(queued, wasStopping)
    requeueAll(started)
    for (const { partition, release } of changes) {
      // The lease of a partition that cannot be released expires.
      if (release && settled.length === 0) endPartition(partition)
      else {
        endIfFinished(partition)
        selection.add(partition)
      }
    }
    announceCapacity()
    dispatch()
    allCommitted.wake()
  }

  /** Commits changes. Goes on by itself if the caller is interrupted. */
  const commit = (write: Write, restore: Restore = identity): Effect.Effect<void, StoreError> => {
    for (const { partition } of write.changes) {
      partition.commits++
      partition.change = undefined
    }
    const applied = restore(leases.commit(write.changes))
    // `onExit` would run an effect after each commit.
    const committed = Effect.onExitPrimitive(applied, (exit) => {
      const defects = defectsOf(exit)
      if (Exit.isSuccess(exit)) onApplied(write, exit.value)
      // Rejected writes are tried again, so a defect would be repeated for ever.
      else if (defects !== undefined) onDefect(defects)
      else if (!Cause.hasInterruptsOnly(exit.cause)) onRefused(write)
      else {
        const again = Effect.match(applied, {
          onSuccess: (conflicts) => onApplied(write, conflicts),
          onFailure: () => onRefused(write)
        })
        fork(again)
      }
      return undefined
    })
    return committed as Effect.Effect<unknown, StoreError> as Effect.Effect<void, StoreError>
  }

  /**
   * Releases a partition whose updates are settled. The commit that settles the last update usually releases the
   * partition.
   */
  const endIfFinished = (partition: ClaimedPartition): void => {
    if (partition.lease.isLost || partition.isReleasing || partition.commits > 0 || !partition.isFinished(isStopping))
      return
    if (partition.index === -1) return
    partition.isReleasing = true
    const change = openChange(partition)
    change.release = true
    fork(Effect.ignore(commit({ changes: [change], settled: none, started: none, wasStopping: isStopping })))
  }

  const emitAgain = (queued: Queued): void => {
    const { partition } = queued
    if (partition.lease.isLost) return
    if (isStopping || partition.isLeft) {
      partition.open--
      return endIfFinished(partition)
    }
    partition.requeue(queued)
    selection.add(partition)
    dispatch()
  }

  const retryAfter = (queued: Queued, millis: number): void => {
    if (millis <= 0) return emitAgain(queued)
    // Until then, another update may be emitted.
    hasCapacity = true
    queued.partition.delay(queued)
    inBackground(Effect.sleep(millis), () => emitAgain(queued))
  }

  /** Leaves the partition of an update to a process with a newer program. The attempt does not count. */
  const handBack = (queued: Queued): void => {
    const { partition } = queued
    if (queued.isLost) return
    close(queued)
    queued.end()
    partition.delay(queued)
    const leave = (): void => {
      if (partition.lease.isLost) return
      partition.leave()
      endIfFinished(partition)
    }
    const wait = handBacks.waitOf(queued.entry.id)
    if (wait === 0 || isStopping) leave()
    else {
      // Until then, others may be claimed.
      hasCapacity = true
      partition.newer++
      inBackground(Effect.sleep(wait), leave)
    }
  }

  const handBackAll = (settled: ReadonlyArray<Queued>, newer: string): Effect.Effect<void> =>
    Effect.map(handBacks.say(newer), () => {
      for (const queued of settled) handBack(queued)
      announceCapacity()
      dispatch()
    })

  /** A value that the handler has read was changed meanwhile, so the update is handled again. */
  const onConflict = (queued: Queued): void => {
    metrics.conflict(queued.value)
    queued.beginAgain()
    queued.partition.open++
    emitAgain(queued)
  }

  /** Returns whether the update is acknowledged. */
  const onSettled = (queued: Queued, wasStopping: boolean, conflicts: Conflicts): boolean => {
    const { change, outcome } = queued
    if (queued.isLost || outcome === undefined) return false
    close(queued)
    if (conflicts.has(change)) onConflict(queued)
    else if (outcome._tag !== "retry") {
      queued.end()
      if (outcome._tag === "reject") fork(dead.announce(queued, outcome.cause))
      return outcome._tag === "ack"
    } else {
      queued.beginNext()
      if (!wasStopping) retryAfter(queued, outcome.after)
    }
    return false
  }

  const onNotSettled = (queued: Queued, wasStopping: boolean): void => {
    if (queued.isLost) return
    if (queued.outcome?._tag !== "retry" || wasStopping) queued.partition.open++
    queued.reopen()
  }

  /** Settles updates, and begins as many others, in one write. */
  const write = (settled: ReadonlyArray<Queued>, restore: Restore = identity): Effect.Effect<void, StoreError> => {
    const wasStopping = isStopping
    const changes: Array<OpenChange> = []
    // Each partition has at most one of the updates, so the next update of the partition can share the change.
    const isOnly = settled.length === 1 || perChat === 1
    for (const queued of settled) {
      if (queued.isLost) continue
      prepare(changes, queued, isOnly)
      if (queued.outcome?._tag !== "retry" || isStopping) queued.partition.open--
    }
    if (changes.length === 0) return Effect.void
    const ending = isOnly ? changes : withoutConflicts(changes)
    for (const change of ending) {
      const { partition } = change
      if (partition.commits === 0 && partition.isFinished(isStopping)) partition.isReleasing = change.release = true
    }
    let started: ReadonlyArray<Queued> = none
    if (leases.isShared && !isStopping) {
      for (const { partition } of ending) selection.add(partition)
      const count = Math.min(settled.length, bufferSize - deliveries.size())
      started = take(changes, count, unsettled - settled.length - reported, settled)
    }
    return commit({ changes, settled, started, wasStopping }, restore)
  }

  /** Emits updates again in the same attempt. Nothing is written, because the store may fail. */
  const handleAgain = (updates: ReadonlyArray<Queued>, after: number): void => {
    for (const queued of updates) {
      if (queued.isLost) continue
      close(queued)
      queued.beginAgain()
      retryAfter(queued, isStopping ? 0 : after)
    }
    announceCapacity()
    dispatch()
  }

  const acknowledgements = makeAcknowledgements(write, fork)

  const settle = (updates: ReadonlyArray<UpdateDelivery>, restore: Restore): Effect.Effect<void, StoreError> => {
    // Every update of this origin was emitted by this consumer.
    const settled = updates as ReadonlyArray<Queued>
    const [first] = settled
    // In memory, a write costs less than to wait for others.
    if (leases.isShared && settled.length === 1 && first?.outcome?._tag === "ack")
      return acknowledgements.acknowledge(first, restore)
    if (settled.every(({ outcome }) => outcome?._tag === "ack")) return write(settled, restore)
    const onInterrupt = Effect.sync(() => {
      for (const queued of settled) queued.outcome = undefined
    })
    if (first?.outcome?._tag === "retry" && first.outcome.isSameAttempt === true) {
      const { after } = first.outcome
      return Effect.sync(() => handleAgain(settled, after))
    }
    // An update that is not acknowledged keeps its journal, which can be written as long as the update is handled.
    const journaled = Effect.forEach(settled, ({ flushJournal }) => flushJournal, { discard: true })
    const prepared = Effect.andThen(journaled, dead.prepare(settled))
    const outcome = first?.outcome
    return Effect.andThen(
      Effect.onInterrupt(restore(prepared), () => onInterrupt),
      outcome?._tag === "handBack" ? handBackAll(settled, outcome.newer) : Effect.suspend(() => write(settled, restore))
    )
  }

  const lose = (partition: ClaimedPartition): void => {
    const { emitted } = partition
    for (const { isReported } of emitted) {
      unsettled--
      if (isReported) reported--
    }
    settledAll.wake()
    deliveries.remove(partition)
    endPartition(partition)
    if (partition.isHandled) interrupted.set(partition.lease.key, partition)
    for (const queued of emitted) queued.onLost()
    announceCapacity()
    dispatch()
  }

  const abandoned = (partition: ClaimedPartition): void => {
    const { key } = partition.lease
    if (interrupted.get(key) !== partition) return
    interrupted.delete(key)
    for (const other of partitions.all()) {
      if (!other.isBlocked || other.lease.key !== key) continue
      other.isBlocked = false
      selection.add(other)
    }
    dispatch()
  }

  const stop: Effect.Effect<void> = Effect.suspend(() => {
    if (isStopping) return Effect.void
    acknowledgements.flush()
    isStopping = true
    selection.clear()
    for (const queued of deliveries.clear()) {
      close(queued)
      queued.partition.open--
    }
    for (const fiber of background) fiber.interruptUnsafe()
    for (const partition of partitions.all().slice()) {
      partition.dropRetried()
      endIfFinished(partition)
    }
    return options.stopSource
  })

  const giveBackAll = Effect.suspend(() => {
    acknowledgements.flush()
    isStopping = true
    for (const fiber of background) fiber.interruptUnsafe()
    for (const { emitted } of partitions.all()) for (const queued of emitted) queued.onLost()
    const idle = partitions.all().filter(({ commits }) => commits === 0)
    return leases.finish(
      idle.map(({ emitted, lease }) => {
        const failed = emitted
          .filter(({ emittedAt, isRecorded }) => emittedAt >= 0 && !isRecorded)
          .map(({ entry }) => entry.id)
        return {
          lease,
          owner: lease.owner,
          partitionKey: lease.key,
          completed: none,
          failed,
          begun: none,
          release: true
        }
      }),
      allCommitted.until
    )
  })

  const common: Common = { base: undefined, context: undefined }
  const crashingAfter = Math.min(2, maxCrashes - 1)
  const isCrashing = ({ crashes }: ClaimedUpdate): boolean => crashes >= crashingAfter
  const source: Source = {
    isCrashing,
    settle,
    lose,
    abandoned,
    stop,
    fail: onDefect,
    metrics,
    leases,
    makeHandling: (lease, chat_id) => ({
      chat_id,
      services,
      lease: leases.isShared ? { confirm: leases.confirm(lease), isHeld: () => leases.isValid(lease) } : undefined,
      common,
      base: undefined,
      context: undefined
    }),
    openJournal: (queued) => {
      const { entry, partition } = queued
      return openJournal(entry.update, entry.journal, (entries) =>
        leases.record(partition.lease, entry.id, entries, () => queued.outcome)
      )
    }
  }

  return {
    pull: deliveries.pull,
    stop,
    metrics,
    /** Number of updates in memory. */
    size: partitions.updates,
    /** Whether nothing in memory is handled, or waits for anything but a newer program. */
    isIdle: (): boolean => partitions.updates() === 0 || partitions.all().every(({ needsNewer }) => needsNewer),
    /** The keys of the partitions that wait for a newer program. */
    waiting: (): ReadonlyArray<string> =>
      partitions.all().flatMap(({ lease, needsNewer }) => (needsNewer ? [lease.key] : [])),
    isStopping: (): boolean => isStopping,
    /** Number of partitions whose next update would be emitted at once. */
    available: (): number => available() - selection.size(),
    isCrashing,
    hasCrashing: selection.hasCrashing,
    /** Adds a claimed partition. The store has marked its first updates as begun. */
    add: (claimed: Claimed, begun: number): void => {
      const partition = new ClaimedPartition(source, claimed, perChat, begun)
      claimed.lease.holder = partition
      partition.isBlocked = interrupted.has(claimed.lease.key)
      partitions.add(partition)
      // The updates may have been deleted from the database by hand.
      if (partition.updates.length === 0 || isStopping) endIfFinished(partition)
      else selection.add(partition)
    },
    /** Releases claimed partitions. Their updates do not count as begun any more. */
    release: (claimed: ReadonlyArray<Claimed>): Effect.Effect<void> =>
      Effect.suspend(() => {
        const changes = claimed.map(({ lease }) => {
          const partition = new ClaimedPartition(source, { lease, updates: [] }, perChat, 0)
          partitions.add(partition)
          partition.isReleasing = true
          return Object.assign(openChange(partition), { release: true })
        })
        return Effect.ignore(commit({ changes, settled: none, started: none, wasStopping: isStopping }))
      }),
    dispatch,
    /** Ends the stream of deliveries. */
    end: deliveries.end,
    /** Ends the stream of deliveries with a defect. Handlers are interrupted, because their leases may not be renewed any more. */
    fail: (cause: Cause.Cause<never>): void => {
      isStopping = true
      selection.clear()
      for (const { lease } of partitions.all().slice()) leases.lose(lease)
      deliveries.end(Exit.failCause(cause))
    },
    /** Returns the updates that are emitted and not settled, and were not reported. */
    report: (before: number): ReadonlyArray<Queued> => {
      const late = partitions
        .all()
        .flatMap(({ emitted }) =>
          emitted.filter(({ emittedAt, isReported }) => emittedAt >= 0 && emittedAt <= before && !isReported)
        )
      for (const queued of late) queued.isReported = true
      reported += late.length
      return late
    },
    /**
     * Releases all partitions. Emitted updates count as attempted. If the stream is closed while its updates are
     * handled, `finish` waits until they are settled, and then interrupts their handlers as if their partitions were
     * lost.
     */
    finish: Effect.suspend(() => {
      const isHandled = partitions.all().some(({ emitted }) => emitted.some((queued) => queued.isHandled))
      if (!isHandled) return giveBackAll
      const settled = Effect.timeoutOption(settledAll.until, closeTimeout)
      return Effect.andThen(Effect.andThen(stop, settled), giveBackAll)
    })
  }
})

export type Engine = Effect.Success<ReturnType<typeof make>>
