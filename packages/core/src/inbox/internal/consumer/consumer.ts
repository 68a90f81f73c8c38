import type * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import type * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import * as Stream from "effect/Stream"
import type { Delivery } from "../../Deliveries.ts"
import type { Inbox } from "../../Inbox.ts"
import type { OutageError } from "../../../client/Outage.ts"
import type { DeadLetter } from "../../QueuedUpdate.ts"
import { annotationsOf } from "./annotations.ts"
import * as engine from "./engine.ts"
import type { Claimed } from "./lease.ts"
import { make as makeLeases } from "./leases.ts"
import { makeWaiter } from "./waiter.ts"
import { watchFiber } from "../../../base/internal/watchFiber.ts"

/** A partition is released after this many updates, so that partitions with many updates do not delay the others. */
const maxUpdatesPerClaim = 16

/** A chat that has many updates is claimed in larger parts if no others wait, or if its updates are not emitted one at a time. */
const maxUpdatesOfChat = 256

/** How many chats are expected to be handled concurrently if there is no limit. */
const usualConcurrency = 64

/**
 * A claim can miss partitions that another transaction locks, so the last claim is repeated after this time if updates
 * are queued.
 */
const certainAfter = "1 second"

/** After crashing updates were claimed, claimed updates do not count as begun for this time. */
const unmarkedMillis = 10_000

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

/** Returns a function that calls another function once at the end of the turn of the event loop. */
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

/** Runs a source, and emits the updates of an inbox as deliveries. */
export const deliveries = <E, R>(
  inbox: Inbox["Service"],
  source: Effect.Effect<void, E>,
  options: Options<R>
): Stream.Stream<Delivery, E | OutageError, R> => Stream.unwrap(open(inbox, source, options))

