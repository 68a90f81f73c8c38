import { Bot, LiveMessage } from "@colloquy/core"
import * as Assistant from "@colloquy/core/live/Assistant"
import * as OpenAiModel from "@colloquy/core/live/OpenAiModel"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Duration, Effect, Exit, Fiber, Layer, Logger, Schedule, Schema, Stream } from "effect"
import { AiError, LanguageModel, type Response as ModelResponse, Tool, Toolkit } from "effect/ai"
import { HttpClient, HttpClientResponse } from "effect/http"
import * as TestClock from "effect/testing/TestClock"
import { asking, layer, seconds, textsOfBot, withBot } from "../support/liveMessages.ts"

const idleNotice = "There is no answer at the moment. Please try again later."

const patient = { timeout: "1 hour", retry: Schedule.recurs(0) } as const

/** The warnings of an effect that name a limit of idle time. */
const warningsOf = <A, E, R>(effect: Effect.Effect<A, E, R>) => {
  const warnings: Array<string> = []
  const logger = Logger.make(({ message }) => {
    const text = [message].flat().map(String).join(" ")
    if (text.includes("has emitted nothing") || text.includes("has sent nothing")) warnings.push(text)
  })
  return Effect.map(Effect.provide(effect, Logger.layer([logger])), (result) => ({ result, warnings }))
}

const every = (interval: Duration.Input, ...tokens: ReadonlyArray<string>) =>
  Stream.fromIterable(tokens).pipe(Stream.rechunk(1), Stream.schedule(Schedule.spaced(interval)))

type Part = ModelResponse.StreamPartEncoded

const noText = AiError.make({ module: "Test", method: "generateText", reason: new AiError.UnknownError({}) })

/** A model whose answers these streams are, one after the other. */
const modelOf = (...answers: ReadonlyArray<Stream.Stream<Part>>) => {
  let asked = 0
  return Layer.effect(
    LanguageModel.LanguageModel,
    LanguageModel.make({
      streamText: () => Stream.suspend(() => answers[asked++] ?? Stream.empty),
      generateText: () => Effect.fail(noText)
    })
  )
}

const delta = (text: string): Part => ({ type: "text-delta", id: "1", delta: text })

const finish: Part = { type: "finish", reason: "stop", usage: { inputTokens: {}, outputTokens: {} } }

