/**
 * A shop: a menu with a catalogue and a cart, the payment, and orders that the staff prepares in its group (`STAFF_CHAT`). A customer who
 * does not collect an order is reminded after half an hour. The test of this example runs in virtual time.
 */
import { Answers, Bot, Chat, Command, Handler, Journal, Keyboard, LongPolling, Menu, Messages } from "@colloquy/core"
import { Payload, State, Timer, Update } from "@colloquy/core"
import { NodeBot, NodeMain } from "@colloquy/node"
import { Config, Effect, Layer, Schema } from "effect"
import * as Payments from "./services/payments.ts"

const staffChat = Config.schema(Chat.ChatId, "STAFF_CHAT")

const products = [
  { title: "Tea", price: 4 },
  { title: "Cake", price: 5 },
  { title: "Mug", price: 8 }
]

/** The titles of the products in the cart. */
const Cart = State.make("cart", Schema.Array(Schema.String), { of: "userInChat", initial: () => [] })

const Order = Schema.Struct({ chat_id: Chat.ChatId, status: Schema.Literals(["paid", "ready", "collected"]) })

/** The orders, by the numbers of their payments. */
const Orders = State.make("orders", Schema.NullOr(Order), { of: Schema.Int, initial: () => null })

const Ready = Payload.make("ready", Schema.Int)
const Collected = Payload.make("collected", Schema.Int)
const Reminder = Timer.make("reminder", Schema.Int)

const priceOf = (cart: ReadonlyArray<string>) =>
  products.reduce((sum, { price, title }) => sum + price * cart.filter((item) => item === title).length, 0)

const buy = (update: Update.Of<"message_callback">) =>
  Effect.gen(function* () {
    const chat_id = Update.chatOf(update)
    const cart = yield* Cart.get
    if (chat_id === undefined) return Menu.notify("This shop is only open in chats.")
    const number = yield* Journal.step("pay", Schema.NullOr(Schema.Int), Payments.charge(priceOf(cart)))
    if (number === null) return Menu.notify("Your payment was declined.")
    yield* Orders.at(number).set({ chat_id, status: "paid" })
    yield* Cart.clear
    const attachments = [Keyboard.make([yield* Ready.button("Ready", number)])]
    yield* Messages.send({ chat_id: yield* staffChat, text: `Order ${number}: ${cart.join(", ")}`, attachments })
    return Menu.finish(`Thank you! Your order has the number ${number}.`)
  })

/** The name contains the amount, so a button with another amount than that of the cart does not count. */
const payButton = (amount: number) => Menu.once(Menu.button(`pay ${amount}`, `Pay ${amount} €`, buy))

const Shop = Menu.make("shop", { of: "userInChat" }, () =>
  Effect.map(Cart.get, (cart) => ({
    text: cart.length === 0 ? "Your cart is empty." : `Your cart: ${cart.join(", ")}`,
    rows: [
      Menu.list("products", products, ({ price, title }) =>
        Menu.button(`add ${title}`, `${title} ${price} €`, () => Cart.update((cart) => [...cart, title]))
      ),
      cart.length === 0 ? [] : [payButton(priceOf(cart)), Menu.button("empty", "Empty", () => Cart.clear)]
    ]
  }))
)

const ready = Ready.on((update, number) =>
  Effect.gen(function* () {
    const order = yield* Orders.at(number).get
    if (order?.status !== "paid") return yield* Answers.answer(update, "This order is ready already.")
    const { chat_id } = order
    yield* Orders.at(number).set({ chat_id, status: "ready" })
    yield* Reminder.for({ chat_id }).in("30 minutes", number, { key: String(number) })
    const attachments = [Keyboard.make([yield* Collected.button("I have it", number)])]
    yield* Messages.send({ chat_id, text: `Your order ${number} is ready.`, attachments })
    return yield* Answers.answer(update, { message: { text: `Order ${number} is ready.`, attachments: [] } })
  })
)

const collected = Collected.on((update, number) =>
  Effect.gen(function* () {
    yield* Orders.at(number).update((order) => order && { ...order, status: "collected" })
    yield* Reminder.cancel({ key: String(number) })
    yield* Answers.answer(update, { message: { text: "Thank you for your visit.", attachments: [] } })
  })
)

export const parts = Bot.make(
  Command.make("shop", { description: "Opens the shop" }).on((update) => Shop.reply(update)),
  Shop,
  ready,
  collected,
  Reminder.on((number, update) => Messages.reply(update, `Your order ${number} is waiting for you.`)),
  Handler.on(["bot_started", "message_created"], (update) => Messages.reply(update, "Send /shop to open the shop."))
)

export const bot = Effect.provide(Bot.run(parts), Payments.layerMemory)

if (import.meta.main) {
  NodeMain.runMain(Effect.provide(bot, LongPolling.layer().pipe(Layer.provideMerge(NodeBot.layerConfig()))))
}
