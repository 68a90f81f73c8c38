/**
 * The same program with only Effect's `HttpClient` and `Schema`: a request, a response decoded by a schema, a typed
 * error, a timeout, and retries with exponential backoff.
 */
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import { answeringOffline } from "./program-offline.ts"

class CallFailed extends Schema.TaggedError<CallFailed>()("CallFailed", {
  status: Schema.optionalKey(Schema.Int),
  cause: Schema.optionalKey(Schema.Defect())
}) {}

const User = Schema.Struct({ user_id: Schema.Int, first_name: Schema.String, is_bot: Schema.Boolean })

const Sent = Schema.Struct({
  message: Schema.Struct({
    sender: Schema.optionalKey(Schema.NullOr(User)),
    timestamp: Schema.Int,
    recipient: Schema.Struct({
      chat_id: Schema.Int,
      chat_type: Schema.Union([Schema.Literals(["chat", "channel", "dialog"]), Schema.String])
    }),
    body: Schema.Struct({
      mid: Schema.String,
      text: Schema.optionalKey(Schema.NullOr(Schema.String)),
      attachments: Schema.optionalKey(Schema.NullOr(Schema.Array(Schema.Unknown)))
    })
  })
})

const growing = Schedule.min([Schedule.exponential("200 millis"), Schedule.spaced("10 seconds")]).pipe(
  Schedule.jittered,
  Schedule.upTo({ times: 5 })
)

const read = Effect.fnUntraced(function* (response: HttpClientResponse.HttpClientResponse) {
  if (response.status !== 200) return yield* new CallFailed({ status: response.status })
  return yield* HttpClientResponse.schemaBodyJson(Sent)(response)
})

const send = HttpClientRequest.post("https://api.example/messages?chat_id=1").pipe(
  HttpClientRequest.setHeader("authorization", "token"),
  HttpClientRequest.bodyText(JSON.stringify({ text: "Hello" }), "application/json"),
  HttpClient.execute,
  Effect.flatMap(read),
  Effect.timeout("1 minute"),
  Effect.mapError((cause) => (cause._tag === "CallFailed" ? cause : new CallFailed({ cause }))),
  Effect.retry({ schedule: growing, while: ({ status }) => status === 429 || status === 503 })
)

const program = send.pipe(
  Effect.flatMap(({ message }) => Effect.log(message.body.mid)),
  Effect.provide(FetchHttpClient.layer.pipe(Layer.provide(answeringOffline)))
)

await Effect.runPromise(program)
