/**
 * Takes orders of pizza: size and toppings by buttons, an address, a confirmation, and the payment. The conversation goes on after a
 * restart, ends by itself after ten minutes of silence, and can be cancelled at any time. The test of this example runs in virtual
 * time.
 */
import { Bot, Command, Conversation, Handler, LongPolling, Messages } from "@colloquy/core"
import { NodeBot, NodeMain } from "@colloquy/node"
import { Effect, Layer, Schema } from "effect"
import * as Payments from "./services/payments.ts"

const Address = Schema.String.check(
  Schema.isPattern(/^\D+ \d+/, { message: "needs a street and a number, such as Long Lane 7" })
)

const sizes = { small: "Small", medium: "Medium", large: "Large" }
const toppings = { cheese: "Extra cheese", ham: "Ham", mushrooms: "Mushrooms", olives: "Olives" }
const prices = { small: 9, medium: 12, large: 15 }

const texts = { cancelled: "The order is cancelled.", unanswered: "I have not heard from you, so I forget the order." }

export const Pizza = Conversation.make(
  "pizza",
  { of: "userInChat", timeout: "10 minutes", back: true, texts },
  Effect.fn(function* (talk) {
    const size = yield* talk.choose("size", { say: "Which size?", choices: sizes })
    const several = { choices: toppings, several: true, max: 3, columns: 2 } as const
    const chosen = yield* talk.choose("toppings", { say: "Which toppings? At most three.", ...several })
    const address = yield* talk.ask("address", { say: "Where to?", read: Address })
    const names = chosen.map((topping) => toppings[topping].toLowerCase()).join(", ") || "nothing on it"
    const price = prices[size] + 2 * chosen.length
    const isRight = yield* talk.confirm("right", {
      say: `A ${size} pizza with ${names} to ${address} for ${price} euros. Is that right?`
    })
    if (!isRight) return yield* talk.back("size")
    const number = yield* talk.step("pay", Schema.NullOr(Schema.Int), Payments.charge(price))
    if (number !== null) return yield* talk.say(`Thank you! Your order has the number ${number}.`)
    yield* talk.say("Your payment was declined.")
    return yield* talk.back("size")
  })
)

export const parts = Bot.make(
  Command.make("order", { description: "Orders a pizza" }).on(Pizza.start),
  Command.make("cancel", { description: "Cancels the order" }).on(Pizza.cancel),
  Pizza,
  Handler.on(["bot_started", "message_created"], (update) => Messages.reply(update, "Send /order to order a pizza."))
)

export const bot = Effect.provide(Bot.run(parts), Payments.layerMemory)

if (import.meta.main) {
  NodeMain.runMain(Effect.provide(bot, LongPolling.layer().pipe(Layer.provideMerge(NodeBot.layerConfig()))))
}
