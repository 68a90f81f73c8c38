import * as Schema from "effect/Schema"
import type { AttachmentRequest } from "../../../model/AttachmentRequest.ts"
import type { UserId } from "../../../model/User.ts"

/** The result of a named operation, in the order in which they were recorded. */
export type Entry = readonly [
  name: string,
  outcome: "answer" | "skipped" | "unanswered" | "result" | "done",
  value?: Schema.Json,
  /** Who answered, in a conversation of a chat. */
  user?: UserId
]

/** The operation that a conversation waits for. */
export interface Waiting {
  readonly name: string
  /** The accepted answers. If the code has changed these answers, the question is asked again. */
  readonly signature: string
  /** The values of the buttons with choices, by which a rehearsal finds buttons that were removed. */
  readonly choices?: ReadonlyArray<string>
  /** When the timer is due, in Unix milliseconds. */
  readonly until?: number
  /** The message with the buttons. */
  readonly message?: string
  /** Its other attachments, which stay when the buttons are removed. */
  readonly attachments?: ReadonlyArray<AttachmentRequest>
  /** The chosen values so far. */
  readonly chosen?: ReadonlyArray<string>
}

/** An answer to a question that the code reaches only after another question, because the code has changed. */
export interface Kept {
  readonly name: string
  /** The JSON text of the update. */
  readonly update: string
}

/**
 * An update that is being handled, and whose results are partly stored. If the update becomes a dead letter, the
 * conversation waits for this update.
 */
export interface Unfinished {
  /** The id of the update in the inbox. A replay gives another id to the update. */
  readonly id: string
  readonly fingerprint: string
  readonly partitionKey: string
  /** Whether the question that waited has taken the update. */
  readonly isTaken: boolean
}

/** The stored record of a conversation. */
export interface Record {
  /** Distinguishes this conversation from earlier and later conversations of the same user. */
  readonly run: string
  readonly version: number
  readonly user: UserId
  readonly startedAt: number
  readonly input?: Schema.Json
  readonly entries: ReadonlyArray<Entry>
  /** How often the results of steps were forgotten, by the names of the steps. */
  readonly forgotten?: { readonly [step: string]: number }
  readonly waiting?: Waiting
  /** How many messages without a name were sent since the last entry. */
  readonly said?: number
  readonly kept?: Kept
  /** The message that asks whether to start over, and the input of the new conversation. */
  readonly again?: { readonly message: string; readonly input?: Schema.Json }
  readonly unfinished?: Unfinished
}

const isObject = (u: unknown): u is { readonly [key: string]: unknown } => typeof u === "object" && u !== null

const isEntry = (u: unknown): boolean => Array.isArray(u) && typeof u[0] === "string" && typeof u[1] === "string"

const isRecord = (u: unknown): u is Record =>
  isObject(u) &&
  typeof u.run === "string" &&
  typeof u.version === "number" &&
  typeof u.user === "number" &&
  typeof u.startedAt === "number" &&
  Array.isArray(u.entries) &&
  u.entries.every(isEntry) &&
  (u.waiting === undefined || (isObject(u.waiting) && typeof u.waiting.name === "string"))

/**
 * Records are already JSON, and are read and written for each update: a schema of all parts, or the check of all parts
 * for JSON, would take most of the time. benchmarks/src/conversations/cpu.ts measures this time.
 */
export const Record: Schema.Codec<Record | undefined, unknown> = Schema.declare(
  (u): u is Record | undefined => u === undefined || isRecord(u),
  { toCodecJson: () => undefined }
)
