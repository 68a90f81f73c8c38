import { Bot, Handler, LongPolling, Messages, RateLimiter, State } from "@colloquy/core"
import * as Assistant from "@colloquy/core/live/Assistant"
import { Emulator } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as AiError from "effect/ai/AiError"
import * as LanguageModel from "effect/ai/LanguageModel"
import type * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import * as Tokenizer from "effect/ai/Tokenizer"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"

const layer = LongPolling.layer().pipe(Layer.provideMerge(Emulator.layerBot({ clientLimits: RateLimiter.defaults })))

type Part = Response.StreamPartEncoded

const say = (text: string): ReadonlyArray<Part> => [
  { type: "text-start", id: "1" },
  { type: "text-delta", id: "1", delta: text },
  { type: "text-end", id: "1" }
]

const finish: Part = { type: "finish", reason: "stop", usage: { inputTokens: {}, outputTokens: {} } }

const describePrompt = ({ content }: Prompt.Prompt): ReadonlyArray<string> =>
  content.map((message) => {
    const text =
      typeof message.content === "string"
        ? message.content
        : message.content
            .map((part) => ("text" in part ? part.text : "result" in part ? `=${String(part.result)}` : part.type))
            .join("|")
    return `${message.role}: ${text}`
  })

/** A model that gives these answers, one after the other, and the prompts that it got. */
const makeModel = (...answers: ReadonlyArray<ReadonlyArray<Part>>) => {
  const prompts: Array<ReadonlyArray<string>> = []
  const model = Layer.effect(
    LanguageModel.LanguageModel,
    LanguageModel.make({
      streamText: ({ prompt }) =>
        Stream.suspend(() => {
          const answer = answers[prompts.length] ?? say("?")
          prompts.push(describePrompt(prompt))
          return Stream.fromIterable([...answer, finish])
        }),
      generateText: () =>
        Effect.fail(AiError.make({ module: "Test", method: "generateText", reason: new AiError.UnknownError({}) }))
    })
  )
  return { model, prompts }
}

const run = <E, R>(bot: Effect.Effect<void, E, R>, texts: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    yield* Effect.forkChild(bot, { startImmediately: true })
    yield* TestClock.adjust(100)
    const ann = yield* Emulator.user("Ann")
    const dialog = yield* ann.start()
    for (const text of texts) {
      yield* ann.send(text)
      yield* Effect.repeat(TestClock.adjust(200), { times: 30 })
    }
    const messages = yield* Emulator.messages(dialog)
    return messages.flatMap(({ body, sender }) => (sender?.is_bot === true ? [body?.text] : []))
  })

