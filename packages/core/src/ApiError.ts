/**
 * Everything that can go wrong in a call.
 *
 * What a caller acts on stands flat in the error channel of the endpoint that can answer it. Everything else is one
 * {@link RequestFailed} whose `reason` says which. An answer is recognised by the code in its body before its status,
 * because the platform answers some codes at statuses that the document does not show.
 *
 * API: Errors.
 *
 * @since 0.1.0
 */
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Schema from "effect/Schema"
import { isRejected, member } from "./internal/client/rejected.ts"
import * as Platform from "./Platform.ts"
import { UserId } from "./User.ts"

/**
 * How an error is recognised in an answer: by a code in the body, by the body as a whole, or by the status.
 *
 * @category models
 * @since 0.1.0
 */
export interface Matcher {
  readonly codes: ReadonlyArray<string>
  readonly matches?: (body: unknown, status: number) => boolean
  readonly status?: number
  /** A status that tells nothing where the body has a code. */
  readonly statusWithoutCode?: number
  /** What the error carries besides the answer, read from the body. */
  readonly read?: (body: unknown) => object
}

/**
 * The answer that an error was recognised in. `detail` is the platform's own text, `body` the answer as it came.
 *
 * @category models
 * @since 0.1.0
 */
export interface ErrorResponse {
  readonly endpoint: string
  readonly status: number
  readonly code?: string
  readonly detail?: string
  readonly body: string
}

const tell = (error: ErrorResponse, what: string, advice: string): string => {
  const said = [error.status, error.code].filter((part) => part !== undefined).join(" ")
  return `${error.endpoint}: ${what} (${said}${error.detail ? `: ${error.detail}` : ""}). ${advice}`
}

/**
 * The token is missing, wrong or revoked (401, `verify.token`).
 *
 * @category errors
 * @since 0.1.0
 */
export class Unauthorized extends Data.TaggedError("Unauthorized")<ErrorResponse> {
  static readonly matcher: Matcher = { codes: [Platform.codeInvalidToken, Platform.codeDeprecatedToken], status: 401 }

  override get message() {
    return tell(
      this,
      "the platform does not accept the token",
      "Check the setting BOT_TOKEN: the bare token from the bot's settings, without `Bearer`."
    )
  }
}

/**
 * The bot may not do this here (403, `chat.denied`, `access.denied`): it lacks a right, or the user stopped the dialog.
 *
 * @category errors
 * @since 0.1.0
 */
export class Forbidden extends Data.TaggedError("Forbidden")<ErrorResponse> {
  static readonly matcher: Matcher = { codes: [Platform.codeChatDenied, Platform.codeAccessDenied], status: 403 }

  /** Whether the user stopped the dialog, so that nothing more can be sent to it until they start it again. */
  get isDialogSuspended(): boolean {
    return this.detail?.includes(Platform.messageDialogSuspended) === true
  }

  override get message() {
    return tell(
      this,
      "the bot may not do this here",
      this.isDialogSuspended
        ? "The user stopped the bot: forget the chat until they start it again."
        : "Make the bot an administrator with the right it needs, or stop using this chat."
    )
  }
}

/**
 * There is no such chat, message or user, or the bot does not see it (404).
 *
 * @category errors
 * @since 0.1.0
 */
export class NotFound extends Data.TaggedError("NotFound")<ErrorResponse> {
  static readonly matcher: Matcher = {
    codes: [Platform.codeChatNotFound, Platform.codeMessageNotFound, Platform.codeNotFound],
    status: 404
  }

  override get message() {
    return tell(this, "not found", "Check the id: it may be deleted, or the bot may have no access to it.")
  }
}

/**
 * The platform does not allow the call now (405): for updates, because a webhook is subscribed.
 *
 * @category errors
 * @since 0.1.0
 */
export class MethodNotAllowed extends Data.TaggedError("MethodNotAllowed")<ErrorResponse> {
  static readonly matcher: Matcher = { codes: [], status: 405 }

  override get message() {
    return tell(
      this,
      "the platform does not allow this now",
      this.endpoint === "Updates.list"
        ? "A webhook is subscribed: remove it with Subscriptions.unsubscribe, or receive the updates through it."
        : "The button may have been answered already, or its message may be gone."
    )
  }
}

/**
 * The platform has not finished processing the uploaded file (`attachment.not.ready`). Retried by the policy with
 * growing pauses before it fails.
 *
 * @category errors
 * @since 0.1.0
 */
export class AttachmentNotReady extends Data.TaggedError("AttachmentNotReady")<ErrorResponse> {
  static readonly matcher: Matcher = { codes: [Platform.codeAttachmentNotReady] }

