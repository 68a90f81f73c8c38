import { NodeWebhook } from "@colloquy/node"
import { assert, describe, it } from "@effect/vitest"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as http from "node:http"
import * as net from "node:net"
import { makeRoot, makeLeaf } from "../../support/certificates.ts"
import { start } from "../../support/programs.ts"
import { connect, post, receiver, started, texts, until } from "../../support/webhooks.ts"

/** Opens connections on which nothing is sent. They are opened in batches, so that the system does not drop any. */
const openSilent = Effect.fnUntraced(function* (port: number, count: number) {
  const sockets: Array<net.Socket> = []
  yield* Effect.addFinalizer(() => Effect.sync(() => sockets.forEach((socket) => socket.destroy())))
  let closed = 0
  const open = Effect.callback<void>((resume) => {
    const socket = net.connect(port, "127.0.0.1", () => resume(Effect.void))
    sockets.push(socket.on("close", () => closed++).resume())
    socket.on("error", () => resume(Effect.void))
  })
  yield* Effect.replicateEffect(open, count, { concurrency: 100, discard: true })
  return { closed: Effect.sync(() => closed) }
})

const server = (options: Partial<NodeWebhook.ServerOptions>, bodyTimeout: Duration.Input = "1 hour") =>
  NodeWebhook.layerServer({ port: 0, host: "127.0.0.1", ...options }).pipe(
    Layer.provideMerge(receiver({ bodyTimeout }))
  )

const portOf = NodeWebhook.NodeWebhook.use(({ port }) => Effect.succeed(port))

const get = (agent: http.Agent, port: number) =>
  Effect.callback<number | undefined>((resume) => {
    http
      .get(`http://127.0.0.1:${port}/health/live`, { agent }, (response) => {
        response.resume().on("end", () => resume(Effect.succeed(response.statusCode)))
      })
      .on("error", () => resume(Effect.undefined))
  })

describe("The connections of NodeWebhook", () => {
  it.live("allow deliveries while 1,100 idle ones are opened in a process with a limit of 1,024 files", () =>
    Effect.gen(function* () {
      const { address } = yield* start("bot", 1024)
      const at = yield* address
      const { closed } = yield* openSilent(Number(new URL(at).port), 1100)
      for (let i = 0; i < 20; i++) {
        assert.strictEqual((yield* post(at, { body: started(i), headers: { connection: "close" } })).status, 200)
      }
      assert.isAtLeast(yield* until(closed, (count) => count >= 1100 - 512), 1100 - 512)
    }).pipe(Effect.scoped)
  )

  it.live("are closed when more than the maximum are idle, the longest idle one first", () =>
    Effect.gen(function* () {
      const port = yield* portOf
      const sockets = yield* Effect.forEach([0, 1, 2, 3], () => connect(port))
      yield* until(sockets[0].isClosed, (isClosed) => isClosed)
      assert.deepStrictEqual(yield* Effect.forEach(sockets, ({ isClosed }) => isClosed), [true, false, false, false])
    }).pipe(Effect.scoped, Effect.provide(server({ maxIdleConnections: 3 })))
  )

  it.live("stay open for the next request while idle ones are closed", () =>
    Effect.gen(function* () {
      const port = yield* portOf
      const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
      yield* Effect.addFinalizer(() => Effect.sync(() => agent.destroy()))
      assert.strictEqual(yield* get(agent, port), 200)
      const [kept] = Object.values(agent.freeSockets).flat()
      const { closed } = yield* openSilent(port, 20)
      yield* until(closed, (count) => count >= 17)
      assert.strictEqual(yield* get(agent, port), 200)
      assert.strictEqual(Object.values(agent.freeSockets).flat()[0], kept)
    }).pipe(Effect.scoped, Effect.provide(server({ maxIdleConnections: 4 })))
  )

  it.live("stay open while a request is in progress", () =>
    Effect.gen(function* () {
      const port = yield* portOf
      const { received, write } = yield* connect(port)
      const text = started(1)
      yield* write(
        [
          "POST /updates HTTP/1.1",
          "host: bot.example",
          "x-svc-bot-api-secret: a-secret-for-tests",
          `content-length: ${Buffer.byteLength(text)}`,
          "expect: 100-continue",
          "",
          ""
        ].join("\r\n")
      )
      yield* until(received, (text) => text.includes("100 Continue"))
      const { closed } = yield* openSilent(port, 20)
      yield* until(closed, (count) => count >= 18)
      yield* write(text)
      yield* until(received, (text) => text.includes("HTTP/1.1 200"))
      assert.deepStrictEqual(yield* texts, [text])
    }).pipe(Effect.scoped, Effect.provide(server({ maxIdleConnections: 2 })))
  )

  it.live("are closed if no headers arrive within bodyTimeout", () =>
    Effect.gen(function* () {
      const port = yield* portOf
      const silent = yield* connect(port)
      const slow = yield* connect(port)
      yield* slow.write("POST /updates HTTP/1.1\r\nhost: bot")
      for (const { isClosed } of [silent, slow]) yield* until(isClosed, (isClosed) => isClosed)
    }).pipe(Effect.scoped, Effect.provide(server({}, "50 millis")))
  )

  it.live("are closed over TLS too: without a handshake, and when too many are idle", () =>
    Effect.gen(function* () {
      const root = yield* makeRoot("Root")
      const leaf = yield* makeLeaf(root, [{ type: "dns", value: "bot.example" }])
      const tls = { key: leaf.key, cert: leaf.pem }
      yield* Effect.gen(function* () {
        const { closed } = yield* openSilent(yield* portOf, 20)
        yield* until(closed, (count) => count === 16)
      }).pipe(Effect.scoped, Effect.provide(server({ tls, maxIdleConnections: 4 })))
      yield* Effect.gen(function* () {
        const { isClosed } = yield* connect(yield* portOf)
        yield* until(isClosed, (isClosed) => isClosed)
      }).pipe(Effect.scoped, Effect.provide(server({ tls }, "50 millis")))
    })
  )
})
