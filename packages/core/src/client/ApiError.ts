/**
 * The errors of API calls.
 *
 * The error channel of an endpoint has the errors on which a caller can act. Every other failure is a
 * {@link RequestFailed} with a `reason`. A response matches an error by the code in its body first, and by its status
 * last, because the platform sends some codes with statuses that the API document does not show.
 *
 * `ErrorSchema.of` returns the codec of an error.
 *
 * API: Errors.
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import * as Schema from "effect/Schema"
import * as FieldIssue from "../base/FieldIssue.ts"
import { elementsOf } from "../base/internal/wire.ts"
import * as Platform from "../base/Platform.ts"
import { UserId } from "../model/User.ts"
import { isRejected } from "./internal/accepted.ts"
import * as PermanentError from "../base/PermanentError.ts"
import { PermanentTaggedError } from "../base/internal/permanentTaggedError.ts"
import { type AnyClass, oneOf, TaggedError } from "../base/TaggedError.ts"

/**
 * The conditions by which an error is recognized in a response.
 *
 * @category models
 * @since 0.1.0
 */
export interface Matcher {
  /** The codes in the body that mean the error. */
  readonly codes: ReadonlyArray<string>
  /** Whether a body with none of the codes means the error. */
  readonly matches?: (body: unknown, status: number) => boolean
  /** The status that means the error, where the body does not say more. */
  readonly status?: number
  /** The status that means the error only where the body has no code. */
  readonly statusWithoutCode?: number
  /** Reads the further fields of the error from the body. */
  readonly read?: (body: unknown) => object
}

/**
 * The response that an error was recognized in.
 *
 * @category models
 * @since 0.1.0
 */
export const ErrorResponse = Schema.Struct({
  /** The name of the endpoint, such as `Messages.send`. */
  endpoint: Schema.String,
  /** The HTTP status. */
  status: Schema.Int,
  /** The error code in the body. */
  code: Schema.optionalKey(Schema.String),
  /** The text of the platform. */
  detail: Schema.optionalKey(Schema.String),
  /** The received body, unchanged. */
  body: Schema.String
})

/**
 * @category models
 * @since 0.1.0
 */
export interface ErrorResponse extends Schema.Schema.Type<typeof ErrorResponse> {}

const describe = (error: ErrorResponse, problem: string, advice: string): string => {
  const response = [error.status, error.code].filter((part) => part !== undefined).join(" ")
  return `${error.endpoint}: ${problem} (${response}${error.detail ? `: ${error.detail}` : ""}). ${advice}`
}

/**
 * The token is missing, wrong or revoked (401, `verify.token`).
 *
 * API: Authentication.
 *
 * @category errors
 * @since 0.1.0
 */
export class Unauthorized extends TaggedError("Unauthorized", () => ErrorResponse.fields) {
  static readonly matcher: Matcher = { codes: [Platform.codeInvalidToken, Platform.codeDeprecatedToken], status: 401 }

  override get message() {
    return describe(
      this,
      "the platform does not accept the token",
      "Check the setting BOT_TOKEN: it must be the token from the settings of the bot, without `Bearer`."
    )
  }
}

/**
 * The bot has no right to do this in the chat (403, `chat.denied`, `access.denied`), or the user stopped the dialog.
 *
 * API: Errors.
 *
 * @category errors
 * @since 0.1.0
 */
export class Forbidden extends PermanentTaggedError("Forbidden", () => ErrorResponse.fields) {
  static readonly matcher: Matcher = { codes: [Platform.codeChatDenied, Platform.codeAccessDenied], status: 403 }

  /**
   * Whether the user stopped the dialog. The bot cannot send messages to the dialog until the user starts the bot
   * again.
   */
  get isDialogSuspended(): boolean {
    return this.detail?.includes(Platform.messageDialogSuspended) === true
  }

  override get message() {
    return describe(
      this,
      "the bot is not allowed to do this",
      this.isDialogSuspended
        ? "The user stopped the bot: do not send to this chat until they start it again."
        : "Make the bot an administrator with the required right, or stop using this chat."
    )
  }
}

/**
 * The chat, message or user does not exist, or is not accessible to the bot (404).
 *
 * API: Errors.
 *
 * @category errors
 * @since 0.1.0
 */
export class NotFound extends PermanentTaggedError("NotFound", () => ErrorResponse.fields) {
  static readonly matcher: Matcher = {
    codes: [Platform.codeChatNotFound, Platform.codeMessageNotFound, Platform.codeNotFound],
    status: 404
  }

  override get message() {
    return describe(this, "not found", "Check the id: it may be deleted, or the bot may have no access to it.")
  }
}

