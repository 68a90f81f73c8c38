import { type BotApi, Deliveries, Messages, Updates } from "@colloquy/core"
import { Stream } from "effect"

type Bot = Updates.Source<Updates.SourceError, BotApi.BotApi>

/** One pipeline for the updates of two bots. Each answer is sent by the bot that received the message. */
export const answerAsBoth = (shop: Bot, support: Bot) =>
  Stream.merge(Updates.deliveries({ source: shop }), Updates.deliveries({ source: support })).pipe(
    Deliveries.on("message_created"),
    Deliveries.runForEach((update) => Messages.reply(update, "Thank you"), { concurrency: 16 })
  )
