import * as Bot from "@colloquy/core/bot/Bot"
import * as Command from "@colloquy/core/bot/Command"
import * as Handler from "@colloquy/core/inbox/Handler"
import * as Effect from "effect/Effect"

export const bot = Bot.make(
  Command.make("order", { description: "Orders a pizza" }).on(() => Effect.void),
  Command.make("help", { description: "Says what the bot does" }).on(() => Effect.void),
  Command.make("secret").on(() => Effect.void),
  Handler.on("message_created", () => Effect.void)
)