const open = Effect.fnUntraced(function* <E, R>(
  inbox: Inbox["Service"],
  source: Effect.Effect<void, E>,
  options: Options<R>
) {
  const { maxInMemory, maxUnsettled, perChat } = options
  yield* inbox.open
  const clock = yield* Clock.Clock
  /** Done when a fiber in the background ends with a defect. */
  const died = yield* Deferred.make<never>()
  const onDefect = (cause: Cause.Cause<never>): void => void Deferred.doneUnsafe(died, Exit.failCause(cause))
  const inBackground = (effect: Effect.Effect<unknown>) =>
    Effect.map(Effect.forkScoped(effect, { startImmediately: true }), (fiber) => watchFiber(fiber, onDefect))
  const leases = yield* makeLeases(inbox, onDefect)
  const fiber = yield* Effect.forkScoped(source)
  const emitter = yield* engine.make<E | OutageError, R>(leases, {
    ...options,
    onDefect,
    stopSource: Effect.andThen(inbox.close, Fiber.interrupt(fiber)),
    onEnd: oncePerTurn(() => {
      inbox.wakeAll()
      claimable.wake()
    }),
    onDispatched: () => {
      if (claimable.isWaiting()) wakeSoon()
    }
  })
  watchFiber(yield* Effect.forkScoped(Deferred.await(died)), emitter.fail)
  yield* inBackground(inbox.died)
  yield* Effect.addFinalizer(() => Effect.andThen(inbox.close, emitter.finish))
  const atOnce = Math.min(maxUnsettled, usualConcurrency)
  const least = Math.max(1, Math.min(maxUpdatesPerClaim, Math.floor(maxInMemory / (2 * atOnce))))
  const unsettledAfter = Duration.toMillis(options.unsettledAfter)
  const most = Math.max(least, Math.min(maxUpdatesOfChat, Math.floor(maxInMemory / 4)))
  // A batch that contains a part of a chat may wait for the rest, which is not claimed before.
  let maxUpdates = perChat > 1 ? most : least
  let unmarkedUntil = -Infinity
  let maxPartitions = 0
  /**
   * How many updates of a partition the last claim asked for. The number is less than `maxUpdates` if fewer updates fit
   * into memory.
   */
  let asked = maxUpdates
  let begin = 0
  /** Whether the store had fewer partitions than the last claim asked for. */
  let wasShort = false
  /** Whether partitions were claimed since the statistics were read. */
  let hasClaimed = false
  /** Open while partitions are claimed or handled. */
  const activity = yield* Latch.make(true)
  /** Whether the source had ended when the last claim began, and whether nothing was in memory either. */
  let wasDone = false
  let wasIdle = false

  /** Events after this call wake the consumer. */
  const nextClaim = () => {
    wasDone = fiber.pollUnsafe() !== undefined
    // A partition that is released during the claim may have more updates.
    wasIdle = wasDone && emitter.isIdle()
    const free = maxInMemory - emitter.size()
    if (free < maxUpdates && perChat === 1) maxUpdates = least
    asked = Math.min(maxUpdates, Math.max(least, free))
    maxPartitions = Math.floor(free / asked)
    if (maxPartitions < 1 || emitter.isStopping()) return undefined
    const each = Math.min(perChat, asked)
    const available = Math.floor(emitter.available() / each)
    const mayBegin = !emitter.hasCrashing() && clock.currentTimeMillisUnsafe() >= unmarkedUntil
    // Partitions whose updates cannot begin at once are claimed for later.
    begin = leases.isShared && available > 0 && mayBegin ? each : 0
    if (begin > 0) maxPartitions = Math.min(maxPartitions, available)
    return { maxPartitions, maxUpdates: asked, begin }
  }

  /** Partitions are claimed when a handler could begin. If many wait, they are also claimed for later. */
  const wantsMore = (): boolean =>
    maxInMemory - emitter.size() >= least &&
    (emitter.available() > 0 || (!wasShort && emitter.size() <= maxInMemory / 2))

  /**
   * Whether the consumer looks for partitions, or for its end. Otherwise neither the time nor the content of the store
   * matters.
   */
  const isLooking = (): boolean =>
    emitter.isStopping() ? fiber.pollUnsafe() !== undefined : emitter.size() === 0 || wantsMore()
  const claimable = makeWaiter(isLooking)
  const wakeSoon = oncePerTurn(claimable.wake)
  fiber.addObserver(() => {
    inbox.wakeAll()
    claimable.wake()
  })

  /** How many updates of a partition the next claim asks for. */
  const nextMaxUpdates = (claimed: ReadonlyArray<Claimed>): number => {
    const longest = Math.max(...claimed.map(({ updates }) => updates.length))
    const isFull = longest === asked
    const half = Math.max(least, maxUpdates >> 1)
    if (isFull && asked === maxUpdates && (perChat > 1 || wasShort)) {
      const isMuch = wasShort && 2 * maxUpdates * claimed.length > maxInMemory / 2
      return isMuch ? half : Math.min(2 * maxUpdates, most)
    }
    // A chat that is claimed in two parts takes two claims and two releases.
    return perChat > 1 && (isFull || longest > half) ? maxUpdates : half
  }

  const claim = Effect.gen(function* () {
    const claimed = yield* leases.claim(nextClaim)
    const crashing =
      begin === 0 ? [] : claimed.filter(({ updates }) => updates.slice(0, begin).some(emitter.isCrashing))
    if (crashing.length > 0) {
      // A crashing update may count as begun only while no other update is handled, so its partition is claimed again
      // before other updates begin.
      unmarkedUntil = clock.currentTimeMillisUnsafe() + unmarkedMillis
      yield* emitter.release(crashing)
    }
    for (const partition of claimed) {
      if (!partition.lease.isLost && !crashing.includes(partition)) emitter.add(partition, begin)
    }
    emitter.dispatch()
    wasShort = claimed.length < maxPartitions
    if (claimed.length > 0) {
      hasClaimed = true
      activity.openUnsafe()
      maxUpdates = nextMaxUpdates(claimed)
    }
    return claimed.length
  })

  /** Reading the statistics updates the gauges of the inbox. An idle consumer reads nothing. */
  const refreshMetrics = Effect.gen(function* () {
    for (;;) {
      yield* activity.await
      yield* Effect.sleep("15 seconds")
      if (!hasClaimed && emitter.size() === 0) activity.closeUnsafe()
      hasClaimed = false
      yield* Effect.ignore(inbox.stats)
    }
  })
  yield* inBackground(refreshMetrics)

  const warnOfUnsettled = Effect.gen(function* () {
    for (;;) {
      yield* activity.await
      yield* Effect.sleep(unsettledAfter / 4)
      const late = emitter.report(clock.currentTimeMillisUnsafe() - unsettledAfter)
      for (const { value } of late) {
        emitter.metrics.unsettled(value)
        const message =
          `A delivery was not settled within ${Duration.format(options.unsettledAfter)}. Later updates of its chat can ` +
          "wait for it. Every delivery needs one of ack, retry and reject."
        yield* Effect.annotateLogs(Effect.logWarning(message), annotationsOf(value))
      }
      if (late.length > 0) emitter.dispatch()
    }
  })
  if (Number.isFinite(unsettledAfter)) yield* inBackground(warnOfUnsettled)

  const isEmpty = leases.isShared
    ? Effect.match(inbox.stats, { onFailure: () => false, onSuccess: ({ queued }) => queued === 0 })
    : Effect.succeed(true)
  /** Whether updates that are queued, but were not found, have been waited for. */
  let isCertain = false

  const sayWaiting = Effect.suspend(() => {
    const keys = emitter.waiting()
    if (keys.length === 0) return Effect.void
    options.onWaiting?.()
    const others = keys.length > maxNamed ? ` and ${keys.length - maxNamed} others` : ""
    return Effect.logWarning(
      `The updates of these chats stay in the inbox, because they need a newer program: ` +
        `${keys.slice(0, maxNamed).join(", ")}${others}.`
    )
  })

  const consume = Effect.gen(function* () {
    for (;;) {
      const count = yield* claim
      const exit = fiber.pollUnsafe()
      if (count === 0 && exit !== undefined && (Exit.isFailure(exit) || wasIdle)) {
        if (Exit.isFailure(exit) || isCertain || (yield* isEmpty)) {
          yield* sayWaiting
          return emitter.end(exit)
        }
        isCertain = true
        yield* Effect.sleep(certainAfter)
        continue
      }
      isCertain = false
      if (count > 0 && !wasShort && wantsMore()) continue
      // If the source ended during the claim, its last updates may not have been claimed.
      if (exit !== undefined && !wasDone) continue
      if (isLooking()) yield* leases.waitForMore
      yield* claimable.until
    }
  })
  yield* inBackground(consume)
  return Stream.fromPull(Effect.succeed(emitter.pull))
})
