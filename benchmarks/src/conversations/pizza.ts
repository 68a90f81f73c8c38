/**
 * The bot of examples/src/pizza.ts on grammY, with its plugins for conversations and menus, and sessions and conversations in
 * files: `pizza.ts API_ROOT DIRECTORY`.
 */
import { type Conversation, type ConversationFlavor, conversations, createConversation } from "@grammyjs/conversations"
import { Menu, type MenuFlavor } from "@grammyjs/menu"
import { FileAdapter } from "@grammyjs/storage-file"
import { Bot, type Context, InlineKeyboard, session, type SessionFlavor } from "grammy"

interface Basket {
  toppings: Array<string>
}

type Outside = ConversationFlavor<Context & SessionFlavor<Basket> & MenuFlavor>

const [apiRoot, directory] = process.argv.slice(2)

const timeout = { maxMilliseconds: 10 * 60_000 }

const toppings: Readonly<Record<string, string>> = {
  cheese: "Extra cheese",
  ham: "Ham",
  mushrooms: "Mushrooms",
  olives: "Olives"
}

const menu = new Menu<Outside>("toppings")
Object.entries(toppings).forEach(([value, label], index) => {
  menu.text(
    (context) => (context.session.toppings.includes(value) ? `✓ ${label}` : label),
    async (context) => {
      const chosen = context.session.toppings
      if (chosen.includes(value)) context.session.toppings = chosen.filter((other) => other !== value)
      else if (chosen.length === 3) return void (await context.answerCallbackQuery("Please choose at most 3."))
      else chosen.push(value)
      return context.menu.update()
    }
  )
  if (index % 2 === 1) menu.row()
})
menu.text("Done", (context, next) => {
  context.menu.close()
  return next()
})

const pizza = async (conversation: Conversation<Outside, Context>, context: Context) => {
  for (;;) {
    const sizes = new InlineKeyboard().text("Small", "small").text("Medium", "medium").text("Large", "large")
    await context.reply("Which size?", { reply_markup: sizes })
    const pressed = await conversation.waitForCallbackQuery(["small", "medium", "large"], timeout)
    const size = pressed.callbackQuery.data
    await pressed.answerCallbackQuery()
    await pressed.editMessageText(`Which size?\n✓ ${size}`)
    await conversation.external(async (outside) => {
      outside.session.toppings = []
      await outside.reply("Which toppings? At most three.", { reply_markup: menu })
    })
    await conversation.waitForCallbackQuery(/^toppings\//, timeout)
    const chosen = await conversation.external(({ session }) => session.toppings)
    await context.reply("Where to?")
    let address = ""
    for (;;) {
      address = (await conversation.waitFor("message:text", timeout)).message.text
      if (/^\D+ \d+/.test(address)) break
      await context.reply("Please try again: it needs a street and a number, such as Long Lane 7")
    }
    const names = chosen.map((topping) => toppings[topping].toLowerCase()).join(", ") || "nothing on it"
    await context.reply(`A ${size} pizza with ${names} to ${address}. Is that right?`, {
      reply_markup: new InlineKeyboard().text("Yes", "yes").text("No", "no")
    })
    const answer = await conversation.waitForCallbackQuery(["yes", "no"], timeout)
    await answer.answerCallbackQuery()
    await answer.editMessageReplyMarkup()
    if (answer.callbackQuery.data === "no") continue
    const number = await conversation.external(() => 1000 + Math.floor(Math.random() * 9000))
    await context.reply(`Thank you! Your order has the number ${number}.`)
    return
  }
}

const bot = new Bot<Outside>("1:token", { client: { apiRoot } })
bot.use(
  session({ initial: (): Basket => ({ toppings: [] }), storage: new FileAdapter({ dirName: `${directory}/sessions` }) })
)
bot.use(menu)
bot.use(
  conversations({ storage: { type: "key", adapter: new FileAdapter({ dirName: `${directory}/conversations` }) } })
)
bot.command("cancel", async (context) => {
  await context.conversation.exitAll()
  await context.reply("The order is cancelled.")
})
bot.use(createConversation(pizza))
bot.command("order", (context) => context.conversation.enter("pizza"))
bot.on("message", (context) => context.reply("Send /order to order a pizza."))
bot.catch(({ error }) => console.error(error instanceof Error ? error.message : error))
await bot.start()
