/**
 * A webhook bot as a worker with only Effect's `HttpClient` and `Schema`: the secret, the update decoded by a schema, and a
 * reply with a typed error, a timeout, and retries with exponential backoff.
 */
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"

interface Environment {
  readonly BOT_TOKEN: string
  readonly BOT_BASE_URL: string
  readonly BOT_WEBHOOK_SECRET: string
}

class CallFailed extends Schema.TaggedError<CallFailed>()("CallFailed", {
  status: Schema.optionalKey(Schema.Int),
  cause: Schema.optionalKey(Schema.Defect())
}) {}

const User = Schema.Struct({ user_id: Schema.Int, first_name: Schema.String, is_bot: Schema.Boolean })

const Update = Schema.Struct({
  update_type: Schema.String,
  timestamp: Schema.Int,
  message: Schema.optionalKey(
    Schema.Struct({
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
  )
})

const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(Update))

const growing = Schedule.min([Schedule.exponential("200 millis"), Schedule.spaced("10 seconds")]).pipe(
  Schedule.jittered,
  Schedule.upTo({ times: 5 })
)

const send = (environment: Environment, chat: number, text: string) =>
  HttpClientRequest.post(`${environment.BOT_BASE_URL}/messages?chat_id=${chat}`).pipe(
    HttpClientRequest.setHeader("authorization", environment.BOT_TOKEN),
    HttpClientRequest.bodyText(JSON.stringify({ text }), "application/json"),
    HttpClient.execute,
    Effect.flatMap(({ status }) => (status === 200 ? Effect.void : Effect.fail(new CallFailed({ status })))),
    Effect.timeout("1 minute"),
    Effect.mapError((cause) => (cause._tag === "CallFailed" ? cause : new CallFailed({ cause }))),
    Effect.retry({ schedule: growing, while: ({ status }) => status === 429 || status === 503 })
  )

const respond = Effect.fnUntraced(function* (request: Request, environment: Environment) {
  if (request.headers.get("x-svc-bot-api-secret") !== environment.BOT_WEBHOOK_SECRET) {
    return new Response(null, { status: 401 })
  }
  const { message, update_type } = yield* decode(yield* Effect.promise(() => request.text()))
  if (update_type === "message_created" && message !== undefined) {
    yield* send(environment, message.recipient.chat_id, message.body.text ?? "?")
  }
  return new Response(null)
})

export default {
  fetch: (request: Request, environment: Environment): Promise<Response> =>
    Effect.runPromise(Effect.provide(respond(request, environment), FetchHttpClient.layer))
}
