/**
 * Answers with a language model: the answer grows while the model writes it, a button stops it, the history of the chat is kept,
 * and the model can call a function of the bot. The model is any with an API that is compatible with OpenAI (`MODEL_URL`,
 * `MODEL_NAME`, `MODEL_KEY`). Without these settings, a script answers.
 */
import { Bot, Command, Handler, Keyboard, LiveMessage, LongPolling, Messages } from "@colloquy/core"
import * as Assistant from "@colloquy/core/live/Assistant"
import * as OpenAiModel from "@colloquy/core/live/OpenAiModel"
import { NodeBot, NodeMain } from "@colloquy/node"
import { Config, Effect, Layer, Option, Schema } from "effect"
import { Tool, Toolkit } from "effect/ai"
import { FetchHttpClient } from "effect/http"
import * as Scripted from "./models/scripted.ts"

const OrderStatus = Tool.make("OrderStatus", {
  description: "Returns the status of an order",
  parameters: Schema.Struct({ id: Schema.String }),
  success: Schema.String
})

const Shop = Toolkit.make(OrderStatus)

const functions = Shop.toLayer({
  OrderStatus: ({ id }) => Effect.succeed(Number(id) % 2 === 0 ? "on its way" : "delivered")
})

const Helper = Assistant.make("helper", { system: "You help customers of a tea shop. Be brief.", toolkit: Shop })

const forget = Command.make("forget").on((update) =>
  Effect.andThen(Helper.history.clear, Messages.reply(update, "I have forgotten what we said."))
)

const chat = Handler.on("message_created", (update) =>
  Helper.reply(update, {
    keyboard: Keyboard.make([LiveMessage.stopButton("Stop")]),
    atEnd: ({ outcome }) => (outcome === "stopped" ? { notice: "(stopped)" } : {}),
    onFailure: ({ message }) => `The model does not answer: ${message}`
  })
)

// The settings are MODEL_URL, MODEL_NAME and MODEL_KEY.
const model = Layer.unwrap(
  Effect.map(Config.option(Config.String("MODEL_URL")), (url) =>
    Option.isNone(url) ? Scripted.layer : Layer.provide(OpenAiModel.layerConfig(), FetchHttpClient.layer)
  )
)

export const parts = Bot.make(LiveMessage.onStop, forget, chat)

export const services = Layer.merge(functions, model)

export const bot = Effect.provide(Bot.run(parts, { timeout: "10 minutes" }), services)

if (import.meta.main) {
  NodeMain.runMain(Effect.provide(bot, LongPolling.layer().pipe(Layer.provideMerge(NodeBot.layerConfig()))))
}
