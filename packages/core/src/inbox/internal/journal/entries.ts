import * as Effect from "effect/Effect"
import type { StoreError } from "../../../base/StoreError.ts"
import type { Outage } from "../../../client/Outage.ts"
import type { JournalEntry, RecordResult } from "../../InboxStore.ts"

/** Writes entries of the journal of one update, if this process still holds its partition. */
export type Record = (entries: ReadonlyArray<JournalEntry>) => Effect.Effect<RecordResult, StoreError>

/** The journal whose entries are written. */
export interface Owner {
  /**
   * - `open`: the update is handled.
   * - `ending`: the acknowledgement is being written, which deletes the journal.
   * - `closed`: the update is not handled any more. Calls of fibers that still run are carried out without a journal.
   */
  readonly state: "open" | "ending" | "closed"
  /** The failure because of which the store does not have an entry that is being written. */
  storeFailure: StoreError | undefined
}

const none: ReadonlyArray<JournalEntry> = []

/** Whether a process that knows some entries of a journal has written or read all entries that the store has now. */
export const isKnown = (
  known: ReadonlyArray<JournalEntry> = none,
  stored: ReadonlyArray<JournalEntry> = none
): boolean =>
  stored.every(({ slot, state, text }) =>
    known.some(
      (entry) =>
        entry.slot === slot &&
        (entry.state === state ? entry.text === text : entry.state === "done" && state === "started")
    )
  )

/** The entries of the journal of one update, in memory and in the store. */
export class Entries {
  readonly #owner: Owner
  readonly #record: Record
  readonly #outage: Outage
  readonly #bySlot: Map<string, JournalEntry>
  /** The entries that the store may not have, in the order in which the store gets them. */
  readonly #unwritten = new Set<JournalEntry>()

  constructor(owner: Owner, stored: ReadonlyArray<JournalEntry> | undefined, record: Record, outage: Outage) {
    this.#owner = owner
    this.#record = record
    this.#outage = outage
    this.#bySlot = new Map(stored?.map((entry) => [entry.slot, entry]))
  }

  get isWritten(): boolean {
    return this.#unwritten.size === 0
  }

  get(slot: string): JournalEntry | undefined {
    return this.#bySlot.get(slot)
  }

  all(): ReadonlyArray<JournalEntry> {
    return [...this.#bySlot.values()]
  }

  /** Adds an entry that is written later. */
  add(entry: JournalEntry): void {
    this.#bySlot.set(entry.slot, entry)
    this.#unwritten.add(entry)
  }

  /** Adds an entry that is written. */
  set(entry: JournalEntry): void {
    this.#bySlot.set(entry.slot, entry)
  }

  delete(slot: string): void {
    this.#bySlot.delete(slot)
  }

  /**
   * Writes entries to the store, together with unwritten entries if the journal is open. Retries while the store fails,
   * and interrupts the handler if the chat was lost.
   */
  write(...entries: ReadonlyArray<JournalEntry>): Effect.Effect<void> {
    const written = Effect.suspend(() => {
      const unwritten = this.#unwritten
      const all = this.#owner.state === "open" && unwritten.size > 0 ? [...unwritten, ...entries] : entries
      if (all.length === 0) return Effect.succeed("applied" as const)
      return Effect.map(this.#record(all), (result) => {
        this.#owner.storeFailure = undefined
        if (result === "applied") for (const entry of all) unwritten.delete(entry)
        return result
      })
    })
    const isRetried = (error: StoreError): boolean => {
      this.#owner.storeFailure = error
      return error.isRetryable
    }
    return Effect.flatMap(Effect.orDie(this.#outage.retryOrDie(written, isRetried)), (result) =>
      result === "applied" || this.#owner.state === "closed" ? Effect.void : Effect.interrupt
    )
  }
}
