import { Chat, Me, Messages, RateLimiter, RetryPolicy } from "@colloquy/core"
import { NodeBot, NodeBotHttpClient } from "@colloquy/node"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as HttpClient from "effect/http/HttpClient"
import type * as HttpClientError from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Stream from "effect/Stream"
import type { RequestListener } from "node:http"
import * as Servers from "../support/servers.ts"

const botOn = (baseUrl: string, options?: Partial<NodeBot.ClientOptions>) =>
  NodeBot.layer({ token: "the-token", ...options, baseUrl })

/** Returns the reason of a call that fails below HTTP without a retry. */
const lost = (baseUrl: string, options?: NodeBotHttpClient.Options) =>
  Me.get().pipe(
    RetryPolicy.override(RetryPolicy.none),
    Effect.provide(botOn(baseUrl, options)),
    Effect.flip,
    Effect.map((error) =>
      error._tag === "RequestFailed" && error.reason._tag === "Transport"
        ? { kind: error.reason.kind, isSent: error.reason.isSent }
        : error.message
    )
  )

const execute = (url: string) =>
  HttpClient.execute(HttpClientRequest.get(url).pipe(HttpClientRequest.acceptJson)).pipe(
    Effect.provideService(HttpClient.TracerDisabledWhen, () => true),
    Effect.provide(NodeBotHttpClient.layer())
  )

describe("the HTTP client: an API call", () => {
  it.live("sends the body, and reads a response that is split inside a character", () =>
    Effect.gen(function* () {
      const seen: Array<string> = []
      const answer = Buffer.from(
        `{"message":{"recipient":{"chat_id":5,"chat_type":"dialog"},"timestamp":1,"body":{"mid":"m","seq":116260864008126464,"text":"привет"}}}`
      )
      const cut = answer.indexOf("п") + 1
      const baseUrl = yield* Servers.serve((request, response) => {
        request.on("data", (chunk: Buffer) => seen.push(chunk.toString()))
        request.on("end", () => {
          response.write(answer.subarray(0, cut))
          setImmediate(() => response.end(answer.subarray(cut)))
        })
      })
      const message = yield* Effect.provide(
        Messages.send({ chat_id: Chat.ChatId.make(5), text: "как дела?" }),
        botOn(baseUrl)
      )
      assert.strictEqual(message.body?.text, "привет")
      assert.strictEqual(message.body?.seq, 116260864008126464n)
      assert.deepStrictEqual(JSON.parse(seen.join("")), { text: "как дела?" })
    })
  )

  it.live("sends nothing if the permit of the request has expired when a connection is available", () =>
    Effect.gen(function* () {
      let received = 0
      const url = yield* Servers.serve((_, response) => {
        received++
        response.end("{}")
      })
      const error = yield* Effect.flip(Effect.provideService(execute(url), RateLimiter.ConfirmPermit, () => false))
      assert.instanceOf((error as HttpClientError.HttpClientError).reason.cause, RateLimiter.PermitExpired)
      assert.strictEqual(received, 0)
      yield* Effect.provideService(execute(url), RateLimiter.ConfirmPermit, () => true)
      assert.strictEqual(received, 1)
    })
  )

  it.live("closes its connection when the response has too many bytes", () =>
    Effect.gen(function* () {
      const closed = yield* Deferred.make<void>()
      let sent = 0
      const baseUrl = yield* Servers.serve((_, response) => {
        const chunk = Buffer.alloc(2 ** 16, " ")
        const write = () => {
          sent += chunk.byteLength
          if (response.write(chunk)) setImmediate(write)
        }
        response.on("drain", write)
        response.on("close", () => Deferred.doneUnsafe(closed, Effect.void))
        write()
      })
      const error = yield* Effect.flip(Effect.provide(Me.get(), botOn(baseUrl, { maxResponseSize: 100_000 })))
      yield* Deferred.await(closed)
      assert.include(error.message, "the response has more than 100000 bytes")
      assert.isBelow(sent, 2 ** 25)
    })
  )

  it.live("closes its connection if it is interrupted", () =>
    Effect.gen(function* () {
      const arrived = yield* Deferred.make<void>()
      const closed = yield* Deferred.make<void>()
      const baseUrl = yield* Servers.serve((_, response) => {
        Deferred.doneUnsafe(arrived, Effect.void)
        response.on("close", () => Deferred.doneUnsafe(closed, Effect.void))
      })
      const fiber = yield* Effect.forkChild(Effect.provide(Me.get(), botOn(baseUrl)))
      yield* Deferred.await(arrived)
      yield* Fiber.interrupt(fiber)
      yield* Deferred.await(closed)
    })
  )

  it.live("does not reach the host if it is interrupted while it waits for a connection", () =>
    Effect.gen(function* () {
      const arrived = yield* Deferred.make<void>()
      const paths: Array<string> = []
      const answers: Array<() => void> = []
      const baseUrl = yield* Servers.serve((request, response) => {
        paths.push(request.url ?? "")
        answers.push(() => response.end(`{"user_id":1,"first_name":"Echo","is_bot":true}`))
        Deferred.doneUnsafe(arrived, Effect.void)
      })
      yield* Effect.gen(function* () {
        const first = yield* Effect.forkChild(Me.get())
        yield* Deferred.await(arrived)
        const waiting = yield* Effect.forkChild(Messages.list({ chat_id: Chat.ChatId.make(7) }))
        yield* Effect.yieldNow
        yield* Fiber.interrupt(waiting)
        answers[0]()
        assert.strictEqual((yield* Fiber.join(first)).first_name, "Echo")
      }).pipe(Effect.provide(botOn(baseUrl, { connections: 1 })))
      assert.deepStrictEqual(paths, ["/me"])
    })
  )

  it.live("fails with the failure below HTTP", () =>
    Effect.gen(function* () {
      const port = yield* Servers.closedPort
      assert.deepStrictEqual(yield* lost(`http://127.0.0.1:${port}`), { kind: "Refused", isSent: false })

      const halfway: RequestListener = (_, response) => {
        response.writeHead(200, { "content-length": 100 }).write("{", () => response.destroy())
      }
      assert.deepStrictEqual(yield* lost(yield* Servers.serve(halfway)), { kind: "Reset", isSent: true })

      const silent = yield* Servers.serve(() => {})
      assert.deepStrictEqual(yield* lost(silent, { headersTimeout: "100 millis" }), { kind: "Timeout", isSent: true })
    })
  )

  it.live("ends after callTimeout, even if data keeps arriving", () =>
    Effect.gen(function* () {
      const trickling = yield* Servers.serve((_, response) => {
        const timer = setInterval(() => response.write(" "), 20)
        response.on("close", () => clearInterval(timer))
      })
      assert.deepStrictEqual(yield* lost(trickling, { callTimeout: "200 millis" }), { kind: "Timeout", isSent: true })
    })
  )

  it.live("is sent through the proxy", () =>
    Effect.gen(function* () {
      const baseUrl = yield* Servers.serve(
        (_, response) => void response.end(`{"user_id":1,"first_name":"Echo","is_bot":true}`)
      )
      const proxy = yield* Servers.serveProxy()
      yield* Effect.provide(Me.get(), botOn(baseUrl, { proxy: `http://${proxy.address}` }))
      assert.lengthOf(proxy.tunnels, 1)
    })
  )

  it.live("returns a response with all its properties", () =>
    Effect.gen(function* () {
      const url = yield* Servers.serve((request, response) => {
        if (request.url === "/empty") return void response.writeHead(204).end()
        response.writeHead(200, { "content-type": "application/json", "set-cookie": ["a=1", "b=2"] }).end(`{"a":[1]}`)
      })
      const response = yield* execute(`${url}/full?x=1`)
      assert.strictEqual(response.status, 200)
      assert.strictEqual(response.url, `${url}/full?x=1`)
      assert.strictEqual(response.headers["content-type"], "application/json")
      assert.deepStrictEqual(yield* response.json, { a: [1] })
      assert.deepStrictEqual(Object.keys(response.cookies.cookies), ["a", "b"])

      const again = yield* execute(`${url}/full`)
      const bytes = yield* Stream.runFold(
        again.stream,
        () => 0,
        (sum, chunk) => sum + chunk.length
      )
      assert.strictEqual(bytes, 9)

      const empty = yield* execute(`${url}/empty`)
      assert.strictEqual(empty.status, 204)
      assert.strictEqual(yield* empty.text, "")
      assert.strictEqual((yield* empty.arrayBuffer).byteLength, 0)
    })
  )
})

