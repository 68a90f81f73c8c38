/** A webhook bot as a worker: it handles the update of a request before it responds. */
import * as BotApi from "@colloquy/core/client/BotApi"
import * as Handler from "@colloquy/core/inbox/Handler"
import * as Inbox from "@colloquy/core/inbox/Inbox"
import * as InboxStore from "@colloquy/core/inbox/InboxStore"
import * as Messages from "@colloquy/core/endpoints/Messages"
import * as RateLimiter from "@colloquy/core/client/RateLimiter"
import * as Bot from "@colloquy/core/bot/Bot"
import * as Updates from "@colloquy/core/inbox/Updates"
import * as Webhook from "@colloquy/core/inbox/Webhook"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"

interface Environment {
  readonly BOT_TOKEN: string
  readonly BOT_BASE_URL: string
  readonly BOT_WEBHOOK_URL: string
  readonly BOT_WEBHOOK_SECRET: string
}

const echo = Handler.on("message_created", (update) => Messages.reply(update, update.message?.body?.text ?? "?"))

// Fetches, timers and fibers belong to the request that started them, so that only data is kept between requests.
let store: InboxStore.InboxStore["Service"] | undefined

const layer = (environment: Environment) => {
  store ??= Effect.runSync(InboxStore.makeMemory)
  const inbox = Inbox.layer().pipe(Layer.provide(Layer.succeed(InboxStore.InboxStore, store)))
  const receiver = Webhook.layerReceiver({
    url: environment.BOT_WEBHOOK_URL,
    secret: environment.BOT_WEBHOOK_SECRET,
    insecure: environment.BOT_WEBHOOK_URL.startsWith("http:")
  })
  const client = BotApi.layerFetch({
    token: Redacted.make(environment.BOT_TOKEN),
    baseUrl: environment.BOT_BASE_URL
  }).pipe(Layer.provide(RateLimiter.layerMemory()))
  return Layer.mergeAll(receiver, Updates.layer(Stream.empty), client).pipe(Layer.provideMerge(inbox))
}

const respond = Effect.fn(function* (request: Request) {
  const receive = yield* Webhook.toWebHandler
  const response = yield* Effect.promise(() => receive(request))
  if (!response.ok) return response
  // The memory of a worker may be lost after the response, so the platform delivers what is not handled again.
  const isHandled = yield* Bot.drain(echo, { until: "20 seconds" })
  return isHandled ? response : new Response(null, { status: 503 })
})

export default {
  fetch: (request: Request, environment: Environment): Promise<Response> =>
    Effect.runPromise(Effect.provide(respond(request), layer(environment)))
}
