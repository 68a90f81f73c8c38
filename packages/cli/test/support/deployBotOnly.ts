export { bot } from "./deployBot.ts"
