import type { Claim, ClaimedUpdate } from "../../InboxStore.ts"
import type { Entry, QueuedUpdate } from "../../QueuedUpdate.ts"
import { makeHeap } from "./heap.ts"

interface MemoryEntry extends ClaimedUpdate {
  readonly sequence: number
  isCompleted: boolean
}

interface MemoryPartition {
  readonly key: string
  entries: Array<MemoryEntry>
  /** Index of the first queued update. Completed updates at the start are removed in chunks. */
  first: number
  owner: string | undefined
  leaseUntil: number
  /** Ids of the updates whose attempt is running. */
  begun: Set<string> | undefined
}

const compactAfter = 64

const headOf = ({ entries, first }: MemoryPartition): number => entries[first]?.sequence ?? Infinity

/** Returns the index of an update. The sequence numbers of a partition ascend. */
const indexOf = ({ entries, first }: MemoryPartition, sequence: number): number => {
  if (entries[first]?.sequence === sequence) return first
  let low = first
  let high = entries.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (entries[middle]!.sequence < sequence) low = middle + 1
    else high = middle
  }
  return entries[low]?.sequence === sequence ? low : -1
}

const queuedIndexOf = (partition: MemoryPartition, id: string): number => {
  const index = indexOf(partition, Number(id))
  return index === -1 || partition.entries[index]!.isCompleted ? -1 : index
}

const isQueued = (partition: MemoryPartition, id: string): boolean => queuedIndexOf(partition, id) !== -1

const firstQueued = ({ entries, first }: MemoryPartition, limit: number): ReadonlyArray<MemoryEntry> => {
  const candidates = entries.slice(first, first + limit)
  if (candidates.every(({ isCompleted }) => !isCompleted)) return candidates
  const queued: Array<MemoryEntry> = []
  for (let index = first; index < entries.length && queued.length < limit; index++) {
    const entry = entries[index]!
    if (!entry.isCompleted) queued.push(entry)
  }
  return queued
}

/**
 * Counts an attempt that failed, or that ended with its process. The entry is replaced, because a claim returned the
 * entry.
 */
const countAttempt = (partition: MemoryPartition, id: string, crashes: 0 | 1): void => {
  partition.begun?.delete(id)
  const index = queuedIndexOf(partition, id)
  const entry = partition.entries[index]
  if (entry === undefined) return
  partition.entries[index] = { ...entry, attempts: entry.attempts + 1, crashes: entry.crashes + crashes }
}

