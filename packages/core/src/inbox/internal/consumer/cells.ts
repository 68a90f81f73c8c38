import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Backoff from "../../../base/Backoff.ts"
import type { Inbox } from "../../Inbox.ts"
import { hooks } from "../hooks.ts"
import type { Row, RowWrite } from "../../InboxStore.ts"
import { rowKey, type StateKey, type StateValue, toWrites } from "../store/stateRows.ts"
import { StoreError } from "../../../base/StoreError.ts"
import type { Changes } from "./changes.ts"

/** A value at a moment. */
export interface Snapshot {
  readonly value: StateValue | undefined
  /** The stored revision that was read. */
  readonly revision: string | undefined
  /** The decoded value, and the codec that decoded the text. */
  decoded: { readonly by: object; readonly value: unknown } | undefined
}

/** A value that can be read and replaced. */
export interface Cell {
  readonly read: Effect.Effect<Snapshot, StoreError>
  /** Replaces a value if the stored value is still the value that was read. */
  readonly replace: (read: Snapshot, next: Pick<Snapshot, "value" | "decoded">) => Effect.Effect<Replaced, StoreError>
}

/**
 * Whether a value was replaced. `unknown`: the answer of the store was lost, and the value was changed again since, so
 * that the stored value does not show whether the write was applied.
 */
export type Replaced = boolean | "unknown"

/** How long a write is repeated whose answer was lost. */
const uncertainFor = Backoff.make(Backoff.pauses.uncertainWrite).pipe(
  Schedule.setInputType<StoreError>(),
  Schedule.upTo({ duration: "10 seconds" })
)

/** The failure of a write of a value that has changed since the read. */
const changed = (): StoreError =>
  new StoreError({
    store: "inbox",
    operation: "writeState",
    reason: "the value was changed since it was read",
    isRetryable: true
  })

/** The failure of a change that may have been written. */
export const maybeWritten = (cause?: StoreError): StoreError =>
  new StoreError({
    store: "inbox",
    operation: "writeState",
    reason: `it is not known whether the change was written${cause === undefined ? ", because the value was changed again since" : `. ${cause.message}`}`,
    isRetryable: false,
    isUncertain: true
  })

/**
 * A value in the store. A write whose answer was lost is repeated, and its revision shows whether the first write was
 * applied.
 */
export const stored = ({ store, [hooks]: { nextRevision } }: Inbox["Service"], key: StateKey) => {
  const get = Effect.map(
    Effect.suspend(() => store.read([rowKey(key)])),
    ([found]) => found
  )

  /** Tries to replace a value if the stored value is still the value that was read. Returns whether the value has the revision. */
  const attempt = (read: Snapshot, value: StateValue | undefined, revision: string) =>
    Effect.flatMap(store.write([{ rows: toWrites(key, read, value, revision) }]), ([result]) =>
      result === "applied"
        ? Effect.succeed(true)
        : Effect.map(get, (found) => (value === undefined ? found === undefined : found?.revision === revision))
    )

  const write = (before: Snapshot, value: StateValue | undefined) =>
    Effect.suspend(() => {
      let isUncertain = false
      const attempted = attempt(before, value, nextRevision()).pipe(
        Effect.map((isApplied): Replaced => isApplied || (isUncertain ? "unknown" : false)),
        Effect.tapError(({ isRetryable }) => Effect.sync(() => void (isUncertain ||= isRetryable)))
      )
      return Effect.retry(attempted, { schedule: uncertainFor, while: ({ isRetryable }) => isRetryable }).pipe(
        Effect.mapError((error) => (isUncertain ? maybeWritten(error) : error))
      )
    })

  return {
    read: Effect.map(get, (found): Snapshot => {
      if (found === undefined) return { value: undefined, revision: undefined, decoded: undefined }
      const { expiresAt, revision, text } = found
      return { value: { text, expiresAt }, revision, decoded: undefined }
    }),
    replace: (before: Snapshot, { value }: Pick<Snapshot, "value" | "decoded">) =>
      before.value === undefined && value === undefined ? Effect.succeed(true) : write(before, value),
    attempt
  }
}

