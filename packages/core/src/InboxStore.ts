/**
 * The store of an inbox: a queue of updates in partitions, in memory or in a database. Bots use `Inbox`; this module is for
 * authors of stores.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { Deduplication } from "./internal/updates/deduplication.ts"
import { makeHeap } from "./internal/updates/heap.ts"
import type * as QueuedUpdate from "./QueuedUpdate.ts"
import type { StoreError } from "./StoreError.ts"
import * as WriteBatching from "./WriteBatching.ts"

/**
 * The updates that a source delivers together. All of them are stored, or none.
 *
 * @category models
 * @since 0.1.0
 */
export interface Batch {
  /** Updates to queue, in order. */
  readonly updates: ReadonlyArray<QueuedUpdate.QueuedUpdate>
  /** Updates that become dead letters at once, because they cannot be decoded or have no partition key. */
  readonly deadLetters: ReadonlyArray<{ readonly update: QueuedUpdate.QueuedUpdate; readonly error: string }>
  /** The position up to which the source has been read, stored with the updates. */
  readonly marker?: { readonly source: string; readonly value: bigint } | undefined
  /** Current time, in Unix milliseconds. */
  readonly now: number
  /** An update whose fingerprint was received at or after this time (Unix milliseconds) is a duplicate. */
  readonly duplicatesSince: number
}

/**
 * A queued update of a claimed partition.
 *
 * @category models
 * @since 0.1.0
 */
export interface ClaimedUpdate extends QueuedUpdate.Entry {
  /**
   * Whether the update may have been handled before: it is the first update of a partition whose lease has expired, or it
   * was a dead letter with at least one attempt.
   */
  readonly isRedelivered: boolean
}

/**
 * A claimed partition with its first queued updates, in order.
 *
 * @category models
 * @since 0.1.0
 */
export interface Partition {
  /** The partition key of all its updates. */
  readonly key: string
  /** The first queued updates. Empty only when the updates were deleted outside the library. */
  readonly updates: ReadonlyArray<ClaimedUpdate>
}

/**
 * A request for partitions. Claimed partitions belong to `owner` until `leaseUntil`.
 *
 * @category models
 * @since 0.1.0
 */
export interface Claim {
  /** The name of the consumer that claims. */
  readonly owner: string
  /** Current time, in Unix milliseconds. */
  readonly now: number
  /** End of the lease, in Unix milliseconds. */
  readonly leaseUntil: number
  /** Maximum number of partitions. */
  readonly maxPartitions: number
  /** Maximum number of updates of each partition. */
  readonly maxUpdates: number
}

/**
 * Why an update became a dead letter.
 *
 * @category models
 * @since 0.1.0
 */
export interface Failure {
  /** The error of the last attempt, as text. */
  readonly error: string
  /** Number of attempts. 0 when the update could not be decoded. */
  readonly attempts: number
  /** Time of the failure, in Unix milliseconds. */
  readonly failedAt: number
}

/**
 * A change of a claimed partition: acknowledges its first update or makes it a dead letter, and releases the partition if
 * `release` is set.
 *
 * @category models
 * @since 0.1.0
 */
export interface Commit {
  /** The consumer that claimed the partition. */
  readonly owner: string
  /** The partition. */
  readonly partitionKey: string
  /**
   * The first update of the partition. It is acknowledged, and thereby deleted, unless `failure` is set, which makes it a
   * dead letter. Default: no update is completed.
   */
  readonly completed?: { readonly id: string; readonly failure?: Failure | undefined } | undefined
  /** Whether to end the lease of the partition. */
  readonly release: boolean
}

/**
 * Statistics of a store.
 *
 * @category models
 * @since 0.1.0
 */
export interface Stats {
  /** Number of queued updates, including those that are being handled. */
  readonly queued: number
  /** When the oldest queued update was received, in Unix milliseconds. `undefined` when no update is queued. */
  readonly oldestReceivedAt: number | undefined
  /** Number of dead letters. */
  readonly deadLetters: number
}

