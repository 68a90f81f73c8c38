/**
 * Codecs of all errors, to JSON and back, so that errors can cross a network: rpc, cluster, workflow.
 *
 * A decoded error is an instance of its class. A `cause` is decoded as an `Error` with the same message. The errors
 * themselves are not schemas, which keeps a bot small that does not import this module.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Getter from "effect/SchemaGetter"
import * as SchemaIssue from "effect/SchemaIssue"
import * as Errors from "../client/ApiError.ts"
import * as Broadcast from "../broadcast/Broadcast.ts"
import * as ClientResponse from "../client/ClientResponse.ts"
import * as Command from "../bot/Command.ts"
import * as DeepLink from "../bot/DeepLink.ts"
import type * as Endpoint from "../client/Endpoint.ts"
import * as Inbox from "../inbox/Inbox.ts"
import * as Journal from "../inbox/Journal.ts"
import * as MenuPage from "../dialog/MenuPage.ts"
import * as MiniApp from "../model/MiniApp.ts"
import * as Json from "../base/Json.ts"
import * as LiveMessage from "../live/LiveMessage.ts"
import * as Messages from "../endpoints/Messages.ts"
import * as Payload from "../bot/Payload.ts"
import * as RateLimiter from "../client/RateLimiter.ts"
import * as SceneState from "../dialog/SceneState.ts"
import * as Settings from "../client/Settings.ts"
import * as StateValue from "../bot/StateValue.ts"
import * as Stores from "../base/StoreError.ts"
import * as Talk from "../dialog/Talk.ts"
import * as Timer from "../bot/Timer.ts"
import * as Update from "../model/Update.ts"
import * as Updates from "../inbox/Updates.ts"
import * as UploadError from "../endpoints/UploadError.ts"
import * as Upload from "../endpoints/Upload.ts"
import * as UploadSource from "../endpoints/UploadSource.ts"
import { UserId } from "../model/User.ts"
import * as Webhook from "../inbox/Webhook.ts"
import * as WebhookRequest from "../inbox/WebhookRequest.ts"

/**
 * A codec of an error, to JSON and back.
 *
 * @category models
 * @since 0.1.0
 */
export interface ErrorCodec<E> extends Schema.Codec<E, Schema.Json> {}

interface ErrorConstructor<E> {
  new (fields: never): E
}

const make = <E extends { readonly _tag: string }>(
  error: ErrorConstructor<E>,
  tag: E["_tag"],
  fields: Schema.Struct.Fields
): ErrorCodec<E> => {
  const Fields = Schema.Struct({ _tag: Schema.Literal(tag), ...fields })
  const names = Object.keys(fields)
  const Instance = Schema.declare((u): u is E => u instanceof error)
  return Schema.toCodecJson(
    Fields.pipe(
      Schema.decodeTo(Instance, {
        decode: Getter.transform(({ _tag, ...rest }: { readonly _tag: string }) => new error(rest as never)),
        encode: Getter.transform((instance: E) => {
          const given = names.filter((name) => instance[name as keyof E] !== undefined)
          return Object.fromEntries([["_tag", tag], ...given.map((name) => [name, instance[name as keyof E]])]) as never
        })
      })
    )
  ) as unknown as ErrorCodec<E>
}

const optional = Schema.optionalKey

/** JSON with exact integers, as text. */
const ExactJson = Schema.String.pipe(
  Schema.decodeTo(Schema.Unknown, {
    decode: Getter.transformEffect((text: string) => {
      const parsed = Result.try(() => Json.parse(text))
      return Result.isSuccess(parsed)
        ? Effect.succeed(parsed.success)
        : Effect.fail(new SchemaIssue.InvalidType(Schema.String.ast, text))
    }),
    encode: Getter.transform((value: unknown) => Json.stringify(value) ?? "null")
  })
)

const ExactUpdate = ExactJson.pipe(Schema.decodeTo(Update.Update))

const cause = optional(Schema.Defect())

const FieldIssues = Schema.Array(Schema.Struct({ field: Schema.String, problem: Schema.String }))

const response = {
  endpoint: Schema.String,
  status: Schema.Int,
  code: optional(Schema.String),
  detail: optional(Schema.String),
  body: Schema.String
}

/**
 * Codec of `ApiError.Unauthorized`.
 *
 * @category api errors
 * @since 0.1.0
 */
export const Unauthorized = make(Errors.Unauthorized, "Unauthorized", response)

