/** What the programs by hand have of Effect alone: a schema of messages, a typed error, a timeout, and retries with backoff. */
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"

export class CallFailed extends Schema.TaggedError<CallFailed>()("CallFailed", {
  status: Schema.optionalKey(Schema.Int),
  cause: Schema.optionalKey(Schema.Defect())
}) {}

const User = Schema.Struct({ user_id: Schema.Int, first_name: Schema.String, is_bot: Schema.Boolean })

export const Message = Schema.Struct({
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

const growing = Schedule.min([Schedule.exponential("200 millis"), Schedule.spaced("10 seconds")]).pipe(
  Schedule.jittered,
  Schedule.upTo({ times: 5 })
)

/** Sends a text to a chat, and reads the response of a success. */
export const send = <A, E, R>(
  { baseUrl, chat, text, token }: Readonly<Record<"baseUrl" | "text" | "token", string>> & { readonly chat: number },
  read: (response: HttpClientResponse.HttpClientResponse) => Effect.Effect<A, E, R>
) =>
  HttpClientRequest.post(`${baseUrl}/messages?chat_id=${chat}`).pipe(
    HttpClientRequest.setHeader("authorization", token),
    HttpClientRequest.bodyText(JSON.stringify({ text }), "application/json"),
    HttpClient.execute,
    Effect.flatMap((response): Effect.Effect<A, E | CallFailed, R> =>
      response.status === 200 ? read(response) : Effect.fail(new CallFailed({ status: response.status }))
    ),
    Effect.timeout("1 minute"),
    Effect.mapError((cause) => (cause instanceof CallFailed ? cause : new CallFailed({ cause }))),
    Effect.retry({ schedule: growing, while: ({ status }) => status === 429 || status === 503 })
  )
