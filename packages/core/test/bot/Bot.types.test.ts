import { Bot, type BotApi, Command, Conversation, Handler, Menu, Scene, Timer, type Updates } from "@colloquy/core"
import { describe, expectTypeOf, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"

class Kitchen extends Context.Service<Kitchen, string>()("test/Kitchen") {}
class Oven extends Context.Service<Oven, string>()("test/Oven") {}

class Broken extends Schema.TaggedError<Broken>()("Broken", {}) {}
class Burnt extends Schema.TaggedError<Burnt>()("Burnt", {}) {}

const Order = Conversation.make("order", { of: "userInChat" }, () => Effect.andThen(Kitchen, Effect.fail(new Broken())))
const Baking = Scene.make(
  "baking",
  { of: "chat", states: { hot: Schema.Void } },
  { hot: { enter: () => Effect.andThen(Oven, Effect.fail(new Burnt())) } }
)
const Tea = Timer.make("tea")

describe("the types of Bot", () => {
  it("have the errors and the services of all parts, and of nothing else", () => {
    expectTypeOf(Bot.make()).toEqualTypeOf<Bot.Bot>()
    expectTypeOf(Bot.make(Handler.on("bot_started", () => Effect.void))).toEqualTypeOf<Bot.Bot>()
    const bot = Bot.make(
      Command.make("go").on(Order.start),
      Order,
      Baking,
      Tea.on(() => Effect.fail("cold" as const))
    )
    type Errors = Handler.Error<typeof Order> | Handler.Error<typeof Baking> | Timer.MalformedTimer | "cold"
    expectTypeOf<Handler.Error<typeof bot>>().toEqualTypeOf<Errors>()
    expectTypeOf<Handler.Services<typeof bot>>().toEqualTypeOf<Kitchen | Oven | BotApi.BotApi>()
    const nested = Bot.make(
      Handler.inChatType(bot, "dialog"),
      Handler.on("bot_started", () => Effect.fail(1 as const))
    )
    expectTypeOf<Handler.Error<typeof nested>>().toEqualTypeOf<Errors | 1>()
    expectTypeOf<Handler.Services<typeof nested>>().toEqualTypeOf<Kitchen | Oven | BotApi.BotApi>()
  })

  it("lose the services that are provided, and gain those of the layer", () => {
    const kitchen = Layer.effect(Kitchen, Effect.as(Oven, "kitchen"))
    const provided = Bot.provide(Order, kitchen)
    expectTypeOf<Handler.Services<typeof provided>>().toEqualTypeOf<Oven | BotApi.BotApi>()
    // @ts-expect-error The layer can fail.
    Bot.provide(Order, Layer.effect(Kitchen, Effect.fail("closed")))
  })

  it("of `run` require the client for publishing commands only", () => {
    const bot = Bot.make(Handler.on("bot_started", () => Kitchen))
    type Run<R> = Effect.Effect<void, Updates.SourceError, R | Updates.Updates>
    expectTypeOf(Bot.run(bot)).toEqualTypeOf<Run<Kitchen>>()
    expectTypeOf(Bot.run(bot, { publishCommands: false })).toEqualTypeOf<Run<Kitchen>>()
    expectTypeOf(Bot.run(bot, { publishCommands: true })).toEqualTypeOf<Run<Kitchen | BotApi.BotApi>>()
  })

  it("refuse values that handle no update", () => {
    // @ts-expect-error A command is a part by its `on`.
    Bot.make(Command.make("go"))
    // @ts-expect-error A timer is a part by its `on`.
    Bot.make(Tea)
    // @ts-expect-error An effect handles no update.
    Bot.make(Effect.void)
    expectTypeOf(Bot.make(Menu.make("menu", () => ({ text: "Menu", rows: [] }))).parts).toExtend<
      ReadonlyArray<object>
    >()
  })
})
