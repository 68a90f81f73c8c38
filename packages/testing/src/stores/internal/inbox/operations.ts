import { type Batch, type Claim, type Commit, InboxStore, type Partition } from "@colloquy/core/inbox/InboxStore"
import * as QueuedUpdate from "@colloquy/core/inbox/QueuedUpdate"
import * as Effect from "effect/Effect"

/** When the updates of all cases are received. */
export const now = 1_700_000_000_000

export const day = 24 * 60 * 60 * 1000

export const lease = 90_000

export const update = (
  fingerprint: string,
  { key = "chat", receivedAt = now, text = JSON.stringify({ fingerprint }) } = {}
): QueuedUpdate.QueuedUpdate => QueuedUpdate.fromStored({ fingerprint, partitionKey: key, receivedAt, text })

export const updatesOf = (key: string, count: number): ReadonlyArray<QueuedUpdate.QueuedUpdate> =>
  Array.from({ length: count }, (_, index) => update(`${key}:${index}`, { key }))

/** The fingerprints of {@link updatesOf}. */
export const namesOf = (key: string, count: number) => updatesOf(key, count).map(({ fingerprint }) => fingerprint)

export const enqueue = (updates: ReadonlyArray<QueuedUpdate.QueuedUpdate>, batch: Partial<Batch> = {}) => {
  const at = batch.now ?? now
  return InboxStore.use((store) =>
    store.enqueue({ updates, deadLetters: [], now: at, duplicatesSince: at - day, ...batch })
  )
}

export const malformedUpdate = (fingerprint: string, text: string, error = "is no update") => ({
  update: update(fingerprint, { key: "", text }),
  error
})

/** Claims partitions. With a `leaseDuration` of 0, the lease has expired before the next operation, in real and virtual time. */
export const claim = (
  owner: string,
  {
    begin = 0,
    leaseDuration = lease,
    maxPartitions = 100,
    maxDue = 0,
    maxUpdates = 100
  }: Partial<Omit<Claim, "owner">> = {}
) => InboxStore.use((store) => store.claim({ owner, leaseDuration, maxPartitions, maxDue, maxUpdates, begin }))

/** Enqueues updates of the partition `chat`, and claims the partition for the owner `one`. */
export const claimChat = (count: number, options?: Parameters<typeof claim>[1]) =>
  Effect.andThen(
    enqueue(updatesOf("chat", count)),
    Effect.map(claim("one", options), ([chat]) => chat)
  )

export const idsOf = ({ updates }: Partition) => updates.map(({ id }) => id)

/** Commits nothing but the given parts. */
export const change = (owner: string, partitionKey: string, parts: Partial<Commit> = {}): Commit => ({
  owner,
  partitionKey,
  completed: [],
  failed: [],
  begun: [],
  release: false,
  ...parts
})

export const commit = (...commits: ReadonlyArray<Commit>) => InboxStore.use((store) => store.commit(commits))

/** Acknowledges all updates of partitions, and releases the partitions. */
export const acknowledgeAll = (owner: string, partitions: ReadonlyArray<Partition>) =>
  commit(
    ...partitions.map(({ key, updates }) =>
      change(owner, key, { completed: updates.map(({ id }) => ({ id })), release: true })
    )
  )

export const failAll = (owner: string, { key, updates }: Partition, error: string, failedAt = now) =>
  commit(
    change(owner, key, {
      completed: updates.map(({ id }) => ({ id, failure: { error, attempts: 3, failedAt } })),
      release: true
    })
  )

export const renew = (owner: string, leaseDuration: number) =>
  InboxStore.use((store) => store.renew(owner, leaseDuration))

export const release = (owner: string) => renew(owner, 0)

/** Attempts and crashes of claimed updates, by their fingerprints. */
export const counts = (partitions: ReadonlyArray<Partition>): Record<string, readonly [number, number]> =>
  Object.fromEntries(
    partitions.flatMap(({ updates }) =>
      updates.map(({ attempts, crashes, update }) => [update.fingerprint, [attempts, crashes] as const])
    )
  )

export const stats = InboxStore.use((store) => store.stats)

export const listDeadLetters = (limit = 100, after?: string) =>
  Effect.map(
    InboxStore.use((store) => store.updates({ of: "deadLetters", limit, after })),
    (letters) => letters.map(({ failure, ...entry }) => ({ ...entry, ...failure! }))
  )

/** A page of the queue. */
export const queue = ({
  limit = 100,
  ...page
}: { readonly partitionKey?: string; readonly after?: string | undefined; readonly limit?: number | undefined } = {}) =>
  InboxStore.use((store) => store.updates({ of: "queue", limit, ...page }))

/** Replays dead letters, or drops them. */
export const takeDeadLetters = (replay: boolean, ...ids: ReadonlyArray<string>) =>
  InboxStore.use((store) => store.takeDeadLetters({ ids, replay }))

/** The fingerprints of updates and dead letters. */
export const namesIn = (entries: ReadonlyArray<Pick<QueuedUpdate.Entry, "update">>): ReadonlyArray<string> =>
  entries.map(({ update }) => update.fingerprint)

export const fingerprints = (partitions: ReadonlyArray<Partition>): ReadonlyArray<ReadonlyArray<string>> =>
  partitions.map(({ updates }) => namesIn(updates))

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
