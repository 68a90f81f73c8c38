/**
 * The data of broadcasts: their options, results, progress and errors. `Broadcasts` runs them.
 *
 * API: POST /messages; Limits.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import type * as Duration from "effect/Duration"
import type * as Stream from "effect/Stream"
import type * as ApiError from "../client/ApiError.ts"
import type * as Endpoint from "../client/Endpoint.ts"
import type { Message } from "../model/Message.ts"
import type * as Messages from "../endpoints/Messages.ts"
import type { NewMessageBody } from "../model/NewMessage.ts"
import type { ChatId, MessageId } from "../model/Recipient.ts"
import { TaggedError } from "../base/TaggedError.ts"

/**
 * Options of `Broadcasts.run`.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options<E, R> {
  /**
   * Identifies the broadcast. A run with the same name continues the broadcast, and no chat receives the message twice.
   */
  readonly name: string
  /** The recipients, pulled as they are needed, from the beginning in every run. Duplicates receive one message. */
  readonly recipients: Stream.Stream<ChatId, E, R>
  /** The message, the same for all recipients or made for each of them. */
  readonly message: NewMessageBody | ((chat_id: ChatId) => NewMessageBody)
  /**
   * Maximum number of concurrent requests. Default: 16, which keeps up with 30 requests per second if a request takes
   * half a second. A request that takes a second needs 30 concurrent requests for the same rate.
   */
  readonly concurrency?: number | undefined
  /** Number of recipients, from which `Broadcasts.progress` estimates the time left. Default: unknown. */
  readonly total?: number | undefined
}

/**
 * The result of a recipient. After `Failed`, the message may have been sent or not, so the message is not sent again.
 *
 * @category models
 * @since 0.1.0
 */
export type Outcome =
  | { readonly _tag: "Sent"; readonly chat_id: ChatId; readonly message: Message }
  | { readonly _tag: "Forbidden"; readonly chat_id: ChatId; readonly error: ApiError.Forbidden }
  | { readonly _tag: "NotFound"; readonly chat_id: ChatId; readonly error: ApiError.NotFound }
  | { readonly _tag: "Failed"; readonly chat_id: ChatId; readonly error: ApiError.RequestFailed }

/**
 * The state of a broadcast. A broadcast is `running` or `paused` until the broadcast was `cancelled`, or has `finished`
 * with every recipient.
 *
 * @category models
 * @since 0.1.0
 */
export type Status = "running" | "paused" | "cancelled" | "finished"

/**
 * The stored result of a recipient. See {@link Outcome}.
 *
 * @category models
 * @since 0.1.0
 */
export type RecipientStatus = Outcome["_tag"]

/**
 * The stored result of a recipient.
 *
 * @category models
 * @since 0.1.0
 */
export interface RecipientRecord {
  readonly chat_id: ChatId
  readonly status: RecipientStatus
  /** The id of the message. Absent unless `status` is `Sent`. */
  readonly message_id?: MessageId | undefined
  /** The message of the error. Absent if `status` is `Sent`. */
  readonly problem?: string | undefined
  /** When the result was known, in Unix milliseconds. */
  readonly at: number
}

/**
 * A recipient to which the message may be sent from now on.
 *
 * @category models
 * @since 0.1.0
 */
export interface BegunRecipient {
  readonly chat_id: ChatId
  /** A time before the message is sent, in Unix milliseconds of the platform's clock. */
  readonly after: number
}

/**
 * The state of a broadcast and the number of its results.
 *
 * @category models
 * @since 0.1.0
 */
export interface Summary {
  readonly name: string
  readonly status: Status
  /** The time of the first run, in Unix milliseconds. */
  readonly startedAt: number
  /** Number of recipients, if the number is known. */
  readonly total: number | undefined
  /** Number of recipients with each result. */
  readonly counts: { readonly [K in RecipientStatus]: number }
}

/**
 * A {@link Summary} with the speed of the broadcast.
 *
 * @category models
 * @since 0.1.0
 */
export interface Progress extends Summary {
  /** Number of recipients with a result. */
  readonly done: number
  /** Results per second, over the last seconds. */
  readonly rate: number
  /** Estimated time left. `undefined` if `total` is unknown or the broadcast does not advance. */
  readonly timeLeft: Duration.Duration | undefined
}

/**
 * Another process, or another fiber of this one, is sending a broadcast of this name.
 *
 * @category errors
 * @since 0.1.0
 */
export class BroadcastAlreadyRunning extends TaggedError("BroadcastAlreadyRunning", () => ({
  /** The name of the broadcast. */
  broadcastName: Schema.String
})) {
  override get message() {
    return `The broadcast "${this.broadcastName}" is already being sent by another process or fiber. Wait until it ends, or use another name for another broadcast.`
  }
}

/**
 * Errors that would occur for every recipient, and therefore stop a broadcast: for example a wrong token, an invalid
 * message, or an attachment that does not become ready. The next run continues where the broadcast stopped.
 *
 * @category errors
 * @since 0.1.0
 */
export type StopError = Exclude<
  Endpoint.Errors<typeof Messages.send>,
  ApiError.Forbidden | ApiError.NotFound | ApiError.RateLimited
>
