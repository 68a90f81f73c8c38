/**
 * A bot for production: an HTTP server for the webhook, an inbox in a SQLite file, and the chats of the bot in the same
 * file for `broadcast.ts`. SIGTERM stops it gracefully. `/health/live` and `/health/ready` report its health.
 */
import { Bot, ChatStore, Command, Handler, Messages, Text, Update } from "@colloquy/core"
import { NodeBot, NodeInbox, NodeMain, NodeWebhook, SqlChatStore } from "@colloquy/node"
import { Config, Effect, Layer } from "effect"

const greet = Handler.on("bot_started", (update) =>
  Messages.reply(
    update,
    Text.message(Text.t`Hello, ${Text.bold(update.user.first_name)}! Send /help to see what I can do.`)
  )
)

const help = Command.make("help", { description: "What I can do" }).on((update) =>
  Messages.reply(update, "I count the letters of your messages.")
)

const count = Handler.on("message_created", (update) =>
  Messages.reply(update, `${(Update.textOf(update) ?? "").match(/\p{L}/gu)?.length ?? 0} letters`)
)

// A handler that fails is retried. If it still fails, the update becomes a dead letter.
const bot = Bot.run(ChatStore.track(Bot.make(greet, help, count)), {
  concurrency: 64,
  timeout: "1 minute",
  shutdownTimeout: "20 seconds"
})

// Set BOT_WEBHOOK_URL=https://bot.example/updates and BOT_WEBHOOK_SECRET. For the emulator only:
// BOT_WEBHOOK_URL=http://127.0.0.1:8080/updates with BOT_WEBHOOK_INSECURE=true.
const webhook = NodeWebhook.layerConfig({
  ...NodeWebhook.settings,
  updateTypes: Config.succeed([
    "bot_started",
    "bot_stopped",
    "bot_added",
    "bot_removed",
    "message_created",
    "dialog_removed"
  ])
}).pipe(Layer.provideMerge(NodeBot.layerConfig()))

const chats = SqlChatStore.layer().pipe(Layer.provide(NodeInbox.layerSqlConfig()))

NodeMain.runMain(Effect.provide(bot, Layer.merge(webhook, chats)))
