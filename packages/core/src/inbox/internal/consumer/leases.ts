import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Backoff from "../../../base/Backoff.ts"
import type { Inbox } from "../../Inbox.ts"
import type { Commit, CommitResult, JournalEntry, Partition, RecordResult } from "../../InboxStore.ts"
import type { StoreError } from "../../../base/StoreError.ts"
import { randomId } from "../../../base/internal/randomId.ts"
import { type Claimed, type Lease, makeLease, makeLeaseSet, monoNow, warnOfLoss } from "./lease.ts"
import { isTemporary } from "./persist.ts"
import * as polling from "./polling.ts"
import * as renewals from "./renewal.ts"
import type { Outcome } from "./settlement.ts"
import * as unknownLeases from "./unknownLeases.ts"

/** The time limit of the writes that end the leases of a consumer. */
const finishTimeout = "5 seconds"

/** A change of a claimed partition. The owner of the change is set when the change is committed. */
export interface Change extends Commit {
  readonly lease: Lease
  owner: string
}

const noConflicts: ReadonlySet<Change> = new Set()

const withoutConflict = Effect.succeed(noConflicts)

/** Returns the conflicts. */
const conflictsOf = (changes: ReadonlyArray<Change>, results: ReadonlyArray<CommitResult>): ReadonlySet<Change> =>
  results.includes("stateConflict")
    ? new Set(changes.filter((_, index) => results[index] === "stateConflict"))
    : noConflicts

/**
 * Claims partitions of an inbox. The leases are renewed until the scope closes. Operations are retried while the store is
 * unavailable. `onDefect` is called if something that runs in the background ends with a defect.
 */
