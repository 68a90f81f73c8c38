/**
 * Answers questions and thanks in the comments of a channel. Comments arrive by webhook only, and the bot must be an
 * administrator with the permissions to read and to write.
 */
import { Bot, Handler, Messages, Pattern, Update } from "@colloquy/core"
import { NodeBot, NodeMain, NodeWebhook } from "@colloquy/node"
import { Config, Effect, Layer } from "effect"

const types = ["comment_created"] as const

const nameOf = (update: Update.Update) => Update.userOf(update)?.first_name ?? "friend"

const question = Pattern.make(/\?\s*$/, { types }).on((update) =>
  Messages.replyTo(update, `Good question, ${nameOf(update)}. The editors answer here until tonight.`)
)

const thanks = Pattern.make(/\bthank(s| you)\b/i, { types }).on((update) =>
  Messages.replyTo(update, `You are welcome, ${nameOf(update)}.`)
)

// Comments of bots, its own included, are ignored: otherwise two bots could answer each other forever.
const fromPeople = Handler.filter((update) => Update.userOf(update)?.is_bot !== true)

const bot = Bot.run(fromPeople(Bot.make(question, thanks)))

// For the emulator only: BOT_WEBHOOK_INSECURE=true allows an http URL in BOT_WEBHOOK_URL.
const webhook = NodeWebhook.layerConfig({ ...NodeWebhook.settings, updateTypes: Config.succeed(types) }).pipe(
  Layer.provideMerge(NodeBot.layerConfig())
)

NodeMain.runMain(Effect.provide(bot, webhook))
