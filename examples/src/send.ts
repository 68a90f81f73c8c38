/**
 * Sends a message to the chat `CHAT_ID`, and prints what to do about each error.
 */
import { Chat, Messages } from "@colloquy/core"
import { NodeBot, NodeMain } from "@colloquy/node"
import { Config, Console, Duration, Effect } from "effect"

const settings = Config.all({
  chat_id: Config.schema(Chat.ChatId, "CHAT_ID"),
  text: Config.String("TEXT").pipe(Config.withDefault("Good morning"))
})

const send = Effect.gen(function* () {
  const sent = yield* Messages.send(yield* settings)
  yield* Console.log(`Sent the message ${sent.body?.mid}.`)
}).pipe(
  Effect.catchTags({
    Forbidden: () => Console.log("Not sent: the user stopped the bot, or the bot was removed from the chat."),
    NotFound: () => Console.log("Not sent: the chat does not exist, or the bot was never a member of it."),
    RateLimited: ({ retryAfter = Duration.minutes(1) }) =>
      Console.log(`Not sent: too many requests. Try again in ${Duration.format(retryAfter)}.`)
  }),
  Effect.catchReason("RequestFailed", "InvalidRequest", (reason) => Console.log(`Not sent: ${reason.message}`))
)

// All other errors, such as a wrong token, are logged, and the process exits with 1.
NodeMain.runMain(Effect.provide(send, NodeBot.layerConfig()))
