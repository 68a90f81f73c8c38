/**
 * An echo bot: greets, repeats what it is told, and answers the press of its button.
 */
import { Answers, Keyboard, type Message, Messages, Text, type Update, Updates } from "@colloquy/core"
import { Effect, Stream } from "effect"

const buttons = [Keyboard.make([Keyboard.callback("Louder", "louder")])]

const greet = ({ chat_id, user }: Update.Of<"bot_started">) =>
  Messages.send({
    chat_id,
    ...Text.message(Text.t`Hello, ${Text.bold(user.first_name)}! Say something, and I say it back.`)
  })

const echo = ({ body, recipient }: Message.Message) =>
  recipient.chat_id == null
    ? Effect.void
    : Messages.send({ chat_id: recipient.chat_id, text: body?.text || "(nothing to repeat)", attachments: buttons })

const shout = ({ callback, message }: Update.Of<"message_callback">) =>
  Answers.send({
    callback_id: callback.callback_id,
    notification: `As you like, ${callback.user.first_name}`,
    message: { text: `${message?.body?.text?.toUpperCase() ?? "…"}!`, attachments: [] }
  })

const handle = (update: Update.Update) => {
  switch (update.update_type) {
    case "bot_started":
      return greet(update)
    case "message_created":
      return update.message == null ? Effect.void : echo(update.message)
    case "message_callback":
      return shout(update)
    default:
      return Effect.logDebug(`nothing to do for ${update.update_type}`)
  }
}

/** The bot. It goes on when a call fails, and says why. */
export const bot = Updates.stream.pipe(
  Stream.runForEach((update) => Effect.catch(handle(update), (error) => Effect.logError(error.message)))
)
