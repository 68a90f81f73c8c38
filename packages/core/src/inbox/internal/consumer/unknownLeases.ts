import * as Effect from "effect/Effect"
import type { Inbox } from "../../Inbox.ts"
import type { StoreError } from "../../../base/StoreError.ts"
import type { LeaseSet } from "./lease.ts"

interface UnknownLease {
  readonly owner: string
  readonly partitionKey: string
}

const warn = (count: number): Effect.Effect<void> =>
  Effect.logWarning(
    `The store had ${count} partitions under the name of this process that the process does not handle: the answer to a claim ` +
      "was lost, or the store has lost writes. They were released, and their updates can be claimed."
  )

/**
 * Releases partitions that the store has under a name of this process, and that this process does not hold. The store
 * would renew these partitions with the others of that name, so that their updates would wait for ever.
 */
export const make = ({ store, wakeAll }: Inbox["Service"], leases: LeaseSet) => {
  /** Not released while a claim is under way, because the claim may return them. */
  let found: ReadonlyArray<UnknownLease> = []
  let isClaiming = false

  const isUnknown = ({ owner, partitionKey }: UnknownLease): boolean => leases.get(partitionKey)?.owner !== owner

  const releaseFound = Effect.suspend((): Effect.Effect<void> => {
    if (isClaiming || found.length === 0) return Effect.void
    const unknown = found.filter(isUnknown)
    found = []
    if (unknown.length === 0) return Effect.void
    const commits = unknown.map((lease) => ({ ...lease, completed: [], failed: [], begun: [], release: true }))
    return Effect.matchEffect(store.commit(commits), {
      // The next renewal finds them again. Leases of a name that is not used any more expire.
      onFailure: () => Effect.void,
      onSuccess: (results) => {
        // Others were released after the renewal had returned them.
        const released = results.filter((result) => result === "applied").length
        if (released === 0) return Effect.void
        wakeAll()
        return warn(released)
      }
    })
  })

  const endClaim = Effect.sync(() => {
    isClaiming = false
    found = found.filter(isUnknown)
  })

  return {
    /**
     * Releases partitions that a renewal has returned. No claim uses the owner any more, except a claim that is under
     * way.
     */
    release: (owner: string, keys: ReadonlyArray<string>): Effect.Effect<void> =>
      Effect.suspend(() => {
        found = [...found, ...keys.map((partitionKey) => ({ owner, partitionKey }))]
        return releaseFound
      }),
    /** Releases partitions that were found during the last claim, and runs a claim. */
    beforeClaim: <A>(claim: Effect.Effect<A, StoreError>): Effect.Effect<A, StoreError> => {
      const claimed = Effect.suspend(() => {
        isClaiming = true
        return Effect.ensuring(claim, endClaim)
      })
      return found.length === 0 ? claimed : Effect.andThen(releaseFound, claimed)
    }
  }
}
