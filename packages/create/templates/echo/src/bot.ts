import { Bot, Command, Handler, Messages, Update } from "@colloquy/core"

const start = Command.make("start", { description: "Says hello" }).on((update) =>
  Messages.reply(update, "Hello! Send me a text, and I will repeat it.")
)

const echo = Handler.on("message_created", (update) =>
  Messages.reply(update, `You said: ${Update.textOf(update) ?? "nothing"}`)
)

export const parts = Bot.make(start, echo)

export const bot = Bot.run(parts)
