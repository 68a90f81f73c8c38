import type * as Cause from "effect/Cause"
import type * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import type { InboxStore } from "../../InboxStore.ts"
import { type Lease, type LeaseSet, monoNow, warnOfLoss } from "./lease.ts"
import { watchFiber } from "../../../base/internal/watchFiber.ts"

/**
 * A lease is renewed this often before the lease expires. With 3, the event loop may be busy for two thirds of the
 * lease.
 */
const renewalsPerLease = 3

/** After a failure, leases are renewed again after this time, in milliseconds. */
const failedRenewalInterval = 1000

export interface Options {
  readonly clock: Clock.Clock
  readonly store: InboxStore["Service"]
  readonly leaseMillis: number
  /** Called if the renewals end with a defect. */
  readonly onDefect: (cause: Cause.Cause<never>) => void
  /**
   * Called with partitions that the store has under a name of this process, and for which this process had no lease
   * when the renewal was sent.
   */
  readonly onUnknown: (owner: string, keys: ReadonlyArray<string>) => Effect.Effect<void>
}

/** Renews the leases of claimed partitions until the scope closes, so that they do not expire while their updates are handled. */
export const make = Effect.fnUntraced(function* (
  leases: LeaseSet,
  { clock, leaseMillis, onDefect, onUnknown, store }: Options
) {
  const { isValid } = leases
  const renewalInterval = leaseMillis / renewalsPerLease
  let isFailing = false
  /** Whether the next renewal is not to wait for its time. */
  let isRequested = false
  /** Done when a renewal is requested, and when a partition is claimed while this process has no leases. */
  let requested = Deferred.makeUnsafe<void>()
  let renewed = Deferred.makeUnsafe<void>()

  /**
   * Renews the leases that the store has under a name. A partition that the store does not return is lost, and a lease
   * whose partition this process does not hold is not kept.
   */
  const renewOwner = (owner: string, sent: ReadonlyMap<string, Lease>, wall: number, mono: number) =>
    Effect.flatMap(store.renew(owner, leaseMillis), (keys) => {
      const renewed = new Set(keys)
      let lost = 0
      for (const lease of sent.values()) {
        if (leases.get(lease.key) !== lease || lease.owner !== owner) continue
        if (renewed.has(lease.key)) Object.assign(lease, { wall, mono })
        else if (lease.releasing === undefined) {
          lost++
          leases.lose(lease)
        }
      }
      // A partition that was claimed when the renewal was sent may have been released since.
      const unknown = keys.filter((key) => !sent.has(key) && leases.get(key)?.owner !== owner)
      const warned = lost === 0 ? Effect.void : warnOfLoss(lost)
      return unknown.length === 0 ? warned : Effect.andThen(warned, onUnknown(owner, unknown))
    })

  const renewAll = Effect.suspend(() => {
    const wall = clock.currentTimeMillisUnsafe()
    const mono = monoNow(clock)
    const sent = Map.groupBy(leases.values(), ({ owner }) => owner)
    return Effect.forEach(
      sent,
      ([owner, partitions]) => renewOwner(owner, new Map(partitions.map((one) => [one.key, one])), wall, mono),
      { discard: true }
    )
  })

  const waitForRenewal = Effect.suspend(() => {
    if (leases.size() === 0) return Deferred.await(requested)
    if (isFailing) return Effect.sleep(Math.min(failedRenewalInterval, renewalInterval))
    return Effect.asVoid(Effect.timeoutOption(Deferred.await(requested), renewalInterval))
  })

  // An idle consumer has no leases, and so no timer.
  const keepRenewing = Effect.gen(function* () {
    for (;;) {
      yield* waitForRenewal
      // There were no leases before that claim, so its leases have just begun.
      const hasClaimed = !isRequested && Deferred.isDoneUnsafe(requested)
      requested = Deferred.makeUnsafe()
      if (hasClaimed && !isFailing) continue
      isRequested = false
      if (leases.size() === 0) isFailing = false
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
  if (store.isShared) watchFiber(yield* Effect.forkScoped(keepRenewing), onDefect)

  /**
   * Renews the leases at once, unless the last renewal failed. Returns after the next renewal, also if the renewal
   * fails.
   */
  const renewNow = Effect.suspend(() => {
    const next = renewed
    isRequested = true
    Deferred.doneUnsafe(requested, Exit.void)
    return Deferred.await(next)
  })

  /** Waits until the lease is certain. Interrupts if the partition is lost. */
  const confirm = (lease: Lease): Effect.Effect<void> =>
    Effect.suspend(() => {
      if (lease.isLost) return Effect.interrupt
      return isValid(lease) ? Effect.void : Effect.andThen(renewNow, confirm(lease))
    })

  /**
   * After the process was suspended, its leases are renewed before a claim could treat them as leases of a dead
   * process.
   */
  const renewIfDoubtful = Effect.suspend(() => {
    for (const lease of leases.values()) if (!isValid(lease)) return isFailing ? Effect.void : renewNow
    return Effect.void
  })

  return {
    confirm,
    renewNow,
    // The first can be a renewal that was sent before the process was suspended.
    renewDoubtful: Effect.andThen(renewIfDoubtful, renewIfDoubtful),
    /** Called when a partition is claimed while this process has no leases. */
    onFirst: (): void => void Deferred.doneUnsafe(requested, Exit.void)
  }
})
