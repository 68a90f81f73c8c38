/**
 * The store of an inbox: a queue of updates in partitions, with the journals of the updates, the values of states and the
 * timers, in memory or in a database. Bots use `Inbox`; this module is for authors of stores.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { makeJournals } from "./internal/store/memoryJournals.ts"
import { makeStates } from "./internal/store/memoryStates.ts"
import { makeTimers } from "./internal/store/memoryTimers.ts"
import { Deduplication } from "./internal/store/deduplication.ts"
import { makePartitions } from "./internal/store/memoryPartitions.ts"
import * as QueuedUpdate from "./QueuedUpdate.ts"
import type { StoreError } from "../base/StoreError.ts"
import * as WriteBatching from "../base/WriteBatching.ts"
import * as scopes from "./internal/store/scopes.ts"

/**
 * An entry of the journal of an update.
 *
 * @category journal
 * @since 0.1.0
 */
export interface JournalEntry {
  /** Identifies the call or the step within the update. */
  readonly slot: string
  /**
   * `started`: the call may have been carried out. `done`: the call was carried out. `removed`: the entry is deleted.
   */
  readonly state: "started" | "done" | "removed"
  /** The content of the entry: the circumstances of the start, or the answer. */
  readonly text: string
}

/**
 * Entries to write to the journal of an update.
 *
 * @category journal
 * @since 0.1.0
 */
export interface JournalRecord {
  /** The consumer that claimed the partition. */
  readonly owner: string
  /** The partition of the update. */
  readonly partitionKey: string
  /** The id of the update. */
  readonly id: string
  /** The entries. Each of them replaces the entry of its slot, except that `started` does not replace `done`. */
  readonly entries: ReadonlyArray<JournalEntry>
}

/**
 * The result of a record. With `"leaseLost"`, the owner does not hold the partition, or the update is not queued any
 * more, and no part of the record was written.
 *
 * @category journal
 * @since 0.1.0
 */
export type RecordResult = "applied" | "leaseLost"

/**
 * The journals of queued updates and dead letters.
 *
 * A claim returns the journals of the claimed updates. A commit that acknowledges an update deletes its journal. A dead
 * letter keeps its journal, and a replay moves the journal to the new id.
 *
 * @category journal
 * @since 0.1.0
 */
export interface JournalStore {
  /** Writes records durably, in the given order. Returns a result for each of them. */
  readonly record: (records: ReadonlyArray<JournalRecord>) => Effect.Effect<ReadonlyArray<RecordResult>, StoreError>
}

/**
 * The key of a value of the state.
 *
 * @category state
 * @since 0.1.0
 */
export interface StateKey {
  /** The scope of the value: `chat:1`, `user:2`, `chat:1/user:2`, or `bot`. */
  readonly scope: string
  /** The name of the state. */
  readonly name: string
}

/**
 * A value of the state.
 *
 * @category state
 * @since 0.1.0
 */
export interface StateValue {
  /** The JSON text of the value. */
  readonly text: string
  /** The version of its schema. */
  readonly version: number
  /** When the value expires, in Unix milliseconds. `undefined`: never. A store returns expired values until a cleanup. */
  readonly expiresAt: number | undefined
}

/**
 * A stored value, with the revision of its last write.
 *
 * @category state
 * @since 0.1.0
 */
export interface StoredState extends StateValue {
  /** Identifies this version of the value. No other value with this key has or had this revision. */
  readonly revision: string
}

/**
 * A change of a value. The change is applied only if the stored revision is the expected one.
 *
 * @category state
 * @since 0.1.0
 */
export interface StateWrite extends StateKey {
  /** The new value. `undefined` deletes the value. */
  readonly value: StateValue | undefined
  /** The revision that was read. `undefined`: there was no value. */
  readonly expected: string | undefined
  /** The revision of this write: letters, digits, `-` and `.`. No other write has this revision. */
  readonly revision: string
}

/**
 * The values of the state.
 *
 * @category state
 * @since 0.1.0
 */
