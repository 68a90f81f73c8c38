/**
 * The part of an inbox store that concerns the handling of updates: journals, state and timers. Journals, state and
 * timers are written by the same transaction that acknowledges an update, or not at all. This module is for authors of
 * stores.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import type { StoreError } from "../base/StoreError.ts"

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
export const userOfScope = (scope: string): string | undefined => /(?:^|\/)(user:[^/]+)$/.exec(scope)?.[1]

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
  /** To whom the timer belongs, such as `user:2`. Default: to nobody. */
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
