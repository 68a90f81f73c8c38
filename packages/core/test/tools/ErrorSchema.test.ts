import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { readdirSync } from "node:fs"
import {
  ApiError,
  Broadcast,
  Command,
  Conversation,
  DeepLink,
  ErrorSchema,
  Inbox,
  LiveMessage,
  Journal,
  Menu,
  MiniApp,
  Messages,
  Payload,
  RateLimiter,
  Scene,
  Settings,
  State,
  Timer,
  Update,
  Updates,
  UploadError,
  UploadSource,
  User,
  Webhook
} from "../../src/index.ts"
import * as ClientResponse from "../../src/client/ClientResponse.ts"
import * as Endpoints from "../../src/endpoints/Endpoints.ts"
import * as StoreError from "../../src/base/StoreError.ts"
import * as WebhookRequest from "../../src/inbox/WebhookRequest.ts"

const seq = 116328127605864690n

const parseUpdate = (fields: object) =>
  Result.getOrThrow(
    Update.parse(
      JSON.stringify({
        timestamp: 1_763_713_800_000,
        chat_id: 1,
        user: { user_id: 1, first_name: "Ann", is_bot: false },
        ...fields
      })
    )
  )

const message = {
  recipient: { chat_id: 1, chat_type: "dialog", user_id: 2 },
  timestamp: 1_763_713_800_000,
  body: { mid: "mid.1", seq, text: "Hello" }
}

const created = { update_type: "message_created", timestamp: 1_763_713_800_000, message } as never
const callback = parseUpdate({
  update_type: "message_callback",
  callback: { timestamp: 1, callback_id: "1", user: { user_id: 1, first_name: "Ann", is_bot: false } }
}) as Update.Of<"message_callback">
const due: Update.TimerUpdate = {
  update_type: "colloquy_timer",
  timestamp: 1,
  name: "reminder",
  key: "bot",
  value: "1"
}
const started = parseUpdate({ update_type: "bot_started", payload: "ref" }) as Update.Of<"bot_started">

const response = { endpoint: "Messages.send", status: 403, body: '{"code":"chat.denied"}' }
const fullResponse = { ...response, code: "chat.denied", detail: "no right \ud800 🙂" }

const transport = new ApiError.Transport({
  kind: "Reset",
  isSent: true,
  code: "ECONNRESET",
  detail: "aborted",
  hint: "Try again.",
  cause: new Error("aborted", { cause: new Error("socket hang up") })
})

const issues = [{ field: "text", problem: "is missing" }]

const rejected = new UploadError.Rejected({ status: 415, code: "4", detail: "no", body: "{}" })

const uploadFailed = (reason: UploadError.Reason) =>
  new UploadError.UploadFailed({ type: "video", fileName: "a.mp4", reason })