describe("the idle time of a live message", () => {
  it.effect("ends a stream that emits one word and then nothing, tells the person, and logs one line", () =>
    Effect.gen(function* () {
      const source = Stream.concat(Stream.make("The answer "), Stream.never)
      const { ann, dialog, handler } = yield* asking((update) => LiveMessage.reply(update, source, { name: "answer" }))
      const { warnings } = yield* warningsOf(
        withBot(
          Bot.run(handler, patient),
          Effect.gen(function* () {
            yield* ann.send("tell")
            yield* seconds(59)
            assert.deepStrictEqual(yield* textsOfBot(dialog), ["The answer "])
            yield* seconds(5)
            assert.deepStrictEqual(yield* textsOfBot(dialog), [`The answer \n\n${idleNotice}`])
          })
        )
      )
      assert.deepStrictEqual(warnings, [
        'The stream of the live message "answer" has emitted nothing for 1m. The option `idleTimeout` changes this limit.'
      ])
    }).pipe(Effect.provide(layer))
  )

  it.effect("ends a stream that never begins", () =>
    Effect.gen(function* () {
      const { ann, dialog, handler } = yield* asking((update) =>
        LiveMessage.reply(update, Stream.never, { idleTimeout: "10 seconds" })
      )
      yield* withBot(
        Bot.run(handler, patient),
        Effect.gen(function* () {
          yield* ann.send("tell")
          yield* seconds(9)
          assert.deepStrictEqual(yield* textsOfBot(dialog), [])
          yield* seconds(3)
          assert.deepStrictEqual(yield* textsOfBot(dialog), [idleNotice])
        })
      )
    }).pipe(Effect.provide(layer))
  )

  it.effect("tells the person before the handler times out, with the defaults of Bot.run", () =>
    Effect.gen(function* () {
      const { ann, dialog, handler } = yield* asking((update) => LiveMessage.reply(update, Stream.never))
      yield* withBot(Bot.run(handler), Effect.andThen(ann.send("tell"), seconds(50)))
      assert.deepStrictEqual(yield* textsOfBot(dialog), [idleNotice])
    }).pipe(Effect.provide(layer))
  )

  it.effect("lets a stream go on that emits a word each 59 seconds", () =>
    Effect.gen(function* () {
      const words = ["one ", "two ", "three ", "four ", "five"]
      const { ann, dialog, handler, outcomes } = yield* asking((update) =>
        LiveMessage.reply(update, every("59 seconds", ...words))
      )
      yield* withBot(Bot.run(handler, patient), Effect.andThen(ann.send("tell"), seconds(400)))
      assert.deepStrictEqual(yield* textsOfBot(dialog), [words.join("")])
      assert.deepStrictEqual(outcomes, ["completed"])
    }).pipe(Effect.provide(layer))
  )

  it.effect("has no limit with an infinite time", () =>
    Effect.gen(function* () {
      const { ann, dialog, handler } = yield* asking((update) =>
        LiveMessage.reply(update, every("20 minutes", "late"), { idleTimeout: Duration.infinity })
      )
      yield* withBot(Bot.run(handler, patient), Effect.andThen(ann.send("tell"), TestClock.adjust("21 minutes")))
      assert.deepStrictEqual(yield* textsOfBot(dialog), ["late"])
    }).pipe(Effect.provide(layer))
  )

  it.effect("is told by the texts of the program, or by onFailure", () =>
    Effect.gen(function* () {
      const { ann, dialog, handler } = yield* asking((update) =>
        LiveMessage.reply(update, Stream.never, {
          idleTimeout: "1 second",
          ...(update.message?.body?.text === "own" && {
            onFailure: (error: LiveMessage.IdleTimeout) => `${error._tag} ${error.timeout}`
          })
        })
      )
      const bot = Effect.updateService(Bot.run(handler, patient), LiveMessage.CurrentTexts, (texts) => ({
        ...texts,
        idle: "Сейчас ответа нет."
      }))
      yield* withBot(
        bot,
        Effect.andThen(Effect.andThen(ann.send("tell"), seconds(5)), Effect.andThen(ann.send("own"), seconds(5)))
      )
      assert.deepStrictEqual(yield* textsOfBot(dialog), ["Сейчас ответа нет.", "IdleTimeout 1000"])
    }).pipe(Effect.provide(layer))
  )

  it.effect("goes on after the text that is there when the handler is tried again", () =>
    Effect.gen(function* () {
      const { ann, dialog, handler } = yield* asking((update) =>
        LiveMessage.reply(update, (said) =>
          said === "" ? Stream.concat(Stream.make("The answer "), Stream.never) : Stream.make("is 42.")
        )
      )
      yield* withBot(Bot.run(handler, { timeout: "1 hour" }), Effect.andThen(ann.send("tell"), seconds(80)))
      assert.deepStrictEqual(yield* textsOfBot(dialog), ["The answer is 42."])
    }).pipe(Effect.provide(layer))
  )
})