/**
 * Codec of `ApiError.Forbidden`.
 *
 * @category api errors
 * @since 0.1.0
 */
export const Forbidden = make(Errors.Forbidden, "Forbidden", response)

/**
 * Codec of `ApiError.NotFound`.
 *
 * @category api errors
 * @since 0.1.0
 */
export const NotFound = make(Errors.NotFound, "NotFound", response)

/**
 * Codec of `ApiError.MethodNotAllowed`.
 *
 * @category api errors
 * @since 0.1.0
 */
export const MethodNotAllowed = make(Errors.MethodNotAllowed, "MethodNotAllowed", response)

/**
 * Codec of `ApiError.AttachmentNotReady`.
 *
 * @category api errors
 * @since 0.1.0
 */
export const AttachmentNotReady = make(Errors.AttachmentNotReady, "AttachmentNotReady", response)

/**
 * Codec of `ApiError.CommentsTimeoutExceeded`.
 *
 * @category api errors
 * @since 0.1.0
 */
export const CommentsTimeoutExceeded = make(Errors.CommentsTimeoutExceeded, "CommentsTimeoutExceeded", response)

/**
 * Codec of `ApiError.AddParticipantFailed`.
 *
 * @category api errors
 * @since 0.1.0
 */
export const AddParticipantFailed = make(Errors.AddParticipantFailed, "AddParticipantFailed", {
  ...response,
  failed_user_ids: Schema.Array(UserId),
  failed_user_details: Schema.Array(Errors.FailedUsers)
})

/**
 * Codec of `ApiError.OperationRejected`.
 *
 * @category api errors
 * @since 0.1.0
 */
export const OperationRejected = make(Errors.OperationRejected, "OperationRejected", response)

/**
 * Codec of `ApiError.RateLimited`.
 *
 * @category api errors
 * @since 0.1.0
 */
export const RateLimited = make(Errors.RateLimited, "RateLimited", {
  ...response,
  retryAfter: optional(Schema.Duration),
  isSent: optional(Schema.Literal(false)),
  isReplaced: optional(Schema.Literal(true))
})

/**
 * Codec of `ApiError.InvalidRequest`.
 *
 * @category reasons
 * @since 0.1.0
 */
export const InvalidRequest = make(Errors.InvalidRequest, "InvalidRequest", { issues: FieldIssues })

/**
 * Codec of `ApiError.Transport`.
 *
 * @category reasons
 * @since 0.1.0
 */
export const Transport = make(Errors.Transport, "Transport", {
  kind: Schema.Literals([
    "Refused",
    "Unresolved",
    "Untrusted",
    "ConnectTimeout",
    "Timeout",
    "Reset",
    "Proxy",
    "Invalid",
    "Other"
  ]),
  isSent: Schema.Boolean,
  code: optional(Schema.String),
  detail: Schema.String,
  hint: Schema.String,
  cause
})

/**
 * Codec of `ApiError.UnexpectedStatus`.
 *
 * @category reasons
 * @since 0.1.0
 */
export const UnexpectedStatus = make(Errors.UnexpectedStatus, "UnexpectedStatus", {
  status: Schema.Int,
  code: optional(Schema.String),
  detail: optional(Schema.String),
  retryAfter: optional(Schema.Duration),
  body: Schema.String
})

/**
 * Codec of `ApiError.InvalidResponse`.
 *
 * @category reasons
 * @since 0.1.0
 */
export const InvalidResponse = make(Errors.InvalidResponse, "InvalidResponse", {
  status: Schema.Int,
  problem: Schema.String,
  body: Schema.String
})

/**
 * Codec of `ApiError.Uncertain`.
 *
 * @category reasons
 * @since 0.1.0
 */
export const Uncertain = make(Errors.Uncertain, "Uncertain", { call: Schema.String, startedAt: Schema.Int })

/**
 * Codec of `ApiError.RequestFailed`.
 *
 * @category api errors
 * @since 0.1.0
 */
export const RequestFailed = make(Errors.RequestFailed, "RequestFailed", {
  endpoint: Schema.String,
  reason: Schema.Union([InvalidRequest, Transport, UnexpectedStatus, InvalidResponse, Uncertain])
})

/**
 * The errors that every endpoint can fail with.
 *
 * @category api errors
 * @since 0.1.0
 */
export const Common: ErrorCodec<Errors.Common> = Schema.Union([Unauthorized, RateLimited, RequestFailed])