describe("the HTTP client: a request that is no API call", () => {
  it.live("returns a response with all its properties", () =>
    Effect.gen(function* () {
      const url = yield* Servers.serve((request, response) => {
        if (request.url === "/empty") return void response.writeHead(204).end()
        response.writeHead(700, { "content-type": "application/json", "set-cookie": ["a=1", "b=2"] }).end(`{"a":[1]}`)
      })
      const client = yield* NodeBotHttpClient.make()
      const response = yield* client.get(`${url}/full?x=1#fragment`)
      assert.deepStrictEqual([response.status, response.url], [700, `${url}/full?x=1`])
      assert.deepStrictEqual(response.headers["content-type"], "application/json")
      assert.deepStrictEqual(yield* response.json, { a: [1] })
      assert.deepStrictEqual(Object.keys(response.cookies.cookies), ["a", "b"])
      const again = yield* client.get(`${url}/full`)
      assert.strictEqual(yield* Stream.mkString(Stream.decodeText(again.stream)), `{"a":[1]}`)
      assert.strictEqual(yield* (yield* client.get(`${url}/empty`)).text, "")
    }).pipe(Effect.scoped)
  )

  it.live("fails if the connection ends in the middle of the body", () =>
    Effect.gen(function* () {
      const url = yield* Servers.serve((_, response) => {
        response.writeHead(200, { "content-length": 100 }).write("begin", () => response.destroy())
      })
      const client = yield* NodeBotHttpClient.make()
      const response = yield* client.get(url)
      const error = yield* Effect.flip(Stream.runDrain(response.stream))
      assert.strictEqual(error.reason._tag, "DecodeError")
      const second = yield* Effect.flip(Effect.flatMap(client.get(url), ({ text }) => text))
      assert.strictEqual(second.reason._tag, "DecodeError")
    }).pipe(Effect.scoped)
  )
})
