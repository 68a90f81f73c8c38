/**
 * Answers the comments under a channel's posts: questions with where to ask, thanks with a word, the rest not at all.
 * Comments come by webhook only, and the bot has to be an administrator who may read and write.
 */
import { Handler, Messages, Pattern, Update, Updates } from "@colloquy/core"
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

// Comments of bots, its own included, are left alone, lest two of them talk for ever.
const forPeople = Handler.filter((update) => Update.userOf(update)?.is_bot !== true)

const bot = Updates.run(forPeople(Handler.first(question, thanks)))

// BOT_WEBHOOK_INSECURE=true takes http://127.0.0.1 as BOT_WEBHOOK_URL: for the emulator only.
const webhook = NodeWebhook.layerConfig({ ...NodeWebhook.settings, updateTypes: Config.succeed(types) }).pipe(
  Layer.provideMerge(NodeBot.layerConfig())
)

NodeMain.runMain(Effect.provide(bot, webhook))
