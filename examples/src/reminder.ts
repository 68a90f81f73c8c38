/**
 * Sends a reminder eight hours after the command `/remind feed the cat`, even if the program is restarted in between. The
 * test of this example runs in virtual time.
 */
import { Bot, Command, Handler, LongPolling, Messages, Timer } from "@colloquy/core"
import { NodeBot, NodeMain } from "@colloquy/node"
import { Config, Duration, Effect, Layer, Schema } from "effect"

const Reminder = Timer.make("reminder", Schema.String)

const remind = Command.make("remind", { arguments: { text: Schema.String } }).on((update, { text }) =>
  Effect.gen(function* () {
    const delay = yield* Config.Duration("REMIND_AFTER").pipe(Config.withDefault(Duration.hours(8)))
    yield* Reminder.in(delay, text)
    yield* Messages.reply(update, `I will remind you in ${Duration.format(delay)}.`)
  })
)

const send = Reminder.on((text, { chat_id }) =>
  chat_id === undefined ? undefined : Messages.send({ chat_id, text: `Reminder: ${text}` })
)

const explained = Handler.transform(
  remind,
  Effect.catchTag("InvalidArguments", ({ message, update }) => Messages.reply(update, message))
)

export const bot = Bot.run(Bot.make(explained, send))

if (import.meta.main) {
  NodeMain.runMain(Effect.provide(bot, LongPolling.layer().pipe(Layer.provideMerge(NodeBot.layerConfig()))))
}