/**
 * The platform does not allow the call now (405): to receive updates while a webhook is subscribed, or to answer a callback
 * that cannot be answered any more.
 *
 * API: Errors.
 *
 * @category errors
 * @since 0.1.0
 */
export class MethodNotAllowed extends PermanentTaggedError("MethodNotAllowed", () => ErrorResponse.fields) {
  static readonly matcher: Matcher = { codes: [], status: 405 }

  override get message() {
    return describe(
      this,
      "the platform does not allow this now",
      this.endpoint === "Updates.list"
        ? "A webhook is subscribed: remove it with Subscriptions.unsubscribe, or receive the updates through it."
        : "The callback may have been answered already, or its message may be deleted."
    )
  }
}

/**
 * The platform is still processing an attached file (`attachment.not.ready`). The `RetryPolicy` retries the call with
 * growing delays before the call fails with this error.
 *
 * API: States and transitions; Errors.
 *
 * @category errors
 * @since 0.1.0
 */
export class AttachmentNotReady extends TaggedError("AttachmentNotReady", () => ErrorResponse.fields) {
  static readonly matcher: Matcher = { codes: [Platform.codeAttachmentNotReady] }

  override get message() {
    return describe(
      this,
      "the attached file is still being processed",
      "Send the message again later, or let RetryPolicy retry for longer: large files take minutes."
    )
  }
}

/**
 * A comment is too old to be edited (422, `comments.timeout_exceeded`).
 *
 * API: Errors.
 *
 * @category errors
 * @since 0.1.0
 */
export class CommentsTimeoutExceeded extends PermanentTaggedError(
  "CommentsTimeoutExceeded",
  () => ErrorResponse.fields
) {
  static readonly matcher: Matcher = { codes: [Platform.codeCommentTooOld], statusWithoutCode: 422 }

  override get message() {
    return describe(this, "the comment is too old to be edited", "Delete it or send another one.")
  }
}

/**
 * Users that could not be added to a chat for one reason: `add.participant.privacy` (their privacy settings),
 * `add.participant.not.found` (no such user), or another code of the platform.
 *
 * API: POST /chats/{chatId}/members.
 *
 * @category models
 * @since 0.1.0
 */
export const FailedUsers = Schema.Struct({ error_code: Schema.String, user_ids: Schema.Array(UserId) })

/**
 * @category models
 * @since 0.1.0
 */
export interface FailedUsers extends Schema.Schema.Type<typeof FailedUsers> {}

const readFailedUsers = (body: unknown) => {
  const failed_user_details = elementsOf("failed_user_details", body).filter(Schema.is(FailedUsers))
  const listed = elementsOf("failed_user_ids", body).filter(Schema.is(UserId))
  const detailed = failed_user_details.flatMap(({ user_ids }) => user_ids)
  return { failed_user_details, failed_user_ids: [...new Set([...listed, ...detailed])] }
}

/**
 * Some users could not be added to a chat. The other users were added.
 *
 * API: POST /chats/{chatId}/members.
 *
 * @category errors
 * @since 0.1.0
 */
export class AddParticipantFailed extends PermanentTaggedError("AddParticipantFailed", () => ({
  ...ErrorResponse.fields,
  /** All users that could not be added. */
  failed_user_ids: Schema.Array(UserId),
  /** The users by the reason, where the platform gives a reason. */
  failed_user_details: Schema.Array(FailedUsers)
})) {
  static readonly matcher: Matcher = {
    codes: [Platform.codeAddParticipantPrivacy, Platform.codeAddParticipantNotFound],
    matches: (body) =>
      elementsOf("failed_user_ids", body).length > 0 || elementsOf("failed_user_details", body).length > 0,
    read: readFailedUsers
  }

  /** Returns the users that could not be added for one reason, such as `add.participant.privacy`. */
  failedFor(error_code: string): ReadonlyArray<UserId> {
    return this.failed_user_details
      .filter((failed) => failed.error_code === error_code)
      .flatMap((failed) => failed.user_ids)
  }

  override get message() {
    const reasons = this.failed_user_details.map(({ error_code, user_ids }) => `${error_code}: ${user_ids.join(", ")}`)
    return describe(
      this,
      `${this.failed_user_ids.length} users could not be added${reasons.length > 0 ? ` [${reasons.join("; ")}]` : ""}`,
      "Invite users with privacy settings by a link, and leave out users that were not found."
    )
  }
}

/**
 * The platform responded with 200 and `success: false`, so the request was not executed. `detail` has the text of the
 * response.
 *
 * API: Errors.
 *
 * @category errors
 * @since 0.1.0
 */
export class OperationRejected extends PermanentTaggedError("OperationRejected", () => ErrorResponse.fields) {
  static readonly matcher: Matcher = { codes: [], matches: isRejected }

