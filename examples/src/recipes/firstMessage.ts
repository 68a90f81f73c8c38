import { Bot, Handler, Messages, Timer, Update } from "@colloquy/core"
import { Effect, Schema } from "effect"

const Welcome = Timer.make("welcome", Schema.String)

/** Waits for the message that has opened the dialog, if there is one. */
const started = Handler.on("bot_started", (update) => Welcome.in("2 seconds", update.user.first_name))

const welcome = Welcome.on((name, update) => Messages.reply(update, `Hello, ${name}! Ask me anything.`))

const answer = Handler.on("message_created", (update) =>
  Effect.andThen(Welcome.cancel(), Messages.reply(update, `You asked: ${Update.textOf(update)}`))
)

export const bot = Bot.run(Bot.make(started, welcome, answer))
