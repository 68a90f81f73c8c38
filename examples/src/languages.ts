/**
 * Orders pizzas in English or Russian: in the language of the person's messenger, or in the language that the person chooses with
 * `/language`. The texts are in the format of Fluent.
 */
import { Bot, Command, Conversation, Handler, LongPolling, Menu, Messages } from "@colloquy/core"
import { NodeBot, NodeMain } from "@colloquy/node"
import { Effect, Layer, Schema } from "effect"
import { inLanguage, language, Languages, text } from "./languages/texts.ts"

const Count = Schema.NumberFromString.check(Schema.isInt(), Schema.isBetween({ minimum: 1, maximum: 99 }))

const Order = Conversation.make(
  "order",
  { of: "userInChat", timeout: "1 hour" },
  Effect.fn(function* (talk) {
    const size = yield* talk.choose("size", {
      say: yield* text("which-size"),
      choices: { small: yield* text("small"), large: yield* text("large") }
    })
    const count = yield* talk.ask("count", { say: yield* text("how-many"), read: Count })
    const isRight = yield* talk.confirm("right", {
      say: yield* text("is-right", { count, size: yield* text(`is-right.${size}`) })
    })
    yield* talk.say(yield* text(isRight ? "ordered" : "not-ordered"))
  })
)

const Choice = Menu.make("language", () =>
  Effect.gen(function* () {
    return {
      text: yield* text("language"),
      rows: [
        Menu.radio("language", {
          choices: { en: "English", ru: "Русский" },
          chosen: yield* language,
          set: (chosen) => Languages.update((languages) => ({ ...languages, chosen }))
        }),
        [Menu.close(yield* text("close"))]
      ]
    }
  })
)

const hello = Handler.on("message_created", (update) =>
  Effect.flatMap(text("hello", { name: update.message?.sender?.first_name ?? "" }), (hello) =>
    Messages.reply(update, hello)
  )
)

const parts = Bot.make(
  Command.make("order").on(Order.start),
  Command.make("cancel").on(Order.cancel),
  Command.make("language").on((update) => Choice.reply(update)),
  Order,
  Choice,
  hello
)

export const bot = Bot.run(Handler.transform(parts, inLanguage))

if (import.meta.main) {
  NodeMain.runMain(Effect.provide(bot, LongPolling.layer().pipe(Layer.provideMerge(NodeBot.layerConfig()))))
}
