import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { readdirSync } from "node:fs"
import {
  Commit,
  ApiError,
  Broadcast,
  Command,
  Conversation,
  DeepLink,
  DownloadError,
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
  User,
  Webhook
} from "../../src/index.ts"
import * as Outage from "../../src/client/Outage.ts"
import * as ClientResponse from "../../src/client/ClientResponse.ts"
import * as PublicHost from "../../src/client/PublicHost.ts"
import * as Endpoints from "../../src/endpoints/Endpoints.ts"
import * as StoreError from "../../src/base/StoreError.ts"

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

const samples: ReadonlyArray<Error> = [
  new ApiError.Unauthorized(response),
  new ApiError.Unauthorized(fullResponse),
  new ApiError.Forbidden(response),
  new ApiError.Forbidden(fullResponse),
  new ApiError.NotFound(fullResponse),
  new ApiError.MethodNotAllowed(fullResponse),
  new ApiError.AttachmentNotReady(fullResponse),
  new ApiError.CommentsTimeoutExceeded(fullResponse),
  new ApiError.AddParticipantFailed({
    ...fullResponse,
    failed_user_ids: [User.UserId.make(1)],
    failed_user_details: [{ error_code: "add.participant.privacy", user_ids: [User.UserId.make(1)] }]
  }),
  new ApiError.OperationRejected(fullResponse),
  new ApiError.RateLimited(response),
  new ApiError.RateLimited({ ...fullResponse, retryAfter: Duration.seconds(2) }),
  new ApiError.RateLimited({ ...response, status: 0, isSent: false, retryAfter: Duration.infinity }),
  new ApiError.RateLimited({ ...response, status: 0, isSent: false, isReplaced: true, retryAfter: Duration.zero }),
  new ApiError.InvalidRequest({ issues }),
  transport,
  new ApiError.UnexpectedStatus({ status: 500, body: "" }),
  new ApiError.UnexpectedStatus({ status: 503, code: "c", detail: "d", retryAfter: Duration.millis(1), body: "" }),
  new ApiError.Uncertain({ call: "Messages.send", startedAt: 1_763_713_800_000 }),
  new Journal.InvalidStepResult({ step: "charge", problem: "must be a string" }),
  new Conversation.NoParticipant({ conversation: "order", update_type: "message_created" }),
  new Conversation.NoParticipant({ conversation: "order" }),
  new Conversation.Unanswered({ conversation: "order", question: "size" }),
  new ApiError.InvalidResponse({ status: 200, problem: "is not JSON", body: "<" }),
  ...[
    new ApiError.InvalidRequest({ issues }),
    transport,
    new ApiError.UnexpectedStatus({ status: 500, body: "" }),
    new ApiError.InvalidResponse({ status: 200, problem: "is not JSON", body: "<" })
  ].map((reason) => new ApiError.RequestFailed({ endpoint: "Messages.send", reason })),
  new Messages.NoChat({ update: created }),
  new Update.MalformedUpdate({ problem: "`message` is missing", raw: { seq } }),
  new Inbox.InboxFull({ capacity: 3 }),
  new MiniApp.InvalidInitData({ reason: "Forged", problem: "the hash is wrong" }),
  new RateLimiter.PermitExpired(),
  new Inbox.InboxStopping(),
  new LiveMessage.ProgressStopped(),
  new Updates.UpdateStreamFailed({ cause: new Error("the file is gone") }),
  new StoreError.StoreError({ store: "inbox", operation: "claim", reason: "no connection", isRetryable: true }),
  new StoreError.StoreError({
    store: "mine",
    operation: "claim",
    reason: "no connection",
    isRetryable: false,
    isUncertain: true,
    cause: new Error("ECONNREFUSED")
  }),
  new State.StaleState({ stateName: "cart", scope: "chat:1/user:2", version: 1, problem: "no", raw: { seq } }),
  new State.InvalidState({ stateName: "cart", problem: "no", value: { seq } }),
  new State.NoStateKey({
    stateName: "cart",
    of: "userInChat",
    missing: ["user_id"],
    update_type: "message_removed"
  }),
  new State.NoStateKey({ stateName: "cart", of: "bot", missing: ["update"] }),
  new Broadcast.BroadcastAlreadyRunning({ broadcastName: "news" }),
  new RateLimiter.RateLimiterError({ reason: "QueueFull", retryAfter: Duration.millis(5) }),
  new RateLimiter.RateLimiterError({ reason: "Replaced", retryAfter: Duration.zero }),
  new Command.InvalidArguments({ command: "add", usage: "/add", issues, update: created }),
  new ClientResponse.ResponseTooLarge({ status: 200, limit: 8 * 1024 * 1024 }),
  new LiveMessage.IdleTimeout({ messageName: "report", timeout: 60_000 }),
  new Menu.InvalidMenu({ menuName: "shop", page: "main", problem: "it has 31 rows" }),
  new Scene.StaleScene({ sceneName: "ride", state: "waiting", problem: "no", raw: { seq } }),
  new Payload.InvalidPayload({ payloadName: "vote", problem: "is too long" }),
  new Timer.InvalidTimer({ timerName: "reminder", problem: "its duration has no end" }),
  new Timer.MalformedTimer({ timerName: "reminder", problem: "Expected a number", update: due }),
  new Commit.NoCommit({ problem: "noUpdate" }),
  new Timer.NoTimerChat({ timerName: "reminder", update_type: "unknown" }),
  new Timer.NoTimerChat({ timerName: "reminder" }),
  new Payload.MalformedPayload({ payloadName: "vote", problem: "no", payload: "vote:", update: callback }),
  new DeepLink.MalformedLink({ linkName: "ref", problem: "no", payload: "ref-", update: started }),
  new Settings.InvalidSettings({ problems: [{ setting: "BOT_TOKEN", problem: "is missing" }] }),
  new Webhook.InvalidWebhook({ option: "url", problem: "must start with https://" }),
  new Webhook.BodyError({ reason: "TooLarge" }),
  new UploadError.LimitExceeded({ limit: "size", allowed: "1 MB", found: "2 MB" }),
  new UploadError.SourceFailed({ detail: "no such file" }),
  new UploadError.SourceFailed({ detail: "no such file", cause: new Error("ENOENT") }),
  new UploadError.SourceMismatch(),
  new PublicHost.PrivateAddress({ host: "a.example", address: "10.0.0.1" }),
  ...[
    new DownloadError.NoAddress(),
    new DownloadError.AddressRefused({ host: "127.0.0.1", problem: "Private" }),
    new DownloadError.Redirected({ host: "a.example", to: "b.example" }),
    new DownloadError.Expired({ status: 410, isRenewed: false }),
    new DownloadError.Rejected({ host: "a.example", status: 404 }),
    new DownloadError.TooLarge({ maxSize: 10, size: 11 }),
    new DownloadError.WrongLength({ received: 9, size: 10 }),
    new DownloadError.Changed(),
    transport
  ].flatMap((reason) => [reason, new DownloadError.DownloadFailed({ type: "image", received: 9, reason })]),
  rejected,
  new UploadError.InvalidResponse({ status: 200, problem: "no", body: "<" }),
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
  }),
  new Outage.GaveUp({ what: "The platform", attempts: 3, duration: Duration.seconds(9), cause: new Error("refused") })
]

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