  override get message() {
    return tell(
      this,
      "the attached file is not processed yet",
      "Send it again later, or let RetryPolicy wait longer: large files take minutes."
    )
  }
}

/**
 * A comment is too old to be edited (422, `comments.timeout_exceeded`).
 *
 * @category errors
 * @since 0.1.0
 */
export class CommentsTimeoutExceeded extends Data.TaggedError("CommentsTimeoutExceeded")<ErrorResponse> {
  static readonly matcher: Matcher = { codes: [Platform.codeCommentTooOld], statusWithoutCode: 422 }

  override get message() {
    return tell(this, "the comment is too old to be edited", "Delete it or send another one.")
  }
}

/**
 * Users that could not be added for one reason: `add.participant.privacy` (their privacy settings),
 * `add.participant.not.found` (no such user), or another code as it came.
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

const elements = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])

const readFailedUsers = (body: unknown) => {
  const failed_user_details = elements(member(body, "failed_user_details")).filter(Schema.is(FailedUsers))
  const listed = elements(member(body, "failed_user_ids")).filter(Schema.is(UserId))
  const detailed = failed_user_details.flatMap(({ user_ids }) => user_ids)
  return { failed_user_details, failed_user_ids: [...new Set([...listed, ...detailed])] }
}

/**
 * Some users could not be added. The others were. `failed_user_details` gives the reasons by code; a user without one
 * stands only in `failed_user_ids`.
 *
 * @category errors
 * @since 0.1.0
 */
export class AddParticipantFailed extends Data.TaggedError("AddParticipantFailed")<
  ErrorResponse & {
    readonly failed_user_ids: ReadonlyArray<UserId>
    readonly failed_user_details: ReadonlyArray<FailedUsers>
  }
> {
  static readonly matcher: Matcher = {
    codes: [Platform.codeAddParticipantPrivacy, Platform.codeAddParticipantNotFound],
    matches: (body) =>
      elements(member(body, "failed_user_ids")).length > 0 || elements(member(body, "failed_user_details")).length > 0,
    read: readFailedUsers
  }

  /** The users that failed for one reason, such as `add.participant.privacy`. */
  failedFor(error_code: string): ReadonlyArray<UserId> {
    return this.failed_user_details
      .filter((failed) => failed.error_code === error_code)
      .flatMap((failed) => failed.user_ids)
  }

  override get message() {
    const reasons = this.failed_user_details.map(({ error_code, user_ids }) => `${error_code}: ${user_ids.join(", ")}`)
    return tell(
      this,
      `${this.failed_user_ids.length} users could not be added${reasons.length > 0 ? ` [${reasons.join("; ")}]` : ""}`,
      "Invite those with privacy settings by a link; leave out those that were not found."
    )
  }
}

/**
 * The platform answered 200 with `success: false`: it did not carry the request out. `detail` is its text.
 *
 * @category errors
 * @since 0.1.0
 */
export class OperationRejected extends Data.TaggedError("OperationRejected")<ErrorResponse> {
  static readonly matcher: Matcher = {
    codes: [],
    matches: isRejected
  }

  override get message() {
    return tell(this, "the platform did not carry it out", "The text says why; nothing was changed.")
  }
}

/**
 * Too many requests (429), and the policy's patience is at its end. `retryAfter` stands where the platform said it.
 *
 * Where `isSent` is false the bot's own `RateLimiter` did not let the call go: nothing was sent, `status` is 0, and
 * `retryAfter` says how long it would have to wait at least.
 *
 * @category errors
 * @since 0.1.0
 */
export class RateLimited extends Data.TaggedError("RateLimited")<
  ErrorResponse & { readonly retryAfter?: Duration.Duration; readonly isSent?: false }
> {
  static readonly matcher: Matcher = { codes: [Platform.codeTooManyRequests], status: 429 }

  override get message() {
    const pause = this.retryAfter === undefined ? "a while" : `${Duration.toSeconds(this.retryAfter)} seconds`
    if (this.isSent === false) return `${this.endpoint}: nothing was sent, ${this.detail}. Wait ${pause}.`
    return tell(this, "too many requests", `Wait ${pause}; lower the limits of RateLimiter if this happens often.`)
  }
}

/**
 * A field of a request that breaks a rule of the document.
 *
 * @category models
 * @since 0.1.0
 */
export interface FieldIssue {
  readonly field: string
  readonly problem: string
}

/**
 * What a schema finds wrong with a request or an answer: each field with its problem, in words for the people who wrote
 * it.
 *
 * **Example**
 *
 * ```ts
 * import { ApiError, User } from "@colloquy/core"
 * import { Result, Schema } from "effect"
 *
 * const read = Schema.decodeUnknownResult(User.User)({ user_id: "one", first_name: "Ann", is_bot: false })
 * const problems = Result.isFailure(read) ? ApiError.fieldIssues(read.failure.issue) : []
 * ```
 *
 * @category errors
 * @since 0.1.0
 */
