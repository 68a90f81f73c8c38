/**
 * Takes orders of pizza: size and toppings by buttons, an address, and a confirmation. The conversation goes on after a restart,
 * ends by itself after ten minutes of silence, and can be cancelled at any time. The test of this example runs in virtual time.
 */
import { Bot, Command, Conversation, Handler, Journal, LongPolling, Messages } from "@colloquy/core"
import { NodeBot, NodeMain } from "@colloquy/node"
import { Effect, Layer, Schema } from "effect"

const Address = Schema.String.check(
  Schema.isPattern(/^\D+ \d+/, { message: "needs a street and a number, such as Long Lane 7" })
)

const toppings = { cheese: "Extra cheese", ham: "Ham", mushrooms: "Mushrooms", olives: "Olives" }

/** The kitchen accepts an order once, because the key is the same when the step runs again. */
const order = Effect.map(
  Journal.key,
  (key) => [...key].reduce((sum, char) => (sum * 31 + char.charCodeAt(0)) % 9000, 0) + 1000
)

export const Pizza = Conversation.make(
  "pizza",
  { of: "userInChat", timeout: "10 minutes", back: true, texts: { cancelled: "The order is cancelled." } },
  Effect.fn(
    function* (talk) {
      const size = yield* talk.choose("size", {
        say: "Which size?",
        choices: { small: "Small", medium: "Medium", large: "Large" }
      })
      const chosen = yield* talk.choose("toppings", {
        say: "Which toppings? At most three.",
        choices: toppings,
        several: true,
        max: 3,
        columns: 2
      })
      const address = yield* talk.ask("address", { say: "Where to?", read: Address })
      const names = chosen.map((topping) => toppings[topping].toLowerCase()).join(", ") || "nothing on it"
      const isRight = yield* talk.confirm("right", {
        say: `A ${size} pizza with ${names} to ${address}. Is that right?`
      })
      if (!isRight) return yield* talk.back("size")
      const number = yield* talk.step("order", Schema.Int, order)
      return yield* talk.say(`Thank you! Your order has the number ${number}.`)
    },
    (conversation, talk) =>
      Effect.catchTag(conversation, "Unanswered", () => talk.say("I have not heard from you, so I forget the order."))
  )
)

const start = Command.make("order", { description: "Orders a pizza" }).on(Pizza.start)
const cancel = Command.make("cancel", { description: "Cancels the order" }).on(Pizza.cancel)
const rest = Handler.on(["bot_started", "message_created"], (update) =>
  Messages.reply(update, "Send /order to order a pizza.")
)

export const bot = Bot.run(Bot.make(start, cancel, Pizza, rest))

if (import.meta.main) {
  NodeMain.runMain(Effect.provide(bot, LongPolling.layer().pipe(Layer.provideMerge(NodeBot.layerConfig()))))
}