interface Entry {
  readonly key: StateKey
  /** The stored value. */
  first: Snapshot
  current: Snapshot
}

const isSame = (a: StateValue | undefined, b: StateValue | undefined): boolean =>
  a === b || (a?.text === b?.text && a?.expiresAt === b?.expiresAt)

/**
 * The values that the handling of an update uses. Each value is read once and kept. Changed values are written when the
 * update is acknowledged. After that, fibers that still run read and write the store.
 */
export class Session {
  readonly #changes: Pick<Changes, "inbox" | "isClosed">
  readonly #entries = new Map<string, Entry>()
  /** The codec of each state, by the name of the state. */
  readonly #codecs = new Map<string, object>()

  constructor(changes: Pick<Changes, "inbox" | "isClosed">) {
    this.#changes = changes
  }

  /** Whether the values of a name belong to one state. */
  isUnique(name: string, codec: object): boolean {
    const known = this.#codecs.get(name)
    if (known === undefined) this.#codecs.set(name, codec)
    return known === undefined || known === codec
  }

  cell(key: StateKey): Cell {
    const entries = this.#entries
    const id = rowKey(key)
    const direct = stored(this.#changes.inbox, key)
    return {
      read: Effect.suspend(() => {
        const entry = entries.get(id)
        if (entry !== undefined && !this.#changes.isClosed) return Effect.succeed(entry.current)
        return Effect.map(direct.read, (read) => {
          if (this.#changes.isClosed) return read
          const other = entries.get(id)
          if (other === undefined) entries.set(id, { key, first: read, current: read })
          return other?.current ?? read
        })
      }),
      replace: (read, { decoded, value }) =>
        Effect.suspend(() => {
          const entry = entries.get(id)
          // A value that was changed before the end has no revision of its own, so the stored value is read again.
          if (this.#changes.isClosed)
            return entry?.current === read ? Effect.succeed(false) : direct.replace(read, { decoded, value })
          if (entry?.current !== read) return Effect.succeed(false)
          entry.current = { value, revision: read.revision, decoded }
          return Effect.succeed(true)
        })
    }
  }

  /** Writes a changed value to the store at once, so that the change stays if the update is handled again. */
  writeNow(key: StateKey): Effect.Effect<void, StoreError> {
    return Effect.suspend(() => {
      const entry = this.#entries.get(rowKey(key))
      if (this.#changes.isClosed || entry === undefined || isSame(entry.first.value, entry.current.value))
        return Effect.void
      const { current, first } = entry
      const revision = this.#changes.inbox[hooks].nextRevision()
      // After a failure, the handler runs again, and reads the stored value.
      return Effect.flatMap(stored(this.#changes.inbox, key).attempt(first, current.value, revision), (isApplied) => {
        if (!isApplied) return Effect.fail(changed())
        entry.first = { ...current, revision }
        return Effect.void
      })
    })
  }

  /** Returns the values of a state that the handling has read or changed, by their scopes. */
  valuesOf(name: string): ReadonlyMap<string, StateValue | undefined> {
    const values = new Map<string, StateValue | undefined>()
    if (this.#changes.isClosed) return values
    for (const { current, key } of this.#entries.values()) if (key.name === name) values.set(key.scope, current.value)
    return values
  }

  /** The rows of the stored values that the handling has read. */
  get rows(): ReadonlyArray<Pick<Row, "key" | "text">> {
    return [...this.#entries].flatMap(([key, { first }]) =>
      first.value === undefined ? [] : [{ key, text: first.value.text }]
    )
  }

  /** Forgets the values of a user, which were deleted in the store. */
  forget(isOfUser: (key: StateKey) => boolean): void {
    for (const [id, { key }] of this.#entries) if (isOfUser(key)) this.#entries.delete(id)
  }

  /** Returns the changes to write. */
  writes(): ReadonlyArray<RowWrite> {
    const writes: Array<RowWrite> = []
    for (const { current, first, key } of this.#entries.values()) {
      if (isSame(first.value, current.value)) continue
      writes.push(...toWrites(key, first, current.value, this.#changes.inbox[hooks].nextRevision()))
    }
    return writes
  }
}
