import type { ClaimedUpdate } from "@colloquy/core/inbox/InboxStore"
import * as Schema from "effect/Schema"
import { EntryRow, toEntry } from "./journal/sqlJournals.ts"
import { toUpdate } from "./sqlRows.ts"

/**
 * An update as `claim` returns it. Rows are lists, and the columns are the fewest possible, because each member of an object
 * and each column takes time for every update (benchmark `batch-sink-rate`).
 */
export type ClaimedRow = readonly [
  id: bigint,
  partition_key: string,
  fingerprint: string,
  received_at: number,
  text: string,
  /** The data of earlier attempts, as JSON, or `null`. */
  earlier: string | null
]

const Earlier = Schema.Struct({
  attempts: Schema.Int,
  crashes: Schema.Int,
  journal: Schema.NullOr(Schema.Array(EntryRow))
})

const decodeEarlier = Schema.decodeUnknownSync(Schema.fromJsonString(Earlier))

export const keyOf = ([, partition_key]: ClaimedRow): string => partition_key

export const toClaimed = (row: ClaimedRow, partitionKey: string): ClaimedUpdate => {
  const [rowId, , fingerprint, received_at, text, earlier] = row
  const id = String(rowId)
  const update = toUpdate({ fingerprint, received_at, text }, partitionKey)
  if (earlier === null) return { id, update, attempts: 0, crashes: 0 }
  const { attempts, crashes, journal } = decodeEarlier(earlier)
  return { id, update, attempts, crashes, journal: journal?.map(toEntry) }
}
