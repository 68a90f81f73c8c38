/**
 * Two bots in one process: customers write to one bot, and the staff reads and answers through the other. The bots have their
 * own tokens (`CUSTOMERS_TOKEN`, `STAFF_TOKEN`), rate limits and inboxes.
 */
import { Bot, type BotApi, Chat, Handler, LongPolling, Messages, Update, Updates } from "@colloquy/core"
import { NodeBot, NodeMain } from "@colloquy/node"
import { Config, Effect, Layer } from "effect"

type Bot = Updates.Source<Updates.SourceError, BotApi.BotApi>

/** Sends the messages of customers to a chat of the staff, and the replies of the staff to the customers. */
export const helpdesk = (customers: Bot, staff: Bot, staffChat: Chat.ChatId) => {
  // A handler answers by the bot that received the update. A call of the other bot gets the services of that bot.
  const ask = Handler.on("message_created", (update) =>
    Effect.gen(function* () {
      const text = `Chat ${Update.chatOf(update)}: ${Update.textOf(update) ?? "(no text)"}`
      yield* Messages.send({ chat_id: staffChat, text }).pipe(Effect.provideContext(staff.services))
      yield* Messages.reply(update, "Thank you. We will answer soon.")
    })
  )

  const answer = Handler.on("message_created", (update) =>
    Effect.gen(function* () {
      const [, chat] = /^Chat (-?\d+): /.exec(update.message?.link?.message?.text ?? "") ?? []
      if (chat === undefined) return yield* Messages.reply(update, "Reply to a question to answer it.")
      const answered = { chat_id: Chat.ChatId.make(Number(chat)), text: Update.textOf(update) ?? "" }
      yield* Messages.send(answered).pipe(Effect.provideContext(customers.services))
      return yield* Messages.reply(update, "Sent.")
    })
  )

  return Effect.all([Bot.run(ask, { source: customers }), Bot.run(answer, { source: staff })], {
    concurrency: "unbounded",
    discard: true
  })
}

/** Both bots have their inbox in one file, with different prefixes. */
const bot = (name: string) =>
  LongPolling.layer().pipe(
    Layer.provideMerge(
      NodeBot.layerConfig({
        token: Config.Redacted(`${name.toUpperCase()}_TOKEN`),
        inbox: { prefix: Config.succeed(name) }
      })
    ),
    Updates.fromLayer
  )

const program = Effect.gen(function* () {
  const staffChat = Chat.ChatId.make(yield* Config.Int("STAFF_CHAT"))
  yield* helpdesk(yield* bot("customers"), yield* bot("staff"), staffChat)
})

if (import.meta.main) NodeMain.runMain(Effect.scoped(program))
