import * as Bot from "@colloquy/core/bot/Bot"
import { bot as parts } from "./orderBot.ts"

export { parts }
export const bot = Bot.run(parts)
