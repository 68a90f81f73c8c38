import { LongPolling, RateLimiter } from "@colloquy/core"
import * as Assistant from "@colloquy/core/Assistant"
import { Emulator } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Layer, Schema, Stream } from "effect"
import { LanguageModel, Tool, Toolkit } from "effect/ai"
import { HttpClient, HttpClientResponse } from "effect/http"
import { TestClock } from "effect/testing"
import { bot } from "../src/assistant.ts"
import * as OpenAi from "../src/models/openAi.ts"

const updates = LongPolling.layer().pipe(
  Layer.provideMerge(Emulator.layerBot({ clientLimits: RateLimiter.defaults })),
  Layer.merge(ConfigProvider.layer(ConfigProvider.fromUnknown({})))
)

describe("the assistant", () => {
  it.effect("answers with a text that grows, can be stopped, calls its function, and remembers the chat", () =>
    Effect.gen(function* () {
      yield* Effect.forkScoped(bot)
      yield* TestClock.adjust(100)
      const ann = yield* Emulator.user("Ann")
      const dialog = yield* ann.start()
      const texts = Effect.map(Emulator.messages(dialog), (messages) =>
        messages.flatMap(({ body, sender }) => (sender?.is_bot === true ? [body?.text ?? ""] : []))
      )
      const seconds = (count: number) => Effect.repeat(TestClock.adjust(100), { times: count * 10 })
      const ask = (text: string) => Effect.andThen(ann.send(text), seconds(6))

      yield* ask("How do you make tea?")
      assert.match((yield* texts)[0]!, /^Tea begins with water\..*\n\nfor \(;;\) drink\(tea\)\n\nLet it stand/)
      yield* ask("Where is my order 41?")
      assert.strictEqual((yield* texts)[1], "The order is delivered.")
      yield* ask("And before?")
      assert.strictEqual((yield* texts)[2], "Before, you asked: How do you make tea? Where is my order 41?")

      yield* ann.send("tea, please")
      yield* seconds(1)
      const messages = yield* Emulator.messages(dialog)
      yield* ann.press(messages.at(-1)!, "Stop")
      yield* seconds(2)
      const stopped = (yield* texts)[3]!
      assert.match(stopped, /^Tea begins.*\n\n\(stopped\)$/s)
      assert.notInclude(stopped, "cup")

      yield* ask("/forget")
      yield* ask("And before?")
      assert.strictEqual((yield* texts)[5], "Before, you asked: ")
    }).pipe(Effect.scoped, Effect.provide(updates))
  )
})

const event = (delta: object) => `data: ${JSON.stringify({ choices: [{ delta }] })}\n\n`

/** An API that is compatible with OpenAI, with one answer, and the requests that it got. */
const makeApi = (status: number, body: string) => {
  const requests: Array<unknown> = []
  const client = HttpClient.make((request) =>
    Effect.sync(() => {
      const text = request.body._tag === "Uint8Array" ? new TextDecoder().decode(request.body.body) : "{}"
      requests.push({ url: request.url, body: JSON.parse(text) as unknown })
      return HttpClientResponse.fromWeb(request, new Response(body, { status }))
    })
  )
  const model = Layer.provide(
    OpenAi.layer({ baseUrl: "http://localhost:1234/v1/", model: "small" }),
    Layer.succeed(HttpClient.HttpClient, client)
  )
  return { model, requests }
}

const Add = Tool.make("Add", {
  description: "Adds numbers",
  parameters: Schema.Struct({ a: Schema.Int, b: Schema.Int }),
  success: Schema.Int
})

const Numbers = Toolkit.make(Add)

describe("the model behind an API that is compatible with OpenAI", () => {
  it.effect("streams the text of its events", () => {
    const { model, requests } = makeApi(200, `${event({ content: "Hel" })}${event({ content: "lo" })}data: [DONE]\n\n`)
    return Effect.gen(function* () {
      const text = Assistant.text(LanguageModel.streamText({ prompt: "Hi" }))
      assert.deepStrictEqual([...(yield* Stream.runCollect(text))], ["Hel", "lo"])
      assert.deepStrictEqual(requests, [
        {
          url: "http://localhost:1234/v1/chat/completions",
          body: { model: "small", stream: true, messages: [{ role: "user", content: "Hi" }] }
        }
      ])
    }).pipe(Effect.provide(model))
  })

  it.effect("calls functions whose arguments arrive in parts", () => {
    const call = (args: string, id?: string) =>
      event({
        tool_calls: [{ index: 0, id, function: { name: id === undefined ? undefined : "Add", arguments: args } }]
      })
    const { model, requests } = makeApi(200, `${call('{"a":1', "c1")}${call(',"b":2}')}data: [DONE]\n\n`)
    return Effect.gen(function* () {
      const parts = yield* Stream.runCollect(LanguageModel.streamText({ prompt: "1 + 2", toolkit: Numbers }))
      const results = [...parts].flatMap((part) => (part.type === "tool-result" ? [part.result] : []))
      assert.deepStrictEqual(results, [3])
      assert.include(JSON.stringify(requests), "Adds numbers")
    }).pipe(Effect.provide(Layer.merge(model, Numbers.toLayer({ Add: ({ a, b }) => Effect.succeed(a + b) }))))
  })

  it.effect("fails with AiError if the API refuses the request", () => {
    const { model } = makeApi(401, "no")
    return Effect.gen(function* () {
      const text = Assistant.text(LanguageModel.streamText({ prompt: "Hi" }))
      const error = yield* Effect.flip(Stream.runDrain(text))
      assert.strictEqual(error.reason._tag, "AuthenticationError")
    }).pipe(Effect.provide(model))
  })
})
