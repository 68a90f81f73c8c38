/**
 * An update as the inbox keeps it.
 *
 * @since 0.1.0
 */
import type * as Result from "effect/Result"
import * as Fingerprint from "./Fingerprint.ts"
import { originOf } from "./internal/updates/origin.ts"
import { toText } from "./internal/updates/updateText.ts"
import { type MalformedUpdate, parse, type Update } from "./Update.ts"

/**
 * An update in the inbox. `key` says whose turn it waits for: updates of one key are handled one after the other.
 * `receivedAt` is Unix time in milliseconds.
 *
 * @category models
 * @since 0.1.0
 */
export interface QueuedUpdate {
  readonly fingerprint: string
  readonly partitionKey: string
  readonly receivedAt: number
  /** Its JSON, written or kept. */
  readonly text: string
  /** What the text says. An update that was written by another version may be unreadable for this one. */
  readonly decoded: Result.Result<Update, MalformedUpdate>
}

/**
 * An update that waits in a store, under an id that the store gave it: a later update of the same key has a greater one.
 *
 * @category models
 * @since 0.1.0
 */
export interface Entry {
  readonly id: string
  readonly update: QueuedUpdate
}

/**
 * An update that was put aside: its handler failed as often as it may, or it could not be read. `problem` says why,
 * `attempts` how often it was tried, `failedAt` when (Unix time in milliseconds).
 *
 * @category models
 * @since 0.1.0
 */
export interface DeadLetter extends Entry {
  readonly error: string
  readonly attempts: number
  readonly failedAt: number
}

class OfRead implements QueuedUpdate {
  readonly fingerprint: string
  readonly partitionKey: string
  readonly receivedAt: number
  readonly decoded: Result.Success<Update, MalformedUpdate>
  #text: string | undefined

  constructor(
    read: Result.Success<Update, MalformedUpdate>,
    key: string,
    receivedAt: number,
    text: string | undefined
  ) {
    this.fingerprint = Fingerprint.of(read.success)
    this.partitionKey = key
    this.receivedAt = receivedAt
    this.decoded = read
    this.#text = text
  }

  get text(): string {
    return (this.#text ??= toText(this.decoded.success))
  }
}

class OfText implements QueuedUpdate {
  readonly fingerprint: string
  readonly partitionKey: string
  readonly receivedAt: number
  readonly text: string
  #read: Result.Result<Update, MalformedUpdate> | undefined

  constructor(parts: Omit<QueuedUpdate, "decoded">) {
    this.fingerprint = parts.fingerprint
    this.partitionKey = parts.partitionKey
    this.receivedAt = parts.receivedAt
    this.text = parts.text
  }

  get decoded(): Result.Result<Update, MalformedUpdate> {
    return (this.#read ??= parse(this.text))
  }
}

/**
 * The key of an update unless told otherwise: its chat, so that the updates of one chat are handled in their order.
 *
 * @category keys
 * @since 0.1.0
 */
export const defaultPartitionKey: (update: Update) => string = originOf

/**
 * An update for an update that was read. Its text is written when a store asks for it, unless it is given.
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromDecoded = (
  read: Result.Success<Update, MalformedUpdate>,
  options: {
    readonly receivedAt: number
    readonly partitionKey?: string | undefined
    readonly text?: string | undefined
  }
): QueuedUpdate =>
  new OfRead(read, options.partitionKey ?? defaultPartitionKey(read.success), options.receivedAt, options.text)

/**
 * An update from what a store kept of it.
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromStored = (parts: Omit<QueuedUpdate, "decoded">): QueuedUpdate => new OfText(parts)
