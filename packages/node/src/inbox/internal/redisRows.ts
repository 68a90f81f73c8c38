import type { Failure } from "@colloquy/core/inbox/InboxStore"
import type * as QueuedUpdate from "@colloquy/core/inbox/QueuedUpdate"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { decodeText, encodeText } from "../../base/internal/stores/values.ts"

/**
 * The receive time comes first, then the lengths of fingerprint and partition key, then fingerprint, partition key and
 * text. The format is not JSON, because the text is already JSON, and a second quotation costs more than the rest of
 * this module (benchmark `redis-inbox`).
 */
export const pack = (fingerprint: string, partitionKey: string, text: string): string =>
  `,${fingerprint.length},${partitionKey.length};${fingerprint}${partitionKey}${encodeText(text)}`

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

export const unpackFailure = (packed: string | null): Failure => {
  const unpacked = Option.getOrElse(decodePackedFailure(packed), () => [packed ?? "", 0, 0] as const)
  const [error, attempts, failedAt] = unpacked
  return { error: decodeText(error), attempts, failedAt }
}
