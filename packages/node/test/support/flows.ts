/** A bot with a conversation, a scene and a menu, in programs that share a store. */
import {
  Bot,
  BotApi,
  Command,
  Conversation,
  Handler,
  Inbox,
  LongPolling,
  Menu,
  Messages,
  Pattern,
  RateLimiter,
  Scene,
  State
} from "@colloquy/core"
import type * as InboxStore from "@colloquy/core/inbox/InboxStore"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"

export const token = "token"

const Order = Conversation.make(
  "order",
  { of: "userInChat", timeout: "1 hour" },
  Effect.fn(
    function* (talk) {
      const size = yield* talk.choose("size", { say: "Size?", choices: { s: "Small", l: "Large" } })
      const toppings = yield* talk.choose("toppings", {
        say: "Toppings?",
        choices: { ham: "Ham", olives: "Olives", corn: "Corn" },
        several: true
      })
      const address = yield* talk.ask("address", { say: "Address?" })
      const receipt = yield* talk.step("pay", Schema.Int, Effect.succeed(toppings.length))
      yield* talk.say(`Paid ${receipt}`)
      yield* talk.sleep("oven", "1 second")
      yield* talk.say(`${size} with ${toppings.join(" and ")} to ${address}`)
    },
    Effect.catchTag("Unanswered", () => Effect.void)
  )
)

const Taxi = Scene.make(
  "taxi",
  { of: "userInChat", states: { waiting: Schema.Struct({ address: Schema.String }), riding: Schema.Void } },
  {
    waiting: {
      enter: ({ data, update }) => Messages.reply(update, `Waiting at ${data.address}`),
      handler: ({ go }) => Pattern.make("in").on(() => go("riding"))
    },
    riding: {
      enter: ({ update }) => Messages.reply(update, "Riding"),
      timeout: "1 second",
      onTimeout: ({ update }) => Messages.reply(update, "There")
    }
  }
)

const Sound = State.make("sound", Schema.Boolean, { of: "user", initial: () => false })

const settings = Menu.make(
  "settings",
  { pages: { main: Schema.Void, more: Schema.Struct({ page: Schema.Int }) } },
  {
    main: ({ open }) =>
      Effect.map(Sound.get, (isOn) => ({
        text: `The sound is ${isOn ? "on" : "off"}`,
        rows: [[Menu.toggle("sound", "Sound", isOn, Sound.set)], [open("More", "more", { page: 2 })]]
      })),
    more: ({ params: { page } }) => ({ text: `Page ${page}`, rows: [[Menu.back("Back")]] })
  }
)

const bot = Handler.first(
  Command.make("order").on(Order.start),
  Command.make("taxi").on(() => Taxi.go("waiting", { address: "the station" })),
  Command.make("settings").on((update) => settings.reply(update)),
  Order,
  Taxi,
  settings
)

/** Runs the bot with a store, on a platform. */
export const run = (store: Layer.Layer<InboxStore.InboxStore, unknown>, baseUrl: string) =>
  Bot.run(bot).pipe(
    Effect.provide(
      LongPolling.layer().pipe(
        Layer.provideMerge(
          Layer.mergeAll(
            BotApi.layer({ token: Redacted.make(token), baseUrl }).pipe(
              Layer.provide([RateLimiter.layerMemory(RateLimiter.unlimited), FetchHttpClient.layer])
            ),
            // A process that is killed holds its chats for this long.
            Layer.provide(Inbox.layer({ leaseDuration: "1 second" }), store)
          )
        ),
        Layer.fresh
      )
    )
  )

/** What is left in a store: values of the conversation and the scene, timers, dead letters, and updates. */
export const left = Effect.fnUntraced(function* (store: InboxStore.InboxStore["Service"]) {
  const values = yield* Effect.forEach(["conversation/order", "scene:taxi"], (name) =>
    store.rows({ prefix: `state/${encodeURIComponent(name)}/`, by: "key", limit: 10 })
  )
  const { deadLetters, queued } = yield* store.stats
  const timers = yield* store.rows({ prefix: "timer/", by: "due", limit: 10 })
  return { values: values.flat().length, timers: timers.length, deadLetters, queued }
})

export const nothing = { values: 0, timers: 0, deadLetters: 0, queued: 0 }
