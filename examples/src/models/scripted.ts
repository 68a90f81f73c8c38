/** A language model without a network, so that the example runs everywhere: it answers by the words of the question. */
import { Effect, Layer, Schedule, Stream } from "effect"
import { AiError, LanguageModel, type Prompt, type Response } from "effect/ai"

const story =
  "**Tea** begins with _water_. Heat it to 90 degrees, and pour it over the leaves.\n\n```\nfor (;;) drink(tea)\n```\n\n" +
  "Let it stand for three minutes. Then remove the leaves, and wait until you can hold the cup. "

const textOf = (message: Prompt.Message | undefined): string =>
  message === undefined || typeof message.content === "string"
    ? ""
    : message.content.map((part) => ("text" in part ? part.text : "")).join(" ")

/** The text of an answer, or the function to call. */
const answer = ({ content }: Prompt.Prompt): string | { readonly name: string; readonly params: object } => {
  const last = content.at(-1)
  if (last?.role === "tool") {
    const result = last.content.find((part) => part.type === "tool-result")
    return `The order is **${String(result?.result)}**.`
  }
  const question = textOf(last)
  const [order] = /\b\d+\b/.exec(question) ?? []
  if (order !== undefined) return { name: "OrderStatus", params: { id: order } }
  if (/tea/i.test(question)) return story
  if (/before/i.test(question)) {
    const questions = content.flatMap((message) => (message.role === "user" ? [textOf(message)] : []))
    return `Before, you asked: ${questions.slice(0, -1).join(" ")}`
  }
  return "Ask me about tea, or about an order by its number."
}

/** Words, as slowly as a model writes them. */
const tokensOf = (text: string) =>
  Stream.fromIterable(text.match(/\S+\s*/g) ?? []).pipe(
    Stream.rechunk(1),
    Stream.schedule(Schedule.spaced("50 millis"))
  )

const streamText = ({ prompt }: LanguageModel.ProviderOptions): Stream.Stream<Response.StreamPartEncoded> => {
  const said = answer(prompt)
  const finish = Stream.make<[Response.StreamPartEncoded]>({
    type: "finish",
    reason: "stop",
    usage: { inputTokens: {}, outputTokens: {} }
  })
  if (typeof said !== "string") {
    return Stream.concat(
      Stream.make({ type: "tool-call" as const, id: "call", providerExecuted: false, ...said }),
      finish
    )
  }
  return Stream.make({ type: "text-start" as const, id: "text" }).pipe(
    Stream.concat(Stream.map(tokensOf(said), (delta) => ({ type: "text-delta" as const, id: "text", delta }))),
    Stream.concat(Stream.make({ type: "text-end" as const, id: "text" })),
    Stream.concat(finish)
  )
}

/** Provides the model. */
export const layer: Layer.Layer<LanguageModel.LanguageModel> = Layer.effect(
  LanguageModel.LanguageModel,
  LanguageModel.make({
    streamText,
    generateText: () =>
      Effect.fail(
        AiError.make({
          module: "Scripted",
          method: "generateText",
          reason: new AiError.UnknownError({ description: "This model only streams." })
        })
      )
  })
)