/**
 * Any error of any endpoint.
 *
 * **Example** (An rpc that sends a message)
 *
 * ```ts
 * import { ErrorSchema } from "@colloquy/core"
 * import { Schema } from "effect"
 * import { Rpc } from "effect/rpc"
 *
 * const SendText = Rpc.make("SendText", {
 *   payload: { chat_id: Schema.Int, text: Schema.String },
 *   error: ErrorSchema.ApiError
 * })
 * ```
 *
 * @category api errors
 * @since 0.1.0
 */
export const ApiError: ErrorCodec<Errors.ApiError> = Schema.Union([
  Unauthorized,
  RateLimited,
  RequestFailed,
  Forbidden,
  NotFound,
  MethodNotAllowed,
  AttachmentNotReady,
  CommentsTimeoutExceeded,
  AddParticipantFailed,
  OperationRejected
])

/**
 * Codec of `Messages.NoChat`.
 *
 * @category messages
 * @since 0.1.0
 */
export const NoChat = make(Messages.NoChat, "NoChat", { update: ExactUpdate })

/**
 * Codec of `Journal.InvalidStepResult`.
 *
 * @category updates
 * @since 0.1.0
 */
export const InvalidStepResult = make(Journal.InvalidStepResult, "InvalidStepResult", {
  step: Schema.String,
  problem: Schema.String
})

/**
 * Codec of `Update.MalformedUpdate`.
 *
 * @category updates
 * @since 0.1.0
 */
export const MalformedUpdate = make(Update.MalformedUpdate, "MalformedUpdate", {
  problem: Schema.String,
  raw: ExactJson
})

/**
 * Codec of `Inbox.InboxFull`.
 *
 * @category updates
 * @since 0.1.0
 */
export const InboxFull = make(Inbox.InboxFull, "InboxFull", { capacity: Schema.Number })

/**
 * Codec of `Inbox.InboxStopping`.
 *
 * @category updates
 * @since 0.1.0
 */
export const InboxStopping = make(Inbox.InboxStopping, "InboxStopping", {})

/**
 * Codec of `LiveMessage.ProgressStopped`.
 *
 * @category updates
 * @since 0.1.0
 */
export const ProgressStopped = make(LiveMessage.ProgressStopped, "ProgressStopped", {})

/**
 * Codec of `Updates.UpdateStreamFailed`.
 *
 * @category updates
 * @since 0.1.0
 */
export const UpdateStreamFailed = make(Updates.UpdateStreamFailed, "UpdateStreamFailed", { cause })

/**
 * Codec of `StoreError.StoreError`.
 *
 * @category stores
 * @since 0.1.0
 */
export const StoreError = make(Stores.StoreError, "StoreError", {
  store: Schema.String,
  operation: Schema.String,
  reason: Schema.String,
  isRetryable: Schema.Boolean,
  cause
})

/**
 * Codec of `State.StaleState`.
 *
 * @category stores
 * @since 0.1.0
 */
export const StaleState = make(StateValue.StaleState, "StaleState", {
  stateName: Schema.String,
  scope: Schema.String,
  version: Schema.Number,
  problem: Schema.String,
  raw: ExactJson,
  isNewer: Schema.optionalKey(Schema.Boolean)
})

/**
 * Codec of `State.InvalidState`.
 *
 * @category stores
 * @since 0.1.0
 */
export const InvalidState = make(StateValue.InvalidState, "InvalidState", {
  stateName: Schema.String,
  problem: Schema.String,
  value: ExactJson
})

/**
 * Codec of `State.NoStateKey`.
 *
 * @category stores
 * @since 0.1.0
 */
export const NoStateKey = make(StateValue.NoStateKey, "NoStateKey", {
  stateName: Schema.String,
  of: Schema.Literals(["chat", "user", "userInChat", "bot"]),
  missing: Schema.Array(Schema.Literals(["chat_id", "user_id", "update"])),
  update_type: optional(Schema.String)
})

/**
 * Codec of `Broadcast.BroadcastAlreadyRunning`.
 *
 * @category stores
 * @since 0.1.0
 */
export const BroadcastAlreadyRunning = make(Broadcast.BroadcastAlreadyRunning, "BroadcastAlreadyRunning", {
  broadcastName: Schema.String
})

/**
 * Codec of `RateLimiter.RateLimiterError`.
 *
 * @category rate limits
 * @since 0.1.0
 */
