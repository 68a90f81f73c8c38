import type { ClaimedUpdate, JournalEntry, Partition } from "@colloquy/core/inbox/InboxStore"
import * as QueuedUpdate from "@colloquy/core/inbox/QueuedUpdate"
import { toEntries } from "./journal/redisJournals.ts"
import { decodeText } from "../../base/internal/stores/values.ts"
import type { DeadLetter } from "./redisDeadLetters.ts"
import { unpack, unpackFailure } from "./redisRows.ts"
import type { Claimed } from "./redisScripts.ts"

const toEntry = (id: string, packed: string | null): QueuedUpdate.Entry => ({
  id,
  update: QueuedUpdate.fromStored(unpack(packed))
})

export const toDeadLetter = ([id, update, failure]: DeadLetter): QueuedUpdate.DeadLetter => ({
  ...toEntry(id, update),
  ...unpackFailure(failure)
})

const mark = /^(\d+):(\d+)$/

/** Adds the numbers of attempts and crashes to an update. Most updates have none, and so an empty mark. */
const toClaimedUpdate = (id: string, marked: string, packed: string): ClaimedUpdate => {
  const [, attempts, crashes] = (marked === "" ? undefined : mark.exec(marked)) ?? [undefined, 0, 0]
  return { ...toEntry(id, packed), attempts: Number(attempts), crashes: Number(crashes) }
}

const noJournals: ReadonlyMap<string, ReadonlyArray<JournalEntry>> = new Map()

export const toQueued = (values: ReadonlyArray<string>): ReadonlyArray<QueuedUpdate.Entry> =>
  values.flatMap((id, at) => (at % 3 === 0 ? [toEntry(id, values[at + 2]!)] : []))

export const toPartition = ([key, values, packed]: Claimed): Partition => {
  const updates: Array<ClaimedUpdate> = []
  const journals = packed === undefined ? noJournals : new Map(packed.map(([id, journal]) => [id, toEntries(journal)]))
  for (let at = 0; at < values.length; at += 3) {
    const update = toClaimedUpdate(values[at]!, values[at + 1]!, values[at + 2]!)
    const journal = journals.get(update.id)
    updates.push(journal === undefined || journal.length === 0 ? update : { ...update, journal })
  }
  return { key: decodeText(key), updates }
}
