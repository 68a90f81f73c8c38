/** An error is a part of the type. The errors that are handled disappear from the type. */
import { Bot, Chat, Command, Handler, Messages } from "@colloquy/core"
import { Effect } from "effect"

const unknown = Chat.ChatId.make(404)

const write = Command.make("write", { description: "writes to a chat that does not exist" }).on((update) =>
  Messages.send({ chat_id: unknown, text: "Hello" }).pipe(
    Effect.as("The message was sent."),
    Effect.catchTag("NotFound", (error) => Effect.succeed(`There is no such chat: ${error.message}`)),
    Effect.flatMap((text) => Messages.reply(update, text))
  )
)

const rest = Handler.on(["bot_started", "message_created"], (update) =>
  Messages.reply(update, "Send /write to see an error that is handled.")
)

export const bot = Bot.run(Bot.make(write, rest))
