/** A value of each chat, which is stored together with the acknowledgement of the update. */
import { Bot, Command, Handler, Messages, State } from "@colloquy/core"
import { Effect, Schema } from "effect"

const Count = State.make("count", Schema.Int, { of: "chat", initial: () => 0 })

const reset = Command.make("reset", { description: "begins again" }).on((update) =>
  Effect.andThen(Count.set(0), Messages.reply(update, "The count is 0."))
)

const count = Handler.on("message_created", (update) =>
  Effect.gen(function* () {
    const next = (yield* Count.get) + 1
    yield* Count.set(next)
    yield* Messages.reply(update, `Message ${next} of this chat. /reset begins again.`)
  })
)

const greet = Handler.on("bot_started", (update) => Messages.reply(update, "Send me messages, and I will count them."))

export const bot = Bot.run(Bot.make(greet, reset, count))
