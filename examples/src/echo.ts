/**
 * An echo bot: greets users, repeats their texts, and edits its message when they press its button.
 */
import { Answers, Bot, Handler, Keyboard, LongPolling, Messages, Text, Update } from "@colloquy/core"
import { NodeBot, NodeMain } from "@colloquy/node"
import { Effect, Layer } from "effect"

const buttons = [Keyboard.make([Keyboard.callback("Louder", "louder")])]

const greet = Handler.on("bot_started", (update) =>
  Messages.reply(
    update,
    Text.message(Text.t`Hello, ${Text.bold(update.user.first_name)}! Send me a text, and I will repeat it.`)
  )
)

const echo = Handler.on("message_created", (update) =>
  Messages.reply(update, { text: Update.textOf(update) ?? "(nothing to repeat)", attachments: buttons })
)

const shout = Handler.on("message_callback", (update) =>
  Answers.answer(update, {
    notification: `As you like, ${update.callback.user.first_name}`,
    message: { text: `${update.message?.body?.text?.toUpperCase() ?? "…"}!`, attachments: [] }
  })
)

/** The parts of the bot, which the page of the emulator lists. */
export const parts = Bot.make(greet, echo, shout)

/** The bot. A handler that fails is retried. If it still fails, the update becomes a dead letter. */
export const bot = Bot.run(parts)

if (import.meta.main) {
  // Long polling is for development. In production, use a webhook: see webhook.ts.
  const updates = LongPolling.layer().pipe(Layer.provideMerge(NodeBot.layerConfig()))
  NodeMain.runMain(Effect.provide(bot, updates))
}
