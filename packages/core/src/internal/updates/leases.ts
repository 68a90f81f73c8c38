import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import * as Backoff from "../../Backoff.ts"
import type { Inbox } from "../../Inbox.ts"
import type { JournalEntry, RecordResult } from "../../HandlingStore.ts"
import type { ClaimedUpdate, Commit, CommitResult, Completed, Partition } from "../../InboxStore.ts"
import type { StoreError } from "../../StoreError.ts"
import { randomId } from "../stores/randomId.ts"

/** How long an idle consumer waits between two claims, in milliseconds. It is longer if the store wakes it up. */
const pollInterval = 1000
const idlePollInterval = 5000

/** How long it waits if the store wakes it up, and has neither leases that end earlier nor timers that are due earlier. */
const maxPollInterval = 30_000

/** A lease is renewed this often before it expires. With 3, the event loop may be busy for two thirds of the lease. */
const renewalsPerLease = 3

/** After a failure, leases are renewed again after this time, in milliseconds. */
const failedRenewalInterval = 1000

/** Maximum number of timers that one claim moves to the queue. */
const maxTimers = 100

/** A consumer waits at most this long for a timer, in milliseconds. Delays beyond 24 days are not supported everywhere. */
const maxTimerWait = 86_400_000

/** The last part of a lease does not count, because what was begun in time has to reach the platform in time. */
const margin = 0.1

/** The time limit of the writes that end the leases of a consumer. */
const finishTimeout = "5 seconds"

export const storeBackoff = Backoff.make({ first: "200 millis", cap: "10 seconds" }).pipe(
  Schedule.setInputType<StoreError>(),
  Schedule.tap(({ input }) => Effect.logWarning(`${input.message} The operation is retried until it succeeds.`))
)

/** Settles a delivery. Retries until the store has applied it. */
export const persist = (settled: Effect.Effect<void, StoreError>): Effect.Effect<void> =>
  Effect.catch(
    settled,
    (error) => Effect.retry(Backoff.failedOnce(settled, Cause.fail(error)), storeBackoff) as Effect.Effect<void>
  )

/** A partition that this process has claimed. */
export interface Held {
  readonly key: string
  /** The owner of the last claim. It changes when an expired lease is claimed again. */
  owner: string
  /** When the lease began, before its request was sent: by the wall clock and by the monotonic clock, in milliseconds. */
  wall: number
  mono: number
  /** Whether another process has claimed the partition. */
  isLost: boolean
  /** The ids that the running commit completes, if it releases the partition. */
  releasing: ReadonlyArray<Completed> | undefined
  /** Whether the partition was claimed again after its release, so that the release must not be repeated. */
  isClaimedAgain: boolean
  /** Who is told when the partition is lost. This is no function, because a closure for each claim costs memory. */
  holder: Holder | undefined
}

/** Who handles the updates of a claimed partition. */
export interface Holder {
  readonly onLost: () => void
  /** Whether the updates that are not settled are the first of these, so that no other process has completed any. */
  readonly isUnchanged: (queued: ReadonlyArray<ClaimedUpdate>) => boolean
}

/** A change of a claimed partition. Its owner is set when it is committed. */
export interface Change extends Commit {
  readonly held: Held
  owner: string
}

export interface Claimed {
  readonly held: Held
  readonly updates: ReadonlyArray<ClaimedUpdate>
}

const noConflicts: ReadonlySet<Change> = new Set()

const withoutConflict = Effect.succeed(noConflicts)

/** Returns the changes that were not applied because of a conflict. */
const conflictsOf = (changes: ReadonlyArray<Change>, results: ReadonlyArray<CommitResult>): ReadonlySet<Change> =>
  results.includes("stateConflict")
    ? new Set(changes.filter((_, index) => results[index] === "stateConflict"))
    : noConflicts

/**
 * Claims partitions of an inbox. The leases are renewed until the scope closes. Operations are retried while the store is
 * unavailable.
 */
