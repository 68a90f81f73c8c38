/**
 * A bot that its parent kills: `node liveBot.ts KIND PLACE API MODEL`. It answers with what the model says, which goes on after the
 * number of characters in its query, and asks for its own description at the end.
 */
import { BotApi, Inbox, LiveMessage, LongPolling, Me, RateLimiter, Updates } from "@colloquy/core"
import { NodeBotHttpClient } from "@colloquy/node"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { layerOf } from "./inboxLayers.ts"

const [kind = "", place = "", api = "", model = ""] = process.argv.slice(2)

const say = (said: string) =>
  HttpClientResponse.stream(HttpClient.get(`${model}/?after=${said.length}`)).pipe(
    Stream.decodeText(),
    Stream.provide(FetchHttpClient.layer)
  )

const bot = Updates.run(
  Updates.on("message_created", (update) => Effect.andThen(LiveMessage.reply(update, say), Me.get())),
  { maxCrashes: 100 }
)

const client = BotApi.layer({ token: Redacted.make("token"), baseUrl: api }).pipe(
  Layer.provide(NodeBotHttpClient.layer()),
  Layer.provide(RateLimiter.layerMemory(RateLimiter.unlimited))
)

const inbox = Layer.provide(Inbox.layer({ leaseDuration: "1 second" }), layerOf(kind, place))

process.on("disconnect", () => process.exit())

await Effect.runPromise(
  Effect.provide(bot, LongPolling.layer().pipe(Layer.provideMerge(Layer.mergeAll(client, inbox, Logger.layer([])))))
)