export const RateLimiterError = make(RateLimiter.RateLimiterError, "RateLimiterError", {
  reason: Schema.Literals(["QueueFull", "MaxWaitExceeded"]),
  retryAfter: Schema.Duration
})

/**
 * Codec of `Command.InvalidArguments`.
 *
 * @category handlers
 * @since 0.1.0
 */
export const InvalidArguments = make(Command.InvalidArguments, "InvalidArguments", {
  command: Schema.String,
  usage: Schema.String,
  issues: FieldIssues,
  update: ExactUpdate
})

/**
 * Codec of `Menu.InvalidMenu`.
 *
 * @category handlers
 * @since 0.1.0
 */
export const InvalidMenu = make(MenuPage.InvalidMenu, "InvalidMenu", {
  menuName: Schema.String,
  page: Schema.String,
  problem: Schema.String
})

/**
 * Codec of `Scene.StaleScene`.
 *
 * @category handlers
 * @since 0.1.0
 */
export const StaleScene = make(SceneState.StaleScene, "StaleScene", {
  sceneName: Schema.String,
  state: Schema.String,
  problem: Schema.String,
  raw: ExactJson
})

/**
 * Codec of `Payload.InvalidPayload`.
 *
 * @category handlers
 * @since 0.1.0
 */
export const InvalidPayload = make(Payload.InvalidPayload, "InvalidPayload", {
  payloadName: Schema.String,
  problem: Schema.String
})

/**
 * Codec of `Payload.MalformedPayload`.
 *
 * @category handlers
 * @since 0.1.0
 */
export const MalformedPayload = make(Payload.MalformedPayload, "MalformedPayload", {
  payloadName: Schema.String,
  problem: Schema.String,
  payload: Schema.String,
  update: ExactUpdate
})

/**
 * Codec of `Timer.InvalidTimer`.
 *
 * @category handlers
 * @since 0.1.0
 */
export const InvalidTimer = make(Timer.InvalidTimer, "InvalidTimer", {
  timerName: Schema.String,
  problem: Schema.String
})

/**
 * Codec of `Timer.MalformedTimer`.
 *
 * @category handlers
 * @since 0.1.0
 */
export const MalformedTimer = make(Timer.MalformedTimer, "MalformedTimer", {
  timerName: Schema.String,
  problem: Schema.String,
  update: ExactUpdate
})

/**
 * Codec of `Timer.NoTimerChat`.
 *
 * @category handlers
 * @since 0.1.0
 */
export const NoTimerChat = make(Timer.NoTimerChat, "NoTimerChat", {
  timerName: Schema.String,
  update_type: optional(Schema.String)
})

/**
 * Codec of `Conversation.Unanswered`.
 *
 * @category handlers
 * @since 0.1.0
 */
export const Unanswered = make(Talk.Unanswered, "Unanswered", {
  conversation: Schema.String,
  question: Schema.String
})

/**
 * Codec of `Conversation.NoParticipant`.
 *
 * @category handlers
 * @since 0.1.0
 */
export const NoParticipant = make(Talk.NoParticipant, "NoParticipant", {
  conversation: Schema.String,
  update_type: optional(Schema.String)
})

/**
 * Codec of `DeepLink.MalformedLink`.
 *
 * @category handlers
 * @since 0.1.0
 */
export const MalformedLink = make(DeepLink.MalformedLink, "MalformedLink", {
  linkName: Schema.String,
  problem: Schema.String,
  payload: Schema.String,
  update: ExactUpdate
})

/**
 * Codec of `MiniApp.InvalidInitData`.
 *
 * @category mini apps
 * @since 0.1.0
 */
export const InvalidInitData = make(MiniApp.InvalidInitData, "InvalidInitData", {
  reason: Schema.Literals(["Malformed", "Forged", "Expired"]),
  problem: Schema.String
})

/**
 * Codec of `RateLimiter.PermitExpired`.
 *
 * @category rate limits
 * @since 0.1.0
 */
export const PermitExpired = make(RateLimiter.PermitExpired, "PermitExpired", {})

/**
 * Codec of `Settings.InvalidSettings`.
 *
 * @category settings
 * @since 0.1.0
 */
export const InvalidSettings = make(Settings.InvalidSettings, "InvalidSettings", {
  problems: Schema.Array(Schema.Struct({ setting: Schema.String, problem: Schema.String }))
})

