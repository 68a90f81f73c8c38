/**
 * A bot that answers each message with the id of the message: `bot.ts STORE NAME PLATFORM`. The messages come by webhook, and no call
 * waits for the limits. The bot reports its URL when it listens, and on request the CPU time that it has used.
 */
import { Bot, Handler, Inbox, Messages, RateLimiter, Webhook } from "@colloquy/core"
import { NodeBot, NodeWebhook } from "@colloquy/node"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import { secret } from "../deliveries.ts"
import * as places from "../inbox/places.ts"
import { layerSource } from "../inbox/traffic.ts"
import { endWithParent, onParentMessage, tellParent } from "../processes.ts"
import { cpuTime } from "../rounds.ts"

const [store = "", name = "", baseUrl = ""] = process.argv.slice(2)

const unlimited = { count: 1_000_000, window: "1 second" } as const

const client = NodeBot.layerClient({ token: "token", baseUrl }).pipe(
  Layer.provide(RateLimiter.layerMemory({ host: unlimited, messages: unlimited }))
)

const url = NodeWebhook.NodeWebhook.use(({ port }) =>
  Effect.sync(() => tellParent({ url: `http://127.0.0.1:${port}` }))
)

const bot = layerSource(() => Effect.never).pipe(
  Layer.provideMerge(Layer.effectDiscard(url)),
  Layer.provide(NodeWebhook.layerServer({ port: 0, host: "127.0.0.1" })),
  Layer.provide(Webhook.layerReceiver({ url: "https://bot.example/updates", secret })),
  Layer.provideMerge(Inbox.layer()),
  Layer.provide(places.layer(places.fromArguments([store, name]))),
  Layer.provideMerge(client),
  Layer.provideMerge(Logger.layer([]))
)

const answers = Bot.make(
  Handler.on("message_created", (update) => Messages.reply(update, update.message?.body?.mid ?? ""))
)

endWithParent()
onParentMessage(() => tellParent({ cpu: cpuTime() }))
Effect.runFork(Effect.provide(Bot.run(answers), bot))
