import * as Bot from "@colloquy/core/bot/Bot"
import * as Command from "@colloquy/core/bot/Command"
import * as Conversation from "@colloquy/core/dialog/Conversation"

const rate = Conversation.make("rate", { of: "userInChat" }, (talk) =>
  talk.choose("stars", { say: "How was the cake?", choices: { good: "Good", bad: "Bad" } })
)

/** A bot whose question waits for ever. */
export const bot = Bot.make(Command.make("rate").on(rate.start), rate)

export const simulation = { faults: "none", days: 1 } as const