  override get message() {
    return describe(this, "the platform rejected the operation", "Nothing was changed; the text says why.")
  }
}

/**
 * Too many requests: the platform responded with 429 after all retries, or the rate limiter of the bot granted no
 * permit.
 *
 * API: Limits.
 *
 * @category errors
 * @since 0.1.0
 */
export class RateLimited extends TaggedError("RateLimited", () => ({
  ...ErrorResponse.fields,
  /**
   * The minimum delay before the next attempt. A 429 response has the delay only if the platform states one; the rate
   * limiter of the bot always states the delay.
   */
  retryAfter: Schema.optionalKey(Schema.Duration),
  /** `false` if the rate limiter granted no permit. Then no request was sent, and `status` is 0. */
  isSent: Schema.optionalKey(Schema.Literal(false)),
  /** `true` where a newer call of the same slot took the place of the call: see `RateLimiter.withSlot`. */
  isReplaced: Schema.optionalKey(Schema.Literal(true))
})) {
  static readonly matcher: Matcher = { codes: [Platform.codeTooManyRequests], status: 429 }

  override get message() {
    if (this.isReplaced === true) return `${this.endpoint}: nothing was sent, ${this.detail}.`
    const delay = this.retryAfter === undefined ? "a while" : `${Duration.toSeconds(this.retryAfter)} seconds`
    if (this.isSent === false) return `${this.endpoint}: nothing was sent, ${this.detail}. Wait ${delay}.`
    return describe(
      this,
      "too many requests",
      `Wait ${delay}, and lower the limits of RateLimiter if this happens often.`
    )
  }
}

/**
 * Reason: the request breaks a rule of the API document. Nothing was sent. `issues` names each invalid field.
 *
 * @category reasons
 * @since 0.1.0
 */
export class InvalidRequest extends TaggedError("InvalidRequest", () => ({
  /** The invalid fields, with their problems. */
  issues: Schema.Array(FieldIssue.FieldIssue)
})) {
  override get message() {
    return `invalid request, nothing was sent: ${FieldIssue.format(this.issues)}`
  }
}

/**
 * The kind of a failure below HTTP.
 *
 * - `Refused`: nothing listens at the address.
 * - `Unresolved`: the host name has no address.
 * - `Untrusted`: the certificate of the host is not trusted.
 * - `ConnectTimeout`: the connection took too long.
 * - `Timeout`: the response took too long.
 * - `Reset`: the connection broke.
 * - `Proxy`: the proxy refused.
 * - `Invalid`: the request cannot be written as HTTP.
 * - `Other`: any other failure of the HTTP client.
 *
 * @category models
 * @since 0.1.0
 */
export const TransportKind = Schema.Literals([
  "Refused",
  "Unresolved",
  "Untrusted",
  "ConnectTimeout",
  "Timeout",
  "Reset",
  "Proxy",
  "Invalid",
  "Other"
])

/**
 * @category models
 * @since 0.1.0
 */
export type TransportKind = typeof TransportKind.Type

/**
 * Reason: the request or its response was lost below HTTP.
 *
 * @category reasons
 * @since 0.1.0
 */
export class Transport extends TaggedError("Transport", () => ({
  /** The kind of the failure. */
  kind: TransportKind,
  /** Whether the platform may have received the request. */
  isSent: Schema.Boolean,
  /** The code of the system, the TLS library or the HTTP client, such as `ECONNREFUSED`. */
  code: Schema.optionalKey(Schema.String),
  /** The text of the HTTP client. */
  detail: Schema.String,
  /** The remedy. */
  hint: Schema.String,
  /** The failure of the HTTP client, without the token. */
  cause: Schema.optionalKey(Schema.Unknown)
})) {
  /** Whether the failure may be temporary. An untrusted certificate and a wrong configuration are not. */
  get isRetryable(): boolean {
    const { kind } = this
    return kind !== "Untrusted" && kind !== "Proxy" && kind !== "Invalid"
  }

  override get message() {
    const code = this.code === undefined ? "" : ` (${this.code})`
    return `no response${code}: ${this.detail}. ${this.hint}`
  }
}

/**
 * Reason: a response that no error of the endpoint matches, such as a failure of the server.
 *
 * @category reasons
 * @since 0.1.0
 */
export class UnexpectedStatus extends TaggedError("UnexpectedStatus", () => ({
  /** The HTTP status. */
  status: Schema.Int,
  /** The error code in the body. */
  code: Schema.optionalKey(Schema.String),
  /** The text of the platform. */
  detail: Schema.optionalKey(Schema.String),
  /** The delay before the next attempt, if the platform states one. */
  retryAfter: Schema.optionalKey(Schema.Duration),
  /** The received body, unchanged. */
  body: Schema.String
})) {
  override get message() {
    const response = [this.status, this.code].filter((part) => part !== undefined).join(" ")
    const advice =
      this.status >= 500
        ? "The platform has a problem: try again later."
        : this.status === 404
          ? "Check the setting BOT_BASE_URL: the API may not be at this address."
          : "See the body for the text of the platform."
    return `unexpected response ${response}${this.detail ? `: ${this.detail}` : ""}. ${advice}`
  }
}

