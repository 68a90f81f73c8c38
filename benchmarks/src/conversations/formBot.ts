/** The module of a bot, for the command `colloquy`. */
import { Bot } from "@colloquy/core"
import { botOf, makeForm } from "./form.ts"

export const bot = Bot.make(botOf(makeForm(2)))