describe("the idle time of an assistant", () => {
  const Slow = Tool.make("Slow", { success: Schema.String })
  const Slowly = Toolkit.make(Slow)
  const functions = Slowly.toLayer({ Slow: () => Effect.delay(Effect.succeed("done"), "5 minutes") })
  const call: Part = { type: "tool-call", id: "c", name: "Slow", params: {}, providerExecuted: false }
  const Helper = Assistant.make("helper", { toolkit: Slowly })

  const answers = (model: Layer.Layer<LanguageModel.LanguageModel>, wait: Duration.Input) =>
    Effect.gen(function* () {
      const { ann, dialog, handler } = yield* asking((update) => Helper.reply(update))
      const bot = Effect.provide(Bot.run(handler, patient), Layer.merge(model, functions))
      const act = Effect.andThen(ann.send("tell"), TestClock.adjust(wait))
      const { warnings } = yield* warningsOf(withBot(bot, act))
      return { texts: yield* textsOfBot(dialog), warnings: warnings.length }
    }).pipe(Effect.provide(layer))

  it.effect("ends a model that says one word and then nothing", () =>
    Effect.gen(function* () {
      const model = modelOf(Stream.concat(Stream.make(delta("Well ")), Stream.never))
      assert.deepStrictEqual(yield* answers(model, "65 seconds"), { texts: [`Well \n\n${idleNotice}`], warnings: 1 })
    })
  )

  it.effect("does not count the time of a function", () =>
    Effect.gen(function* () {
      const model = modelOf(Stream.make(delta("Let me see."), call, finish), Stream.make(delta("It is done."), finish))
      const expected = { texts: ["Let me see.\n\nIt is done."], warnings: 0 }
      assert.deepStrictEqual(yield* answers(model, "6 minutes"), expected)
    })
  )

  it.effect("ends a model that is silent after the result of a function", () =>
    Effect.gen(function* () {
      const model = modelOf(Stream.make(delta("Let me see."), call, finish), Stream.never)
      const texts = [`Let me see.\n\n${idleNotice}`]
      assert.deepStrictEqual(yield* answers(model, "359 seconds"), { texts: ["Let me see."], warnings: 0 })
      assert.deepStrictEqual(
        yield* answers(modelOf(Stream.make(delta("Let me see."), call, finish), Stream.never), "370 seconds"),
        { texts, warnings: 1 }
      )
    })
  )

  it.effect("ends a model that calls a function and then does not end its turn", () =>
    Effect.gen(function* () {
      const model = modelOf(Stream.concat(Stream.make(call), Stream.never))
      assert.deepStrictEqual(yield* answers(model, "70 seconds"), { texts: [idleNotice], warnings: 1 })
    })
  )

  it.effect("counts the thoughts of a model as work", () =>
    Effect.gen(function* () {
      const thoughts = Stream.fromIterable(
        Array.from({ length: 10 }, (): Part => ({ type: "reasoning-delta", id: "r", delta: "hm" }))
      )
      const thinking = Stream.schedule(Stream.rechunk(thoughts, 1), Schedule.spaced("30 seconds"))
      const model = modelOf(Stream.concat(thinking, Stream.make(delta("Yes."), finish)))
      assert.deepStrictEqual(yield* answers(model, "6 minutes"), { texts: ["Yes."], warnings: 0 })
    })
  )
})

describe("the idle time of OpenAiModel", () => {
  const event = (content: string) => `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`

  /** A model whose API sends these texts, and then nothing. `undefined`: not even headers. */
  const silentAfter = (texts: ReadonlyArray<string> | undefined) => {
    const body = Stream.concat(Stream.fromIterable(texts ?? []), Stream.never).pipe(Stream.encodeText)
    const client = HttpClient.make((request) =>
      texts === undefined
        ? Effect.never
        : Effect.sync(() => HttpClientResponse.fromWeb(request, new Response(Stream.toReadableStream(body))))
    )
    return Layer.provide(
      OpenAiModel.layer({ baseUrl: "http://localhost:1/v1", model: "small", idleTimeout: "20 seconds" }),
      Layer.succeed(HttpClient.HttpClient, client)
    )
  }

  it.effect.each([
    ["never answers", undefined],
    ["sends one event and then nothing", [event("Hel")]],
    ["sends only comments", [": still here\n\n"]]
  ] as const)("fails with a retryable error if the API %s", ([, texts]) =>
    Effect.gen(function* () {
      const running = yield* Effect.forkChild(Effect.exit(LanguageModel.generateText({ prompt: "Hi" })), {
        startImmediately: true
      })
      // The bytes of a web stream arrive in real turns of the event loop.
      yield* Effect.repeat(
        Effect.andThen(
          Effect.promise(() => new Promise(setImmediate)),
          TestClock.adjust("1 second")
        ),
        {
          times: 50
        }
      )
      const exit = yield* Fiber.join(running)
      assert.isTrue(Exit.isFailure(exit))
      const error = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
      assert.instanceOf(error, AiError.AiError)
      assert.include((error as AiError.AiError).message, 'The model "small" has sent nothing for 20s')
      assert.isTrue((error as AiError.AiError).isRetryable)
    }).pipe(Effect.provide(silentAfter(texts)))
  )

  it.effect("is named once if the live message has the same limit", () =>
    Effect.gen(function* () {
      const { ann, handler } = yield* asking((update) =>
        Assistant.make("helper").reply(update, { idleTimeout: "20 seconds" })
      )
      const bot = Effect.provide(Bot.run(handler, patient), silentAfter(undefined))
      const { warnings } = yield* warningsOf(withBot(bot, Effect.andThen(ann.send("tell"), seconds(30))))
      assert.lengthOf(warnings, 1)
      assert.include(warnings[0], "live message")
    }).pipe(Effect.provide(layer))
  )
})
