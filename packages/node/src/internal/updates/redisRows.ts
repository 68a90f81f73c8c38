import type { Batch, ClaimedUpdate, Commit, Failure, Partition } from "@colloquy/core/InboxStore"
import * as QueuedUpdate from "@colloquy/core/QueuedUpdate"
import type { JournalEntry } from "@colloquy/core/HandlingStore"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { toEntries } from "../journal/redisJournals.ts"
import { decodeText, encodeIndexed, encodeText, isId } from "../stores/values.ts"
import type { DeadLetter } from "./redisDeadLetters.ts"
import type { Claimed } from "./redisScripts.ts"

/**
 * The receive time and the lengths of fingerprint and partition key, then fingerprint, partition key and text. Not JSON,
 * because the text is JSON already: quoting it again costs more than everything else here (benchmark `redis-inbox`).
 */
const pack = (fingerprint: string, partitionKey: string, { receivedAt, text }: QueuedUpdate.QueuedUpdate): string =>
  `${receivedAt},${fingerprint.length},${partitionKey.length};${fingerprint}${partitionKey}${encodeText(text)}`

const header = /^(-?[\d.e+]+),(\d+),(\d+);/

/** A missing or malformed value becomes an update that cannot be decoded, so that the consumer makes it a dead letter. */
export const unpack = (packed: string | null): Omit<QueuedUpdate.QueuedUpdate, "decoded"> => {
  const [start, receivedAt, fingerprintLength, keyLength] = header.exec(packed ?? "") ?? []
  if (packed === null || start === undefined) {
    return { receivedAt: 0, fingerprint: "", partitionKey: "", text: packed ?? "" }
  }
  const keyStart = start.length + Number(fingerprintLength)
  const textStart = keyStart + Number(keyLength)
  return {
    receivedAt: Number(receivedAt),
    fingerprint: decodeText(packed.slice(start.length, keyStart)),
    partitionKey: decodeText(packed.slice(keyStart, textStart)),
    text: decodeText(packed.slice(textStart))
  }
}

const toEntry = (id: string, packed: string | null): QueuedUpdate.Entry => ({
  id,
  update: QueuedUpdate.fromStored(unpack(packed))
})

/** Error, number of attempts and time of the failure. */
const PackedFailure = Schema.Tuple([Schema.String, Schema.Number, Schema.Number])

const packFailure = ({ error, attempts, failedAt }: Failure): string =>
  JSON.stringify([encodeText(error), attempts, failedAt] satisfies typeof PackedFailure.Type)

const decodePackedFailure = Schema.decodeUnknownOption(Schema.fromJsonString(PackedFailure))

export const unpackFailure = (packed: string | null): Failure => {
  const unpacked = Option.getOrElse(decodePackedFailure(packed), () => [packed ?? "", 0, 0] as const)
  const [error, attempts, failedAt] = unpacked
  return { error: decodeText(error), attempts, failedAt }
}

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

export const enqueueArguments = (sender: string, batches: ReadonlyArray<Batch>): ReadonlyArray<string> => {
  const count = batches.reduce((sum, { deadLetters, updates }) => sum + updates.length + deadLetters.length, 0)
  const args = [sender, String(batches.length), String(count)]
  for (const { deadLetters, duplicatesSince, now, updates } of batches) {
    const since = duplicatesSince <= now ? String(duplicatesSince) : ""
    args.push(String(updates.length), String(deadLetters.length), String(now), since)
    for (const update of updates) {
      const fingerprint = encodeIndexed(update.fingerprint)
      const partitionKey = encodeIndexed(update.partitionKey)
      args.push(fingerprint, partitionKey, pack(fingerprint, partitionKey, update))
    }
    for (const { update, error } of deadLetters) {
      const fingerprint = encodeIndexed(update.fingerprint)
      const failure = packFailure({ error, attempts: 0, failedAt: now })
      args.push(fingerprint, pack(fingerprint, encodeIndexed(update.partitionKey), update), failure)
    }
  }
  for (const { marker } of batches) {
    if (marker !== undefined) args.push(encodeIndexed(marker.source), String(marker.value))
  }
  return args
}

/** Ids that Redis did not assign belong to no update, and are left out. */
const joinIds = (ids: ReadonlyArray<string>): string => ids.filter(isId).join(",")

const pushCommit = (args: Array<string>, { begun, completed, failed, partitionKey, release }: Commit): void => {
  const acknowledged: Array<string> = []
  const deadLetters: Array<string> = []
  for (const { failure, id } of completed) {
    if (failure === undefined) acknowledged.push(id)
    else if (isId(id)) deadLetters.push(id, String(failure.failedAt), packFailure(failure))
  }
  const isSimple = deadLetters.length === 0 && failed.length === 0
  const rest = isSimple ? "" : ` ${deadLetters.length / 3} ${joinIds(failed)}`
  args.push(encodeIndexed(partitionKey), joinIds(acknowledged), joinIds(begun), `${release ? 1 : 0}${rest}`)
  for (const value of deadLetters) args.push(value)
}

export const commitArguments = (sender: string, commits: ReadonlyArray<Commit>): ReadonlyArray<string> => {
  const args = [sender]
  for (let from = 0; from < commits.length;) {
    const { owner } = commits[from]!
    const end = commits.findIndex((commit, index) => index > from && commit.owner !== owner)
    const to = end === -1 ? commits.length : end
    args.push(encodeIndexed(owner), String(to - from))
    for (; from < to; from++) pushCommit(args, commits[from]!)
  }
  return args
}