/**
 * Codec of `ClientResponse.ResponseTooLarge`.
 *
 * @category limits
 * @since 0.1.0
 */
export const ResponseTooLarge = make(ClientResponse.ResponseTooLarge, "ResponseTooLarge", {
  status: Schema.Int,
  limit: Schema.Finite
})

/**
 * Codec of `Webhook.InvalidWebhook`.
 *
 * @category webhooks
 * @since 0.1.0
 */
export const InvalidWebhook = make(Webhook.InvalidWebhook, "InvalidWebhook", {
  option: Schema.String,
  problem: Schema.String
})

/**
 * Codec of `WebhookRequest.BodyError`.
 *
 * @category webhooks
 * @since 0.1.0
 */
export const BodyError = make(WebhookRequest.BodyError, "BodyError", {
  reason: Schema.Literals(["TooLarge", "Timeout", "Aborted", "AlreadyRead"])
})

/**
 * Codec of `UploadError.LimitExceeded`.
 *
 * @category uploads
 * @since 0.1.0
 */
export const LimitExceeded = make(UploadError.LimitExceeded, "LimitExceeded", {
  limit: Schema.Literals(["size", "extension", "dimensions", "duration"]),
  allowed: Schema.String,
  found: Schema.String
})

/**
 * Codec of `UploadError.SourceFailed`.
 *
 * @category uploads
 * @since 0.1.0
 */
export const SourceFailed = make(UploadError.SourceFailed, "SourceFailed", { detail: Schema.String, cause })

/**
 * Codec of `UploadError.SourceMismatch`.
 *
 * @category uploads
 * @since 0.1.0
 */
export const SourceMismatch = make(UploadError.SourceMismatch, "SourceMismatch", {})

/**
 * Codec of `UploadSource.DownloadFailed`.
 *
 * @category uploads
 * @since 0.1.0
 */
export const DownloadFailed = make(UploadSource.DownloadFailed, "DownloadFailed", {
  url: Schema.String,
  status: Schema.Int
})

/**
 * Codec of `UploadError.Rejected`.
 *
 * @category uploads
 * @since 0.1.0
 */
export const Rejected = make(UploadError.Rejected, "Rejected", {
  status: Schema.Int,
  code: optional(Schema.String),
  detail: optional(Schema.String),
  body: Schema.String
})

/**
 * Codec of `UploadError.InvalidResponse`.
 *
 * @category uploads
 * @since 0.1.0
 */
export const InvalidUploadResponse = make(UploadError.InvalidResponse, "InvalidResponse", {
  status: Schema.Int,
  problem: Schema.String,
  body: Schema.String
})

/**
 * Codec of `UploadError.UploadFailed`.
 *
 * @category uploads
 * @since 0.1.0
 */
export const UploadFailed = make(UploadError.UploadFailed, "UploadFailed", {
  type: Upload.UploadType,
  fileName: Schema.String,
  reason: Schema.Union([LimitExceeded, SourceFailed, SourceMismatch, Transport, Rejected, InvalidUploadResponse]),
  saved: optional(Upload.SavedUpload)
})

const declared = () =>
  new Map<unknown, ErrorCodec<Errors.Declared>>([
    [Errors.Forbidden, Forbidden],
    [Errors.NotFound, NotFound],
    [Errors.MethodNotAllowed, MethodNotAllowed],
    [Errors.AttachmentNotReady, AttachmentNotReady],
    [Errors.CommentsTimeoutExceeded, CommentsTimeoutExceeded],
    [Errors.AddParticipantFailed, AddParticipantFailed],
    [Errors.OperationRejected, OperationRejected]
  ])

/**
 * Returns the codec of the errors of one endpoint.
 *
 * **Example**
 *
 * ```ts
 * import { ErrorSchema, Messages } from "@colloquy/core"
 *
 * const SendError = ErrorSchema.ofEndpoint(Messages.send)
 * ```
 *
 * @category api errors
 * @since 0.1.0
 */
export const ofEndpoint = <E extends Endpoint.Any>(endpoint: E): ErrorCodec<Endpoint.Errors<E>> => {
  const codecs = declared()
  const errors: Endpoint.AnyNamed["declaration"]["errors"] = endpoint.declaration.errors
  const members = errors.flatMap((error) => codecs.get(error) ?? [])
  return Schema.Union([Common, ...members]) as unknown as ErrorCodec<Endpoint.Errors<E>>
}
