/**
 * Sends a message to the chat `CHAT_ID`, and says of each thing that can go wrong what to do about it.
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
  yield* Console.log(`Sent as ${sent.body?.mid}.`)
}).pipe(
  Effect.catchTags({
    Forbidden: () => Console.log("The bot may not write there: the person stopped it, or it was removed."),
    NotFound: () => Console.log("There is no such chat, or the bot never was in it."),
    RateLimited: ({ retryAfter = Duration.minutes(1) }) =>
      Console.log(`Too busy. Try again in ${Duration.format(retryAfter)}.`)
  }),
  Effect.catchReason("RequestFailed", "InvalidRequest", (reason) => Console.log(`Not sent: ${reason.message}`))
)

// What is left, such as a wrong token or a network that is down, is logged, and the process exits with 1.
NodeMain.runMain(Effect.provide(send, NodeBot.layerConfig()))
