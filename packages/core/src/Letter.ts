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
 * An update in the inbox. `key` says whose turn it waits for: letters of one key are handled one after the other.
 * `receivedAt` is Unix time in milliseconds.
 *
 * @category models
 * @since 0.1.0
 */
export interface Letter {
  readonly fingerprint: string
  readonly key: string
  readonly receivedAt: number
  /** Its JSON, written or kept. */
  readonly text: string
  /** What the text says. A letter that was written by another version may be unreadable for this one. */
  readonly read: Result.Result<Update, MalformedUpdate>
}

/**
 * A letter that waits in a store, under an id that the store gave it: a later letter of the same key has a greater one.
 *
 * @category models
 * @since 0.1.0
 */
export interface Stored {
  readonly id: string
  readonly letter: Letter
}

/**
 * A letter that was put aside: its handler failed as often as it may, or it could not be read. `problem` says why,
 * `attempts` how often it was tried, `diedAt` when (Unix time in milliseconds).
 *
 * @category models
 * @since 0.1.0
 */
export interface Dead extends Stored {
  readonly problem: string
  readonly attempts: number
  readonly diedAt: number
}

class OfRead implements Letter {
  readonly fingerprint: string
  readonly key: string
  readonly receivedAt: number
  readonly read: Result.Success<Update, MalformedUpdate>
  #text: string | undefined

  constructor(
    read: Result.Success<Update, MalformedUpdate>,
    key: string,
    receivedAt: number,
    text: string | undefined
  ) {
    this.fingerprint = Fingerprint.of(read.success)
    this.key = key
    this.receivedAt = receivedAt
    this.read = read
    this.#text = text
  }

  get text(): string {
    return (this.#text ??= toText(this.read.success))
  }
}

class OfText implements Letter {
  readonly fingerprint: string
  readonly key: string
  readonly receivedAt: number
  readonly text: string
  #read: Result.Result<Update, MalformedUpdate> | undefined

  constructor(parts: Omit<Letter, "read">) {
    this.fingerprint = parts.fingerprint
    this.key = parts.key
    this.receivedAt = parts.receivedAt
    this.text = parts.text
  }

  get read(): Result.Result<Update, MalformedUpdate> {
    return (this.#read ??= parse(this.text))
  }
}

/**
 * The key of an update unless told otherwise: its chat, so that the updates of one chat are handled in their order.
 *
 * @category keys
 * @since 0.1.0
 */
export const chatKey: (update: Update) => string = originOf

/**
 * A letter for an update that was read. Its text is written when a store asks for it, unless it is given.
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromRead = (
  read: Result.Success<Update, MalformedUpdate>,
  options: { readonly receivedAt: number; readonly key?: string | undefined; readonly text?: string | undefined }
): Letter => new OfRead(read, options.key ?? chatKey(read.success), options.receivedAt, options.text)

/**
 * A letter from what a store kept of it.
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromStored = (parts: Omit<Letter, "read">): Letter => new OfText(parts)