export interface StateStore {
  /** Reads values. Returns `undefined` for each key without a value. */
  readonly get: (keys: ReadonlyArray<StateKey>) => Effect.Effect<ReadonlyArray<StoredState | undefined>, StoreError>
  /** Applies all writes, or none if a revision is not the expected one. Returns `true` if they were applied. */
  readonly write: (writes: ReadonlyArray<StateWrite>) => Effect.Effect<boolean, StoreError>
  /**
   * Returns a page of the values of a state, in an order that does not change. A value that is written while the pages are
   * read may be missing.
   */
  readonly page: (page: {
    /** The name of the state. */
    readonly name: string
    /** The scope of the last value of the page before. Default: the first page. */
    readonly after?: string | undefined
    /** Maximum number of values. */
    readonly limit: number
  }) => Effect.Effect<ReadonlyArray<StateKey & StoredState>, StoreError>
  /**
   * Deletes everything that belongs to a user: the values of the scope `user:2`, and of `chat:1/user:2` for every chat.
   * Returns how many values existed.
   */
  readonly forget: (user: string) => Effect.Effect<number, StoreError>
  /** Deletes values that expired before this time, in Unix milliseconds. */
  readonly cleanup: (expiredBefore: number) => Effect.Effect<void, StoreError>
}

/**
 * Returns the user that a scope belongs to, such as `user:2` for `chat:1/user:2`, or `undefined` if it belongs to none.
 *
 * @category state
 * @since 0.1.0
 */
export const userOfScope: (scope: string) => string | undefined = scopes.userOfScope

/**
 * A change of a timer. A timer is identified by its name and its key.
 *
 * @category timers
 * @since 0.1.0
 */
export interface TimerChange {
  /** The name of the timer. */
  readonly name: string
  /** The key of the timer. */
  readonly key: string
  /** The timer to set. The timer replaces the timer with the same name and key. `undefined` cancels the timer. */
  readonly set: TimerSetting | undefined
  /**
   * The id of the occurrence whose handling this change ends. `set` is then the next occurrence, which is set only if
   * the store remembers the handled occurrence, and the timer was not cancelled. If `set` is `undefined`, no timer is
   * cancelled. Default: the change ends no handling, and also cancels an occurrence that is queued.
   */
  readonly occurrence?: string | undefined
}

/**
 * The due time of a timer, and the update that the timer becomes.
 *
 * @category timers
 * @since 0.1.0
 */
export interface TimerSetting {
  /** The due time: a time in Unix milliseconds, or a number of milliseconds from now, by the clock of the store. */
  readonly due: { readonly at: number } | { readonly after: number }
  /** The partition of the update. */
  readonly partitionKey: string
  /** The fingerprint of the update. The fingerprint is not checked for duplicates. */
  readonly fingerprint: string
  /** The JSON text of the update. */
  readonly text: string
  /** The user to whom the timer belongs, such as `user:2`. Default: to nobody. */
  readonly user?: string | undefined
}

/**
 * A timer that is set and did not become an update yet.
 *
 * @category timers
 * @since 0.1.0
 */
export interface StoredTimer extends Pick<TimerSetting, "partitionKey" | "text"> {
  /** Identifies this setting of the timer. */
  readonly id: string
  /** The due time, in Unix milliseconds of the clock of the store. */
  readonly dueAt: number
}

/**
 * The timers. A claim with `maxTimers` moves due timers to the queue: each timer becomes the last update of its
 * partition, received at the due time, and is deleted. This update is an occurrence of the timer. The store remembers
 * an occurrence until a {@link TimerChange} with its id ends its handling.
 *
 * @category timers
 * @since 0.1.0
 */
export interface TimerStore {
  /** Applies all changes, or none. */
  readonly change: (changes: ReadonlyArray<TimerChange>) => Effect.Effect<void, StoreError>
  /**
   * Returns the number of milliseconds until the next timer is due, 0 if a timer is due, or `undefined` if there is no
   * timer.
   */
  readonly untilNext: Effect.Effect<number | undefined, StoreError>
  /** Whether the timer that became this update was cancelled or set again since. */
  readonly isCancelled: (occurrence: string) => Effect.Effect<boolean, StoreError>
  /**
   * Returns a page of the timers, in the order in which they are due. A timer that is changed while the pages are read may be
   * missing, or occur twice.
   */
  readonly page: (page: {
    /** The last timer of the page before. Default: the first page. */
    readonly after?: Pick<StoredTimer, "dueAt" | "id"> | undefined
    /** Maximum number of timers. */
    readonly limit: number
  }) => Effect.Effect<ReadonlyArray<StoredTimer>, StoreError>
  /**
   * Cancels all timers that belong to a user, such as `user:2`, and their occurrences that are queued. Returns how many they
   * are.
   */
  readonly forget: (user: string) => Effect.Effect<number, StoreError>
}

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
 * A queued update of a claimed partition. `attempts` above 0 means that the update may have been handled before.
 *
 * @category models
 * @since 0.1.0
 */
