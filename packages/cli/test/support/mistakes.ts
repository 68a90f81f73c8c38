import type { BotApi } from "@colloquy/core/client/BotApi"
import type { Inbox } from "@colloquy/core/inbox/Inbox"
import {
  ApiError,
  Bot,
  Command,
  Conversation,
  Handler,
  Journal,
  Messages,
  State,
  Timer,
  Chats,
  Update
} from "@colloquy/core"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

const Cart = State.make("cart", Schema.Struct({ items: Schema.Array(Schema.String) }), {
  of: "userInChat",
  initial: () => ({ items: [] })
})

/** A price that only the service knows, which the test of an incident cannot reach. */
let service: Effect.Effect<number, Error> = Effect.succeed(0)

/** Lets the service answer or fail. */
export const setService = (answer: Effect.Effect<number, Error>): void => {
  service = answer
}

/** Ten mistakes, each in a bot of its own, with what a person sends, and a bot in which the mistake is mended. */
export const mistakes: ReadonlyArray<{
  readonly mistake: string
  readonly texts: ReadonlyArray<string>
  readonly bot: (isMended: boolean) => Bot.Bot<unknown, BotApi | Inbox>
}> = [
  {
    mistake: "reads a part of the text that is not there",
    texts: ["pizza"],
    bot: (isMended) =>
      Bot.make(
        Handler.on("message_created", (update) =>
          Effect.suspend(() => {
            const [, size] = (Update.textOf(update) ?? "").split(" ")
            return Messages.reply(update, isMended ? (size ?? "small") : size!.toUpperCase())
          })
        )
      )
  },
  {
    mistake: "does not expect a value of the state",
    texts: ["/add", "/pay"],
    bot: (isMended) =>
      Bot.make(
        Command.make("add").on(() => Cart.update(({ items }) => ({ items: [...items, "tea"] }))),
        Command.make("pay").on(
          Effect.fn(function* (update) {
            const { items } = yield* Cart.get
            if (items[0] !== "tea" || isMended) return yield* Messages.reply(update, "Thank you")
            return yield* Effect.die(new Error("tea has no price"))
          })
        )
      )
  },
  {
    mistake: "does not expect a refusal of the platform",
    texts: ["hello"],
    bot: (isMended) =>
      Bot.make(
        Handler.on("message_created", (update) => {
          const sent = Messages.send({ chat_id: Update.chatOf(update)!, text: "refused" })
          return isMended ? Effect.catchTag(sent, "Forbidden", () => Effect.void) : sent
        })
      )
  },
  {
    mistake: "does not expect an answer of the platform",
    texts: ["hello"],
    bot: (isMended) =>
      Bot.make(
        Handler.on("message_created", (update) =>
          Effect.flatMap(Chats.get({ chat_id: Update.chatOf(update)! }), ({ title }) =>
            title == null && !isMended ? Effect.die(new TypeError("the chat has no title")) : Effect.void
          )
        )
      )
  },
  {
    mistake: "does not expect the result of a step",
    texts: ["hello"],
    bot: (isMended) =>
      Bot.make(
        Handler.on("message_created", () =>
          Effect.flatMap(
            Journal.step(
              "price",
              Schema.Int,
              Effect.suspend(() => service)
            ),
            (price) => (price === 13 && !isMended ? Effect.die(new RangeError("a price of 13")) : Effect.void)
          )
        )
      )
  },
  {
    mistake: "waits for ever",
    texts: ["hello"],
    bot: (isMended) => Bot.make(Handler.on("message_created", () => (isMended ? Effect.void : Effect.never)))
  },
  {
    mistake: "makes an invalid request",
    texts: ["hello"],
    bot: (isMended) =>
      Bot.make(Handler.on("message_created", (update) => Messages.reply(update, "x".repeat(isMended ? 4000 : 4001))))
  },
  {
    mistake: "fails after an answer in a conversation",
    texts: ["/order", "five"],
    bot: (isMended) => {
      const Order = Conversation.make(
        "order",
        { of: "userInChat", timeout: "10 minutes" },
        Effect.fn(function* (talk) {
          const number = yield* talk.ask("number", { say: "How many?", read: Schema.String })
          if (Number.isNaN(Number(number)) && !isMended) return yield* Effect.die(new Error("no number"))
          return yield* talk.say("Thank you")
        })
      )
      return Bot.make(Command.make("order").on(Order.start), Order)
    }
  },
  {
    mistake: "fails in a timer",
    texts: ["/remind"],
    bot: (isMended) => {
      const Reminder = Timer.make("reminder", Schema.Struct({ text: Schema.String }))
      return Bot.make(
        Command.make("remind").on(() => Reminder.in("1 minute", { text: "" })),
        Reminder.on(({ text }) => (text === "" && !isMended ? Effect.die(new Error("an empty reminder")) : Effect.void))
      )
    }
  },
  {
    mistake: "fails with an error of its own after a message",
    texts: ["hello"],
    bot: (isMended) =>
      Bot.make(
        Handler.on("message_created", (update) =>
          Effect.flatMap(Messages.reply(update, "Hello"), ({ body }) =>
            body?.text === "Hello" && !isMended
              ? Effect.fail(new ApiError.NotFound({ endpoint: "Orders", status: 404, detail: "no order", body: "" }))
              : Effect.void
          )
        )
      )
  }
]
