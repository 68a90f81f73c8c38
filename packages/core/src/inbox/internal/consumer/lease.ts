import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { ClaimedUpdate, Completed } from "../../InboxStore.ts"

/**
 * The last part of a lease does not count, because operations that began in time have to reach the platform in time.
 */
const margin = 0.1

/** The lease of a partition that this process has claimed. */
export interface Lease {
  readonly key: string
  /** The owner of the last claim. The owner changes when an expired lease is claimed again. */
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
  /**
   * The holder is called when the partition is lost. The holder is no function, because a closure for each claim costs memory.
   */
  holder: Holder | undefined
}

/** The consumer of the updates of a claimed partition. */
export interface Holder {
  readonly onLost: () => void
  /** Whether no other process has completed one of these updates, or has made a call for one of them. */
  readonly isUnchanged: (queued: ReadonlyArray<ClaimedUpdate>) => boolean
}

export interface Claimed {
  readonly lease: Lease
  readonly updates: ReadonlyArray<ClaimedUpdate>
}

export const makeLease = (key: string, owner: string, wall: number, mono: number): Lease => ({
  key,
  owner,
  wall,
  mono,
  isLost: false,
  releasing: undefined,
  isClaimedAgain: false,
  holder: undefined
})

export const warnOfLoss = (count: number): Effect.Effect<void> =>
  Effect.logWarning(
    `${count} partitions were lost, because their leases expired and another process claimed them. It handles their ` +
      "updates again. Running handlers of these partitions are interrupted."
  )

/** The monotonic time in milliseconds. */
export const monoNow = (clock: Clock.Clock): number => Number(clock.monotonicTimeNanosUnsafe()) / 1e6

/** The leases of this process, by the key of the partition. Empty if the store is not shared. */
export const makeLeaseSet = (clock: Clock.Clock, isShared: boolean, leaseMillis: number) => {
  const byKey = new Map<string, Lease>()
  const validFor = leaseMillis * (1 - margin)

  /** Removes a lease, unless this process has claimed the partition again. */
  const remove = (lease: Lease): void => {
    if (byKey.get(lease.key) === lease) byKey.delete(lease.key)
  }

  return {
    size: (): number => byKey.size,
    get: (key: string): Lease | undefined => byKey.get(key),
    values: (): Iterable<Lease> => byKey.values(),
    add: (lease: Lease): void => void byKey.set(lease.key, lease),
    remove,
    lose: (lease: Lease): void => {
      lease.isLost = true
      remove(lease)
      lease.holder?.onLost()
    },
    /** The monotonic clock stands still while a computer is suspended, and the other clock can be set back. */
    isValid: ({ isLost, mono, wall }: Lease): boolean =>
      !isShared || (!isLost && clock.currentTimeMillisUnsafe() - wall < validFor && monoNow(clock) - mono < validFor)
  }
}

export type LeaseSet = ReturnType<typeof makeLeaseSet>