/**
 * The operations of a store. Each operation is atomic, because several processes may use one store at the same time. All
 * times are Unix milliseconds of the caller's clock. `InboxSuite` of `@colloquy/testing` has the test cases for a store.
 *
 * @category services
 * @since 0.1.0
 */
export class InboxStore extends Context.Service<
  InboxStore,
  {
    /** Whether other processes may use the store. If so, consumers hold leases and poll it every second. */
    readonly isShared: boolean
    /**
     * Stores a batch durably. Updates and dead letters whose fingerprint was received since `duplicatesSince`, or earlier
     * in the same batch, are left out. Returns how many were added.
     */
    readonly enqueue: (batch: Batch) => Effect.Effect<number, StoreError>
    /**
     * Claims partitions that have queued updates and no owner, or an expired lease. Partitions with the oldest first
     * update come first. A partition has at most one owner, which keeps its updates in order across processes.
     */
    readonly claim: (claim: Claim) => Effect.Effect<ReadonlyArray<Partition>, StoreError>
    /**
     * Applies commits in the given order. A commit whose owner has lost the partition is ignored: the next owner handles
     * the update again.
     */
    readonly commit: (commits: ReadonlyArray<Commit>) => Effect.Effect<void, StoreError>
    /** Sets the end of the leases of all partitions that the owner holds. A time in the past releases them. */
    readonly renew: (owner: string, leaseUntil: number) => Effect.Effect<void, StoreError>
    /** Returns the number of queued updates and dead letters. */
    readonly stats: Effect.Effect<Stats, StoreError>
    /** Returns the position up to which a source has been read, or `undefined` for a new source. */
    readonly marker: (source: string) => Effect.Effect<bigint | undefined, StoreError>
    /** Returns a page of dead letters, the oldest first, that follow the id `after`. */
    readonly deadLetters: (page: {
      /** Id of the last dead letter of the page before. Default: the first page. */
      readonly after?: string | undefined
      /** Maximum number of dead letters. */
      readonly limit: number
    }) => Effect.Effect<ReadonlyArray<QueuedUpdate.DeadLetter>, StoreError>
    /** Moves dead letters to the end of their partitions, without deduplication. Returns how many existed. */
    readonly replay: (ids: ReadonlyArray<string>) => Effect.Effect<number, StoreError>
    /** Deletes dead letters. Returns how many existed. */
    readonly drop: (ids: ReadonlyArray<string>) => Effect.Effect<number, StoreError>
    /** Deletes fingerprints and dead letters that are older than the given times. */
    readonly cleanup: (limits: {
      /** Fingerprints received before this time are deleted. */
      readonly fingerprintsBefore: number
      /** Dead letters that failed before this time are deleted. */
      readonly deadLettersBefore: number
    }) => Effect.Effect<void, StoreError>
  }
>()("@colloquy/core/InboxStore") {}

interface MemoryEntry extends ClaimedUpdate {
  readonly sequence: number
  isRedelivered: boolean
}

interface MemoryPartition {
  readonly key: string
  updates: Array<MemoryEntry>
  /** Index of the first queued update. Completed updates before it are removed in chunks. */
  first: number
  owner: string | undefined
  leaseUntil: number
}

const compactAfter = 64

const headOf = ({ first, updates }: MemoryPartition): number => updates[first]?.sequence ?? Infinity

