import type { Batch, ClaimedUpdate, Commit, CommitResult } from "@colloquy/core/InboxStore"
import * as QueuedUpdate from "@colloquy/core/QueuedUpdate"
import { decodeText, encodeIndexed, encodeText, isId } from "../stores/values.ts"
import type { NewUpdate, QueuedRow, UpdateRow } from "./sqlSchema.ts"

export interface DeadLetterRow extends UpdateRow {
  readonly error: string
  readonly attempts: number | bigint
  readonly failed_at: number | bigint
}

export const toEntry = ({ id, partition_key, fingerprint, received_at, text }: UpdateRow): QueuedUpdate.Entry => ({
  id: String(id),
  update: QueuedUpdate.fromStored({
    fingerprint: decodeText(fingerprint),
    partitionKey: decodeText(partition_key),
    receivedAt: Number(received_at),
    text: decodeText(text)
  })
})

export const toClaimed = (row: QueuedRow): ClaimedUpdate => ({
  ...toEntry(row),
  attempts: Number(row.attempts ?? 0),
  crashes: Number(row.crashes)
})

export const toDeadLetter = (row: DeadLetterRow): QueuedUpdate.DeadLetter => ({
  ...toEntry(row),
  error: decodeText(row.error),
  attempts: Number(row.attempts),
  failedAt: Number(row.failed_at)
})

export const toIdRows = (ids: ReadonlyArray<string>) => ids.filter(isId).map((id) => ({ id }))

const toRow = (update: QueuedUpdate.QueuedUpdate, error: string | undefined, now: number): NewUpdate => ({
  fingerprint: encodeIndexed(update.fingerprint),
  partition_key: encodeIndexed(update.partitionKey),
  received_at: update.receivedAt,
  text: encodeText(update.text),
  error: error === undefined ? null : encodeText(error),
  attempts: error === undefined ? null : 0,
  failed_at: error === undefined ? null : now
})

/** A row to insert unless its fingerprint is already stored. */
interface Candidate {
  readonly batch: number
  readonly isDeduplicated: boolean
  readonly now: number
  readonly row: NewUpdate
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
      candidates.push({ batch, isDeduplicated, now, row })
    }
    for (const update of updates) add(toRow(update, undefined, now))
    for (const { update, error } of deadLetters) add(toRow(update, error, now))
  }
  return candidates
}

/** The ids of begun updates as a column of a partition. */
export const toBegun = (ids: Iterable<string>): string => [...ids].join(",")

export const fromBegun = (begun: string): ReadonlyArray<string> => (begun === "" ? [] : begun.split(","))

/** Makes an update a dead letter. */
type DeadLetterChange = {
  readonly partition_key: string
  readonly id: string
  readonly error: string
  readonly attempts: number
  readonly failed_at: number
}

export const deadLetterColumns: { readonly [K in keyof DeadLetterChange]: "text" | "bigint" } = {
  partition_key: "text",
  id: "bigint",
  error: "text",
  attempts: "bigint",
  failed_at: "bigint"
}

interface Held {
  readonly owner: string
  readonly begun: string
}

interface Touched {
  readonly begun: Set<string>
  isReleased: boolean
}

/** The rows that commits change, given the current owner of each partition, and the result of each commit. */
export const changesOf = (
  commits: ReadonlyArray<Commit>,
  held: ReadonlyMap<string, Held>,
  ownerOf: (owner: string) => string
) => {
  const acknowledged: Array<{ partition_key: string; id: string }> = []
  const deadLetters: Array<DeadLetterChange> = []
  const failures = new Map<string, { partition_key: string; id: string; count: number }>()
  const touched = new Map<string, Touched>()

  /** A partition that the owner holds. All changes of a commit depend on it. */
  const find = (key: string, owner: string): Touched | undefined => {
    const known = touched.get(key)
    const partition = held.get(key)
    if (partition?.owner !== ownerOf(owner) || known?.isReleased === true) return undefined
    if (known !== undefined) return known
    const added = { begun: new Set(fromBegun(partition.begun)), isReleased: false }
    touched.set(key, added)
    return added
  }

  const results = commits.map(({ begun, completed, failed, owner, partitionKey, release }): CommitResult => {
    const partition_key = encodeIndexed(partitionKey)
    const partition = find(partition_key, owner)
    if (partition === undefined) return "leaseLost"
    for (const { failure, id } of completed) {
      if (!isId(id)) continue
      partition.begun.delete(id)
      if (failure === undefined) acknowledged.push({ partition_key, id })
      else {
        const { attempts, error, failedAt } = failure
        deadLetters.push({ partition_key, id, error: encodeText(error), attempts, failed_at: failedAt })
      }
    }
    for (const id of failed.filter(isId)) {
      partition.begun.delete(id)
      const failure = failures.get(id) ?? { partition_key, id, count: 0 }
      failure.count++
      failures.set(id, failure)
    }
    for (const id of begun.filter(isId)) partition.begun.add(id)
    if (release) {
      partition.begun.clear()
      partition.isReleased = true
    }
    return "applied"
  })
  const partitions = [...touched].map(([partition_key, { begun, isReleased }]) => ({
    partition_key,
    begun: toBegun(begun),
    released: isReleased ? 1 : 0
  }))
  return { results, acknowledged, deadLetters, failures: [...failures.values()], partitions }
}