export interface ClaimedUpdate extends QueuedUpdate.Entry {
  /**
   * Number of attempts that began before this claim: failed attempts, and attempts whose process died. A replayed dead
   * letter keeps its attempts.
   */
  readonly attempts: number
  /** How many of these attempts ended because the process died. 0 after the replay of a dead letter. */
  readonly crashes: number
  /** The journal of the update. `undefined` if the journal has no entries. */
  readonly journal?: ReadonlyArray<JournalEntry> | undefined
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
 * A request for partitions. Claimed partitions belong to `owner` until their lease ends.
 *
 * @category models
 * @since 0.1.0
 */
export interface Claim {
  /** The name of the consumer that claims. */
  readonly owner: string
  /** Duration of the lease in milliseconds, by the clock of the store. A lease of 0 has already expired. */
  readonly leaseDuration: number
  /** Maximum number of partitions. */
  readonly maxPartitions: number
  /** Maximum number of updates of each partition. */
  readonly maxUpdates: number
  /** How many updates of each partition, from the first one on, are marked as begun. */
  readonly begin: number
  /** Maximum number of due timers that are moved to the queue before partitions are claimed. Default: 0. */
  readonly maxTimers?: number | undefined
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
 * An update that a {@link Commit} completes.
 *
 * @category models
 * @since 0.1.0
 */
export interface Completed {
  /** The id of the update. */
  readonly id: string
  /** Makes the update a dead letter. Default: the update is acknowledged, and thereby deleted. */
  readonly failure?: Failure | undefined
}

/**
 * A change of a claimed partition. Its parts apply in the order of the fields. Ids of updates that are not queued in the
 * partition are ignored. `writes` and `timers` apply only if all updates of `completed` are queued, so a commit that is
 * repeated because its result was lost changes nothing and returns `"applied"`.
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
   * Updates that are acknowledged or become dead letters. The list may have any updates of the partition, in any order.
   */
  readonly completed: ReadonlyArray<Completed>
  /** Ids of updates whose attempt failed and is repeated later. Their attempts increase by 1, and they are no longer marked as begun. */
  readonly failed: ReadonlyArray<string>
  /** Ids of updates whose attempt begins. The commit marks these updates as begun. */
  readonly begun: ReadonlyArray<string>
  /** Changes of the state. If one change does not apply, the store applies no part of the commit. Default: none. */
  readonly writes?: ReadonlyArray<StateWrite> | undefined
  /** Timers that are set or cancelled. Default: none. */
  readonly timers?: ReadonlyArray<TimerChange> | undefined
  /** Whether to end the lease of the partition. Its updates are no longer marked as begun, and their attempts and crashes do not change. */
  readonly release: boolean
}

/**
 * The result of a commit. With `"leaseLost"`, the owner does not hold the partition. With `"stateConflict"`, a value of
 * the state was changed after the handler had read the value. In both cases no part of the commit was applied.
 *
 * @category models
 * @since 0.1.0
 */
export type CommitResult = "applied" | "leaseLost" | "stateConflict"

/**
 * Statistics of a store.
 *
 * @category models
 * @since 0.1.0
 */
export interface Stats {
  /** Number of queued updates, including the updates that are being handled. */
  readonly queued: number
  /** When the oldest queued update was received, in Unix milliseconds. `undefined` when no update is queued. */
  readonly oldestReceivedAt: number | undefined
  /** Number of dead letters. */
  readonly deadLetters: number
}

/**
 * The operations of a store. Each operation is atomic, because several processes may use one store at the same time.
 * Leases are counted by the clock of the store. All other times are Unix milliseconds of the caller's clock. `InboxSuite`
 * of `@colloquy/testing` has the test cases for a store.
 *
 * An update is marked as begun during an attempt to handle the update. If the process dies, the mark stays. When the
 * partition is claimed after its lease has expired, the attempts and the crashes of each marked update increase by 1.
 * Claimed updates without the mark do not change.
 *
 * @category services
 * @since 0.1.0
 */
export class InboxStore extends Context.Service<
  InboxStore,
  {
    /** Whether other processes may use the store. If so, consumers hold leases and poll the store. */
    readonly isShared: boolean
    /**
     * Stores a batch durably, without the updates and dead letters whose fingerprint was received since `duplicatesSince` or
     * earlier in the same batch. Returns how many were added.
     */
    readonly enqueue: (batch: Batch) => Effect.Effect<number, StoreError>
    /**
     * Claims partitions that have queued updates, and no owner or an expired lease. Partitions with the oldest first update
     * come first. A partition has at most one owner, which keeps its updates in order across processes. A claim
     * survives the end of the process, but not necessarily a power failure.
     */
    readonly claim: (claim: Claim) => Effect.Effect<ReadonlyArray<Partition>, StoreError>
    /** Applies commits in the given order. Returns a result for each commit. */
    readonly commit: (commits: ReadonlyArray<Commit>) => Effect.Effect<ReadonlyArray<CommitResult>, StoreError>
    /**
     * Renews the leases of all partitions that the owner holds, for `leaseDuration` milliseconds from now, and returns
     * the keys of the partitions. An expired lease is renewed if no partition was claimed from the store since, because
     * the owner still holds the lease.
     */
    readonly renew: (owner: string, leaseDuration: number) => Effect.Effect<ReadonlyArray<string>, StoreError>
    /** Ends all leases of the owner. Its updates are no longer marked as begun, and their attempts and crashes do not change. */
    readonly release: (owner: string) => Effect.Effect<void, StoreError>
    /**
     * Calls `wake` when another process has made a partition claimable, or has set a timer that is due before all others, until the
     * scope closes. If the connection is lost, the
     * store connects again. Consumers poll the store as well, because calls can be missed. Without this operation, they poll
     * more often.
     */
    readonly listen?: ((wake: () => void) => Effect.Effect<void, StoreError, Scope.Scope>) | undefined
    /**
     * Returns the time in milliseconds until a claim can return partitions, if all processes are idle until then: 0 if
     * a claim can return partitions now, otherwise the time until the first lease ends or the first timer is due.
     * Returns `undefined` if there are no leases and timers. The operation changes nothing. An idle consumer with
     * `listen` calls this operation instead of `claim`, at first after 5 seconds, and then less often, down to every 30
     * seconds. Without this operation, an idle consumer claims every 5 seconds.
     */
    readonly untilClaimable?: Effect.Effect<number | undefined, StoreError> | undefined
    /**
     * Returns the queued updates of a partition whose ids are greater than `after`, in order, whether or not the partition is
     * claimed.
     */
    readonly queuedAfter: (page: {
      /** The partition key. */
      readonly partitionKey: string
      /** Id of the update before the first one. */
      readonly after: string
      /** Maximum number of updates. */
      readonly limit: number
    }) => Effect.Effect<ReadonlyArray<QueuedUpdate.Entry>, StoreError>
    /**
     * Returns a page of the queued updates of all partitions, in the order of their ids, whether or not their partitions are
     * claimed. An update that is queued while the pages are read may be missing.
     */
    readonly queued: (page: {
      /** Id of the last update of the page before. Default: the first page. */
      readonly after?: string | undefined
      /** Maximum number of updates. */
      readonly limit: number
    }) => Effect.Effect<ReadonlyArray<QueuedUpdate.Entry>, StoreError>
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
    /**
     * Moves dead letters to the end of their partitions, without deduplication. Replayed updates keep their attempts
     * and have no crashes. Returns the number of ids that existed.
     */
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
    /** The journals. */
    readonly journal: JournalStore
    /** The state. */
    readonly state: StateStore
    /** The timers. */
    readonly timers: TimerStore
  }
>()("@colloquy/core/InboxStore") {}

const makeMemoryUnsafe = (): InboxStore["Service"] => {
  let sequence = 0
  const partitions = makePartitions(() => ++sequence)
  const deduplication = new Deduplication()
  const deadLetters = new Map<string, QueuedUpdate.DeadLetter>()
  const markers = new Map<string, bigint>()
  const journals = makeJournals()
  const states = makeStates()
  const timers = makeTimers()

  const isNew = ({ fingerprint }: QueuedUpdate.QueuedUpdate, { now, duplicatesSince }: Batch): boolean =>
    deduplication.add(fingerprint, now, duplicatesSince)

  const enqueue = (batch: Batch): number => {
    let added = 0
    for (const update of batch.updates) {
      if (!isNew(update, batch)) continue
      added++
      partitions.append(update, 0)
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

  const claim = (options: Claim, now: number): ReadonlyArray<Partition> => {
    timers.moveDue(now, options.maxTimers ?? 0, ({ dueAt, fingerprint, partitionKey, text }) =>
      partitions.append(QueuedUpdate.fromStored({ fingerprint, partitionKey, receivedAt: dueAt, text }), 0)
    )
    const claimed = partitions.claim(options, now)
    return journals.isEmpty()
      ? claimed
      : claimed.map(({ key, updates }) => ({
          key,
          updates: updates.map((update) => ({ ...update, journal: journals.of(update.id) }))
        }))
  }

  const commit = (change: Commit, now: number): CommitResult => {
    const { begun, completed, failed, owner, partitionKey, release, timers: timerChanges, writes } = change
    const partition = partitions.ownedBy(owner, partitionKey)
    if (partition === undefined) return "leaseLost"
    const hasChanges =
      (writes !== undefined || timerChanges !== undefined) &&
      completed.every(({ id }) => partitions.isQueued(partition, id))
    if (hasChanges && writes !== undefined && !states.isExpected(writes)) return "stateConflict"
    for (const { failure, id } of completed) {
      const update = partitions.complete(partition, id)
      if (update === undefined) continue
      if (failure === undefined) journals.remove(id)
      else deadLetters.set(id, { id, update, ...failure })
    }
    for (const id of failed) partitions.fail(partition, id)
    for (const id of begun) partitions.begin(partition, id)
    if (hasChanges) {
      states.write(writes ?? [])
      timers.change(timerChanges ?? [], now)
    }
    if (release) partitions.releaseOne(partition)
    return "applied"
  }

  const record = ({ entries, id, owner, partitionKey }: JournalRecord): RecordResult => {
    const partition = partitions.ownedBy(owner, partitionKey)
    if (partition === undefined || !partitions.isQueued(partition, id)) return "leaseLost"
    journals.write(id, entries)
    return "applied"
  }

  const removeDeadLetters = (ids: ReadonlyArray<string>): ReadonlyArray<QueuedUpdate.DeadLetter> =>
    ids.flatMap((id) => {
      const deadLetter = deadLetters.get(id)
      deadLetters.delete(id)
      return deadLetter === undefined ? [] : [deadLetter]
    })

  const drop = (ids: ReadonlyArray<string>): number => {
    const removed = removeDeadLetters(ids)
    for (const { id } of removed) journals.remove(id)
    return removed.length
  }

  const atTime = <A>(use: (now: number) => A): Effect.Effect<A> =>
    Effect.clockWith((clock) => Effect.succeed(use(clock.currentTimeMillisUnsafe())))

  return {
    isShared: false,
    enqueue: (batch) => Effect.sync(() => enqueue(batch)),
    claim: (options) => atTime((now) => claim(options, now)),
    commit: (commits) =>
      // Only timers require the time.
      commits.some(({ timers }) => timers !== undefined)
        ? atTime((now) => commits.map((change) => commit(change, now)))
        : Effect.sync(() => commits.map((change) => commit(change, 0))),
    renew: (owner, leaseDuration) => atTime((now) => partitions.renew(owner, leaseDuration, now)),
    release: (owner) => Effect.sync(() => partitions.release(owner)),
    queuedAfter: ({ after, limit, partitionKey }) =>
      Effect.sync(() => partitions.queuedAfter(partitionKey, Number(after), limit)),
    queued: ({ after = "0", limit }) => Effect.sync(() => partitions.queued(Number(after), limit)),
    stats: Effect.sync(() => ({
      queued: partitions.size(),
      oldestReceivedAt: partitions.oldestReceivedAt(),
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
        for (const { attempts, id, update } of removed) journals.move(id, partitions.append(update, attempts))
        return removed.length
      }),
    drop: (ids) => Effect.sync(() => drop(ids)),
    cleanup: ({ deadLettersBefore, fingerprintsBefore }) =>
      Effect.sync(() => {
        deduplication.removeBefore(fingerprintsBefore)
        drop([...deadLetters.values()].flatMap(({ failedAt, id }) => (failedAt < deadLettersBefore ? [id] : [])))
      }),
    journal: { record: (records) => Effect.sync(() => records.map(record)) },
    state: {
      get: (keys) => Effect.sync(() => keys.map(states.get)),
      write: (writes) =>
        Effect.sync(() => {
          const isExpected = states.isExpected(writes)
          if (isExpected) states.write(writes)
          return isExpected
        }),
      page: ({ after, limit, name }) => Effect.sync(() => states.page(name, after, limit)),
      forget: (user) => Effect.sync(() => states.forget(user)),
      cleanup: (expiredBefore) => Effect.sync(() => states.cleanup(expiredBefore))
    },
    timers: {
      change: (changes) => atTime((now) => timers.change(changes, now)),
      untilNext: atTime((now) => timers.untilNext(now)),
      isCancelled: (occurrence) => Effect.sync(() => timers.isCancelled(occurrence)),
      page: ({ after, limit }) => Effect.sync(() => timers.page(after, limit)),
      forget: (user) => Effect.sync(() => timers.forget(user))
    }
  }
}

/**
 * Creates a store in the memory of the process. {@link layerMemory} provides such a store as a service.
 *
 * @category constructors
 * @since 0.1.0
 */
export const makeMemory: Effect.Effect<InboxStore["Service"]> = Effect.sync(makeMemoryUnsafe)

/**
 * A store in memory, for tests and for bots that may lose queued updates when the process stops. The store remembers at
 * least the latest 50,000 fingerprints. Each program has a store of its own, and `Layer.fresh` makes a further store in
 * one program.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerMemory: Layer.Layer<InboxStore> = Layer.effect(InboxStore, makeMemory)

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
  /**
   * The number of updates from which on their commits are applied while others are being applied, so that the store and the
   * program do not wait for each other. A commit that completes no update counts as one. Default: `Infinity`.
   */
  readonly minConcurrentCommits?: number | undefined
  /**
   * Whether the store applies the commits of a process in the order in which they were sent. Otherwise, commits that concern the
   * same partition, value of the state or timer are not applied at the same time. Default: `false`.
   */
  readonly appliesInOrder?: boolean | undefined
  /**
   * Stores batches, writes records of journals and applies commits in one transaction, in this order, for a store whose
   * transactions wait for each other. Default: batches, records and commits have transactions of their own.
   */
  readonly writeAll?:
    | ((
        batches: ReadonlyArray<Batch>,
        commits: ReadonlyArray<Commit>,
        records: ReadonlyArray<JournalRecord>
      ) => Effect.Effect<
        {
          /** How many updates each batch added. */
          readonly added: ReadonlyArray<number>
          /** The result of each commit. */
          readonly results: ReadonlyArray<CommitResult>
          /** The result of each record. */
          readonly recorded: ReadonlyArray<RecordResult>
        },
        StoreError
      >)
    | undefined
}

/** Maximum weight of a transaction: every update weighs 1, and 1 more for each thousand characters. */
const maxWeight = 2000

const weighUpdate = ({ text }: QueuedUpdate.QueuedUpdate): number => 1 + text.length / 1000

const weighBatch = ({ deadLetters, updates }: Batch): number =>
  updates.reduce((weight, update) => weight + weighUpdate(update), 1) +
  deadLetters.reduce((weight, { update }) => weight + weighUpdate(update), 0)

const weighEntries = (entries: ReadonlyArray<JournalEntry>): number =>
  entries.reduce((weight, { text }) => weight + 1 + text.length / 1000, 0)

/** Writes several lists in one operation, and returns the results of each list. */
const inOne =
  <A, B, E>(write: (items: ReadonlyArray<A>) => Effect.Effect<ReadonlyArray<B>, E>) =>
  (all: ReadonlyArray<ReadonlyArray<A>>): Effect.Effect<ReadonlyArray<ReadonlyArray<B>>, E> =>
    Effect.map(write(all.flat()), (results) => {
      let from = 0
      return all.map((items) => results.slice(from, (from += items.length)))
    })

const weighRecords = (records: ReadonlyArray<JournalRecord>): number =>
  records.reduce((weight, { entries }) => weight + weighEntries(entries), 0)

const weighCommits = (commits: ReadonlyArray<Commit>): number =>
  commits.reduce((weight, { completed }) => weight + Math.max(1, completed.length), 0)

/**
 * The subjects of commits: the partitions, timers and values that the commits change. Commits without a common subject
 * can be applied in any order.
 */
const subjectsOf = (commits: ReadonlyArray<Commit>): ReadonlyArray<string> => {
  const subjects: Array<string> = []
  for (const { partitionKey, timers, writes } of commits) {
    subjects.push(partitionKey)
    if (writes !== undefined)
      for (const { name, scope } of writes) subjects.push(JSON.stringify(["state", name, scope]))
    if (timers !== undefined) for (const { key, name } of timers) subjects.push(JSON.stringify(["timer", name, key]))
  }
  return subjects
}

/** A batch to store, commits to apply, or records to write. */
interface Write {
  readonly batch?: Batch
  readonly commits?: ReadonlyArray<Commit>
  readonly records?: ReadonlyArray<JournalRecord>
}

/** Batches, commits and records that arrive while a transaction is running share the next one. */
const makeSharedWrites = (writeAll: NonNullable<BatchStore["writeAll"]>) =>
  Effect.map(
    WriteBatching.make({
      write: (writes: ReadonlyArray<Write>) =>
        Effect.map(
          writeAll(
            writes.flatMap(({ batch }) => (batch === undefined ? [] : [batch])),
            writes.flatMap(({ commits = [] }) => commits),
            writes.flatMap(({ records = [] }) => records)
          ),
          ({ added, recorded, results }) => {
            let stored = 0
            let applied = 0
            let written = 0
            return writes.map(({ batch, commits = [], records = [] }) => ({
              added: batch === undefined ? 0 : added[stored++]!,
              results: results.slice(applied, (applied += commits.length)),
              recorded: recorded.slice(written, (written += records.length))
            }))
          }
        ),
      weigh: ({ batch, commits = [], records = [] }) =>
        (batch === undefined ? 0 : weighBatch(batch)) + weighCommits(commits) + weighRecords(records),
      maxWeight
    }),
    (write) => ({
      enqueue: (batch: Batch) => Effect.map(write({ batch }), ({ added }) => added),
      commit: (commits: ReadonlyArray<Commit>) => Effect.map(write({ commits }), ({ results }) => results),
      record: (records: ReadonlyArray<JournalRecord>) => Effect.map(write({ records }), ({ recorded }) => recorded)
    })
  )

const makeApart = ({
  appliesInOrder = false,
  commit,
  enqueueAll,
  journal,
  minConcurrentCommits
}: Pick<BatchStore, "appliesInOrder" | "commit" | "enqueueAll" | "journal" | "minConcurrentCommits">) =>
  Effect.all({
    enqueue: WriteBatching.make({ write: enqueueAll, weigh: weighBatch, maxWeight }),
    commit: WriteBatching.make({
      write: inOne<Commit, CommitResult, StoreError>(commit),
      weigh: weighCommits,
      maxWeight,
      minConcurrentWeight: minConcurrentCommits,
      keysOf: minConcurrentCommits === undefined || appliesInOrder ? undefined : subjectsOf
    }),
    record: WriteBatching.make({
      write: inOne<JournalRecord, RecordResult, StoreError>(journal.record),
      weigh: weighRecords,
      maxWeight
    })
  })

/**
 * Adds write batching to a store whose transactions cost more than the rows that they write: batches, commits and records
 * that arrive while a transaction is running share the next one. Each of them still succeeds or fails by itself.
 *
 * @category constructors
 * @since 0.1.0
 */
export const withWriteBatching = ({
  appliesInOrder,
  enqueueAll,
  minConcurrentCommits,
  writeAll,
  ...store
}: BatchStore): Effect.Effect<InboxStore["Service"], never, Scope.Scope> =>
  Effect.gen(function* () {
    const { record, ...writes } = yield* writeAll === undefined
      ? makeApart({ appliesInOrder, commit: store.commit, enqueueAll, journal: store.journal, minConcurrentCommits })
      : makeSharedWrites(writeAll)
    return InboxStore.of({ ...store, ...writes, journal: { ...store.journal, record } })
  })
