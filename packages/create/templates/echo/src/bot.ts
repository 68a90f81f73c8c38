import { Bot, Command, Handler, Messages, Update } from "@colloquy/core"
import { Effect } from "effect"

const start = Command.make("start", { description: "Says hello" }).on((update) =>
  Messages.reply(update, "Hello! Send me a text, and I will repeat it.")
)

const echo = Handler.on("message_created", (update) =>
  Messages.reply(update, `You said: ${Update.textOf(update) ?? "nothing"}`)
)

export const parts = Bot.make(start, echo)

export const bot = Bot.run(parts, {
  // All attempts to handle an update have failed. The update is kept: `npx colloquy dead list` shows it.
  onDeadLetter: ({ error, id }) => Effect.logFatal(`The update ${id} was not handled: ${error}`)
})
