/** The operations of the inbox, as the cases use them. */
import { type Batch, type Claim, type Commit, InboxStore, type Partition } from "@colloquy/core/inbox/InboxStore"
import type * as QueuedUpdate from "@colloquy/core/inbox/QueuedUpdate"
import * as Effect from "effect/Effect"
import { change, day, fingerprints, lease, now, updatesOf } from "./updates.ts"

export const enqueue = (updates: ReadonlyArray<QueuedUpdate.QueuedUpdate>, batch: Partial<Batch> = {}) => {
  const at = batch.now ?? now
  return InboxStore.use((store) =>
    store.enqueue({ updates, deadLetters: [], now: at, duplicatesSince: at - day, ...batch })
  )
}

/** Claims partitions. With a `leaseDuration` of 0, the lease has expired before the next operation, in real and virtual time. */
export const claim = (owner: string, options: Partial<Omit<Claim, "owner">> = {}) => {
  const defaults = { leaseDuration: lease, maxPartitions: 100, maxDue: 0, maxUpdates: 100, begin: 0 }
  return InboxStore.use((store) => store.claim({ owner, ...defaults, ...options }))
}

/** Enqueues updates of the partition `chat`, and claims the partition for the owner `one`. */
export const claimChat = (count: number, options?: Parameters<typeof claim>[1]) =>
  Effect.andThen(
    enqueue(updatesOf("chat", count)),
    Effect.map(claim("one", options), ([chat]) => chat)
  )

export const commit = (...commits: ReadonlyArray<Commit>) => InboxStore.use((store) => store.commit(commits))

/** Acknowledges all updates of partitions, and releases the partitions. */
export const acknowledgeAll = (owner: string, partitions: ReadonlyArray<Partition>) =>
  commit(
    ...partitions.map(({ key, updates }) =>
      change(owner, key, { completed: updates.map(({ id }) => ({ id })), release: true })
    )
  )

export const renew = (owner: string, leaseDuration: number) =>
  InboxStore.use((store) => store.renew(owner, leaseDuration))

export const release = (owner: string) => renew(owner, 0)

export const stats = InboxStore.use((store) => store.stats)

/** A page of the queue. */
export const queue = ({
  limit = 100,
  ...page
}: { readonly partitionKey?: string; readonly after?: string | undefined; readonly limit?: number | undefined } = {}) =>
  InboxStore.use((store) => store.updates({ of: "queue", limit, ...page }))

/** Acknowledges all queued updates. Returns their fingerprints, partition by partition. */
export const drain = Effect.fnUntraced(function* (owner = "drain") {
  const taken: Array<string> = []
  for (;;) {
    const partitions = yield* claim(owner)
    if (partitions.length === 0) return taken
    taken.push(...fingerprints(partitions).flat())
    yield* acknowledgeAll(owner, partitions)
  }
})