export const make = Effect.fnUntraced(function* (inbox: Inbox["Service"]) {
  const { leaseDuration, store } = inbox
  const wakeUp = yield* inbox.wakeUp
  const clock = yield* Clock.Clock
  const { isShared } = store
  // Without other processes, no lease has to end before this process does.
  const leaseMillis = isShared ? Duration.toMillis(leaseDuration) : Infinity
  const validFor = leaseMillis * (1 - margin)
  const renewalInterval = leaseMillis / renewalsPerLease
  /** The claimed partitions by key. Empty if the store is not shared. */
  const held = new Map<string, Held>()
  /** All owners that may have leases. */
  const owners = new Set<string>()
  let owner = yield* randomId
  let pollDelay = pollInterval
  let isListening = false
  /** Whether the next claim moves timers that are due to the queue. */
  let takesTimers = true
  /** When the next timer is due, by the monotonic clock. It is read again after `readTimers` of the inbox has changed. */
  let nextTimer = Infinity
  let timersRead = -1
  let isClosed = false
  let isFailing = false
  /** Whether the next renewal is not to wait for its time. */
  let isRequested = false
  /** Done when a renewal is requested, and when something is claimed while nothing is held. */
  let requested = Deferred.makeUnsafe<void>()
  let renewed = Deferred.makeUnsafe<void>()

  const wallNow = () => clock.currentTimeMillisUnsafe()
  const monoNow = () => Number(clock.monotonicTimeNanosUnsafe()) / 1e6

  const makeHeld = (key: string, owner: string, wall: number, mono: number): Held => ({
    key,
    owner,
    wall,
    mono,
    isLost: false,
    releasing: undefined,
    isClaimedAgain: false,
    holder: undefined
  })

  /** The monotonic clock stands still while a computer is suspended, and the other clock can be set back. */
  const isValid = ({ isLost, mono, wall }: Held): boolean =>
    !isShared || (!isLost && wallNow() - wall < validFor && monoNow() - mono < validFor)

  const lose = (partition: Held): void => {
    partition.isLost = true
    if (held.get(partition.key) === partition) held.delete(partition.key)
    partition.holder?.onLost()
  }

  const warnOfLoss = (count: number) =>
    Effect.logWarning(
      `${count} partitions were lost, because their leases expired and another process claimed them. It handles their ` +
        "updates again. Running handlers of these partitions are interrupted."
    )

  const isRetried = (error: StoreError): boolean => error.isRetryable

  const retryWhile = <A>(
    effect: Effect.Effect<A, StoreError>,
    isRetried: (error: StoreError) => boolean
  ): Effect.Effect<A, StoreError> =>
    Effect.catchIf(effect, isRetried, (error) => {
      const retried = Backoff.failedOnce(effect, Cause.fail(error))
      // After the scope has closed, nothing waits for the result.
      const attempt = Effect.suspend(() => (isClosed ? Effect.interrupt : retried))
      return Effect.retry(attempt, { schedule: storeBackoff, while: isRetried })
    })

  const renewAll = Effect.suspend(() => {
    const wall = wallNow()
    const mono = monoNow()
    const sent = [...held.values()]
    const names = new Set(sent.map(({ owner }) => owner))
    return Effect.flatMap(
      Effect.forEach(names, (name) =>
        Effect.map(store.renew(name, leaseMillis), (keys) => keys.map((key) => [key, name] as const))
      ),
      (renewed) => {
        const ownerOf = new Map(renewed.flat())
        let lost = 0
        for (const partition of sent) {
          if (held.get(partition.key) !== partition) continue
          const name = ownerOf.get(partition.key)
          if (name !== undefined) Object.assign(partition, { owner: name, wall, mono })
          else if (partition.releasing === undefined) {
            lost++
            lose(partition)
          }
        }
        return lost === 0 ? Effect.void : warnOfLoss(lost)
      }
    )
  })

  const waitForRenewal = Effect.suspend(() => {
    if (held.size === 0) return Deferred.await(requested)
    if (isFailing) return Effect.sleep(Math.min(failedRenewalInterval, renewalInterval))
    return Effect.asVoid(Effect.timeoutOption(Deferred.await(requested), renewalInterval))
  })

  // An idle consumer has no leases, and so no timer.
  const keepRenewing = Effect.gen(function* () {
    for (;;) {
      yield* waitForRenewal
      // Nothing was held before that claim, so its leases have just begun.
      const hasClaimed = !isRequested && Deferred.isDoneUnsafe(requested)
      requested = Deferred.makeUnsafe()
      if (hasClaimed && !isFailing) continue
      isRequested = false
      if (held.size === 0) isFailing = false
      else {
        const result = yield* Effect.result(renewAll)
        if (Result.isFailure(result) && !isFailing) {
          yield* Effect.logWarning(`The leases of the inbox were not renewed. ${result.failure.message}`)
        }
        isFailing = Result.isFailure(result)
      }
      const ended = renewed
      renewed = Deferred.makeUnsafe()
      Deferred.doneUnsafe(ended, Exit.void)
    }
  })
  if (isShared) yield* Effect.forkScoped(keepRenewing)

  /** Renews the leases at once, unless the last renewal failed. Returns after the next renewal, also if it fails. */
  const renewNow = Effect.suspend(() => {
    const next = renewed
    isRequested = true
    Deferred.doneUnsafe(requested, Exit.void)
    return Deferred.await(next)
  })

  /** Waits until the lease is certain. Interrupts if the partition is lost. */
  const confirm = (partition: Held): Effect.Effect<void> =>
    Effect.suspend(() => {
      if (partition.isLost) return Effect.interrupt
      return isValid(partition) ? Effect.void : Effect.andThen(renewNow, confirm(partition))
    })

  /** After the process was suspended, its leases are renewed before a claim could take them for those of a dead process. */
  const renewIfDoubtful = Effect.suspend(() => {
    for (const partition of held.values()) if (!isValid(partition)) return isFailing ? Effect.void : renewNow
    return Effect.void
  })
  // The first can be a renewal that was sent before the process was suspended.
  const renewDoubtful = Effect.andThen(renewIfDoubtful, renewIfDoubtful)

  if (isShared && store.listen !== undefined) {
    const { listen } = store
    const listening = Effect.tap(
      listen(() => wakeUp.openUnsafe()),
      Effect.sync(() => {
        isListening = true
      })
    )
    yield* Effect.forkScoped(Effect.ignore(Effect.retry(listening, storeBackoff)))
  }

  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      isClosed = true
    })
  )

  // A failed claim may have been executed. Its leases expire because the owner is not used, and so not renewed, any more.
  const changeOwner = Effect.map(randomId, (name) => {
    owner = name
  })

  /**
   * The claimed partitions without those that this process still handles: their leases expired, for example while the store
   * was unavailable. What is being handled continues under the new owner, and so does a commit that is being retried. A
   * partition whose updates another process has completed meanwhile is lost, and handled from where that process ended.
   */
  const adopt = (partitions: ReadonlyArray<Partition>, newOwner: string, wall: number, mono: number) => {
    let lost = 0
    const adopted = partitions.flatMap(({ key, updates }): ReadonlyArray<Claimed> => {
      const partition = held.get(key)
      if (partition?.holder?.isUnchanged(updates) === true) {
        Object.assign(partition, { owner: newOwner, wall, mono })
        return []
      }
      // If the partition was released, but the result of the commit is not known yet, its completed updates are gone.
      if (partition?.releasing !== undefined) partition.isClaimedAgain = true
      else if (partition !== undefined) {
        lost++
        lose(partition)
      }
      const claimed = makeHeld(key, newOwner, wall, mono)
      held.set(key, claimed)
      if (held.size === 1) Deferred.doneUnsafe(requested, Exit.void)
      return [{ held: claimed, updates }]
    })
    return lost === 0 ? Effect.succeed(adopted) : Effect.as(warnOfLoss(lost), adopted)
  }

  const claimFor = (
    name: string,
    request: { readonly maxPartitions: number; readonly maxUpdates: number; readonly begin: number }
  ) => {
    const options = { owner: name, leaseDuration: leaseMillis, ...request }
    if (!takesTimers && (nextTimer === Infinity || monoNow() < nextTimer)) return inbox.claim(options)
    return Effect.tap(inbox.claim({ ...options, maxTimers }), (partitions) =>
      Effect.sync(() => {
        // After timers were taken, there is another next one.
        if (partitions.length > 0 || monoNow() >= nextTimer) timersRead = -1
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
        nextTimer = millis === undefined ? Infinity : monoNow() + millis
      },
      // It is read again after the next claim, which reports that the store is unavailable.
      onFailure: () => undefined
    })
  })

  /** Waits until the latch is open, at most for a time or until the next timer is due. */
  const waitAtMost = (millis: number) =>
    Effect.andThen(
      readTimers,
      Effect.suspend(() => {
        const untilTimer = Math.max(0, nextTimer - monoNow())
        if (untilTimer === Infinity && millis === Infinity) return Effect.asSome(wakeUp.await)
        const wait = Math.min(millis, untilTimer, maxTimerWait)
        return Effect.tap(Effect.timeoutOption(wakeUp.await, wait), (woken) =>
          Effect.sync(() => {
            if (Option.isNone(woken)) takesTimers = true
          })
        )
      })
    )

  /** The time until a partition can be claimed, in milliseconds. 0 if one can be claimed now or the store cannot tell. */
  const untilClaimable = Effect.suspend(() => {
    if (store.untilClaimable === undefined || monoNow() >= nextTimer) return Effect.succeed(0)
    // The claim reports that the store is unavailable.
    return Effect.match(store.untilClaimable, { onFailure: () => 0, onSuccess: (millis = Infinity) => millis })
  })

  /** Waits until the latch is open or a partition can be claimed, at most `poll` milliseconds before it asks the store. */
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

  const claimShared = (request: { maxPartitions: number; maxUpdates: number; begin: number }) =>
    Effect.suspend(() => {
      const name = owner
      const wall = wallNow()
      const mono = monoNow()
      owners.add(name)
      return Effect.flatMap(
        Effect.tapError(claimFor(name, request), () => changeOwner),
        (partitions) => {
          if (partitions.length > 0) pollDelay = pollInterval
          return adopt(partitions, name, wall, mono)
        }
      )
    })

  const claimOwn = ({ maxPartitions, maxUpdates }: { maxPartitions: number; maxUpdates: number }) =>
    Effect.map(claimFor(owner, { maxPartitions, maxUpdates, begin: 0 }), (partitions): ReadonlyArray<Claimed> =>
      partitions.map(({ key, updates }) => ({ held: makeHeld(key, owner, 0, 0), updates }))
    )

  const commitShared = (changes: ReadonlyArray<Change>): Effect.Effect<ReadonlySet<Change>, StoreError> => {
    for (const { completed, held, release } of changes) if (release) held.releasing = completed
    return Effect.suspend(() => {
      const live = changes.filter(({ held }) => !held.isLost && !held.isClaimedAgain)
      if (live.length === 0) return Effect.succeed(noConflicts)
      for (const change of live) change.owner = change.held.owner
      return Effect.flatMap(store.commit(live), (results) => {
        let lost = 0
        live.forEach(({ held: partition, release }, index) => {
          if (results[index] === "stateConflict") partition.releasing = undefined
          // The result of a release that was repeated says nothing: the partition is released in any case.
          else if (release) {
            if (held.get(partition.key) === partition) held.delete(partition.key)
          } else if (results[index] === "leaseLost") {
            lost++
            lose(partition)
          }
        })
        const conflicts = conflictsOf(live, results)
        return lost === 0 ? Effect.succeed(conflicts) : Effect.as(warnOfLoss(lost), conflicts)
      })
    })
  }

  // One operation for an update that is acknowledged in memory (benchmark `pipeline`).
  const commitOwn = (changes: ReadonlyArray<Change>): Effect.Effect<ReadonlySet<Change>, StoreError> => {
    const committed = store.commit(changes)
    return Effect.matchCauseEffect(committed, {
      onSuccess: (results) =>
        results.includes("stateConflict") ? Effect.succeed(conflictsOf(changes, results)) : withoutConflict,
      onFailure: (cause) => {
        const again = Effect.map(committed, (results) => conflictsOf(changes, results))
        return retryWhile(Backoff.failedOnce(again, cause), isRetried)
      }
    })
  }

  return {
    isShared,
    inbox,
    isValid,
    confirm,
    /**
     * Claims partitions. `request` is read at each attempt, and nothing is claimed if it returns `undefined`. With `begin`
     * above 0, this many first updates of each partition count as begun.
     */
    claim: (
      request: () => { readonly maxPartitions: number; readonly maxUpdates: number; readonly begin: number } | undefined
    ): Effect.Effect<ReadonlyArray<Claimed>> => {
      const claim = Effect.suspend((): Effect.Effect<ReadonlyArray<Claimed>, StoreError> => {
        wakeUp.closeUnsafe()
        const options = request()
        if (options === undefined) return Effect.succeed([])
        return isShared ? claimShared(options) : claimOwn(options)
      })
      return Effect.orDie(retryWhile(isShared ? Effect.andThen(renewDoubtful, claim) : claim, () => true))
    },
    /**
     * Applies changes in one write, and retries while the store is unavailable. Partitions that are found to be lost have
     * `isLost` set. Returns the changes that were not applied because of a conflict.
     */
    commit: (changes: ReadonlyArray<Change>): Effect.Effect<ReadonlySet<Change>, StoreError> => {
      const committed = isShared ? retryWhile(commitShared(changes), isRetried) : commitOwn(changes)
      return changes.every(({ timers }) => timers === undefined)
        ? committed
        : Effect.tap(committed, () => Effect.sync(inbox.onTimers))
    },
    /**
     * Writes entries to the journal of an update. Returns `"leaseLost"` if the partition is lost or the update is not queued
     * any more. That says nothing about the lease while the update is being acknowledged.
     */
    record: (
      partition: Held,
      id: string,
      entries: ReadonlyArray<JournalEntry>,
      isEnding: () => boolean
    ): Effect.Effect<RecordResult, StoreError> => {
      const record: Effect.Effect<RecordResult, StoreError> = Effect.suspend(() => {
        const { isLost, key, owner } = partition
        if (isLost) return Effect.succeed("leaseLost")
        return Effect.flatMap(store.journal.record([{ owner, partitionKey: key, id, entries }]), ([result]) => {
          if (result !== "leaseLost" || !isShared || isEnding()) return Effect.succeed(result!)
          // The partition can have been claimed again by this process, under another name.
          return partition.owner === owner ? Effect.as(renewNow, result) : record
        })
      })
      return record
    },
    /** Applies the last changes and ends all leases, if that is possible within 5 seconds. */
    finish: (changes: ReadonlyArray<Change>): Effect.Effect<void> =>
      Effect.suspend(() => {
        isClosed = true
        const last = changes.filter(({ held }) => !held.isLost)
        const commit = last.length === 0 ? Effect.void : store.commit(last)
        const release = Effect.forEach(owners, (name) => store.release(name), { discard: true })
        return Effect.ignore(Effect.timeoutOption(Effect.andThen(Effect.ignore(commit), release), finishTimeout))
      }),
    /** Waits until there may be partitions to claim. */
    waitForMore: Effect.map(isShared ? waitWithPolls : waitAtMost(Infinity), () => void wakeUp.closeUnsafe())
  }
})

export type Leases = Effect.Success<ReturnType<typeof make>>