const makeMemoryUnsafe = (): InboxStore["Service"] => {
  const partitions = new Map<string, MemoryPartition>()
  const ready = makeHeap<MemoryPartition>((a, b) => headOf(a) < headOf(b))
  const deduplication = new Deduplication()
  const deadLetters = new Map<string, QueuedUpdate.DeadLetter>()
  const markers = new Map<string, bigint>()
  let sequence = 0
  let queued = 0
  let nextLeaseEnd = Infinity

  const isNew = ({ fingerprint }: QueuedUpdate.QueuedUpdate, { now, duplicatesSince }: Batch): boolean =>
    deduplication.add(fingerprint, now, duplicatesSince)

  const append = (update: QueuedUpdate.QueuedUpdate, isRedelivered: boolean): void => {
    queued++
    const entry = { id: String(++sequence), update, sequence, isRedelivered }
    const partition = partitions.get(update.partitionKey)
    if (partition !== undefined) {
      partition.updates.push(entry)
      return
    }
    const created: MemoryPartition = {
      key: update.partitionKey,
      updates: [entry],
      first: 0,
      owner: undefined,
      leaseUntil: 0
    }
    partitions.set(update.partitionKey, created)
    ready.push(created)
  }

  const enqueue = (batch: Batch): number => {
    let added = 0
    for (const update of batch.updates) {
      if (!isNew(update, batch)) continue
      added++
      append(update, false)
    }
    for (const { update, error } of batch.deadLetters) {
      if (!isNew(update, batch)) continue
      added++
      const id = String(++sequence)
      deadLetters.set(id, { id, update, error, attempts: 0, failedAt: batch.now })
    }
    if (batch.marker !== undefined) markers.set(batch.marker.source, batch.marker.value)
    return added
  }

  const release = (partition: MemoryPartition): void => {
    partition.owner = undefined
    if (partition.first === partition.updates.length) partitions.delete(partition.key)
    else ready.push(partition)
  }

  const releaseExpired = (now: number): void => {
    if (now < nextLeaseEnd) return
    nextLeaseEnd = Infinity
    for (const partition of partitions.values()) {
      if (partition.owner === undefined) continue
      if (partition.leaseUntil <= now) {
        const head = partition.updates[partition.first]
        if (head !== undefined) head.isRedelivered = true
        release(partition)
      } else nextLeaseEnd = Math.min(nextLeaseEnd, partition.leaseUntil)
    }
  }

  const claim = ({ owner, now, leaseUntil, maxPartitions, maxUpdates }: Claim): ReadonlyArray<Partition> => {
    releaseExpired(now)
    const claimed: Array<Partition> = []
    while (claimed.length < maxPartitions) {
      const partition = ready.pop()
      if (partition === undefined) break
      partition.owner = owner
      partition.leaseUntil = leaseUntil
      nextLeaseEnd = Math.min(nextLeaseEnd, leaseUntil)
      const { first, key, updates } = partition
      claimed.push({ key, updates: updates.slice(first, first + maxUpdates) })
    }
    return claimed
  }

  const complete = (partition: MemoryPartition, { id, failure }: NonNullable<Commit["completed"]>): void => {
    const head = partition.updates[partition.first]
    if (head === undefined || head.id !== id) return
    queued--
    partition.first++
    if (failure !== undefined) {
      const { error, attempts, failedAt } = failure
      deadLetters.set(id, { id, update: head.update, error, attempts, failedAt })
    }
    if (partition.first >= compactAfter && partition.first * 2 >= partition.updates.length) {
      partition.updates = partition.updates.slice(partition.first)
      partition.first = 0
    }
  }

  const commit = (commits: ReadonlyArray<Commit>): void => {
    for (const { owner, partitionKey, completed, release: isReleased } of commits) {
      const partition = partitions.get(partitionKey)
      if (partition === undefined || partition.owner !== owner) continue
      if (completed !== undefined) complete(partition, completed)
      if (isReleased) release(partition)
    }
  }

  const renew = (owner: string, leaseUntil: number): void => {
    for (const partition of partitions.values()) if (partition.owner === owner) partition.leaseUntil = leaseUntil
    nextLeaseEnd = Math.min(nextLeaseEnd, leaseUntil)
  }

  const oldestReceivedAt = (): number | undefined => {
    let oldest: number | undefined
    for (const { first, updates } of partitions.values()) {
      const receivedAt = updates[first]?.update.receivedAt
      if (receivedAt !== undefined && (oldest === undefined || receivedAt < oldest)) oldest = receivedAt
    }
    return oldest
  }

  const removeDeadLetters = (ids: ReadonlyArray<string>): ReadonlyArray<QueuedUpdate.DeadLetter> =>
    ids.flatMap((id) => {
      const deadLetter = deadLetters.get(id)
      deadLetters.delete(id)
      return deadLetter === undefined ? [] : [deadLetter]
    })

  return {
    isShared: false,
    enqueue: (batch) => Effect.sync(() => enqueue(batch)),
    claim: (options) => Effect.sync(() => claim(options)),
    commit: (commits) => Effect.sync(() => commit(commits)),
    renew: (owner, leaseUntil) => Effect.sync(() => renew(owner, leaseUntil)),
    stats: Effect.sync(() => ({
      queued,
      oldestReceivedAt: oldestReceivedAt(),
      deadLetters: deadLetters.size
    })),
    marker: (source) => Effect.sync(() => markers.get(source)),
    deadLetters: ({ after = "0", limit }) =>
      Effect.sync(() =>
        [...deadLetters.values()]
          .filter(({ id }) => Number(id) > Number(after))
          .sort((a, b) => Number(a.id) - Number(b.id))
          .slice(0, limit)
      ),
    replay: (ids) =>
      Effect.sync(() => {
        const removed = removeDeadLetters(ids)
        for (const { attempts, update } of removed) append(update, attempts > 0)
        return removed.length
      }),
    drop: (ids) => Effect.sync(() => removeDeadLetters(ids).length),
    cleanup: ({ deadLettersBefore, fingerprintsBefore }) =>
      Effect.sync(() => {
        deduplication.removeBefore(fingerprintsBefore)
        for (const [id, { failedAt }] of deadLetters) if (failedAt < deadLettersBefore) deadLetters.delete(id)
      })
  }
}

