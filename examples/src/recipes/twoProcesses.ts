import { Bot, Handler, Inbox, Messages, RateLimiter } from "@colloquy/core"
import { NodeBot, NodeMain, NodeWebhook, SqlInboxStore } from "@colloquy/node"
import { PgClient } from "@effect/sql-pg"
import { Config, Effect, Layer } from "effect"

const bot = Bot.run(
  Handler.on("message_created", (update) => Messages.reply(update, `Handled by process ${process.pid}`))
)

const inbox = Layer.unwrap(
  Effect.map(Config.String("BOT_NAME"), (prefix) => Inbox.layer().pipe(Layer.provide(SqlInboxStore.layer({ prefix }))))
).pipe(
  Layer.provide(PgClient.layerConfig({ url: Config.Redacted("DATABASE_URL") })),
  NodeBot.untilAvailable("PostgreSQL")
)

// Each of the two processes sends half of the requests. One process at a time handles a chat, so the limits of a chat hold.
const limiter = RateLimiter.layerMemory({ host: { count: 15, window: "1 second" } })

const client = NodeBot.layerClientConfig().pipe(Layer.provide(limiter))

// BOT_WEBHOOK_SECRET is the same in both processes.
const webhook = NodeWebhook.layerConfig().pipe(Layer.provideMerge(Layer.merge(client, inbox)))

NodeMain.runMain(Effect.provide(bot, webhook))
