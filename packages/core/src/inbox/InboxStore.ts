/**
 * The store of an inbox: a queue of updates in partitions, with the journals of the updates, and rows for values of states
 * and timers, in memory or in a database. Bots use `Inbox`; this module is for authors of stores.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { Deduplication } from "./internal/store/deduplication.ts"
import { makePartitions } from "./internal/store/memoryPartitions.ts"
import { makeRows, writeTo } from "./internal/store/memoryRows.ts"
import * as QueuedUpdate from "./QueuedUpdate.ts"
import { StoreError } from "../base/StoreError.ts"
import * as WriteBatching from "../base/WriteBatching.ts"

/**
 * A row of text. Values of the state, timers, the log of handled updates, entries of journals and the positions of sources
 * are rows. A store does not know the meaning of rows.
 *
 * @category rows
 * @since 0.1.0
 */
export interface Row {
  /** The key, such as `state/cart/chat:1`: at most 1,000 characters. */
  readonly key: string
  /** The content. */
  readonly text: string
  /** Identifies the last write of the row. No other write of the key has or had this revision. */
  readonly revision: string
  /** A cleanup after this time deletes the row. Unix milliseconds of the writer's clock. Default: the row does not expire. */
  readonly expiresAt?: number | undefined
  /** When the row becomes an update, in Unix milliseconds of the clock of the store. Default: never. */
  readonly dueAt?: number | undefined
}

/**
 * When a row becomes an update. A claim with `maxDue` appends the update to its partition. The text of the update is
 * the text of the row, its time of receipt is the due time, and its fingerprint is the revision of the row. The
 * fingerprint is not checked for duplicates. The row stays, with its revision and without a due time.
 *
 * @category rows
 * @since 0.1.0
 */
export interface Due {
  /** A time in Unix milliseconds, or a number of milliseconds from now, both by the clock of the store. */
  readonly time: { readonly at: number } | { readonly after: number }
  /** The partition of the update. */
  readonly partitionKey: string
}

/**
 * The content of a row to write.
 *
 * @category rows
 * @since 0.1.0
 */
export interface RowContent {
  /** The text. */
  readonly text: string
  /** When the row expires, in Unix milliseconds. Default: never. */
  readonly expiresAt?: number | undefined
  /** The user to whom the row belongs, such as `user:2`. Default: to nobody. */
  readonly user?: string | undefined
  /** When the row becomes an update. Default: never. */
  readonly due?: Due | undefined
}

/**
 * Writes or deletes a row.
 *
 * @category rows
 * @since 0.1.0
 */
export interface RowWrite {
  /** The key. A list of writes has each key at most once. */
  readonly key: string
  /** The new content, which replaces all fields of the row. `undefined` deletes the row. */
  readonly row: RowContent | undefined
  /** The revision of this write: letters, digits, `-` and `.`. No other write of the key has this revision. */
  readonly revision: string
  /**
   * The condition of the write: the revision of the row, or `null` if there is no such row. Default: the row is written
   * in any case.
   */
  readonly expected?: string | null | undefined
  /**
   * The consequence of a condition that does not hold. `conflict`: the operation applies nothing. `skip`: the operation
   * leaves out this row. Default: `conflict`.
   */
  readonly otherwise?: "conflict" | "skip" | undefined
}

/**
 * Rows to write together: all of them, or none.
 *
 * @category rows
 * @since 0.1.0
 */
export interface Write {
  /** The rows. */
  readonly rows: ReadonlyArray<RowWrite>
  /**
   * The queued update whose journal the rows belong to, which the owner has claimed. A journal has keys of its own, and its
   * rows have neither a user nor times. Default: the rows do not belong to an update.
   */
  readonly journal?:
    | {
        /** The consumer that claimed the partition. */
        readonly owner: string
        /** The partition of the update. */
        readonly partitionKey: string
        /** The id of the update. */
        readonly id: string
      }
    | undefined
}

/**
 * The result of a write. `conflict`: a row did not have the expected revision. `leaseLost`: the owner does not hold the
 * partition, or the update is not queued any more. In both cases no row of the write was written.
 *
 * @category rows
 * @since 0.1.0
 */