/** The queued updates of a store in memory, in partitions that have leases. Times are milliseconds of one clock. */
export const makePartitions = (nextSequence: () => number) => {
  const partitions = new Map<string, MemoryPartition>()
  const ready = makeHeap<MemoryPartition>((a, b) => headOf(a) < headOf(b))
  let queued = 0
  let nextLeaseEnd = Infinity

  const release = (partition: MemoryPartition): void => {
    partition.owner = undefined
    partition.begun = undefined
    if (partition.first === partition.entries.length) partitions.delete(partition.key)
    else ready.push(partition)
  }

  const releaseExpired = (now: number): void => {
    if (now < nextLeaseEnd) return
    nextLeaseEnd = Infinity
    for (const partition of partitions.values()) {
      if (partition.owner === undefined) continue
      if (partition.leaseUntil <= now) {
        partition.begun?.forEach((id) => countAttempt(partition, id, 1))
        release(partition)
      } else nextLeaseEnd = Math.min(nextLeaseEnd, partition.leaseUntil)
    }
  }

  const complete = (partition: MemoryPartition, id: string): QueuedUpdate | undefined => {
    const index = queuedIndexOf(partition, id)
    const entry = partition.entries[index]
    if (entry === undefined) return undefined
    queued--
    entry.isCompleted = true
    partition.begun?.delete(id)
    while (partition.entries[partition.first]?.isCompleted === true) partition.first++
    if (partition.first >= compactAfter && partition.first * 2 >= partition.entries.length) {
      partition.entries = partition.entries.slice(partition.first)
      partition.first = 0
    }
    return entry.update
  }

  return {
    size: (): number => queued,
    /** Appends an update to its partition, and returns its id. */
    append: (update: QueuedUpdate, attempts: number): string => {
      queued++
      const sequence = nextSequence()
      const entry = { id: String(sequence), update, sequence, attempts, crashes: 0, isCompleted: false }
      const partition = partitions.get(update.partitionKey)
      if (partition !== undefined) {
        partition.entries.push(entry)
        return entry.id
      }
      const created: MemoryPartition = {
        key: update.partitionKey,
        entries: [entry],
        first: 0,
        owner: undefined,
        leaseUntil: 0,
        begun: undefined
      }
      partitions.set(update.partitionKey, created)
      ready.push(created)
      return entry.id
    },
    claim: ({ begin, leaseDuration, maxPartitions, maxUpdates, owner }: Claim, now: number) => {
      releaseExpired(now)
      const claimed: Array<{ readonly key: string; readonly updates: ReadonlyArray<MemoryEntry> }> = []
      while (claimed.length < maxPartitions) {
        const partition = ready.pop()
        if (partition === undefined) break
        partition.owner = owner
        partition.leaseUntil = now + leaseDuration
        nextLeaseEnd = Math.min(nextLeaseEnd, partition.leaseUntil)
        const updates = firstQueued(partition, maxUpdates)
        if (begin > 0) partition.begun = new Set(updates.slice(0, begin).map(({ id }) => id))
        claimed.push({ key: partition.key, updates })
      }
      return claimed
    },
    /** Returns a partition, or `undefined` if the owner does not hold the partition. */
    ownedBy: (owner: string, key: string): MemoryPartition | undefined => {
      const partition = partitions.get(key)
      return partition?.owner === owner ? partition : undefined
    },
    isQueued,
    /** Returns the queued updates with a greater sequence number in ascending order, of one partition or of all. */
    queued: (key: string | undefined, after: number, limit: number): ReadonlyArray<Entry> =>
      (key === undefined ? [...partitions.values()] : [partitions.get(key)])
        .flatMap((partition) =>
          partition === undefined
            ? []
            : partition.entries
                .slice(partition.first)
                .filter(({ isCompleted, sequence }) => !isCompleted && sequence > after)
        )
        .sort((a, b) => a.sequence - b.sequence)
        .slice(0, limit),
    /** Removes an update. Returns `undefined` if the update is not queued. */
    complete,
    fail: (partition: MemoryPartition, id: string): void => countAttempt(partition, id, 0),
    begin: (partition: MemoryPartition, id: string): void => {
      if (isQueued(partition, id)) (partition.begun ??= new Set()).add(id)
    },
    releaseOne: release,
    /** Renews the leases of an owner, or ends them with a duration of 0. */
    renew: (owner: string, leaseDuration: number, now: number): ReadonlyArray<string> => {
      const renewed = [...partitions.values()].filter((partition) => partition.owner === owner)
      for (const partition of renewed) {
        if (leaseDuration === 0) release(partition)
        else partition.leaseUntil = now + leaseDuration
      }
      if (renewed.length > 0 && leaseDuration > 0) nextLeaseEnd = Math.min(nextLeaseEnd, now + leaseDuration)
      return renewed.map(({ key }) => key)
    },
    /** Returns when a partition can be claimed: 0 if one can be claimed now, the end of the first lease, or `Infinity`. */
    claimableAt: (): number => {
      if (ready.peek() !== undefined) return 0
      let first = Infinity
      if (nextLeaseEnd === Infinity) return first
      for (const { leaseUntil, owner } of partitions.values())
        if (owner !== undefined) first = Math.min(first, leaseUntil)
      return first
    },
    oldestReceivedAt: (): number | undefined => {
      let oldest: number | undefined
      for (const { entries, first } of partitions.values()) {
        const receivedAt = entries[first]?.update.receivedAt
        if (receivedAt !== undefined && (oldest === undefined || receivedAt < oldest)) oldest = receivedAt
      }
      return oldest
    }
  }
}
