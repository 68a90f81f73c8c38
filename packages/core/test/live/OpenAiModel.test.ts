import * as Assistant from "@colloquy/core/live/Assistant"
import * as OpenAiModel from "@colloquy/core/live/OpenAiModel"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Layer, Schema, Stream } from "effect"
import { LanguageModel, Tool, Toolkit } from "effect/ai"
import { HttpClient, HttpClientResponse } from "effect/http"

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
    OpenAiModel.layer({ baseUrl: "http://localhost:1234/v1/", model: "small" }),
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

describe("OpenAiModel", () => {
  it.effect("streams the text of its events", () => {
    const { model, requests } = makeApi(200, `${event({ content: "Hel" })}${event({ content: "lo" })}data: [DONE]\n\n`)
    return Effect.gen(function* () {
      const text = Assistant.text(LanguageModel.streamText({ prompt: "Hi" }))
      assert.deepStrictEqual(
        [...(yield* Stream.runCollect(Stream.filter(text, (delta) => delta !== "")))],
        ["Hel", "lo"]
      )
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

  it.effect("returns a whole answer with its calls of functions", () => {
    const call = event({ tool_calls: [{ index: 0, id: "c1", function: { name: "Add", arguments: '{"a":1,"b":2}' } }] })
    const { model } = makeApi(
      200,
      `${event({ content: "Let me " })}${event({ content: "see" })}${call}data: [DONE]\n\n`
    )
    return Effect.gen(function* () {
      const answer = yield* LanguageModel.generateText({ prompt: "1 + 2", toolkit: Numbers })
      assert.strictEqual(answer.text, "Let me see")
      assert.deepStrictEqual(
        answer.toolResults.map(({ result }) => result),
        [3]
      )
    }).pipe(Effect.provide(Layer.merge(model, Numbers.toLayer({ Add: ({ a, b }) => Effect.succeed(a + b) }))))
  })

  it.effect("reads its settings, and names the missing settings", () => {
    const requests: Array<{ readonly url: string; readonly key: string | undefined }> = []
    const client = HttpClient.make((request) =>
      Effect.sync(() => {
        requests.push({ url: request.url, key: request.headers["authorization"] })
        return HttpClientResponse.fromWeb(request, new Response("data: [DONE]\n\n"))
      })
    )
    const ask = (settings: Readonly<Record<string, string>>) =>
      LanguageModel.generateText({ prompt: "Hi" }).pipe(
        Effect.provide(
          OpenAiModel.layerConfig().pipe(
            Layer.provide(Layer.succeed(HttpClient.HttpClient, client)),
            Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown(settings)))
          )
        )
      )
    return Effect.gen(function* () {
      yield* ask({ MODEL_URL: "https://model.example/v1", MODEL_NAME: "small", MODEL_KEY: "secret" })
      assert.deepStrictEqual(requests, [{ url: "https://model.example/v1/chat/completions", key: "Bearer secret" }])
      const error = yield* Effect.flip(ask({ MODEL_URL: "https://model.example/v1" }))
      assert.include(error.message, "MODEL_NAME")
    })
  })
})