/**
 * Reason: the platform executed the request, but its response is not JSON, is incomplete, or has a malformed known
 * part.
 *
 * @category reasons
 * @since 0.1.0
 */
export class InvalidResponse extends TaggedError("InvalidResponse", () => ({
  /** The HTTP status. */
  status: Schema.Int,
  /** The problem of the response. */
  problem: Schema.String,
  /** The received body, unchanged. */
  body: Schema.String
})) {
  override get message() {
    const advice = "Do not repeat a call that changes something. `body` has the response, for a report."
    return `the platform executed the request, but its response cannot be read: ${this.problem}. ${advice}`
  }
}

/**
 * Reason: an earlier attempt to handle the update may have carried out the call, and the policy of the `Journal`
 * forbids a repetition. No request was sent now.
 *
 * @category reasons
 * @since 0.1.0
 */
export class Uncertain extends PermanentTaggedError("Uncertain", () => ({
  /** The endpoint of the call, or the name of the step. */
  call: Schema.String,
  /** The time when the call began, in Unix milliseconds. */
  startedAt: Schema.Int
})) {
  override get message() {
    return (
      `an earlier attempt to handle this update may have carried out "${this.call}" after ${new Date(this.startedAt).toISOString()}, ` +
      "and Journal.CurrentPolicy says not to repeat it. Check whether it was carried out."
    )
  }
}

/**
 * The reason of a failure that no error of the endpoint matches.
 *
 * @category reasons
 * @since 0.1.0
 */
export type Reason = InvalidRequest | Transport | UnexpectedStatus | InvalidResponse | Uncertain

/**
 * A call failed, and no error of its endpoint matches. `reason` says why.
 *
 * **Example**
 *
 * ```ts
 * import { Me } from "@colloquy/core"
 * import { Effect } from "effect"
 *
 * const hello = Me.get().pipe(
 *   Effect.map((me) => me.first_name),
 *   Effect.catchReason("RequestFailed", "Transport", (transport) => Effect.succeed(transport.hint))
 * )
 * ```
 *
 * @category errors
 * @since 0.1.0
 */
export class RequestFailed extends TaggedError("RequestFailed", () => ({
  /** The name of the endpoint, such as `Messages.send`. */
  endpoint: Schema.String,
  /** The reason of the failure. */
  reason: oneOf<Reason>(InvalidRequest, Transport, UnexpectedStatus, InvalidResponse, Uncertain)
})) {
  /**
   * Whether the same call may succeed later. Check {@link maybeExecuted} before the repetition of a call that is not
   * idempotent.
   */
  get isRetryable(): boolean {
    const { reason } = this
    switch (reason._tag) {
      case "Transport":
        return reason.isRetryable
      case "UnexpectedStatus":
        return reason.status >= 500 || reason.status === 408
      default:
        return false
    }
  }

  /** Whether the platform may have executed the request although the call failed. */
  get maybeExecuted(): boolean {
    const { reason } = this
    switch (reason._tag) {
      case "InvalidRequest":
        return false
      case "Transport":
        return reason.isSent
      case "UnexpectedStatus":
        return reason.status >= 500 && reason.status !== 503
      case "InvalidResponse":
      case "Uncertain":
        return true
    }
  }

  get [PermanentError.TypeId](): boolean {
    return !this.isRetryable
  }

  override get message() {
    return `${this.endpoint}: ${this.reason.message}`
  }
}

/**
 * The errors that every endpoint can fail with.
 *
 * @category errors
 * @since 0.1.0
 */
export type Common = Unauthorized | RateLimited | RequestFailed

/**
 * The errors that an endpoint can declare besides {@link Common}.
 *
 * @category errors
 * @since 0.1.0
 */
export type Declared =
  | Forbidden
  | NotFound
  | MethodNotAllowed
  | AttachmentNotReady
  | CommentsTimeoutExceeded
  | AddParticipantFailed
  | OperationRejected

/**
 * Any error of any endpoint.
 *
 * @category errors
 * @since 0.1.0
 */
export type ApiError = Common | Declared

/**
 * The class of an error that is recognized in a response.
 *
 * @category models
 * @since 0.1.0
 */
export interface ErrorClass<E> extends AnyClass<E> {
  /** The conditions by which the error is recognized. */
  readonly matcher: Matcher
}
