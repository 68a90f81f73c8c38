export { bot } from "../../echo/src/bot.ts"
