import type { Batch, ClaimedUpdate, JournalEntry, Partition } from "@colloquy/core/inbox/InboxStore"
import * as QueuedUpdate from "@colloquy/core/inbox/QueuedUpdate"
import { decodeText, encodeIndexed, encodeText, isId } from "../../base/internal/stores/values.ts"
import type { NewUpdate, QueuedRow, UpdateRow } from "./sqlTables.ts"

export interface DeadLetterRow extends UpdateRow {
  readonly error: string
  readonly attempts: number | bigint
  readonly failed_at: number | bigint
}

export const toUpdate = (
  { fingerprint, received_at, text }: Pick<UpdateRow, "fingerprint" | "received_at" | "text">,
  partitionKey: string
): QueuedUpdate.QueuedUpdate =>
  QueuedUpdate.fromStored({
    fingerprint: decodeText(fingerprint),
    partitionKey,
    receivedAt: Number(received_at),
    text: decodeText(text)
  })

export const toEntry = (row: UpdateRow): QueuedUpdate.Entry => ({
  id: String(row.id),
  update: toUpdate(row, decodeText(row.partition_key))
})

type Journals = ReadonlyMap<string, ReadonlyArray<JournalEntry>>

/** `journals` has the journals of updates, by the ids of the updates. */
export const toClaimed =
  (journals?: Journals) =>
  (row: QueuedRow, partitionKey: string): ClaimedUpdate => {
    const id = String(row.id)
    const update = toUpdate(row, partitionKey)
    const claimed = { id, update, attempts: Number(row.attempts ?? 0), crashes: Number(row.crashes) }
    return journals === undefined ? claimed : { ...claimed, journal: journals.get(id) }
  }

/** The claimed updates by their partitions, which are ordered by their first update. The rows are ordered by id. */
export const toPartitions = <Row>(
  rows: ReadonlyArray<Row>,
  keyOf: (row: Row) => string,
  toClaimed: (row: Row, partitionKey: string) => ClaimedUpdate
): ReadonlyArray<Partition> => {
  const byKey = new Map<string, { readonly key: string; readonly updates: Array<ClaimedUpdate> }>()
  for (const row of rows) {
    const key = keyOf(row)
    let partition = byKey.get(key)
    if (partition === undefined) {
      partition = { key: decodeText(key), updates: [] }
      byKey.set(key, partition)
    }
    partition.updates.push(toClaimed(row, partition.key))
  }
  return [...byKey.values()]
}

export const toDeadLetter = (row: DeadLetterRow): QueuedUpdate.DeadLetter => ({
  ...toEntry(row),
  error: decodeText(row.error),
  attempts: Number(row.attempts),
  failedAt: Number(row.failed_at)
})

export const toIdRows = (ids: ReadonlyArray<string>) => ids.filter(isId).map((id) => ({ id }))

export const toKeyRows = (keys: ReadonlyArray<string>) => keys.map((partition_key) => ({ partition_key }))

/** The ids of begun updates as a column of a partition. */
export const toBegun = (ids: Iterable<string>): string => [...ids].join(",")

export const fromBegun = (begun: string): ReadonlyArray<string> => String(begun).split(",").filter(isId)

const toRow = (update: QueuedUpdate.QueuedUpdate, error: string | undefined, now: number): NewUpdate => ({
  fingerprint: encodeIndexed(update.fingerprint),
  partition_key: encodeIndexed(update.partitionKey),
  received_at: update.receivedAt,
  text: encodeText(update.text),
  error: error === undefined ? null : encodeText(error),
  attempts: error === undefined ? null : 0,
  failed_at: error === undefined ? null : now
})

/** A row to insert. */
interface Candidate {
  readonly batch: number
  readonly row: NewUpdate
  /** When the fingerprint was received, unless the row is inserted also if its fingerprint is stored. */
  readonly seen_at: number | null
}

/** The rows of several batches in order, without duplicates between the batches. */
export const candidatesOf = (batches: ReadonlyArray<Batch>): ReadonlyArray<Candidate> => {
  const seen = new Set<string>()
  const candidates: Array<Candidate> = []
  for (const [batch, { updates, deadLetters, now, duplicatesSince }] of batches.entries()) {
    const isDeduplicated = duplicatesSince <= now
    const add = (row: NewUpdate) => {
      if (isDeduplicated && seen.has(row.fingerprint)) return
      seen.add(row.fingerprint)
      candidates.push({ batch, row, seen_at: isDeduplicated ? now : null })
    }
    for (const update of updates) add(toRow(update, undefined, now))
    for (const { update, error } of deadLetters) add(toRow(update, error, now))
  }
  return candidates
}

/** A fingerprint that was received before this time is not a duplicate. */
export const duplicatesSinceOf = (batches: ReadonlyArray<Batch>): number =>
  Math.min(...batches.map(({ duplicatesSince }) => duplicatesSince))

/** The last marker of each source. */
export const markersOf = (batches: ReadonlyArray<Batch>) => {
  const read = new Map(batches.flatMap(({ marker }) => (marker === undefined ? [] : [[marker.source, marker.value]])))
  return [...read].map(([source, value]) => ({ source: encodeIndexed(source), value: String(value) }))
}
