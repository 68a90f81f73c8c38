import type * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Inbox } from "../../Inbox.ts"
import type { Claim } from "../../InboxStore.ts"
import { monoNow } from "./lease.ts"
import { watchFiber } from "../../../base/internal/watchFiber.ts"
import { isTemporary } from "./persist.ts"

/**
 * How long an idle consumer waits between two claims, in milliseconds. The interval is longer if the store wakes the
 * consumer.
 */
const pollInterval = 1000
const idlePollInterval = 5000

/**
 * The longest wait of a consumer that the store wakes, if the store has neither leases that end earlier nor timers that
 * are due earlier.
 */
const maxPollInterval = 30_000

/** Maximum number of timers that one claim moves to the queue. */
const maxTimers = 100

/** A consumer waits at most this long for a timer, in milliseconds. Delays beyond 24 days are not supported everywhere. */
const maxTimerWait = 86_400_000

/**
 * Claims partitions of the store, and waits until the store may have more partitions: until the store wakes the
 * consumer, until a timer is due, or for a time.
 */
export const make = Effect.fnUntraced(function* (
  inbox: Inbox["Service"],
  onDefect: (cause: Cause.Cause<never>) => void
) {
  const { store } = inbox
  const { isShared } = store
  const wakeUp = yield* inbox.wakeUp
  const clock = yield* Clock.Clock
  let pollDelay = pollInterval
  let isListening = false
  /** Whether the next claim moves timers that are due to the queue. */
  let takesTimers = true
  /**
   * The due time of the next timer, by the monotonic clock. The due time is read again after `readTimers` of the inbox
   * has changed.
   */
  let nextTimer = Infinity
  let timersRead = -1

  if (isShared && store.listen !== undefined) {
    const { listen } = store
    const listening = Effect.tap(
      listen(() => {
        // Another process may have set a timer.
        timersRead = -1
        wakeUp.openUnsafe()
      }),
      Effect.sync(() => {
        isListening = true
      })
    )
    watchFiber(yield* Effect.forkScoped(Effect.ignore(inbox.outage.retryOrDie(listening, isTemporary))), onDefect)
  }

  const claim = (options: Claim) => {
    const isKnown = timersRead === inbox.timerChanges()
    // A consumer whose handlers are always busy does not wait, and so does not read when the next timer is due.
    if (!takesTimers && isKnown && (nextTimer === Infinity || monoNow(clock) < nextTimer)) return inbox.claim(options)
    return Effect.tap(inbox.claim({ ...options, maxTimers }), (partitions) =>
      Effect.sync(() => {
        // After timers were taken, there is another next one.
        if (partitions.length > 0 || monoNow(clock) >= nextTimer) timersRead = -1
        takesTimers = false
      })
    )
  }

  /** Reads when the next timer is due, if that may have changed. */
  const readTimers = Effect.suspend(() => {
    const changes = inbox.timerChanges()
    if (timersRead === changes) return Effect.void
    return Effect.match(store.timers.untilNext, {
      onSuccess: (millis) => {
        timersRead = changes
        nextTimer = millis === undefined ? Infinity : monoNow(clock) + millis
      },
      // The due time is read again after the next claim, which reports that the store is unavailable.
      onFailure: () => undefined
    })
  })

  /** Waits until the latch is open, at most for a time or until the next timer is due. */
  const waitAtMost = (millis: number) =>
    Effect.andThen(
      readTimers,
      Effect.suspend(() => {
        const untilTimer = Math.max(0, nextTimer - monoNow(clock))
        if (untilTimer === Infinity && millis === Infinity) return Effect.asSome(wakeUp.await)
        const wait = Math.min(millis, untilTimer, maxTimerWait)
        return Effect.tap(Effect.timeoutOption(wakeUp.await, wait), (woken) =>
          Effect.sync(() => {
            if (Option.isNone(woken)) takesTimers = true
          })
        )
      })
    )

  /**
   * The time until a partition can be claimed, in milliseconds. 0 if a partition can be claimed now or the store cannot
   * tell.
   */
  const untilClaimable = Effect.suspend(() => {
    if (store.untilClaimable === undefined || monoNow(clock) >= nextTimer) return Effect.succeed(0)
    // The claim reports that the store is unavailable.
    return Effect.match(store.untilClaimable, { onFailure: () => 0, onSuccess: (millis = Infinity) => millis })
  })

  /**
   * Waits until the latch is open or a partition can be claimed, at most `poll` milliseconds before asking the store.
   */
  const waitUntilClaimable = (poll: number): Effect.Effect<void> =>
    Effect.flatMap(waitAtMost(poll), (woken) => {
      if (Option.isSome(woken)) return Effect.void
      return Effect.flatMap(untilClaimable, (millis) => {
        if (millis === 0) return Effect.void
        return waitUntilClaimable(Math.max(idlePollInterval, Math.min(2 * poll, millis, maxPollInterval)))
      })
    })

  const waitWithPolls = Effect.suspend(() => {
    if (isListening) return waitUntilClaimable(idlePollInterval)
    return Effect.map(waitAtMost(pollDelay), (woken) => {
      pollDelay = Option.isSome(woken) ? pollInterval : Math.min(2 * pollDelay, idlePollInterval)
    })
  })

  return {
    claim,
    /** Called before a claim: later events are for the next claim. */
    onClaim: (): void => void wakeUp.closeUnsafe(),
    /** Called after something was claimed. */
    onClaimed: (): void => {
      pollDelay = pollInterval
    },
    untilNext: Effect.map(isShared ? waitWithPolls : waitAtMost(Infinity), () => void wakeUp.closeUnsafe())
  }
})
