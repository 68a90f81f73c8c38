import { Bot, Command, Handler, Keyboard, LiveMessage, Messages } from "@colloquy/core"
import * as Assistant from "@colloquy/core/live/Assistant"
import * as OpenAiModel from "@colloquy/core/live/OpenAiModel"
import { Config, Effect, Layer, Option, Stream } from "effect"
import { AiError, LanguageModel, type Response } from "effect/ai"
import { FetchHttpClient } from "effect/http"

// The history of each user in a chat is stored, and survives restarts.
const Helper = Assistant.make("helper", { system: "You help the customers of a tea shop. Be brief." })

const forget = Command.make("forget", { description: "Forgets what was said" }).on((update) =>
  Effect.andThen(Helper.history.clear, Messages.reply(update, "I have forgotten what we said."))
)

// The answer grows while the model writes.
const chat = Handler.on("message_created", (update) =>
  Helper.reply(update, {
    keyboard: Keyboard.make([LiveMessage.stopButton("Stop")]),
    onFailure: ({ message }) => `The model does not answer: ${message}`
  })
)

const advice: ReadonlyArray<Response.StreamPartEncoded> = [
  { type: "text-start", id: "1" },
  { type: "text-delta", id: "1", delta: "Set MODEL_URL and MODEL_NAME, and a **model** will answer." },
  { type: "text-end", id: "1" },
  { type: "finish", reason: "stop", usage: { inputTokens: {}, outputTokens: {} } }
]

const onlyStreams = new AiError.UnknownError({ description: "This model only streams." })

// Answers without a model, as in `npm start` and in the test.
const unset = Layer.effect(
  LanguageModel.LanguageModel,
  LanguageModel.make({
    streamText: () => Stream.fromIterable(advice),
    generateText: () => Effect.fail(AiError.make({ module: "unset", method: "generateText", reason: onlyStreams }))
  })
)

// The settings are MODEL_URL, MODEL_NAME and MODEL_KEY.
const model = Layer.unwrap(
  Effect.map(Config.option(Config.NonEmptyString("MODEL_URL")), (url) =>
    Option.isNone(url) ? unset : Layer.provide(OpenAiModel.layerConfig(), FetchHttpClient.layer)
  )
)

export const parts = Bot.make(LiveMessage.onStop, forget, chat)

export const bot = Bot.run(parts, {
  timeout: "10 minutes",
  // All attempts to handle an update have failed. The update is kept: `npx colloquy dead list` shows it.
  onDeadLetter: ({ error, id }) => Effect.logFatal(`The update ${id} was not handled: ${error}`)
}).pipe(Effect.provide(model))