/**
 * Creates a store in the memory of the process. {@link layerMemory} provides it as a service.
 *
 * @category constructors
 * @since 0.1.0
 */
export const makeMemory: Effect.Effect<InboxStore["Service"]> = Effect.sync(makeMemoryUnsafe)

/**
 * A store in memory, for tests and for bots that may lose queued updates when the process stops. It remembers at least the
 * latest 50,000 fingerprints.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerMemory = (): Layer.Layer<InboxStore> => Layer.effect(InboxStore, makeMemory)

/**
 * The operations of a store that can store several batches in one transaction. {@link withWriteBatching} makes an
 * `InboxStore` of them.
 *
 * @category models
 * @since 0.1.0
 */
export interface BatchStore extends Omit<InboxStore["Service"], "enqueue"> {
  /** Stores all batches or none. Returns how many updates each of them added. */
  readonly enqueueAll: (batches: ReadonlyArray<Batch>) => Effect.Effect<ReadonlyArray<number>, StoreError>
}

/** Maximum weight of a transaction: every update weighs 1, and 1 more for each thousand characters. */
const maxWeight = 2000

const weighUpdate = ({ text }: QueuedUpdate.QueuedUpdate): number => 1 + text.length / 1000

const weighBatch = ({ deadLetters, updates }: Batch): number =>
  updates.reduce((weight, update) => weight + weighUpdate(update), 1) +
  deadLetters.reduce((weight, { update }) => weight + weighUpdate(update), 0)

/**
 * Adds write batching to a store whose transactions cost more than the rows that they write: batches and commits that
 * arrive while a transaction is running share the next one. Each of them still succeeds or fails by itself.
 *
 * @category constructors
 * @since 0.1.0
 */
export const withWriteBatching = ({
  enqueueAll,
  ...store
}: BatchStore): Effect.Effect<InboxStore["Service"], never, Scope.Scope> =>
  Effect.gen(function* () {
    const enqueue = yield* WriteBatching.make({ write: enqueueAll, weigh: weighBatch, maxWeight })
    const commit = yield* WriteBatching.make({
      write: (all: ReadonlyArray<ReadonlyArray<Commit>>) =>
        Effect.as(
          store.commit(all.flat()),
          all.map(() => {})
        ),
      weigh: (commits) => commits.length,
      maxWeight
    })
    return InboxStore.of({ ...store, enqueue, commit })
  })
