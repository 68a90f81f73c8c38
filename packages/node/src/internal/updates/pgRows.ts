import type { ClaimedUpdate } from "@colloquy/core/InboxStore"
import * as Schema from "effect/Schema"
import { EntryRow, toEntry } from "../journal/sqlJournals.ts"
import { toUpdate } from "./sqlRows.ts"

/**
 * An update as `claim` returns it. The columns are the fewest possible, because each of them takes time to decode for every
 * update (benchmark `batch-sink-rate`).
 */
export interface ClaimedRow {
  readonly id: bigint
  readonly partition_key: string
  readonly fingerprint: string
  readonly received_at: number
  readonly text: string
  /** What earlier attempts have left, as JSON. `null` if there is nothing. */
  readonly earlier: string | null
}

const Earlier = Schema.Struct({
  attempts: Schema.Number,
  crashes: Schema.Number,
  journal: Schema.NullOr(Schema.Array(EntryRow))
})

const decodeEarlier = Schema.decodeUnknownSync(Schema.fromJsonString(Earlier))

export const toClaimed = (row: ClaimedRow, partitionKey: string): ClaimedUpdate => {
  const id = String(row.id)
  const update = toUpdate(row, partitionKey)
  if (row.earlier === null) return { id, update, attempts: 0, crashes: 0 }
  const { attempts, crashes, journal } = decodeEarlier(row.earlier)
  return { id, update, attempts, crashes, journal: journal?.map(toEntry) }
}
