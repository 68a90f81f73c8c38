import * as Result from "effect/Result"
import type { Update } from "../../model/Update.ts"
import type { Received } from "../Inbox.ts"
import type { Batch } from "../InboxStore.ts"
import * as QueuedUpdate from "../QueuedUpdate.ts"
import * as json from "../../base/internal/json.ts"

export interface BatchOptions {
  /** In milliseconds. */
  readonly deduplicationWindow: number
  readonly partitionKey: ((update: Update) => string | number) | undefined
}

const textOf = (raw: unknown): string => (typeof raw === "string" ? raw : json.stringify(raw))

/** Returns the batch of updates for the store. An update that cannot be decoded, or has no partition key, is a dead letter. */
export const toBatch = (
  updates: ReadonlyArray<Received>,
  now: number,
  { deduplicationWindow, partitionKey }: BatchOptions
): Batch => {
  const accepted: Array<QueuedUpdate.QueuedUpdate> = []
  const deadLetters: Array<{ update: QueuedUpdate.QueuedUpdate; error: string }> = []
  for (const { decoded, text } of updates) {
    if (Result.isFailure(decoded)) {
      const { problem, raw } = decoded.failure
      const kept = text ?? textOf(raw)
      const fingerprint = QueuedUpdate.fingerprintOfText(kept)
      const update = QueuedUpdate.fromStored({ fingerprint, partitionKey: "", receivedAt: now, text: kept })
      deadLetters.push({ update, error: problem })
      continue
    }
    const key = partitionKey === undefined ? undefined : Result.try(() => String(partitionKey(decoded.success)))
    if (key !== undefined && Result.isFailure(key)) {
      const update = QueuedUpdate.fromDecoded(decoded, { receivedAt: now, text })
      deadLetters.push({ update, error: `The option \`partitionKey\` of the inbox failed: ${String(key.failure)}` })
    } else {
      accepted.push(QueuedUpdate.fromDecoded(decoded, { receivedAt: now, partitionKey: key?.success, text }))
    }
  }
  const duplicatesSince = deduplicationWindow === 0 ? Number.MAX_SAFE_INTEGER : Math.max(0, now - deduplicationWindow)
  return { updates: accepted, deadLetters, now, duplicatesSince }
}
