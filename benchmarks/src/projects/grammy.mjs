// The bot of the template "echo" on grammY, as plain JavaScript, so that its start contains no conversion of types.
import { Bot } from "grammy"

const bot = new Bot("1:token", { client: { apiRoot: process.env["BOT_BASE_URL"] } })

bot.command("start", (context) => context.reply("Hello! Send me a text, and I will repeat it."))
bot.on("message:text", (context) => context.reply(`You said: ${context.message.text}`))

await bot.start()