export type WriteResult = "applied" | "conflict" | "leaseLost"

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
  /** Rows without conditions that are written with the updates, such as the position of the source. Default: none. */
  readonly rows?: ReadonlyArray<RowWrite> | undefined
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
  /** The journal of the update, in no certain order. `undefined` if the journal has no rows. */
  readonly journal?: ReadonlyArray<Row> | undefined
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
  /** How many of the returned updates of each partition, from the first one on, are marked as begun. */
  readonly begin: number
  /** Maximum number of due rows that become updates before partitions are claimed, the earliest first. Default: 0. */
  readonly maxDue?: number | undefined
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
 * A queued update or a dead letter.
 *
 * @category models
 * @since 0.1.0
 */
export interface StoredUpdate extends QueuedUpdate.Entry {
  /** Why the update is a dead letter. `undefined` if the update is queued. */
  readonly failure?: Failure | undefined
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
 * A statement of the bot's author, in the dialect of the store.
 *
 * @category models
 * @since 0.1.0
 */
export interface Statement {
  /** The text of the statement. */
  readonly sql: string
  /** The values of its parameters. */
  readonly params: ReadonlyArray<unknown>
  /** How many rows the statement must change or return. Any other number is a conflict. Default: any number. */
  readonly expectedRows?: number | undefined
}

/**
 * A change of a claimed partition. Its parts apply in the order of the fields. Ids of updates that are not queued in the
 * partition are ignored. `rows` and `statements` apply only if all updates of `completed` are queued, so a commit that is
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
  /** Rows that are written. If one of them conflicts, the store applies no part of the commit. Default: none. */
  readonly rows?: ReadonlyArray<RowWrite> | undefined
  /**
   * Statements that are executed in this order, in the transaction of the commit. A store without `executesStatements`
   * fails with a `StoreError`. Default: none.
   */
  readonly statements?: ReadonlyArray<Statement> | undefined
  /**
   * Commits of other partitions that apply only together with this commit, all or none: the store checks all of them
   * before it writes the rows and executes the statements of each. Their rows and statements apply only if all updates of
   * `completed` of all these commits are queued. Their own `together` has no commits. Default: none.
   */
  readonly together?: ReadonlyArray<Commit> | undefined
  /** Whether to end the lease of the partition. Its updates are no longer marked as begun, and their attempts and crashes do not change. */
  readonly release: boolean
}

/**
 * A statement of a commit failed.
 *
 * @category models
 * @since 0.1.0
 */
export interface StatementFailed {
  readonly _tag: "StatementFailed"
  /** The index of the statement. */
  readonly index: number
  /** The `SqlError` of the statement. */
  readonly error: unknown
}

/**
 * The result of a commit and the commits of its `together`. `leaseLost`: the owner does not hold one of the partitions.
 * `conflict`: a row did not have the expected revision, or a statement changed another number of rows than expected. Unless
 * the result is `applied`, no part of the commits was applied.
 *
 * @category models
 * @since 0.1.0
 */
export type CommitResult = "applied" | "leaseLost" | "conflict" | StatementFailed

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
 * Leases and due times are counted by the clock of the store. All other times are Unix milliseconds of the caller's clock.
 * `InboxSuite` of `@colloquy/testing` has the test cases for a store.
 *
 * An update is marked as begun during an attempt to handle the update. If the process dies, the mark stays. When the
 * partition is claimed after its lease has expired, the attempts and the crashes of each marked update increase by 1.
 * Claimed updates without the mark do not change.
 *
 * A claim returns the journals of the claimed updates. A commit that acknowledges an update deletes its journal. A dead
 * letter keeps its journal, and a replay moves the journal to the new id.
 *
 * @category services
 * @since 0.1.0
 */
