import { Command, Handler, Messages, Update, Updates } from "@colloquy/core"

const start = Command.make("start", { description: "Says hello" }).on((update) =>
  Messages.reply(update, "Hello! Send me a text, and I will repeat it.")
)

const echo = Handler.on("message_created", (update) =>
  Messages.reply(update, `You said: ${Update.textOf(update) ?? "nothing"}`)
)

export const bot = Updates.run(Handler.first(start, echo))
