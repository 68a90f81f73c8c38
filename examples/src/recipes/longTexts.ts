import { Bot, Command, Messages, Text } from "@colloquy/core"
import { Effect } from "effect"

const chapters = Array.from({ length: 300 }, (_, at) =>
  Text.join([Text.bold(`Rule ${at + 1}`), "Be kind to the other members of the group."], "\n")
)

const rules = Command.make("rules").on((update) =>
  Effect.forEach(Text.split(Text.join(chapters, "\n\n")), (part) => Messages.reply(update, Text.message(part)), {
    discard: true
  })
)

export const bot = Bot.run(rules)
