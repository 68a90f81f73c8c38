import { type Batch, InboxStore, type Partition, type Commit } from "@colloquy/core/InboxStore"
import * as QueuedUpdate from "@colloquy/core/QueuedUpdate"
import type { StoreError } from "@colloquy/core/StoreError"
import * as Effect from "effect/Effect"

export interface Case {
  readonly name: string
  readonly effect: Effect.Effect<void, StoreError, InboxStore>
}

export const test = (
  name: string,
  body: () => Generator<Effect.Effect<unknown, StoreError, InboxStore>, void>
): Case => ({
  name,
  effect: Effect.gen(body)
})

/** The current time of all cases. */
export const now = 1_700_000_000_000

export const day = 24 * 60 * 60 * 1000

export const lease = 90_000

export const update = (
  fingerprint: string,
  { key = "chat", receivedAt = now, text = JSON.stringify({ fingerprint }) } = {}
): QueuedUpdate.QueuedUpdate => QueuedUpdate.fromStored({ fingerprint, partitionKey: key, receivedAt, text })

export const updatesOf = (key: string, count: number): ReadonlyArray<QueuedUpdate.QueuedUpdate> =>
  Array.from({ length: count }, (_, index) => update(`${key}:${index}`, { key }))

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

export const claim = (
  owner: string,
  {
    at = now,
    leaseUntil = at + lease,
    maxPartitions = 100,
    maxUpdates = 100
  }: Partial<Record<"at" | "leaseUntil" | "maxPartitions" | "maxUpdates", number>> = {}
) => InboxStore.use((store) => store.claim({ owner, now: at, leaseUntil, maxPartitions, maxUpdates }))

export const commit = (...commits: ReadonlyArray<Commit>) => InboxStore.use((store) => store.commit(commits))

/** Acknowledges all updates of partitions, and releases the partitions. */
export const acknowledgeAll = (owner: string, partitions: ReadonlyArray<Partition>) =>
  commit(
    ...partitions.flatMap(({ key, updates }) =>
      updates.map(({ id }, index) => ({
        owner,
        partitionKey: key,
        completed: { id },
        release: index === updates.length - 1
      }))
    )
  )

export const failAll = (owner: string, { key, updates }: Partition, error: string, failedAt = now) =>
  commit(
    ...updates.map(({ id }, index) => ({
      owner,
      partitionKey: key,
      completed: { id, failure: { error, attempts: 3, failedAt } },
      release: index === updates.length - 1
    }))
  )

export const stats = InboxStore.use((store) => store.stats)

export const listDeadLetters = (limit = 100, after?: string) =>
  InboxStore.use((store) => store.deadLetters({ limit, after }))

export const fingerprints = (partitions: ReadonlyArray<Partition>): ReadonlyArray<ReadonlyArray<string>> =>
  partitions.map(({ updates }) => updates.map(({ update }) => update.fingerprint))

/** Acknowledges all queued updates. Returns their fingerprints, partition by partition. */
export const drain = Effect.fnUntraced(function* (owner = "drain", at = now + 10 * day) {
  const taken: Array<string> = []
  for (;;) {
    const partitions = yield* claim(owner, { at })
    if (partitions.length === 0) return taken
    taken.push(...fingerprints(partitions).flat())
    yield* acknowledgeAll(owner, partitions)
  }
})
