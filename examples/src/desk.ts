/**
 * A help desk: the questions of customers are forwarded to the group of the staff (`STAFF_CHAT`), and a reply to a question in the
 * group is sent to the customer. `/waiting` lists the customers who wait for an answer, the longest first.
 */
import { Bot, Chat, Command, Handler, LongPolling, Message, Messages, NewMessage, State, Update } from "@colloquy/core"
import { NodeBot, NodeMain } from "@colloquy/node"
import { Config, Effect, Layer, Result, Schema } from "effect"

const staffChat = Config.schema(Chat.ChatId, "STAFF_CHAT")

/** The dialog of each question, by the message in the group. */
const Questions = State.make("questions", Schema.NullOr(Chat.ChatId), { of: Message.MessageId, initial: () => null })

/** The customers without an answer, with the time of their first question. */
const Waiting = State.make("waiting", Schema.Struct({ name: Schema.String, since: Schema.Int }), {
  of: "chat",
  initial: () => ({ name: "", since: 0 }),
  sortBy: ({ since }) => -since
})

const ask = Handler.on("message_created", (update) =>
  Effect.gen(function* () {
    const chat_id = Update.chatOf(update)
    const mid = update.message?.body?.mid
    if (chat_id === undefined || mid === undefined) return
    const { body } = yield* Messages.send({ chat_id: yield* staffChat, link: { type: "forward", mid } })
    if (body != null) yield* Questions.at(body.mid).set(chat_id)
    if ((yield* Waiting.get).name !== "") return
    yield* Waiting.set({ name: Update.userOf(update)?.first_name ?? "Somebody", since: update.timestamp })
    yield* Messages.reply(update, "Thank you. We will answer soon.")
  })
)

const answer = Handler.on("message_created", (update) =>
  Effect.gen(function* () {
    const { message } = update
    const question = message?.link?.message?.mid
    const chat_id = question === undefined ? null : yield* Questions.at(question).get
    if (!message || !chat_id) return yield* Messages.reply(update, "Reply to a question to answer it.")
    yield* Waiting.at({ chat_id }).clear
    return yield* Messages.send({ chat_id, ...NewMessage.fromMessage(message) }).pipe(
      Effect.andThen(Messages.reply(update, "Sent.")),
      Effect.catchTag("Forbidden", () => Messages.reply(update, "The customer has stopped the bot."))
    )
  })
)

const waiting = Command.make("waiting").on((update) =>
  Effect.flatMap(State.top(Waiting, { limit: 20 }), (customers) => {
    const names = customers.flatMap(({ value }) => (Result.isSuccess(value) ? [value.success.name] : []))
    return Messages.reply(update, names.join("\n") || "Nobody waits.")
  })
)

const isStaff = (update: Update.Update) => Effect.map(staffChat, (chat_id) => Update.chatOf(update) === chat_id)

export const parts = Bot.make(
  Handler.filterEffect(Handler.first(waiting, answer), isStaff),
  Handler.inChatType(ask, "dialog")
)

export const bot = Bot.run(parts)

if (import.meta.main) {
  NodeMain.runMain(Effect.provide(bot, LongPolling.layer().pipe(Layer.provideMerge(NodeBot.layerConfig()))))
}