const samples: ReadonlyArray<readonly [codec: ErrorSchema.ErrorCodec<never>, errors: ReadonlyArray<Error>]> = [
  [ErrorSchema.Unauthorized, [new ApiError.Unauthorized(response), new ApiError.Unauthorized(fullResponse)]],
  [ErrorSchema.Forbidden, [new ApiError.Forbidden(response), new ApiError.Forbidden(fullResponse)]],
  [ErrorSchema.NotFound, [new ApiError.NotFound(fullResponse)]],
  [ErrorSchema.MethodNotAllowed, [new ApiError.MethodNotAllowed(fullResponse)]],
  [ErrorSchema.AttachmentNotReady, [new ApiError.AttachmentNotReady(fullResponse)]],
  [ErrorSchema.CommentsTimeoutExceeded, [new ApiError.CommentsTimeoutExceeded(fullResponse)]],
  [
    ErrorSchema.AddParticipantFailed,
    [
      new ApiError.AddParticipantFailed({
        ...fullResponse,
        failed_user_ids: [User.UserId.make(1)],
        failed_user_details: [{ error_code: "add.participant.privacy", user_ids: [User.UserId.make(1)] }]
      })
    ]
  ],
  [ErrorSchema.OperationRejected, [new ApiError.OperationRejected(fullResponse)]],
  [
    ErrorSchema.RateLimited,
    [
      new ApiError.RateLimited(response),
      new ApiError.RateLimited({ ...fullResponse, retryAfter: Duration.seconds(2) }),
      new ApiError.RateLimited({ ...response, status: 0, isSent: false, retryAfter: Duration.infinity }),
      new ApiError.RateLimited({ ...response, status: 0, isSent: false, isReplaced: true, retryAfter: Duration.zero })
    ]
  ],
  [ErrorSchema.InvalidRequest, [new ApiError.InvalidRequest({ issues })]],
  [ErrorSchema.Transport, [transport]],
  [
    ErrorSchema.UnexpectedStatus,
    [
      new ApiError.UnexpectedStatus({ status: 500, body: "" }),
      new ApiError.UnexpectedStatus({ status: 503, code: "c", detail: "d", retryAfter: Duration.millis(1), body: "" })
    ]
  ],
  [ErrorSchema.Uncertain, [new ApiError.Uncertain({ call: "Messages.send", startedAt: 1_763_713_800_000 })]],
  [ErrorSchema.InvalidStepResult, [new Journal.InvalidStepResult({ step: "charge", problem: "must be a string" })]],
  [
    ErrorSchema.NoParticipant,
    [
      new Conversation.NoParticipant({ conversation: "order", update_type: "message_created" }),
      new Conversation.NoParticipant({ conversation: "order" })
    ]
  ],
  [ErrorSchema.Unanswered, [new Conversation.Unanswered({ conversation: "order", question: "size" })]],
  [ErrorSchema.InvalidResponse, [new ApiError.InvalidResponse({ status: 200, problem: "is not JSON", body: "<" })]],
  [
    ErrorSchema.RequestFailed,
    [
      new ApiError.InvalidRequest({ issues }),
      transport,
      new ApiError.UnexpectedStatus({ status: 500, body: "" }),
      new ApiError.InvalidResponse({ status: 200, problem: "is not JSON", body: "<" })
    ].map((reason) => new ApiError.RequestFailed({ endpoint: "Messages.send", reason }))
  ],
  [ErrorSchema.NoChat, [new Messages.NoChat({ update: created })]],
  [ErrorSchema.MalformedUpdate, [new Update.MalformedUpdate({ problem: "`message` is missing", raw: { seq } })]],
  [ErrorSchema.InboxFull, [new Inbox.InboxFull({ capacity: 3 })]],
  [ErrorSchema.InvalidInitData, [new MiniApp.InvalidInitData({ reason: "Forged", problem: "the hash is wrong" })]],
  [ErrorSchema.PermitExpired, [new RateLimiter.PermitExpired()]],
  [ErrorSchema.InboxStopping, [new Inbox.InboxStopping()]],
  [ErrorSchema.ProgressStopped, [new LiveMessage.ProgressStopped()]],
  [ErrorSchema.UpdateStreamFailed, [new Updates.UpdateStreamFailed({ cause: new Error("the file is gone") })]],
  [
    ErrorSchema.StoreError,
    [
      new StoreError.StoreError({ store: "inbox", operation: "claim", reason: "no connection", isRetryable: true }),
      new StoreError.StoreError({
        store: "mine",
        operation: "claim",
        reason: "no connection",
        isRetryable: false,
        cause: new Error("ECONNREFUSED")
      })
    ]
  ],
  [
    ErrorSchema.StaleState,
    [new State.StaleState({ stateName: "cart", scope: "chat:1/user:2", version: 1, problem: "no", raw: { seq } })]
  ],
  [ErrorSchema.InvalidState, [new State.InvalidState({ stateName: "cart", problem: "no", value: { seq } })]],
  [
    ErrorSchema.NoStateKey,
    [
      new State.NoStateKey({
        stateName: "cart",
        of: "userInChat",
        missing: ["user_id"],
        update_type: "message_removed"
      }),
      new State.NoStateKey({ stateName: "cart", of: "bot", missing: ["update"] })
    ]
  ],
  [ErrorSchema.BroadcastAlreadyRunning, [new Broadcast.BroadcastAlreadyRunning({ broadcastName: "news" })]],
  [
    ErrorSchema.RateLimiterError,
    [new RateLimiter.RateLimiterError({ reason: "QueueFull", retryAfter: Duration.millis(5) })]
  ],
  [
    ErrorSchema.InvalidArguments,
    [new Command.InvalidArguments({ command: "add", usage: "/add", issues, update: created })]
  ],
  [ErrorSchema.ResponseTooLarge, [new ClientResponse.ResponseTooLarge({ status: 200, limit: 8 * 1024 * 1024 })]],
  [ErrorSchema.InvalidMenu, [new Menu.InvalidMenu({ menuName: "shop", page: "main", problem: "it has 31 rows" })]],
  [
    ErrorSchema.StaleScene,
    [new Scene.StaleScene({ sceneName: "ride", state: "waiting", problem: "no", raw: { seq } })]
  ],
  [ErrorSchema.InvalidPayload, [new Payload.InvalidPayload({ payloadName: "vote", problem: "is too long" })]],
  [ErrorSchema.InvalidTimer, [new Timer.InvalidTimer({ timerName: "reminder", problem: "its duration has no end" })]],
  [
    ErrorSchema.MalformedTimer,
    [new Timer.MalformedTimer({ timerName: "reminder", problem: "Expected a number", update: due })]
  ],
  [
    ErrorSchema.NoTimerChat,
    [
      new Timer.NoTimerChat({ timerName: "reminder", update_type: "unknown" }),
      new Timer.NoTimerChat({ timerName: "reminder" })
    ]
  ],
  [
    ErrorSchema.MalformedPayload,
    [new Payload.MalformedPayload({ payloadName: "vote", problem: "no", payload: "vote:", update: callback })]
  ],
  [
    ErrorSchema.MalformedLink,
    [new DeepLink.MalformedLink({ linkName: "ref", problem: "no", payload: "ref-", update: started })]
  ],
  [
    ErrorSchema.InvalidSettings,
    [new Settings.InvalidSettings({ problems: [{ setting: "BOT_TOKEN", problem: "is missing" }] })]
  ],
  [ErrorSchema.InvalidWebhook, [new Webhook.InvalidWebhook({ option: "url", problem: "must start with https://" })]],
  [ErrorSchema.BodyError, [new WebhookRequest.BodyError({ reason: "TooLarge" })]],
  [ErrorSchema.LimitExceeded, [new UploadError.LimitExceeded({ limit: "size", allowed: "1 MB", found: "2 MB" })]],
  [
    ErrorSchema.SourceFailed,
    [
      new UploadError.SourceFailed({ detail: "no such file" }),
      new UploadError.SourceFailed({ detail: "no such file", cause: new Error("ENOENT") })
    ]
  ],
  [ErrorSchema.SourceMismatch, [new UploadError.SourceMismatch()]],
  [ErrorSchema.DownloadFailed, [new UploadSource.DownloadFailed({ url: "https://a.example/b", status: 404 })]],
  [ErrorSchema.Rejected, [rejected]],
  [ErrorSchema.InvalidUploadResponse, [new UploadError.InvalidResponse({ status: 200, problem: "no", body: "<" })]],
  [
    ErrorSchema.UploadFailed,
    [
      uploadFailed(rejected),
      uploadFailed(transport),
      uploadFailed(new UploadError.SourceMismatch()),
      uploadFailed(new UploadError.InvalidResponse({ status: 200, problem: "no", body: "<" })),
      new UploadError.UploadFailed({
        type: "file",
        fileName: "a.txt",
        reason: new UploadError.SourceFailed({ detail: "no such file" }),
        saved: {
          type: "file",
          name: "a.txt",
          url: "https://u.example",
          token: "t",
          size: 3,
          partSize: 1,
          identity: "abc"
        }
      })
    ]
  ]
] as never

