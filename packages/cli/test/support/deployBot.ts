import * as Bot from "@colloquy/core/bot/Bot"
import * as State from "@colloquy/core/bot/State"
import * as Conversation from "@colloquy/core/dialog/Conversation"
import * as Menu from "@colloquy/core/dialog/Menu"
import * as Chats from "@colloquy/core/endpoints/Chats"
import * as Handler from "@colloquy/core/inbox/Handler"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"

class Prices extends Context.Service<Prices, { readonly price: number }>()("Prices") {}

export const Cart = State.make("cart", Schema.Array(Schema.String), { of: "user", initial: () => [] })

const Form = Conversation.make(
  "form",
  { of: "userInChat" },
  Effect.fn(function* (talk) {
    const { price } = yield* Prices
    const { title } = yield* Chats.get({ chat_id: talk.chat_id })
    yield* talk.say(`${title} costs ${price}`)
    yield* talk.step("pay", Schema.Int, Effect.die("a step ran in a rehearsal"))
    yield* talk.ask("name", { say: "Your name?" })
  })
)

const Shop = Menu.make("shop", { pages: { main: Schema.Void } }, { main: () => ({ text: "Shop", rows: [] }) })

export const bot = Bot.make(
  Form,
  Shop,
  Handler.on("bot_started", () => Effect.void)
)

export const rehearsal = Layer.succeed(Prices, { price: 7 })