export { fieldIssues } from "./internal/client/fieldIssues.ts"

/**
 * Reason: the request breaks a rule of the document. Nothing was sent. `issues` names every field and its limit.
 *
 * @category reasons
 * @since 0.1.0
 */
export class InvalidRequest extends Data.TaggedError("InvalidRequest")<{ readonly issues: ReadonlyArray<FieldIssue> }> {
  override get message() {
    const issues = this.issues.map(({ field, problem }) => (field === "" ? problem : `\`${field}\` ${problem}`))
    return `invalid request, nothing was sent: ${issues.join("; ")}`
  }
}

/**
 * What happened below HTTP: nobody listens, the name has no address, the certificate is not trusted, connecting or
 * answering took too long, the connection broke, the proxy refused, or the request cannot be written as HTTP.
 *
 * @category models
 * @since 0.1.0
 */
export type TransportKind =
  | "Refused"
  | "Unresolved"
  | "Untrusted"
  | "ConnectTimeout"
  | "Timeout"
  | "Reset"
  | "Proxy"
  | "Invalid"
  | "Other"

/**
 * Reason: the request or its answer got lost below HTTP. `isSent` is false where the platform cannot have received it.
 *
 * @category reasons
 * @since 0.1.0
 */
export class Transport extends Data.TaggedError("Transport")<{
  readonly kind: TransportKind
  readonly isSent: boolean
  readonly code?: string
  readonly detail: string
  readonly hint: string
  readonly cause?: unknown
}> {
  /** Whether it may pass: what is not trusted or not set up right does not. */
  get isRetryable(): boolean {
    const { kind } = this
    return kind !== "Untrusted" && kind !== "Proxy" && kind !== "Invalid"
  }

  override get message() {
    const code = this.code === undefined ? "" : ` (${this.code})`
    return `no answer${code}: ${this.detail}. ${this.hint}`
  }
}

/**
 * Reason: an answer that no declared error explains, a server's failure among them. The body is kept as it came.
 *
 * @category reasons
 * @since 0.1.0
 */
export class UnexpectedStatus extends Data.TaggedError("UnexpectedStatus")<{
  readonly status: number
  readonly code?: string
  readonly detail?: string
  readonly retryAfter?: Duration.Duration
  readonly body: string
}> {
  override get message() {
    const said = [this.status, this.code].filter((part) => part !== undefined).join(" ")
    const advice =
      this.status >= 500
        ? "The platform has a problem: try again later."
        : this.status === 404
          ? "Check the setting BOT_BASE_URL: the API may not stand there."
          : "See the body for what the platform said."
    return `unexpected answer ${said}${this.detail ? `: ${this.detail}` : ""}. ${advice}`
  }
}

/**
 * Reason: the answer says success but cannot be read: not JSON, cut short, or a known part is malformed. The body is
 * kept as it came. The request was carried out.
 *
 * @category reasons
 * @since 0.1.0
 */
export class InvalidResponse extends Data.TaggedError("InvalidResponse")<{
  readonly status: number
  readonly problem: string
  readonly body: string
}> {
  override get message() {
    const advice = "Do not repeat blindly what changes something; `body` holds the answer as it came, for a report."
    return `the platform says success, but its answer cannot be read: ${this.problem}. ${advice}`
  }
}

/**
 * Why a request failed that no error of its endpoint explains.
 *
 * @category reasons
 * @since 0.1.0
 */
export type Reason = InvalidRequest | Transport | UnexpectedStatus | InvalidResponse

/**
 * A call failed for a reason that is not the caller's business: `reason` says which.
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
export class RequestFailed extends Data.TaggedError("RequestFailed")<{
  readonly endpoint: string
  readonly reason: Reason
}> {
  /**
   * Whether the same call may succeed later. {@link maybeExecuted} says whether it can have been carried out
   * already, which forbids to repeat it blindly.
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

  /** Whether the platform may have carried the request out although it failed. */
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
        return true
    }
  }

  override get message() {
    return `${this.endpoint}: ${this.reason.message}`
  }
}

/**
 * The errors that any endpoint can have.
 *
 * @category errors
 * @since 0.1.0
 */
export type Common = Unauthorized | RateLimited | RequestFailed

/**
 * The errors that an endpoint declares beyond {@link Common}.
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
 * The class of an error that is recognised in an answer.
 *
 * @category models
 * @since 0.1.0
 */
export interface ErrorClass<E> {
  new (answer: never): E
  readonly matcher: Matcher
}
