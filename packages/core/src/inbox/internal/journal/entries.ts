import * as Effect from "effect/Effect"
import type { StoreError } from "../../../base/StoreError.ts"
import type { Row, RowWrite, WriteResult } from "../../InboxStore.ts"
import type { Hooks } from "../hooks.ts"

/** An entry of the journal of an update. */
export interface JournalEntry {
  /** Identifies the call or the step within the update. */
  readonly slot: string
  /** `started`: the call may have been carried out. `done`: the call was carried out. `removed`: the entry is deleted. */
  readonly state: "started" | "done" | "removed"
  /** The content of the entry: the circumstances of the start, or the answer. */
  readonly text: string
}

/** Writes rows of the journal of one update, if this process still holds its partition. */
export type Record = (rows: ReadonlyArray<RowWrite>) => Effect.Effect<WriteResult, StoreError>

/** The parts of an inbox that the journals of its updates use. */
export type Writing = Pick<Hooks, "nextRevision" | "outage">

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

const none: ReadonlyArray<never> = []

/** A start and an answer have rows of their own, so that a start that is written late does not replace the answer. */
const done = "done:"
const started = "started:"

const toEntry = ({ key, text }: Row): JournalEntry =>
  key.startsWith(done)
    ? { slot: key.slice(done.length), state: "done", text }
    : { slot: key.slice(started.length), state: "started", text }

const keyOf = ({ slot, state }: JournalEntry): string => `${state === "done" ? done : started}${slot}`

const toRow = (entry: JournalEntry, revision: string): RowWrite => ({
  key: keyOf(entry),
  row: entry.state === "removed" ? undefined : { text: entry.text },
  revision
})

/** Returns the entries of rows by their slots. */
const bySlot = (rows: ReadonlyArray<Row>): Map<string, JournalEntry> => {
  const entries = new Map<string, JournalEntry>()
  for (const entry of rows.map(toEntry)) {
    if (entry.state === "done" || !entries.has(entry.slot)) entries.set(entry.slot, entry)
  }
  return entries
}

/** Whether all rows of a journal are among rows that were read before. */
export const wasRead = (read: ReadonlyArray<Row> = none, stored: ReadonlyArray<Row> = none): boolean =>
  stored.every(({ revision }) => read.some((row) => row.revision === revision))

/** The entries of the journal of one update, in memory and in the store. */
export class Entries {
  readonly #owner: Owner
  readonly #record: Record
  readonly #writing: Writing
  readonly #bySlot: Map<string, JournalEntry>
  /** The revisions of all rows that this process has read, or may have written. */
  readonly #revisions: Set<string>
  /** The entries that the store may not have, in the order in which the store gets them. */
  readonly #unwritten = new Set<JournalEntry>()

  constructor(owner: Owner, stored: ReadonlyArray<Row> = none, record: Record, writing: Writing) {
    this.#owner = owner
    this.#record = record
    this.#writing = writing
    this.#bySlot = bySlot(stored)
    this.#revisions = new Set(stored.map(({ revision }) => revision))
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

  get rows(): ReadonlyArray<Pick<Row, "key" | "text">> {
    return this.all().map((entry) => ({ key: keyOf(entry), text: entry.text }))
  }

  /** Whether this process has written or read all rows that the store has now. */
  knows(stored: ReadonlyArray<Row> = none): boolean {
    return stored.every(({ revision }) => this.#revisions.has(revision))
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
   * and interrupts the handler if the chat was lost. An interruption waits for the answer of the store, so that the store cannot
   * apply the write after the next write of the same entry.
   */
  write(...entries: ReadonlyArray<JournalEntry>): Effect.Effect<void> {
    const written = Effect.suspend(() => {
      const unwritten = this.#unwritten
      const all = this.#owner.state === "open" && unwritten.size > 0 ? [...unwritten, ...entries] : entries
      if (all.length === 0) return Effect.succeed("applied" as const)
      const rows = all.map((entry) => toRow(entry, this.#writing.nextRevision()))
      for (const { revision } of rows) this.#revisions.add(revision)
      const recorded = Effect.map(this.#record(rows), (result) => {
        this.#owner.storeFailure = undefined
        if (result === "applied") for (const entry of all) unwritten.delete(entry)
        return result
      })
      return Effect.uninterruptible(recorded)
    })
    const isRetried = (error: StoreError): boolean => {
      this.#owner.storeFailure = error
      return error.isRetryable
    }
    return Effect.flatMap(Effect.orDie(this.#writing.outage.retryOrDie(written, isRetried)), (result) =>
      result === "applied" || this.#owner.state === "closed" ? Effect.void : Effect.interrupt
    )
  }
}
