/**
 * An update in the form in which the inbox stores the update.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import type { Failure } from "./InboxStore.ts"
import { hashText } from "../model/internal/hashText.ts"
import { datedAt, receivedText } from "../model/internal/updateParts.ts"
import { chatOf, encode, type MalformedUpdate, parse, type Update, userIdOf } from "../model/Update.ts"
import { parseExactly, sortKeys, stringify } from "../base/internal/json.ts"
import { memberOf } from "../base/internal/wire.ts"

const hash = (value: unknown): string => hashText(stringify(sortKeys(value)))

const ofContent = (update: Update): string => `${update.update_type}:#${hash(encode(update))}`

/**
 * Returns the fingerprint of an update, which has no id on the wire: the same for each delivery of one event, and different for different events.
 *
 * | update | fingerprint |
 * |---|---|
 * | `message_created`, `comment_created` | the message's `mid` |
 * | `message_edited`, `comment_edited` | the message's `mid`, the time of the edit and a hash of the new body |
 * | `message_removed`, `comment_removed` | `message_id` |
 * | `message_callback` | `callback_id` |
 * | `colloquy_timer` | its name, its key and the time when it was due |
 * | membership, dialogs, titles and permissions | the chat, the user and the time |
 * | any other, or one without these fields | a hash of the content, independent of the order of object keys |
 *
 * **Example** (The fingerprint of a callback)
 *
 * ```ts
 * import { QueuedUpdate } from "@colloquy/core"
 * import { Fixtures } from "@colloquy/testing"
 *
 * QueuedUpdate.fingerprintOf(Fixtures.messageCallback()) // => "message_callback:callback-1"
 * ```
 *
 * API: Events, Webhook delivery rules.
 *
 * @assumption duplicateUpdates
 * @category fingerprints
 * @since 0.1.0
 */
export const fingerprintOf = (update: Update): string => {
  const type = update.update_type
  switch (type) {
    case "message_created":
    case "comment_created": {
      const mid = update.message?.body?.mid
      return mid === undefined ? ofContent(update) : `${type}:${mid}`
    }
    case "message_edited":
    case "comment_edited": {
      const body = update.message?.body
      // Two edits can have the same time.
      return body?.mid === undefined ? ofContent(update) : `${type}:${body.mid}:${update.timestamp}:#${hash(body)}`
    }
    case "message_removed":
    case "comment_removed":
      return `${type}:${update.message_id}`
    case "message_callback":
      return `${type}:${update.callback.callback_id}`
    case "colloquy_timer":
      return JSON.stringify([type, update.name, update.key, update.timestamp])
    case "unknown":
      return ofContent(update)
    case "bot_admin_permissions_changed":
      return `${type}:${update.chat_id}:${update.bot_id ?? ""}:${update.user_id ?? ""}:${update.timestamp}`
    default:
      return `${type}:${update.chat_id}:${update.user?.user_id ?? update.user_id ?? ""}:${update.timestamp}`
  }
}

/**
 * Returns the fingerprint of a text that cannot be decoded as an update. If the text is JSON, the fingerprint is
 * independent of white space and of the order of object keys.
 *
 * @category fingerprints
 * @since 0.1.0
 */
export const fingerprintOfText = (text: string): string =>
  `unreadable:#${Result.match(
    Result.try(() => parseExactly(text)),
    { onSuccess: hash, onFailure: () => hashText(text) }
  )}`

/**
 * An update that is or was queued in an inbox.
 *
 * @category models
 * @since 0.1.0
 */
export interface QueuedUpdate {
  /** Identifies the event of the update, for deduplication. See {@link fingerprintOf}. */
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
export interface DeadLetter extends Entry, Failure {}

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
    this.fingerprint = fingerprintOf(decoded.success)
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

const chatOfRaw = (raw: unknown): unknown =>
  memberOf("chat_id", raw) ?? memberOf("chat_id", memberOf("recipient", memberOf("message", raw)))

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
