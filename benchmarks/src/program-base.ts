/**
 * The same program with only Effect's `HttpClient` and `Schema`: a request, a response decoded by a schema, a typed
 * error, a timeout, and retries with exponential backoff.
 */
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { answeringOffline } from "./program-offline.ts"
import { Message, send } from "./program-parts.ts"

const Sent = Schema.Struct({ message: Message })

const hello = { baseUrl: "https://api.example", token: "token", chat: 1, text: "Hello" }

const program = send(hello, HttpClientResponse.schemaBodyJson(Sent)).pipe(
  Effect.flatMap(({ message }) => Effect.log(message.body.mid)),
  Effect.provide(FetchHttpClient.layer.pipe(Layer.provide(answeringOffline)))
)

await Effect.runPromise(program)