const encode = (error: Error): Schema.Json =>
  Schema.encodeUnknownSync(ErrorSchema.of(error.constructor as never))(error)

const roundTrip = (error: Error): unknown =>
  Schema.decodeUnknownSync(ErrorSchema.of(error.constructor as never))(JSON.parse(JSON.stringify(encode(error))))

/** The classes of errors that the public modules export. */
const errorClasses = Effect.promise(async () => {
  const folder = new URL("../../src/", import.meta.url)
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => /^\w+\/\w+\.ts$/.test(file))
  const modules = await Promise.all(files.map((file) => import(new URL(file, folder).href) as Promise<object>))
  const exported = modules.flatMap((module) => Object.values<unknown>({ ...module }))
  return [...new Set(exported)].filter(
    (value): value is new () => Error => typeof value === "function" && value.prototype instanceof Error
  )
})

describe("ErrorSchema", () => {
  it.effect("has a codec of every public error class of the package", () =>
    Effect.gen(function* () {
      const covered = new Set<unknown>(samples.map((error) => error.constructor))
      const missing = (yield* errorClasses).filter((error) => !covered.has(error))
      assert.deepStrictEqual(
        missing.map(({ name }) => name),
        []
      )
      assert.isAbove(covered.size, 45)
    })
  )

  it.each(samples.map((error) => [error.name, error] as const))("restores %s from JSON", (_, error) => {
    assert.deepStrictEqual(comparable(roundTrip(error)), comparable(error))
  })

  it("contains errors whose fields do not hide their names", () => {
    for (const error of samples) {
      assert.isFalse(Object.hasOwn(error, "name"), error.constructor.name)
      assert.strictEqual(error.name, error.constructor.name)
      assert.include(Cause.pretty(Cause.fail(error)), error.constructor.name)
    }
  })

  it("writes JSON with exact integers as text, and leaves out undefined members", () => {
    assert.deepStrictEqual(encode(new Update.MalformedUpdate({ problem: "`message` is missing", raw: { seq } })), {
      _tag: "MalformedUpdate",
      problem: "`message` is missing",
      raw: `{"seq":${seq}}`
    })
    assert.deepStrictEqual(
      encode(new State.NoStateKey({ stateName: "cart", of: "bot", missing: ["update"], update_type: undefined })),
      {
        _tag: "NoStateKey",
        stateName: "cart",
        of: "bot",
        missing: ["update"]
      }
    )
    assert.deepStrictEqual(
      encode(
        new ApiError.RequestFailed({ endpoint: "Messages.send", reason: new ApiError.InvalidRequest({ issues }) })
      ),
      { _tag: "RequestFailed", endpoint: "Messages.send", reason: { _tag: "InvalidRequest", issues } }
    )
    assert.deepStrictEqual(
      encode(new UploadError.SourceFailed({ detail: "no such file", cause: new Error("ENOENT") })),
      {
        _tag: "SourceFailed",
        detail: "no such file",
        cause: { name: "Error", message: "ENOENT" }
      }
    )
  })

  it("keeps the integers of an update exact", () => {
    const restored = roundTrip(new Messages.NoChat({ update: created })) as Messages.NoChat
    assert.strictEqual(Update.messageOf(restored.update)?.body?.seq, seq)
  })

  it("rejects JSON of another error", () => {
    const json = encode(new ApiError.NotFound(response))
    assert.isTrue(Result.isFailure(Schema.decodeUnknownResult(ErrorSchema.of(ApiError.Forbidden))(json)))
  })

  it.effect.prop("restores any text of a response", [Schema.String, Schema.String], ([detail, body]) =>
    Effect.sync(() => {
      const error = new ApiError.Forbidden({ endpoint: "Chats.get", status: 403, detail, body })
      assert.deepStrictEqual(comparable(roundTrip(error)), comparable(error))
    })
  )

  it.each(Endpoints.all.map((endpoint) => [endpoint.endpoint, endpoint] as const))(
    "restores every error that %s declares, and the common ones",
    (_, endpoint) => {
      const codec = ErrorSchema.ofEndpoint(endpoint)
      const classes: ReadonlyArray<unknown> = endpoint.declaration.errors
      for (const error of samples) {
        const isDeclared = classes.includes(error.constructor)
        const isCommon = ["Unauthorized", "RateLimited", "RequestFailed"].includes(error.name)
        const encoded = Schema.encodeUnknownResult(codec)(error)
        assert.strictEqual(Result.isSuccess(encoded), isDeclared || isCommon, error.name)
      }
    }
  )
})