describe("Assistant", () => {
  it.effect("sends the instructions and the history, and keeps the answer", () => {
    const { model, prompts } = makeModel(say("Hello Ann"), say("You are Ann"))
    const Helper = Assistant.make("helper", { system: "Be brief" })
    const bot = Bot.run(Handler.on("message_created", (update) => Helper.reply(update)))
    return Effect.gen(function* () {
      const texts = yield* run(bot, ["I am Ann", "Who am I?"])
      assert.deepStrictEqual(texts, ["Hello Ann", "You are Ann"])
      assert.deepStrictEqual(prompts, [
        ["system: Be brief", "user: I am Ann"],
        ["system: Be brief", "user: I am Ann", "assistant: Hello Ann", "user: Who am I?"]
      ])
    }).pipe(Effect.provide(Layer.merge(layer, model)))
  })

  it.effect("forgets the oldest exchanges beyond the budget, which the Tokenizer of the program counts", () => {
    const { model, prompts } = makeModel(say("one"), say("two"), say("three"))
    const Helper = Assistant.make("helper", { budget: 4 })
    const bot = Bot.run(Handler.on("message_created", (update) => Helper.reply(update)))
    const tokenizer = Layer.succeed(
      Tokenizer.Tokenizer,
      Tokenizer.make({ tokenize: ({ content }) => Effect.succeed(content.flatMap(() => [1, 2])) })
    )
    return Effect.gen(function* () {
      yield* run(bot, ["a", "b", "c"])
      assert.deepStrictEqual(prompts.at(-1), ["user: b", "assistant: two", "user: c"])
    }).pipe(Effect.provide(Layer.mergeAll(layer, model, tokenizer)))
  })

  it.effect(
    "runs the functions that the model calls with the services of the handler, and asks again with their results",
    () => {
      const Count = Tool.make("Count", {
        description: "Counts",
        parameters: Schema.Struct({ by: Schema.Int }),
        success: Schema.Int
      })
      const Counting = Toolkit.make(Count)
      const Total = State.make("total", Schema.Int, { of: "chat", initial: () => 10 })
      const functions = Counting.toLayer({ Count: ({ by }) => Effect.orDie(Total.update((total) => total + by)) })
      const call: Part = { type: "tool-call", id: "c", name: "Count", params: { by: 5 }, providerExecuted: false }
      const { model, prompts } = makeModel([...say("Let me count."), call], say("It is 15."), say("Again 15."))
      const Helper = Assistant.make("helper", { toolkit: Counting })
      const bot = Bot.run(Handler.on("message_created", (update) => Helper.reply(update)))
      return Effect.gen(function* () {
        const texts = yield* run(bot, ["Count", "Again"])
        assert.deepStrictEqual(texts, ["Let me count.\n\nIt is 15.", "Again 15."])
        const counted = ["user: Count", "assistant: Let me count.|tool-call", "tool: =15"]
        assert.deepStrictEqual(prompts.slice(1), [counted, [...counted, "assistant: It is 15.", "user: Again"]])
      }).pipe(Effect.provide(Layer.mergeAll(layer, model, functions)))
    }
  )

  it.effect("does not ask the model again when the handler is tried again after the answer", () => {
    const { model, prompts } = makeModel(say("The answer is long enough to be shown."))
    const Helper = Assistant.make("helper")
    const bot = Bot.run(
      Handler.on("message_created", (update) =>
        Effect.gen(function* () {
          yield* Helper.reply(update)
          if ((yield* Handler.CurrentAttempt) === 1) return yield* Effect.fail("not yet")
          const { content } = yield* Helper.history.get
          yield* Messages.reply(update, `${content.length} messages`)
        })
      )
    )
    return Effect.gen(function* () {
      const texts = yield* run(bot, ["Hello"])
      assert.deepStrictEqual(texts, ["The answer is long enough to be shown.", "2 messages"])
      assert.lengthOf(prompts, 1)
    }).pipe(Effect.provide(Layer.merge(layer, model)))
  })

  it.effect.each([
    ["instruction", ["assistant: The answer", "user: Your last message was cut off."]],
    ["prefix", ["assistant: The answer"]]
  ] as const)("goes on after what the model has said if the handler fails, by %s", ([goOn, expected]) => {
    const Count = Tool.make("Count", { parameters: Schema.Struct({ by: Schema.Int }), success: Schema.Int })
    const Counting = Toolkit.make(Count)
    let counted = 0
    const functions = Counting.toLayer({ Count: ({ by }) => Effect.sync(() => (counted += by)) })
    const call: Part = { type: "tool-call", id: "c", name: "Count", params: { by: 5 }, providerExecuted: false }
    const broken: Part = { type: "error", error: new Error("overloaded") }
    const { model, prompts } = makeModel(
      [...say("Let me count."), call],
      [...say("The answer is"), broken],
      say(" is 5."),
      say("5 again.")
    )
    const Helper = Assistant.make("helper", { toolkit: Counting, goOn })
    const bot = Bot.run(Handler.on("message_created", (update) => Helper.reply(update)))
    return Effect.gen(function* () {
      const texts = yield* run(bot, ["Count", "Again"])
      assert.deepStrictEqual(texts, ["Let me count.\n\nThe answer is 5.", "5 again."])
      assert.strictEqual(counted, 5)
      const before = ["user: Count", "assistant: Let me count.|tool-call", "tool: =5"]
      assert.deepStrictEqual(
        prompts[2]!.map((text) => text.replace(/off\..*/, "off.")),
        [...before, ...expected]
      )
      assert.deepStrictEqual(prompts[3], [...before, "assistant: The answer is 5.", "user: Again"])
    }).pipe(Effect.provide(Layer.mergeAll(layer, model, functions)))
  })

  it.effect("has one empty line between two turns if the model fails at the first word of the second", () => {
    const Look = Tool.make("Look", { success: Schema.String })
    const Looking = Toolkit.make(Look)
    const functions = Looking.toLayer({ Look: () => Effect.succeed("sent") })
    const call: Part = { type: "tool-call", id: "c", name: "Look", params: {}, providerExecuted: false }
    const broken: Part = { type: "error", error: new Error("overloaded") }
    const { model } = makeModel([...say("Let me look."), call], [...say("Your"), broken], say("Your order was sent."))
    const Helper = Assistant.make("helper", { toolkit: Looking })
    const bot = Bot.run(Handler.on("message_created", (update) => Helper.reply(update)))
    return Effect.gen(function* () {
      assert.deepStrictEqual(yield* run(bot, ["Where is it?"]), ["Let me look.\n\nYour order was sent."])
    }).pipe(Effect.provide(Layer.mergeAll(layer, model, functions)))
  })

  it.effect("tells the person that an answer was not completed if the requests bring no text", () => {
    const Loop = Toolkit.make(Tool.make("Loop", { success: Schema.String }))
    const call: Part = { type: "tool-call", id: "c", name: "Loop", params: {}, providerExecuted: false }
    const { model } = makeModel([call], [call])
    const Helper = Assistant.make("helper", { toolkit: Loop, maxTurns: 2 })
    const bot = Bot.run(
      Handler.on("message_created", (update) => Helper.reply(update)),
      { retry: Schedule.recurs(0) }
    )
    return Effect.gen(function* () {
      assert.deepStrictEqual(yield* run(bot, ["Go"]), ["The answer could not be completed."])
    }).pipe(Effect.provide(Layer.mergeAll(layer, model, Loop.toLayer({ Loop: () => Effect.succeed("again") }))))
  })

  it.effect("asks the model no more often than maxTurns", () => {
    const Loop = Toolkit.make(Tool.make("Loop", { success: Schema.String }))
    const call: Part = { type: "tool-call", id: "c", name: "Loop", params: {}, providerExecuted: false }
    const { model, prompts } = makeModel([...say("Once upon a time"), call], [call], [call], [call])
    const Helper = Assistant.make("helper", { toolkit: Loop, maxTurns: 3 })
    const bot = Bot.run(Handler.on("message_created", (update) => Helper.reply(update)))
    return Effect.gen(function* () {
      assert.deepStrictEqual(yield* run(bot, ["Go"]), ["Once upon a time"])
      assert.lengthOf(prompts, 3)
    }).pipe(Effect.provide(Layer.mergeAll(layer, model, Loop.toLayer({ Loop: () => Effect.succeed("again") }))))
  })

  it.effect("fails if the model has called functions maxTurns times without a text", () => {
    const Loop = Toolkit.make(Tool.make("Loop", { success: Schema.String }))
    const call: Part = { type: "tool-call", id: "c", name: "Loop", params: {}, providerExecuted: false }
    const { model } = makeModel([call], [call])
    const Helper = Assistant.make("helper", { toolkit: Loop, maxTurns: 2 })
    const bot = Bot.run(
      Handler.on("message_created", (update) => Helper.reply(update, { onFailure: ({ message }) => message })),
      { retry: Schedule.recurs(0) }
    )
    return Effect.gen(function* () {
      const texts = yield* run(bot, ["Go"])
      assert.include(texts[0], "2 requests brought no text")
    }).pipe(Effect.provide(Layer.mergeAll(layer, model, Loop.toLayer({ Loop: () => Effect.succeed("again") }))))
  })
})
