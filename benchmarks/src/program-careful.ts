/**
 * The same program by hand on Effect, with as much care as the client takes: it validates the request, keeps to the limits of
 * the platform, retries what cannot have been executed or what the platform asks to repeat, has a typed error for each answer,
 * and decodes the whole message with exact integers.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import { answeringOffline } from "./program-offline.ts"

// The errors.

const answer = {
  status: Schema.Int,
  code: Schema.optionalKey(Schema.String),
  message: Schema.optionalKey(Schema.String)
}
class InvalidRequest extends Schema.TaggedError<InvalidRequest>()("InvalidRequest", { problem: Schema.String }) {}
class Unauthorized extends Schema.TaggedError<Unauthorized>()("Unauthorized", answer) {}
class Forbidden extends Schema.TaggedError<Forbidden>()("Forbidden", answer) {}
class NotFound extends Schema.TaggedError<NotFound>()("NotFound", answer) {}
class AttachmentNotReady extends Schema.TaggedError<AttachmentNotReady>()("AttachmentNotReady", answer) {}
class RateLimited extends Schema.TaggedError<RateLimited>()("RateLimited", {
  ...answer,
  retryAfter: Schema.optionalKey(Schema.Finite)
}) {}
class RequestFailed extends Schema.TaggedError<RequestFailed>()("RequestFailed", {
  ...answer,
  isSent: Schema.Boolean,
  cause: Schema.optionalKey(Schema.Defect())
}) {}

// The request.

const Button = Schema.Struct({
  type: Schema.Literals(["callback", "link", "request_contact", "request_geo_location", "message", "open_app"]),
  text: Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(128)),
  payload: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(1024))),
  url: Schema.optionalKey(Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(2048))),
  web_app: Schema.optionalKey(Schema.String),
  quick: Schema.optionalKey(Schema.Boolean)
})
const withToken = <Type extends string>(type: Type) =>
  Schema.Struct({ type: Schema.Literal(type), payload: Schema.Struct({ token: Schema.String }) })
const AttachmentRequest = Schema.Union([
  Schema.Struct({
    type: Schema.Literal("image"),
    payload: Schema.Struct({ url: Schema.optionalKey(Schema.String), token: Schema.optionalKey(Schema.String) }).check(
      Schema.makeFilter(({ token, url }) => (url === undefined) !== (token === undefined) || "needs a url or a token")
    )
  }),
  withToken("video"),
  withToken("audio"),
  withToken("file"),
  Schema.Struct({ type: Schema.Literal("sticker"), payload: Schema.Struct({ code: Schema.String }) }),
  Schema.Struct({
    type: Schema.Literal("contact"),
    payload: Schema.Struct({ name: Schema.optionalKey(Schema.String), vcf_phone: Schema.optionalKey(Schema.String) })
  }),
  Schema.Struct({ type: Schema.Literal("share"), payload: Schema.Struct({ url: Schema.String }) }),
  Schema.Struct({ type: Schema.Literal("location"), latitude: Schema.Finite, longitude: Schema.Finite }),
  Schema.Struct({
    type: Schema.Literal("inline_keyboard"),
    payload: Schema.Struct({
      buttons: Schema.Array(Schema.Array(Button).check(Schema.isMinLength(1), Schema.isMaxLength(7))).check(
        Schema.isMaxLength(30)
      )
    })
  })
])
const single = new Set(["audio", "file", "contact", "sticker"])
const SendRequest = Schema.Struct({
  chat_id: Schema.optionalKey(Schema.Int),
  user_id: Schema.optionalKey(Schema.Int),
  text: Schema.optionalKey(
    Schema.String.check(Schema.makeFilter((text) => [...text].length <= 4000 || "has more than 4000 characters"))
  ),
  attachments: Schema.optionalKey(
    Schema.Array(AttachmentRequest).check(
      Schema.makeFilter((attachments) => {
        const files = attachments.filter(({ type }) => type !== "inline_keyboard")
        if (attachments.length > 12 || attachments.length - files.length > 1) return "has too many attachments"
        return files.length <= 1 || !files.some(({ type }) => single.has(type)) || "has attachments that exclude others"
      })
    )
  ),
  link: Schema.optionalKey(Schema.Struct({ type: Schema.Literals(["forward", "reply"]), mid: Schema.String })),
  notify: Schema.optionalKey(Schema.Boolean),
  format: Schema.optionalKey(Schema.Literals(["markdown", "html"]))
}).check(
  Schema.makeFilter(
    ({ chat_id, user_id }) => (chat_id === undefined) !== (user_id === undefined) || "needs a chat_id or a user_id"
  )
)

// The message.

const nullable = <S extends Schema.Top>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))
const Long = Schema.Union([Schema.Int, Schema.BigInt])
const User = Schema.Struct({
  user_id: Schema.Int,
  first_name: Schema.String,
  last_name: nullable(Schema.String),
  username: nullable(Schema.String),
  is_bot: Schema.Boolean,
  last_activity_time: nullable(Schema.Int)
})
const file = { url: nullable(Schema.String), token: Schema.String }
const Attachment = Schema.Union([
  Schema.Struct({
    type: Schema.Literal("image"),
    payload: Schema.Struct({ photo_id: Long, token: Schema.String, url: Schema.String })
  }),
  Schema.Struct({
    type: Schema.Literal("video"),
    payload: Schema.Struct(file),
    width: nullable(Schema.Int),
    height: nullable(Schema.Int),
    duration: nullable(Schema.Finite)
  }),
  Schema.Struct({
    type: Schema.Literal("audio"),
    payload: Schema.Struct(file),
    transcription: nullable(Schema.String)
  }),
  Schema.Struct({
    type: Schema.Literal("file"),
    payload: Schema.Struct(file),
    filename: nullable(Schema.String),
    size: nullable(Schema.Int)
  }),
  Schema.Struct({
    type: Schema.Literal("sticker"),
    payload: Schema.Struct({ url: nullable(Schema.String), code: Schema.String })
  }),
  Schema.Struct({
    type: Schema.Literal("contact"),
    payload: nullable(Schema.Struct({ vcf_info: nullable(Schema.String), max_info: nullable(User) }))
  }),
  Schema.Struct({
    type: Schema.Literal("inline_keyboard"),
    payload: Schema.Struct({ buttons: Schema.Array(Schema.Array(Schema.Unknown)) })
  }),
  Schema.Struct({
    type: Schema.Literal("share"),
    payload: nullable(Schema.Struct({ url: nullable(Schema.String) })),
    title: nullable(Schema.String)
  }),
  Schema.Struct({ type: Schema.Literal("location"), latitude: Schema.Finite, longitude: Schema.Finite }),
  Schema.Unknown
])
const Markup = Schema.Struct({
  type: Schema.String,
  from: Schema.Int,
  length: Schema.Int,
  url: nullable(Schema.String),
  user_link: nullable(Schema.String),
  user_id: nullable(Schema.Int)
})
const Body = Schema.Struct({
  mid: Schema.String,
  seq: Long,
  text: nullable(Schema.String),
  attachments: nullable(Schema.Array(Attachment)),
  markup: nullable(Schema.Array(Markup))
})
const ChatType = Schema.Union([Schema.Literals(["chat", "channel", "dialog"]), Schema.String])
const Message = Schema.Struct({
  sender: nullable(User),
  recipient: Schema.Struct({ chat_id: nullable(Schema.Int), chat_type: ChatType, user_id: nullable(Schema.Int) }),
  timestamp: Schema.Int,
  link: nullable(
    Schema.Struct({
      type: Schema.String,
      sender: nullable(User),
      chat_id: nullable(Schema.Int),
      message: nullable(Body)
    })
  ),
  body: nullable(Body),
  stat: nullable(Schema.Struct({ views: Schema.Int })),
  url: nullable(Schema.String)
})

const parseExactly = (text: string): unknown =>
  JSON.parse(text, (_, value, context?: { readonly source?: string }) =>
    typeof value === "number" && !Number.isSafeInteger(value) && /^-?\d+$/.test(context?.source ?? "")
      ? BigInt(context!.source!)
      : value
  )

const decode = Schema.decodeUnknownEffect(Schema.Struct({ message: Message }))
const validate = Schema.decodeUnknownEffect(SendRequest, { errors: "all", onExcessProperty: "error" })

// The limits: the times at which requests may leave, for the host and for each chat.

const makeLimiter = (limit: number, window: number) => {
  const granted = new Map<unknown, Array<number>>()
  return (key: unknown, now: number): number => {
    const times = (granted.get(key) ?? []).filter((time) => time > now - window)
    const at = times.length < limit ? now : Math.max(now, times[times.length - limit] + window)
    granted.set(key, [...times, at])
    return at
  }
}

const host = makeLimiter(30, 1000)
const chat = makeLimiter(2, 1000)

const permit = (key: unknown) =>
  Effect.flatMap(Clock.currentTimeMillis, (now) => Effect.sleep(host("host", chat(key, now)) - now))

// The call.

const byCode = {
  "verify.token": Unauthorized,
  "chat.denied": Forbidden,
  "access.denied": Forbidden,
  "chat.not.found": NotFound,
  "not.found": NotFound,
  "attachment.not.ready": AttachmentNotReady
}
const byStatus: Readonly<Record<number, typeof Unauthorized | typeof Forbidden | typeof NotFound>> = {
  401: Unauthorized,
  403: Forbidden,
  404: NotFound
}

const refused = (status: number, body: unknown, retryAfter: string | undefined) => {
  const { code, message } = (typeof body === "object" && body !== null ? body : {}) as Record<string, unknown>
  const fields = {
    status,
    ...(typeof code === "string" ? { code } : {}),
    ...(typeof message === "string" ? { message } : {})
  }
  if (status === 429) {
    return new RateLimited({ ...fields, ...(Number(retryAfter) > 0 ? { retryAfter: Number(retryAfter) } : {}) })
  }
  const Class = byCode[code as keyof typeof byCode] ?? byStatus[status]
  return Class === undefined ? new RequestFailed({ ...fields, isSent: status !== 503 }) : new Class(fields)
}

const notSent = /ECONNREFUSED|ENOTFOUND|EAI_|EHOST|ENETUNREACH|CERT_/
const isSent = (error: unknown): boolean => {
  const { cause, code, reason } = (error ?? {}) as Record<string, unknown>
  if (notSent.test(String(code))) return false
  return (cause ?? reason) === undefined || isSent(cause ?? reason)
}

type Failure = RequestFailed | RateLimited | AttachmentNotReady | Unauthorized | Forbidden | NotFound

const isRepeatable = (error: Failure): boolean =>
  error._tag === "RateLimited" ||
  error._tag === "AttachmentNotReady" ||
  (error._tag === "RequestFailed" && !error.isSent)

const growing = Schedule.min([Schedule.exponential("200 millis"), Schedule.spaced("10 seconds")]).pipe(
  Schedule.jittered,
  Schedule.upTo({ times: 5 }),
  Schedule.setInputType<Failure>(),
  Schedule.modifyDelay(({ duration, input }) =>
    Effect.succeed(
      input._tag === "RateLimited" ? Duration.max(duration, Duration.seconds(input.retryAfter ?? 1)) : duration
    )
  )
)

const send = Effect.fn("send")(function* (baseUrl: string, token: string, request: typeof SendRequest.Encoded) {
  const valid = yield* validate(request).pipe(
    Effect.mapError(({ message }) => new InvalidRequest({ problem: message }))
  )
  const { chat_id, user_id, ...body } = valid
  const target = chat_id === undefined ? `user_id=${user_id}` : `chat_id=${chat_id}`
  const attempt = HttpClientRequest.post(`${baseUrl}/messages?${target}`).pipe(
    HttpClientRequest.setHeader("authorization", token),
    HttpClientRequest.bodyText(JSON.stringify(body), "application/json"),
    HttpClient.execute,
    Effect.flatMap((response) => Effect.map(response.text, (text) => ({ text, response }))),
    Effect.timeout("1 minute"),
    Effect.mapError((cause) => new RequestFailed({ status: 0, isSent: isSent(cause), cause })),
    Effect.flatMap(({ response: { headers, status }, text }) =>
      Effect.try({
        try: () => parseExactly(text),
        catch: (cause) => new RequestFailed({ status, isSent: true, cause })
      }).pipe(
        Effect.flatMap((json) =>
          status === 200
            ? Effect.mapError(decode(json), (cause) => new RequestFailed({ status, isSent: true, cause }))
            : Effect.fail(refused(status, json, headers["retry-after"]))
        )
      )
    )
  )
  const sent = Effect.andThen(permit(chat_id ?? user_id), attempt)
  return (yield* Effect.retry(sent, { schedule: growing, while: isRepeatable })).message
})

const program = send("https://api.example", "token", { chat_id: 1, text: "Hello" }).pipe(
  Effect.flatMap((message) => Effect.log(message.body?.mid)),
  Effect.provide(FetchHttpClient.layer.pipe(Layer.provide(answeringOffline)))
)

await Effect.runPromise(program)
