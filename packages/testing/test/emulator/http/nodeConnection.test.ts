import { Emulator, EmulatorServer } from "@colloquy/testing"
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Agent, request as httpRequest } from "node:http"
import { connect } from "node:net"
import { token } from "../../support/control.ts"

const server = EmulatorServer.layer().pipe(Layer.provideMerge(Emulator.layer()))

interface Response {
  readonly status: number
  readonly text: string
  readonly port: number | undefined
}

const send = (agent: Agent, url: string, options: { readonly method?: string; readonly body?: string } = {}) =>
  Effect.callback<Response, unknown>((resume) => {
    const { body, method = "GET" } = options
    const request = httpRequest(url, { agent, method, headers: { authorization: token } }, (response) => {
      let text = ""
      const port = response.socket.localPort
      response.setEncoding("utf8")
      response.on("data", (chunk: string) => (text += chunk))
      response.on("error", (error) => resume(Effect.fail(error)))
      response.on("end", () => resume(Effect.succeed({ status: response.statusCode ?? 0, text, port })))
    })
    request.on("error", (error) => resume(Effect.fail(error)))
    request.end(body)
  })

const makeAgent = Effect.acquireRelease(
  Effect.sync(() => new Agent({ keepAlive: true, maxSockets: 1 })),
  (agent) => Effect.sync(() => agent.destroy())
)

layer(server, { excludeTestServices: true })("EmulatorServer.layer", (it) => {
  it.effect("keeps a connection open for the next request, also after an error", () =>
    Effect.gen(function* () {
      const { url } = yield* EmulatorServer.EmulatorServer
      const agent = yield* makeAgent
      const ask = (path: string, options?: { readonly method?: string; readonly body?: string }) =>
        send(agent, url + path, options)
      const health = yield* ask("/_emulator/health")
      assert.strictEqual(health.text, `{"status":"ready"}`)
      const bad = yield* ask("/messages?chat_id=1", { method: "POST", body: "{bad" })
      assert.deepStrictEqual([bad.status, JSON.parse(bad.text).code], [400, "proto.payload"])
      const head = yield* ask("/me", { method: "HEAD" })
      assert.deepStrictEqual([head.status, head.text], [200, ""])
      const options = yield* ask("/_emulator/users", { method: "OPTIONS" })
      assert.strictEqual(options.status, 204)
      const me = yield* ask("/me")
      assert.deepStrictEqual([me.status, JSON.parse(me.text).is_bot], [200, true])
      assert.deepStrictEqual(
        [bad, head, options, me].map(({ port }) => port),
        Array.from({ length: 4 }, () => health.port)
      )
    }).pipe(Effect.scoped)
  )

  it.effect("answers 413 to a body that is too large, and answers the next request", () =>
    Effect.gen(function* () {
      const { url } = yield* EmulatorServer.EmulatorServer
      const agent = yield* makeAgent
      const body = JSON.stringify({ text: "x".repeat(4 * 2 ** 20) })
      const large = yield* send(agent, `${url}/messages?chat_id=1`, { method: "POST", body })
      assert.deepStrictEqual([large.status, JSON.parse(large.text).code], [413, "proto.payload"])
      const tooLarge = yield* send(agent, `${url}/_emulator/users`, { method: "POST", body: "x".repeat(17 * 2 ** 20) })
      assert.strictEqual(tooLarge.status, 413)
      assert.strictEqual((yield* send(agent, `${url}/me`)).status, 200)
    }).pipe(Effect.scoped)
  )

  it.effect("closes the connection before a truncated body has its content-length, and sends one content-type", () =>
    Effect.gen(function* () {
      const { url } = yield* EmulatorServer.EmulatorServer
      const { hostname, port } = new URL(url)
      /** Returns everything that arrives until the connection is closed. */
      const read = Effect.callback<string>((resume) => {
        let text = ""
        const socket = connect(Number(port), hostname, () => {
          socket.write(`GET /me HTTP/1.1\r\nhost: x\r\nauthorization: ${token}\r\nconnection: close\r\n\r\n`)
        })
        socket.setEncoding("utf8")
        socket.on("data", (chunk: string) => (text += chunk))
        socket.on("close", () => resume(Effect.succeed(text)))
        return Effect.sync(() => socket.destroy())
      })
      const agent = yield* makeAgent
      const whole = yield* send(agent, `${url}/me`)
      yield* Emulator.addFault({ path: "/me", truncate: 10, reset: "after", times: 2 })
      const [head, body] = (yield* read).split("\r\n\r\n")
      assert.include(head, `content-length: ${whole.text.length}\r\n`)
      assert.strictEqual(body, whole.text.slice(0, 10))
      assert.instanceOf(yield* Effect.flip(send(agent, `${url}/me`)), Error)
      yield* Emulator.addFault({ path: "/me", truncate: 0, reset: "after", times: 1 })
      assert.match(yield* read, /content-length: \d+\r\n[^{]+\r\n\r\n$/)
      assert.strictEqual((yield* send(agent, `${url}/me`)).status, 200)
      yield* Emulator.addFault({ path: "/me", status: 500, body: "<html>", headers: { "Content-Type": "text/html" } })
      const [ended, page] = (yield* read).split("\r\n\r\n")
      assert.deepStrictEqual(ended.match(/content-type.*/gi), ["content-type: text/html"])
      assert.strictEqual(page, "<html>")
    }).pipe(Effect.scoped)
  )

  it.effect("answers other clients while a request does not end", () =>
    Effect.gen(function* () {
      const { url } = yield* EmulatorServer.EmulatorServer
      const { hostname, port } = new URL(url)
      const slow = yield* Effect.acquireRelease(
        Effect.callback<ReturnType<typeof connect>>((resume) => {
          const socket = connect(Number(port), hostname, () => {
            const head = `POST /messages?chat_id=1 HTTP/1.1\r\nhost: x\r\nauthorization: ${token}\r\ncontent-length: 100\r\n`
            socket.write(`${head}\r\n{"text":`, () => resume(Effect.succeed(socket)))
          })
        }),
        (socket) => Effect.sync(() => socket.destroy())
      )
      const agent = yield* makeAgent
      const answers = yield* Effect.forEach([1, 2, 3], () => send(agent, `${url}/me`))
      assert.deepStrictEqual(
        answers.map(({ status }) => status),
        [200, 200, 200]
      )
      assert.isFalse(slow.destroyed)
    }).pipe(Effect.scoped)
  )
})
