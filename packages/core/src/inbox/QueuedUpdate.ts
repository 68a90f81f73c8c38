/**
 * An update in the form in which the inbox stores the update.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import * as Fingerprint from "../model/Fingerprint.ts"
import { datedAt, receivedText } from "../model/internal/updateParts.ts"
import { chatOf, encode, type MalformedUpdate, parse, type Update, userIdOf } from "../model/Update.ts"
import { stringify } from "../base/internal/json.ts"

/**
 * An update that is or was queued in an inbox.
 *
 * @category models
 * @since 0.1.0
 */
export interface QueuedUpdate {
  /** Identifies the event of the update, for deduplication. See `Fingerprint.of`. */
  readonly fingerprint: string
  /** Updates with the same partition key are handled one at a time, in order. */
  readonly partitionKey: string
  /** When the update was received, in Unix milliseconds. */
  readonly receivedAt: number
  /** The JSON text of the update. */
  readonly text: string
  /**
   * The decoded text. A failure if the text is malformed, which can also happen when an update was stored by another
   * version of the library.
   */
  readonly decoded: Result.Result<Update, MalformedUpdate>
}

/**
 * A queued update with the id that the store gave to the update. Within a partition, ids ascend in the order of the
 * updates.
 *
 * @category models
 * @since 0.1.0
 */
export interface Entry {
  /** The id in the store: a whole number. */
  readonly id: string
  /** The queued update. */
  readonly update: QueuedUpdate
}

/**
 * An update that is not handled any more: its handler failed as often as the retry policy allows, or the update could not
 * be decoded. `Inbox.deadLetters` lists dead letters, `Inbox.replay` queues one again.
 *
 * @category models
 * @since 0.1.0
 */
export interface DeadLetter extends Entry {
  /** The error of the last attempt, as text. */
  readonly error: string
  /** Number of attempts. 0 when the update could not be decoded. */
  readonly attempts: number
  /** Time of the failure, in Unix milliseconds. */
  readonly failedAt: number
}

class DecodedUpdate implements QueuedUpdate {
  readonly fingerprint: string
  readonly partitionKey: string
  readonly receivedAt: number
  readonly decoded: Result.Success<Update, MalformedUpdate>
  #text: string | undefined

  constructor(
    decoded: Result.Success<Update, MalformedUpdate>,
    partitionKey: string,
    receivedAt: number,
    text: string | undefined
  ) {
    this.fingerprint = Fingerprint.of(decoded.success)
    this.partitionKey = partitionKey
    this.receivedAt = receivedAt
    this.decoded = decoded
    this.#text = text
  }

  get text(): string {
    return (this.#text ??= receivedText(this.decoded.success) ?? stringify(encode(this.decoded.success)))
  }
}

class StoredUpdate implements QueuedUpdate {
  readonly fingerprint: string
  readonly partitionKey: string
  readonly receivedAt: number
  readonly text: string
  #decoded: Result.Result<Update, MalformedUpdate> | undefined

  constructor({ fingerprint, partitionKey, receivedAt, text }: Omit<QueuedUpdate, "decoded">) {
    this.fingerprint = fingerprint
    this.partitionKey = partitionKey
    this.receivedAt = receivedAt
    this.text = text
  }

  get decoded(): Result.Result<Update, MalformedUpdate> {
    if (this.#decoded !== undefined) return this.#decoded
    const decoded = parse(this.text)
    return (this.#decoded = Result.isSuccess(decoded) ? datedAt(decoded, this.receivedAt) : decoded)
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null

const chatOfRaw = (raw: unknown): unknown => {
  if (!isRecord(raw)) return undefined
  const { chat_id, message } = raw
  if (chat_id != null) return chat_id
  return isRecord(message) && isRecord(message["recipient"]) ? message["recipient"]["chat_id"] : undefined
}

/**
 * Returns the default partition key of an update: its chat, or `user:` and its user if the update has no chat. Updates
 * without chat and user share one partition, with an empty key.
 *
 * @category partition keys
 * @since 0.1.0
 */
export const defaultPartitionKey = (update: Update): string => {
  if (update.update_type === "unknown") {
    const chat_id = chatOfRaw(update.raw)
    return typeof chat_id === "number" || typeof chat_id === "bigint" || typeof chat_id === "string"
      ? String(chat_id)
      : ""
  }
  const chat_id = chatOf(update)
  if (chat_id !== undefined) return String(chat_id)
  const user_id = userIdOf(update)
  return user_id === undefined ? "" : `user:${user_id}`
}

/**
 * Options of {@link fromDecoded}.
 *
 * @category models
 * @since 0.1.0
 */
export interface FromDecodedOptions {
  /** When the update was received, in Unix milliseconds. */
  readonly receivedAt: number
  /** The partition key. Default: {@link defaultPartitionKey} of the update. */
  readonly partitionKey?: string | undefined
  /** The JSON text of the update. Default: the update is encoded when a store reads `text`. */
  readonly text?: string | undefined
}

/**
 * Creates a queued update from a decoded update.
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromDecoded = (
  decoded: Result.Success<Update, MalformedUpdate>,
  { partitionKey = defaultPartitionKey(decoded.success), receivedAt, text }: FromDecodedOptions
): QueuedUpdate => new DecodedUpdate(datedAt(decoded, receivedAt), partitionKey, receivedAt, text)

/**
 * Creates a queued update from the values that a store kept. Its text is decoded at the first access to `decoded`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromStored = (stored: Omit<QueuedUpdate, "decoded">): QueuedUpdate => new StoredUpdate(stored)
