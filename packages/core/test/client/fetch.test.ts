import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { BotApi, Me, Messages, RateLimiter, RetryPolicy } from "../../src/index.ts"
import { chat_id } from "../support/fixtures.ts"
import { baseUrl, nodeError, token, unlimited } from "../support/scripted.ts"

type Fetch = typeof globalThis.fetch

const clientOn = (fetch: Fetch, options: Partial<BotApi.Options> = {}) =>
  BotApi.layerFetch({ token: Redacted.make(token), baseUrl, ...options }).pipe(
    Layer.provide(RateLimiter.layerMemory(unlimited)),
    Layer.provide(Layer.succeed(FetchHttpClient.Fetch, fetch)),
    Layer.merge(Layer.succeed(RetryPolicy.RetryPolicy, RetryPolicy.none))
  )

const bot = { user_id: 7, first_name: "Bot", is_bot: true }

/** A body in chunks, and whether the reader has cancelled the body. */
const bodyOf = (chunks: ReadonlyArray<Uint8Array<ArrayBuffer>>, signal: AbortSignal) => {
  const state = { read: 0, isCancelled: false }
  const body = new ReadableStream<Uint8Array>(
    {
      start: (controller) => signal.addEventListener("abort", () => controller.error(signal.reason)),
      pull: (controller) => {
        const chunk = chunks[state.read++]
        if (chunk === undefined) controller.close()
        else controller.enqueue(chunk)
      }
    },
    { highWaterMark: 0 }
  )
  signal.addEventListener("abort", () => (state.isCancelled = true))
  return { body, state }
}

describe("A client that sends by fetch", () => {
  it.live("sends the token, and a body as JSON", () =>
    Effect.gen(function* () {
      const sent: Array<readonly [unknown, RequestInit | undefined]> = []
      const fetch: Fetch = async (url, init) => {
        sent.push([url, init])
        return Response.json(
          init?.method === "GET" ? bot : { message: { recipient: { chat_id, chat_type: "dialog" }, timestamp: 1 } }
        )
      }
      const calls = Effect.andThen(Messages.send({ chat_id, text: "Hello" }), Me.get())
      assert.strictEqual((yield* Effect.provide(calls, clientOn(fetch))).user_id, 7)
      const headers = { authorization: token, accept: "application/json" }
      assert.deepStrictEqual(
        sent.map(([url, init]) => [url, init?.method, init?.headers, init?.body]),
        [
          [
            `${baseUrl}/messages?chat_id=${chat_id}`,
            "POST",
            { ...headers, "content-type": "application/json" },
            '{"text":"Hello"}'
          ],
          [`${baseUrl}/me`, "GET", headers, undefined]
        ]
      )
    })
  )

  it.live("reads a character whose bytes are in two chunks", () =>
    Effect.gen(function* () {
      const bytes = new TextEncoder().encode(JSON.stringify({ ...bot, first_name: "é" }))
      const middle = bytes.indexOf(0xc3) + 1
      const fetch: Fetch = async (_, init) =>
        new Response(bodyOf([bytes.slice(0, middle), bytes.slice(middle)], init!.signal!).body)
      assert.strictEqual((yield* Effect.provide(Me.get(), clientOn(fetch))).first_name, "é")
    })
  )

  it.live("stops reading a response that is larger than maxResponseSize", () =>
    Effect.gen(function* () {
      const chunks = Array.from({ length: 100 }, () => new Uint8Array(100))
      let made: ReturnType<typeof bodyOf> | undefined
      const fetch: Fetch = async (_, init) => new Response((made = bodyOf(chunks, init!.signal!)).body)
      const failed = Effect.flip(Effect.provide(Me.get(), clientOn(fetch, { maxResponseSize: 250 })))
      assert.include((yield* failed).message, "the response has more than 250 bytes (the option maxResponseSize")
      assert.deepStrictEqual(made?.state, { read: 3, isCancelled: true })
    })
  )

  it.live("reports a response without a body", () =>
    Effect.gen(function* () {
      const fetch: Fetch = async () => new Response(null, { status: 204 })
      const error = yield* Effect.flip(Effect.provide(Me.get(), clientOn(fetch)))
      assert.include(error.message, "the body is empty")
    })
  )

  it.live("aborts a request that is interrupted", () =>
    Effect.gen(function* () {
      const received = Promise.withResolvers<AbortSignal>()
      const fetch: Fetch = (_, init) => {
        received.resolve(init!.signal!)
        return new Promise(() => {})
      }
      const fiber = yield* Effect.forkChild(Effect.provide(Me.get(), clientOn(fetch)))
      const signal = yield* Effect.promise(() => received.promise)
      assert.isFalse(signal.aborted)
      yield* Fiber.interrupt(fiber)
      assert.isTrue(signal.aborted)
    })
  )

  it.live("reports a failure without the token", () =>
    Effect.gen(function* () {
      const fetch: Fetch = () => Promise.reject(nodeError("ECONNREFUSED", `connect with ${token}`))
      const error = yield* Effect.flip(Effect.provide(Me.get(), clientOn(fetch)))
      assert(error._tag === "RequestFailed" && error.reason._tag === "Transport")
      assert.deepInclude(error.reason, { kind: "Refused", isSent: false, detail: "connect with <redacted>" })
      assert.notInclude(JSON.stringify(error.reason.cause), token)
    })
  )

  it.live("reports an address that is not a URL", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(Effect.provide(Me.get(), clientOn(globalThis.fetch, { baseUrl: "no address" })))
      assert(error._tag === "RequestFailed" && error.reason._tag === "Transport")
      assert.deepInclude(error.reason, { kind: "Invalid", isSent: false })
    })
  )
})
