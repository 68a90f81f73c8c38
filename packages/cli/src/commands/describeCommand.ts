import * as Bot from "@colloquy/core/bot/Bot"
import * as Effect from "effect/Effect"
import { action } from "../base/commands.ts"
import { importBot, shownParts } from "../base/botModule.ts"
import { textArgument } from "../base/flags.ts"
import { print } from "../base/output.ts"

/** Prints the documentation of a bot. */
export const describe = action(
  "describe",
  "Prints the documentation of a bot in Markdown: its parts with their descriptions",
  { file: textArgument("MODULE", "The module that exports the bot, for example src/bot.ts") },
  ({ file }) => Effect.flatMap(importBot(file), (bot) => print({ parts: shownParts(bot) }, Bot.describe(bot).trimEnd()))
)
