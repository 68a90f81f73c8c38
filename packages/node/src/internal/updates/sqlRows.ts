import type { Batch, Commit } from "@colloquy/core/InboxStore"
import * as QueuedUpdate from "@colloquy/core/QueuedUpdate"
import { decodeText, encodeIndexed, encodeText, isId } from "../stores/values.ts"
import type { NewUpdate, UpdateRow } from "./sqlSchema.ts"

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

/** The rows that commits change, given the current owner of each partition. Commits of other owners are ignored. */
export const changesOf = (
  commits: ReadonlyArray<Commit>,
  owners: ReadonlyMap<string, string>,
  ownerOf: (owner: string) => string
) => {
  const acknowledged: Array<{ id: string }> = []
  const deadLetters: Array<{ id: string; error: string; attempts: number; failed_at: number }> = []
  const released = new Map<string, boolean>()
  for (const { owner, partitionKey, completed, release } of commits) {
    const key = encodeIndexed(partitionKey)
    if (owners.get(key) !== ownerOf(owner) || released.get(key) === true) continue
    released.set(key, release)
    if (completed === undefined) continue
    const { id, failure } = completed
    if (failure === undefined) acknowledged.push({ id })
    else
      deadLetters.push({
        id,
        error: encodeText(failure.error),
        attempts: failure.attempts,
        failed_at: failure.failedAt
      })
  }
  const touched = [...released].map(([partition_key, release]) => ({ partition_key, released: release ? 1 : 0 }))
  return { acknowledged, deadLetters, touched }
}
