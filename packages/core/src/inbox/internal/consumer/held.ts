import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { ClaimedUpdate, Completed } from "../../InboxStore.ts"

/**
 * The last part of a lease does not count, because operations that began in time have to reach the platform in time.
 */
const margin = 0.1

/** A partition that this process has claimed. */
export interface Held {
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
   * Who is told when the partition is lost. The holder is no function, because a closure for each claim costs memory.
   */
  holder: Holder | undefined
}

/** Who handles the updates of a claimed partition. */
export interface Holder {
  readonly onLost: () => void
  /** Whether no other process has completed one of these updates, or has made a call for one of them. */
  readonly isUnchanged: (queued: ReadonlyArray<ClaimedUpdate>) => boolean
}

export interface Claimed {
  readonly held: Held
  readonly updates: ReadonlyArray<ClaimedUpdate>
}

export const makeHeld = (key: string, owner: string, wall: number, mono: number): Held => ({
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

/** The partitions that this process has claimed, by key. Empty if the store is not shared. */
export const makeHeldSet = (clock: Clock.Clock, isShared: boolean, leaseMillis: number) => {
  const byKey = new Map<string, Held>()
  const validFor = leaseMillis * (1 - margin)

  /** Removes a partition, unless this process has claimed the partition again. */
  const remove = (partition: Held): void => {
    if (byKey.get(partition.key) === partition) byKey.delete(partition.key)
  }

  return {
    size: (): number => byKey.size,
    get: (key: string): Held | undefined => byKey.get(key),
    values: (): Iterable<Held> => byKey.values(),
    add: (partition: Held): void => void byKey.set(partition.key, partition),
    remove,
    lose: (partition: Held): void => {
      partition.isLost = true
      remove(partition)
      partition.holder?.onLost()
    },
    /** The monotonic clock stands still while a computer is suspended, and the other clock can be set back. */
    isValid: ({ isLost, mono, wall }: Held): boolean =>
      !isShared || (!isLost && clock.currentTimeMillisUnsafe() - wall < validFor && monoNow(clock) - mono < validFor)
  }
}

export type HeldSet = ReturnType<typeof makeHeldSet>
