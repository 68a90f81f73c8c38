import type { ClaimedUpdate, Failure, Partition, StoredUpdate } from "@colloquy/core/inbox/InboxStore"
import * as QueuedUpdate from "@colloquy/core/inbox/QueuedUpdate"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { decodeText, encodeText } from "../../../base/internal/stores/values.ts"
import { toRow } from "./rows.ts"
import type { Claimed } from "./scripts.ts"

/**
 * The receive time comes first, then the lengths of fingerprint and partition key, then fingerprint, partition key and
 * text. The format is not JSON, because the text is already JSON, and a second quotation costs more than the rest of
 * this module (benchmark `redis-inbox`).
 */
export const pack = (
  fingerprint: string,
  partitionKey: string,
  { receivedAt, text }: QueuedUpdate.QueuedUpdate
): string =>
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

/** Error, number of attempts and time of the failure. */
const PackedFailure = Schema.Tuple([Schema.String, Schema.Number, Schema.Number])

export const packFailure = ({ error, attempts, failedAt }: Failure): string =>
  JSON.stringify([encodeText(error), attempts, failedAt] satisfies typeof PackedFailure.Type)

const decodePackedFailure = Schema.decodeUnknownOption(Schema.fromJsonString(PackedFailure))

const unpackFailure = (packed: string): Failure => {
  const [error, attempts, failedAt] = Option.getOrElse(decodePackedFailure(packed), () => [packed, 0, 0] as const)
  return { error: decodeText(error), attempts, failedAt }
}

export const toEntry = (id: string, packed: string | null): QueuedUpdate.Entry => ({
  id,
  update: QueuedUpdate.fromStored(unpack(packed))
})

/** A dead letter is stored as its failure and its update, in two lines. */
export const toDeadLetter = (id: string, packed: string | null): StoredUpdate & { readonly failure: Failure } => {
  const stored = packed ?? ""
  const end = stored.indexOf("\n")
  return { ...toEntry(id, stored.slice(end + 1)), failure: unpackFailure(stored.slice(0, Math.max(0, end))) }
}

const mark = /^(\d+):(\d+)$/

export const toPartitions = ([, partitions, texts, marks, journals]: Claimed): ReadonlyArray<Partition> => {
  let at = 0
  return partitions.map(([key, ids]) => {
    const updates = ids.map((id): ClaimedUpdate => {
      const [, attempts, crashes] = mark.exec(marks[at] ?? "") ?? [undefined, 0, 0]
      const journal = (journals[at] ?? []).flatMap((key, index, all) =>
        index % 2 === 0 ? [toRow(key, all[index + 1]!)] : []
      )
      const update = { ...toEntry(id, texts[at]!), attempts: Number(attempts), crashes: Number(crashes) }
      at++
      return journal.length === 0 ? update : { ...update, journal }
    })
    return { key: decodeText(key), updates }
  })
}
