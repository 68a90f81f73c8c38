import * as Effect from "effect/Effect"
import type { StateKey, StateValue, StateWrite } from "../../HandlingStore.ts"
import type { InboxStore } from "../../InboxStore.ts"
import type { StoreError } from "../../StoreError.ts"

type Store = InboxStore["Service"]

/** A value at a moment. */
export interface Snapshot {
  readonly value: StateValue | undefined
  /** The stored revision that was read. */
  readonly revision: string | undefined
  /** The decoded value, and the codec that decoded it. */
  decoded: { readonly by: object; readonly value: unknown } | undefined
}

/** A value that can be read and replaced. */
export interface Cell {
  readonly read: Effect.Effect<Snapshot, StoreError>
  /** Replaces a value if it is still the one that was read. Returns whether it was. */
  readonly replace: (read: Snapshot, next: Pick<Snapshot, "value" | "decoded">) => Effect.Effect<boolean, StoreError>
}

/** A value in the store. */
export const stored = ({ state }: Store, key: StateKey): Cell => ({
  read: Effect.map(
    Effect.suspend(() => state.get([key])),
    ([found]) => {
      if (found === undefined) return { value: undefined, revision: undefined, decoded: undefined }
      const { revision, ...value } = found
      return { value, revision, decoded: undefined }
    }
  ),
  replace: ({ revision, value: before }, { value }) =>
    before === undefined && value === undefined
      ? Effect.succeed(true)
      : state.write([{ ...key, value, expected: revision }])
})

interface Entry {
  readonly key: StateKey
  readonly first: Snapshot
  current: Snapshot
}

const isSame = (a: StateValue | undefined, b: StateValue | undefined): boolean =>
  a === b || (a?.text === b?.text && a?.version === b?.version && a?.expiresAt === b?.expiresAt)

/**
 * The values that the handling of an update uses. Each is read once and kept. They are written when the update is
 * acknowledged. After that, fibers that still run read and write the store.
 */
export class Session {
  readonly #store: Store
  readonly #entries = new Map<string, Entry>()
  #isClosed: boolean

  constructor(store: Store, isClosed: boolean) {
    this.#store = store
    this.#isClosed = isClosed
  }

  cell(key: StateKey): Cell {
    const entries = this.#entries
    const id = `${key.scope} ${key.name}`
    const direct = stored(this.#store, key)
    return {
      read: Effect.suspend(() => {
        const entry = entries.get(id)
        if (entry !== undefined && !this.#isClosed) return Effect.succeed(entry.current)
        return Effect.map(direct.read, (read) => {
          if (this.#isClosed) return read
          const other = entries.get(id)
          if (other === undefined) entries.set(id, { key, first: read, current: read })
          return other?.current ?? read
        })
      }),
      replace: (read, { decoded, value }) =>
        Effect.suspend(() => {
          const entry = entries.get(id)
          // A value that was changed before the end has no revision of its own, so it is read again.
          if (this.#isClosed)
            return entry?.current === read ? Effect.succeed(false) : direct.replace(read, { decoded, value })
          if (entry?.current !== read) return Effect.succeed(false)
          entry.current = { value, revision: read.revision, decoded }
          return Effect.succeed(true)
        })
    }
  }

  /** Takes over that everything of a user was deleted in the store. */
  forget(isOfUser: (key: StateKey) => boolean): void {
    for (const [id, { key }] of this.#entries) if (isOfUser(key)) this.#entries.delete(id)
  }

  /** What is to be written. From now on, changes go to the store. */
  close(): ReadonlyArray<StateWrite> {
    this.#isClosed = true
    const writes: Array<StateWrite> = []
    for (const { current, first, key } of this.#entries.values()) {
      if (!isSame(first.value, current.value)) writes.push({ ...key, value: current.value, expected: first.revision })
    }
    return writes
  }

  /** The update could not be acknowledged. */
  reopen(): void {
    this.#isClosed = false
  }
}
