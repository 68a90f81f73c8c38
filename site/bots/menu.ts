/** A menu of settings, which changes in place. */
import { Bot, Command, Handler, Menu, Messages, State } from "@colloquy/core"
import { Effect, Schema } from "effect"

const Sound = State.make("sound", Schema.Boolean, { of: "user", initial: () => true })
const Color = State.make("color", Schema.Literals(["red", "green"]), { of: "user", initial: () => "red" as const })

const settings = Menu.make("settings", () =>
  Effect.gen(function* () {
    const choices = { red: "Red", green: "Green" }
    return {
      text: "Settings",
      rows: [
        [Menu.toggle("sound", "Sound", yield* Sound.get, Sound.set)],
        Menu.radio("color", { choices, chosen: yield* Color.get, set: Color.set }),
        [Menu.close("Close")]
      ]
    }
  })
)

const open = Command.make("settings").on((update) => settings.reply(update))

const rest = Handler.on(["bot_started", "message_created"], (update) =>
  Messages.reply(update, "Send /settings to open the menu.")
)

export const bot = Bot.run(Bot.make(open, settings, rest))