/** An error without its `cause`, whose class and stack do not cross a network. */
const comparable = (error: unknown): unknown =>
  error instanceof Error
    ? {
        class: error.constructor,
        message: error.message,
        fields: Object.fromEntries(
          Object.entries(error).flatMap(([key, value]) =>
            key === "cause" ? [] : [[key, Duration.isDuration(value) ? Duration.toMillis(value) : comparable(value)]]
          )
        ),
        cause: error.cause instanceof Error ? error.cause.message : error.cause
      }
    : error

const roundTrip = (codec: ErrorSchema.ErrorCodec<never>, error: Error): unknown =>
  Schema.decodeUnknownSync(codec)(JSON.parse(JSON.stringify(Schema.encodeUnknownSync(codec)(error))))

const errorClasses = Effect.promise(async () => {
  const folder = new URL("../../src/", import.meta.url)
  const files = readdirSync(folder).filter((file) => file.endsWith(".ts"))
  const modules = await Promise.all(files.map((file) => import(new URL(file, folder).href) as Promise<object>))
  const exported = modules.flatMap((module) => Object.values<unknown>({ ...module }))
  return [...new Set(exported)].filter(
    (value): value is new () => Error => typeof value === "function" && value.prototype instanceof Error
  )
})

describe("ErrorSchema", () => {
  it.effect("has a codec of every public error class of the package", () =>
    Effect.gen(function* () {
      const covered = new Set(samples.flatMap(([, errors]) => errors.map(({ constructor }) => constructor)))
      const missing = (yield* errorClasses).filter((error) => !covered.has(error))
      assert.deepStrictEqual(
        missing.map(({ name }) => name),
        []
      )
      assert.isAbove(covered.size, 30)
    })
  )

  it.each(samples.flatMap(([codec, errors]) => errors.map((error) => [error.name, codec, error] as const)))(
    "restores %s from JSON",
    (_, codec, error) => {
      assert.deepStrictEqual(comparable(roundTrip(codec, error)), comparable(error))
    }
  )

  it("contains errors whose fields do not hide their names", () => {
    for (const error of samples.flatMap(([, errors]) => errors as ReadonlyArray<Error>)) {
      assert.isFalse(Object.hasOwn(error, "name"), error.constructor.name)
      assert.strictEqual(error.name, error.constructor.name)
      assert.include(Cause.pretty(Cause.fail(error)), error.constructor.name)
    }
  })

  it("keeps the integers of an update exact", () => {
    const restored = roundTrip(ErrorSchema.NoChat as never, new Messages.NoChat({ update: created })) as Messages.NoChat
    assert.strictEqual(Update.messageOf(restored.update)?.body?.seq, seq)
  })

  it("rejects JSON of another error", () => {
    const json = Schema.encodeSync(ErrorSchema.NotFound)(new ApiError.NotFound(response))
    assert.isTrue(Result.isFailure(Schema.decodeUnknownResult(ErrorSchema.Forbidden)(json)))
  })

  it.effect.prop("restores any text of a response", [Schema.String, Schema.String], ([detail, body]) =>
    Effect.sync(() => {
      const error = new ApiError.Forbidden({ endpoint: "Chats.get", status: 403, detail, body })
      assert.deepStrictEqual(comparable(roundTrip(ErrorSchema.Forbidden as never, error)), comparable(error))
    })
  )

  it.each(Endpoints.all.map((endpoint) => [endpoint.endpoint, endpoint] as const))(
    "restores every error that %s declares, and the common ones",
    (_, endpoint) => {
      const codec = ErrorSchema.ofEndpoint(endpoint)
      const classes: ReadonlyArray<unknown> = endpoint.declaration.errors
      for (const [, errors] of samples) {
        for (const error of errors) {
          const isDeclared = classes.includes(error.constructor)
          const isCommon = ["Unauthorized", "RateLimited", "RequestFailed"].includes(error.name)
          const encoded = Schema.encodeUnknownResult(codec)(error)
          assert.strictEqual(Result.isSuccess(encoded), isDeclared || isCommon, error.name)
        }
      }
    }
  )
})
