import { Bot, Chat, Handler, Messages, NewMessage, Update } from "@colloquy/core"
import { Config, Effect } from "effect"

const team = Config.schema(Chat.ChatId, "TEAM_CHAT")

const copy = Handler.on("message_created", (update) =>
  Effect.gen(function* () {
    const { message } = update
    const chat_id = yield* team
    // The messages of the team are not copied to the team.
    if (message == null || Update.chatOf(update) === chat_id) return
    const content = NewMessage.fromMessage(message)
    if (content.text == null && content.attachments == null) {
      yield* Messages.reply(update, "I cannot copy this message.")
    } else {
      yield* Messages.send({ chat_id, ...content })
    }
  })
)

export const bot = Bot.run(copy)