export class InboxStore extends Context.Service<
  InboxStore,
  {
    /** Whether other processes may use the store. If so, consumers hold leases and poll the store. */
    readonly isShared: boolean
    /** Whether a commit can have statements. */
    readonly executesStatements: boolean
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
     * the owner still holds the lease. A duration of 0 ends the leases: their updates are no longer marked as begun, and
     * their attempts and crashes do not change.
     */
    readonly renew: (owner: string, leaseDuration: number) => Effect.Effect<ReadonlyArray<string>, StoreError>
    /** Applies writes in the given order. Returns a result for each write. */
    readonly write: (writes: ReadonlyArray<Write>) => Effect.Effect<ReadonlyArray<WriteResult>, StoreError>
    /** Reads rows. Returns `undefined` for each key without a row. An expired row exists until a cleanup. */
    readonly read: (keys: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<Row | undefined>, StoreError>
    /**
     * Returns a page of the rows that do not belong to journals. A row that is written while the pages are read may be
     * missing, and occurs twice if its due time changes.
     */
    readonly rows: (page: {
      /** The beginning of the keys of the rows. */
      readonly prefix: string
      /**
       * `key`: all rows, in an order of the keys that does not change; two keys whose first different characters are ASCII
       * characters are in the order of these characters. `due`: the rows with a due time, the earliest first.
       */
      readonly by: "key" | "due"
      /** The last row of the page before. Default: the first page. */
      readonly after?: Pick<Row, "key" | "dueAt"> | undefined
      /** Maximum number of rows. */
      readonly limit: number
    }) => Effect.Effect<ReadonlyArray<Row>, StoreError>
    /** Deletes the rows of a user whose key begins with a prefix. Returns how many existed. */
    readonly forget: (rows: {
      /** The user, such as `user:2`. */
      readonly user: string
      /** The beginning of the keys of the rows. */
      readonly prefix: string
    }) => Effect.Effect<number, StoreError>
    /**
     * Returns a page of the queued updates or of the dead letters, in the order of their ids, whether or not their partitions
     * are claimed. An update that is queued while the pages are read may be missing.
     */
    readonly updates: (page: {
      /** Which updates. */
      readonly of: "queue" | "deadLetters"
      /** The partition of the queued updates. Not for dead letters. Default: all partitions. */
      readonly partitionKey?: string | undefined
      /** The id of the last update of the page before. Default: the first page. */
      readonly after?: string | undefined
      /** Maximum number of updates. */
      readonly limit: number
    }) => Effect.Effect<ReadonlyArray<StoredUpdate>, StoreError>
    /**
     * Deletes dead letters, or moves them to the end of their partitions, without deduplication. Replayed updates keep their
     * attempts and have no crashes. Returns how many of the ids existed.
     */
    readonly takeDeadLetters: (letters: {
      /** The ids of the dead letters. */
      readonly ids: ReadonlyArray<string>
      /** Whether the updates are queued again. */
      readonly replay: boolean
    }) => Effect.Effect<number, StoreError>
    /** Returns the number of queued updates and dead letters. */
    readonly stats: Effect.Effect<Stats, StoreError>
    /** Deletes fingerprints, dead letters and rows that are older than the given times. */
    readonly cleanup: (limits: {
      /** Fingerprints received before this time are deleted. */
      readonly fingerprintsBefore: number
      /** Dead letters that failed before this time are deleted. */
      readonly deadLettersBefore: number
      /** Rows that expired before this time are deleted. */
      readonly rowsBefore: number
    }) => Effect.Effect<void, StoreError>
    /**
     * Returns the time in milliseconds until a claim can return partitions, if all processes are idle until then: 0 if
     * a claim can return partitions now, otherwise the time until the first lease ends or the first row is due.
     * Returns `undefined` if there are no leases and due rows. The operation changes nothing.
     */
    readonly untilNext: Effect.Effect<number | undefined, StoreError>
    /**
     * Calls `wake` when another process has made a partition claimable, or has written a row that is due before all others,
     * until the scope closes. If the connection is lost, the store connects again. Consumers poll the store as well, because
     * calls can be missed. Without this operation, they poll more often.
     */
    readonly listen?: ((wake: () => void) => Effect.Effect<void, StoreError, Scope.Scope>) | undefined
  }
>()("@colloquy/core/InboxStore") {}

/**
 * The inbox executes the statements of handlers in the transactions that acknowledge their updates, which `Commit.add`
 * requires. The layers of the stores on SQLite, PostgreSQL and Durable Objects provide this service beside `InboxStore`. The
 * value is the dialect of the statements.
 *
 * @category services
 * @since 0.1.0
 */
export class SqlTransactions extends Context.Service<SqlTransactions, "pg" | "sqlite">()(
  "@colloquy/core/InboxStore/SqlTransactions"
) {}

const noStatements = () =>
  new StoreError({
    store: "inbox",
    operation: "commit",
    reason: "a store in memory executes neither statements nor commits of several partitions",
    isRetryable: false
  })

const makeMemoryUnsafe = (): InboxStore["Service"] => {
  let sequence = 0
  const partitions = makePartitions(() => ++sequence)
  const deduplication = new Deduplication()
  const deadLetters = new Map<string, StoredUpdate & { readonly failure: Failure }>()
  const rows = makeRows()
  const journals = new Map<string, Map<string, Row>>()

  const enqueue = (batch: Batch, now: number): number => {
    const isNew = ({ fingerprint }: QueuedUpdate.QueuedUpdate): boolean =>
      deduplication.add(fingerprint, batch.now, batch.duplicatesSince)
    let added = 0
    for (const update of batch.updates) {
      if (!isNew(update)) continue
      added++
      partitions.append(update, 0)
    }
    for (const { update, error } of batch.deadLetters) {
      if (!isNew(update)) continue
      added++
      const id = String(++sequence)
      deadLetters.set(id, { id, update, failure: { error, attempts: 0, failedAt: batch.now } })
    }
    if (batch.rows !== undefined) rows.write(batch.rows, now)
    return added
  }

  const claim = (options: Claim, now: number): ReadonlyArray<Partition> => {
    rows.takeDue(now, options.maxDue ?? 0, ({ dueAt, partitionKey, revision, text }) => {
      const update = { fingerprint: revision, partitionKey, receivedAt: dueAt, text }
      partitions.append(QueuedUpdate.fromStored(update), 0)
    })
    const claimed = partitions.claim(options, now)
    if (journals.size === 0) return claimed
    return claimed.map(({ key, updates }) => ({
      key,
      updates: updates.map((update) => {
        const journal = journals.get(update.id)
        return journal === undefined ? update : { ...update, journal: [...journal.values()] }
      })
    }))
  }

  const commit = (change: Commit, now: number): CommitResult => {
    const { begun, completed, failed, owner, partitionKey, release, rows: writes } = change
    const partition = partitions.ownedBy(owner, partitionKey)
    if (partition === undefined) return "leaseLost"
    if (writes !== undefined && completed.every(({ id }) => partitions.isQueued(partition, id))) {
      if (!rows.write(writes, now)) return "conflict"
    }
    for (const { failure, id } of completed) {
      const update = partitions.complete(partition, id)
      if (update === undefined) continue
      if (failure === undefined) journals.delete(id)
      else deadLetters.set(id, { id, update, failure })
    }
    for (const id of failed) partitions.fail(partition, id)
    for (const id of begun) partitions.begin(partition, id)
    if (release) partitions.releaseOne(partition)
    return "applied"
  }

  const write = ({ journal: of, rows: writes }: Write, now: number): WriteResult => {
    if (of === undefined) return rows.write(writes, now) ? "applied" : "conflict"
    const partition = partitions.ownedBy(of.owner, of.partitionKey)
    if (partition === undefined || !partitions.isQueued(partition, of.id)) return "leaseLost"
    const journal = journals.get(of.id) ?? new Map<string, Row>()
    const isWritten = writeTo(journal, writes, ({ key, revision }, { text }) => ({ key, text, revision }))
    if (journal.size > 0) journals.set(of.id, journal)
    else journals.delete(of.id)
    return isWritten ? "applied" : "conflict"
  }

  const takeDeadLetters = (ids: ReadonlyArray<string>, replay: boolean): number => {
    let taken = 0
    for (const id of ids) {
      const deadLetter = deadLetters.get(id)
      if (deadLetter === undefined) continue
      taken++
      deadLetters.delete(id)
      const journal = journals.get(id)
      journals.delete(id)
      if (!replay) continue
      const replayed = partitions.append(deadLetter.update, deadLetter.failure.attempts)
      if (journal !== undefined) journals.set(replayed, journal)
    }
    return taken
  }

  const atTime = <A>(use: (now: number) => A): Effect.Effect<A> =>
    Effect.clockWith((clock) => Effect.succeed(use(clock.currentTimeMillisUnsafe())))

  return {
    isShared: false,
    executesStatements: false,
    enqueue: (batch) => atTime((now) => enqueue(batch, now)),
    claim: (options) => atTime((now) => claim(options, now)),
    commit: (commits) =>
      commits.some(({ statements, together }) => statements !== undefined || together !== undefined)
        ? Effect.fail(noStatements())
        : atTime((now) => commits.map((change) => commit(change, now))),
    renew: (owner, leaseDuration) => atTime((now) => partitions.renew(owner, leaseDuration, now)),
    write: (writes) => atTime((now) => writes.map((all) => write(all, now))),
    read: (keys) => Effect.sync(() => keys.map(rows.get)),
    rows: ({ after, by, limit, prefix }) => Effect.sync(() => rows.page(prefix, by, after, limit)),
    forget: ({ prefix, user }) => Effect.sync(() => rows.forget(user, prefix)),
    updates: ({ after = "0", limit, of, partitionKey }) =>
      Effect.sync(() =>
        of === "queue"
          ? partitions.queued(partitionKey, Number(after), limit)
          : [...deadLetters.values()]
              .filter(({ id }) => Number(id) > Number(after))
              .sort((a, b) => Number(a.id) - Number(b.id))
              .slice(0, limit)
      ),
    takeDeadLetters: ({ ids, replay }) => Effect.sync(() => takeDeadLetters(ids, replay)),
    stats: Effect.sync(() => ({
      queued: partitions.size(),
      oldestReceivedAt: partitions.oldestReceivedAt(),
      deadLetters: deadLetters.size
    })),
    cleanup: ({ deadLettersBefore, fingerprintsBefore, rowsBefore }) =>
      Effect.sync(() => {
        deduplication.removeBefore(fingerprintsBefore)
        rows.cleanup(rowsBefore)
        const old = [...deadLetters.values()].filter(({ failure }) => failure.failedAt < deadLettersBefore)
        takeDeadLetters(
          old.map(({ id }) => id),
          false
        )
      }),
    untilNext: atTime((now) => {
      const next = Math.min(partitions.claimableAt(), rows.nextDue())
      return next === Infinity ? undefined : Math.max(0, next - now)
    })
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
   * same partition or row are not applied at the same time. Default: `false`.
   */
  readonly appliesInOrder?: boolean | undefined
  /**
   * Stores batches, applies writes and applies commits in one transaction, in this order, for a store whose transactions
   * wait for each other. Default: batches, writes and commits have transactions of their own.
   */
  readonly writeAll?:
    | ((
        batches: ReadonlyArray<Batch>,
        commits: ReadonlyArray<Commit>,
        writes: ReadonlyArray<Write>
      ) => Effect.Effect<
        {
          /** How many updates each batch added. */
          readonly added: ReadonlyArray<number>
          /** The result of each commit. */
          readonly results: ReadonlyArray<CommitResult>
          /** The result of each write. */
          readonly written: ReadonlyArray<WriteResult>
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

const weighWrites = (writes: ReadonlyArray<Write>): number =>
  writes.reduce(
    (weight, { rows }) => rows.reduce((sum, { row }) => sum + 1 + (row?.text.length ?? 0) / 1000, weight),
    0
  )

/** Writes several lists in one operation, and returns the results of each list. */
const inOne =
  <A, B, E>(write: (items: ReadonlyArray<A>) => Effect.Effect<ReadonlyArray<B>, E>) =>
  (all: ReadonlyArray<ReadonlyArray<A>>): Effect.Effect<ReadonlyArray<ReadonlyArray<B>>, E> =>
    Effect.map(write(all.flat()), (results) => {
      let from = 0
      return all.map((items) => results.slice(from, (from += items.length)))
    })

const weighCommits = (commits: ReadonlyArray<Commit>): number =>
  commits.reduce((sum, { completed, together = [] }) => sum + Math.max(1, completed.length) + weighCommits(together), 0)

/**
 * The subjects of commits: the partitions and rows that the commits change. Commits without a common subject can be applied
 * in any order.
 */
const subjectsOf = (commits: ReadonlyArray<Commit>, subjects: Array<string> = []): ReadonlyArray<string> => {
  for (const { partitionKey, rows, together } of commits) {
    subjects.push(`partition/${partitionKey}`)
    if (rows !== undefined) for (const { key } of rows) subjects.push(`row/${key}`)
    if (together !== undefined) subjectsOf(together, subjects)
  }
  return subjects
}

/** A batch to store, commits to apply, or rows to write. */
interface Waiting {
  readonly batch?: Batch
  readonly commits?: ReadonlyArray<Commit>
  readonly writes?: ReadonlyArray<Write>
}

/** Batches, commits and writes that arrive while a transaction is running share the next one. */
const makeSharedWrites = (writeAll: NonNullable<BatchStore["writeAll"]>) =>
  Effect.map(
    WriteBatching.make({
      write: (all: ReadonlyArray<Waiting>) =>
        Effect.map(
          writeAll(
            all.flatMap(({ batch }) => (batch === undefined ? [] : [batch])),
            all.flatMap(({ commits = [] }) => commits),
            all.flatMap(({ writes = [] }) => writes)
          ),
          ({ added, results, written }) => {
            let stored = 0
            let applied = 0
            let last = 0
            return all.map(({ batch, commits = [], writes = [] }) => ({
              added: batch === undefined ? 0 : added[stored++]!,
              results: results.slice(applied, (applied += commits.length)),
              written: written.slice(last, (last += writes.length))
            }))
          }
        ),
      weigh: ({ batch, commits = [], writes = [] }) =>
        (batch === undefined ? 0 : weighBatch(batch)) + weighCommits(commits) + weighWrites(writes),
      maxWeight
    }),
    (write) => ({
      enqueue: (batch: Batch) => Effect.map(write({ batch }), ({ added }) => added),
      commit: (commits: ReadonlyArray<Commit>) => Effect.map(write({ commits }), ({ results }) => results),
      write: (writes: ReadonlyArray<Write>) => Effect.map(write({ writes }), ({ written }) => written)
    })
  )

const makeApart = ({ appliesInOrder = false, commit, enqueueAll, minConcurrentCommits, write }: BatchStore) =>
  Effect.all({
    enqueue: WriteBatching.make({ write: enqueueAll, weigh: weighBatch, maxWeight }),
    commit: WriteBatching.make({
      write: inOne<Commit, CommitResult, StoreError>(commit),
      weigh: weighCommits,
      maxWeight,
      minConcurrentWeight: minConcurrentCommits,
      keysOf: minConcurrentCommits === undefined || appliesInOrder ? undefined : (commits) => subjectsOf(commits)
    }),
    write: WriteBatching.make({ write: inOne<Write, WriteResult, StoreError>(write), weigh: weighWrites, maxWeight })
  })

/**
 * Adds write batching to a store whose transactions cost more than the rows that they write: batches, commits and writes
 * that arrive while a transaction is running share the next one. Each of them still succeeds or fails by itself.
 *
 * @category constructors
 * @since 0.1.0
 */
export const withWriteBatching = (options: BatchStore): Effect.Effect<InboxStore["Service"], never, Scope.Scope> =>
  Effect.map(options.writeAll === undefined ? makeApart(options) : makeSharedWrites(options.writeAll), (batched) =>
    InboxStore.of({ ...options, ...batched })
  )