export const make = Effect.fnUntraced(function* (
  inbox: Inbox["Service"],
  onDefect: (cause: Cause.Cause<never>) => void
) {
  const { leaseDuration, store } = inbox
  const clock = yield* Clock.Clock
  const { isShared } = store
  // Without other processes, no lease has to end before this process does.
  const leaseMillis = isShared ? Duration.toMillis(leaseDuration) : Infinity
  const leases = makeLeaseSet(clock, isShared, leaseMillis)
  const { isValid, lose } = leases
  const polls = yield* polling.make(inbox, onDefect)
  /** All owners that may have leases. */
  const owners = new Set<string>()
  let owner = yield* randomId
  let isClosed = false
  /** How many commits the store is applying. */
  let committing = 0
  const allCommitted = Latch.makeUnsafe(true)

  // A failed claim may have been executed. Its leases expire because the owner is not used, and so not renewed, any more.
  const changeOwner = Effect.map(randomId, (name) => {
    owner = name
  })

  const unknown = unknownLeases.make(inbox, leases)
  /**
   * Under a new name, partitions that the store has under the old name and that this process does not hold are certain
   * as soon as no claim is under way.
   */
  const onUnknown = (name: string, keys: ReadonlyArray<string>) =>
    Effect.andThen(owner === name ? changeOwner : Effect.void, unknown.release(name, keys))
  const renewal = yield* renewals.make(leases, { clock, leaseMillis, store, onDefect, onUnknown })

  const retried = <A>(effect: Effect.Effect<A, StoreError>): Effect.Effect<A, StoreError> =>
    Effect.catchIf(effect, isTemporary, (first) => {
      const again = Backoff.failedOnce(effect, Cause.fail(first))
      // A write that fails after the scope has closed is repeated by its caller, or not at all.
      return inbox.outage.retryOrDie(again, (error) => !isClosed && isTemporary(error))
    })

  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      isClosed = true
    })
  )

  /**
   * Returns the claimed partitions without the partitions that this process still handles: their leases expired, for
   * example while the store was unavailable. Handlers and commits that are running continue under the new owner. A
   * partition whose updates another process has completed meanwhile is lost, and handled from where that process ended.
   */
  const adopt = (partitions: ReadonlyArray<Partition>, newOwner: string, wall: number, mono: number) => {
    let lost = 0
    const adopted = partitions.flatMap(({ key, updates }): ReadonlyArray<Claimed> => {
      const partition = leases.get(key)
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
      const claimed = makeLease(key, newOwner, wall, mono)
      leases.add(claimed)
      if (leases.size() === 1) renewal.onFirst()
      return [{ lease: claimed, updates }]
    })
    return lost === 0 ? Effect.succeed(adopted) : Effect.as(warnOfLoss(lost), adopted)
  }

  const claimShared = (request: { maxPartitions: number; maxUpdates: number; begin: number }) =>
    Effect.suspend(() => {
      const name = owner
      const wall = clock.currentTimeMillisUnsafe()
      const mono = monoNow(clock)
      owners.add(name)
      const claimed = Effect.tapError(
        polls.claim({ owner: name, leaseDuration: leaseMillis, ...request }),
        () => changeOwner
      )
      return unknown.beforeClaim(
        Effect.flatMap(claimed, (partitions) => {
          if (partitions.length > 0) polls.onClaimed()
          return adopt(partitions, name, wall, mono)
        })
      )
    })

  const claimOwn = ({ maxPartitions, maxUpdates }: { maxPartitions: number; maxUpdates: number }) => {
    owners.add(owner)
    return Effect.map(
      polls.claim({ owner, leaseDuration: leaseMillis, maxPartitions, maxUpdates, begin: 0 }),
      (partitions): ReadonlyArray<Claimed> =>
        partitions.map(({ key, updates }) => ({ lease: makeLease(key, owner, 0, 0), updates }))
    )
  }

  const endCommit = Effect.sync(() => {
    if (--committing === 0) allCommitted.openUnsafe()
  })

  const applyShared = (changes: ReadonlyArray<Change>) =>
    Effect.suspend(() => {
      committing++
      allCommitted.closeUnsafe()
      return Effect.ensuring(store.commit(changes), endCommit)
    })

  const commitShared = (changes: ReadonlyArray<Change>): Effect.Effect<ReadonlySet<Change>, StoreError> => {
    for (const { completed, lease, release } of changes) if (release) lease.releasing = completed
    return Effect.suspend(() => {
      const live = changes.filter(({ lease }) => !lease.isLost && !lease.isClaimedAgain)
      if (live.length === 0) return Effect.succeed(noConflicts)
      for (const change of live) change.owner = change.lease.owner
      return Effect.flatMap(applyShared(live), (results) => {
        let lost = 0
        const again: Array<Change> = []
        live.forEach((change, index) => {
          const { lease, owner, release } = change
          if (results[index] === "stateConflict") lease.releasing = undefined
          // This process has claimed the partition again meanwhile, under another name.
          else if (results[index] === "leaseLost" && lease.owner !== owner) again.push(change)
          // The result of a release that was repeated says nothing: the partition is released in any case.
          else if (release) leases.remove(lease)
          else if (results[index] === "leaseLost") {
            lost++
            lose(lease)
          }
        })
        const conflicts = conflictsOf(live, results)
        const warned = lost === 0 ? Effect.succeed(conflicts) : Effect.as(warnOfLoss(lost), conflicts)
        if (again.length === 0) return warned
        const repeated = Effect.map(retried(commitShared(again)), (others) => new Set([...conflicts, ...others]))
        return Effect.andThen(warned, repeated)
      })
    })
  }

  // An update that is acknowledged in memory costs one operation (benchmark `pipeline`).
  const commitOwn = (changes: ReadonlyArray<Change>): Effect.Effect<ReadonlySet<Change>, StoreError> => {
    const committed = store.commit(changes)
    return Effect.matchCauseEffect(committed, {
      onSuccess: (results) =>
        results.includes("stateConflict") ? Effect.succeed(conflictsOf(changes, results)) : withoutConflict,
      onFailure: (cause) => {
        const again = Effect.map(committed, (results) => conflictsOf(changes, results))
        return retried(Backoff.failedOnce(again, cause))
      }
    })
  }

  return {
    isShared,
    inbox,
    isValid,
    /** Marks a partition as lost, as if another process had claimed the partition. */
    lose,
    confirm: renewal.confirm,
    /**
     * Claims partitions. `request` is read at each attempt, and no partition is claimed if `request` returns
     * `undefined`. With `begin` above 0, this many first updates of each partition count as begun.
     */
    claim: (
      request: () => { readonly maxPartitions: number; readonly maxUpdates: number; readonly begin: number } | undefined
    ): Effect.Effect<ReadonlyArray<Claimed>> => {
      const claim = Effect.suspend((): Effect.Effect<ReadonlyArray<Claimed>, StoreError> => {
        polls.onClaim()
        const options = request()
        if (options === undefined) return Effect.succeed([])
        return isShared ? claimShared(options) : claimOwn(options)
      })
      return Effect.orDie(retried(isShared ? Effect.andThen(renewal.renewDoubtful, claim) : claim))
    },
    /**
     * Applies changes in one write, and retries while the store is unavailable. Partitions that are found to be lost have
     * `isLost` set. Returns the changes that were not applied because of a conflict.
     */
    commit: (changes: ReadonlyArray<Change>): Effect.Effect<ReadonlySet<Change>, StoreError> => {
      const committed = isShared ? retried(commitShared(changes)) : commitOwn(changes)
      return changes.every(({ timers }) => timers === undefined)
        ? committed
        : Effect.tap(committed, () => Effect.sync(inbox.onTimers))
    },
    /**
     * Writes entries to the journal of an update. Returns `"leaseLost"` if the partition is lost or the update is not
     * queued any more. The result `"leaseLost"` says nothing about the lease while the update is being acknowledged. A
     * store that has the lease of an update that is being handled, but not the update, has lost writes: the partition
     * is claimed again.
     */
    record: (
      partition: Lease,
      id: string,
      entries: ReadonlyArray<JournalEntry>,
      outcomeOf: () => Outcome | undefined
    ): Effect.Effect<RecordResult, StoreError> => {
      const record: Effect.Effect<RecordResult, StoreError> = Effect.suspend(() => {
        const { isLost, key, owner } = partition
        if (isLost) return Effect.succeed("leaseLost")
        return Effect.flatMap(store.journal.record([{ owner, partitionKey: key, id, entries }]), ([result]) => {
          if (result !== "leaseLost" || !isShared || outcomeOf()?._tag === "ack") return Effect.succeed(result!)
          const giveUp = Effect.suspend(() => {
            if (partition.isLost || partition.owner !== owner || outcomeOf() !== undefined) return Effect.void
            lose(partition)
            return onUnknown(owner, [key])
          })
          // The partition can have been claimed again by this process, under another name.
          return partition.owner === owner ? Effect.as(Effect.andThen(renewal.renewNow, giveUp), result) : record
        })
      })
      return record
    },
    /** Applies the last changes and ends all leases after other changes are `committed`, if that is possible within 5 seconds. */
    finish: (changes: ReadonlyArray<Change>, committed: Effect.Effect<void>): Effect.Effect<void> =>
      Effect.suspend(() => {
        isClosed = true
        const last = changes.filter(({ lease }) => !lease.isLost)
        const commit = last.length === 0 ? Effect.void : Effect.ignore(store.commit(last))
        const release = Effect.forEach(owners, (name) => store.release(name), { discard: true })
        // A commit that follows the release would not be applied, and its updates would be handled again.
        const released = Effect.andThen(Effect.andThen(commit, isShared ? allCommitted.await : committed), release)
        return Effect.ignore(Effect.timeoutOption(released, finishTimeout))
      }),
    /** Waits until there may be partitions to claim. */
    waitForMore: polls.untilNext
  }
})

export type Leases = Effect.Success<ReturnType<typeof make>>
