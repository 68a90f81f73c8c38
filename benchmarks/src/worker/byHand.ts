/**
 * A webhook bot as a worker with only Effect's `HttpClient` and `Schema`: the secret, the update decoded by a schema, and a
 * reply with a typed error, a timeout, and retries with exponential backoff.
 */
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Schema from "effect/Schema"
import { Message, send } from "../program-parts.ts"

interface Environment {
  readonly BOT_TOKEN: string
  readonly BOT_BASE_URL: string
  readonly BOT_WEBHOOK_SECRET: string
}

const Update = Schema.Struct({
  update_type: Schema.String,
  timestamp: Schema.Int,
  message: Schema.optionalKey(Message)
})

const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(Update))

const respond = Effect.fnUntraced(function* (request: Request, environment: Environment) {
  if (request.headers.get("x-svc-bot-api-secret") !== environment.BOT_WEBHOOK_SECRET) {
    return new Response(null, { status: 401 })
  }
  const { message, update_type } = yield* decode(yield* Effect.promise(() => request.text()))
  if (update_type === "message_created" && message !== undefined) {
    const { BOT_BASE_URL: baseUrl, BOT_TOKEN: token } = environment
    const reply = { baseUrl, token, chat: message.recipient.chat_id, text: message.body.text ?? "?" }
    yield* send(reply, () => Effect.void)
  }
  return new Response(null)
})

export default {
  fetch: (request: Request, environment: Environment): Promise<Response> =>
    Effect.runPromise(Effect.provide(respond(request, environment), FetchHttpClient.layer))
}
