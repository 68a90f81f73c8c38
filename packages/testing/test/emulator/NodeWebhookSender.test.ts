import { Json, Subscriptions } from "@colloquy/core"
import { Emulator, NodeWebhookSender, type WebhookSender } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { createServer as createPlain, type IncomingMessage, type RequestListener } from "node:http"
import { createServer as createSecure } from "node:https"
import { type Issued, makeAuthority, makeExpired, makeHost, makeSelfSigned } from "../support/certificates.ts"
import { says } from "../support/fidelity.ts"
import { listen } from "../support/listen.ts"
import { raw } from "../support/raw.ts"

interface Received {
  readonly method: string | undefined
  readonly path: string | undefined
  readonly headers: IncomingMessage["headers"]
  readonly body: string
}

/** Records each request, and answers with a status. */
const record =
  (received: Array<Received>, status = 200): RequestListener =>
  (request, response) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      const { headers, method, url: path } = request
      received.push({ method, path, headers, body: Buffer.concat(chunks).toString() })
      response.writeHead(status, { location: "https://elsewhere.example/" }).end("answer")
    })
  }

const host = "bot.example"

const url = `https://${host}/updates?of=bot`

const authorities = Effect.gen(function* () {
  const root = yield* makeAuthority("Root")
  const intermediate = yield* makeAuthority("Intermediate", root)
  return { root, intermediate }
})

/** Delivers an update to a server with this certificate chain, and returns the delivery and the received requests. */
const deliverTo = Effect.fnUntraced(function* (
  chain: ReadonlyArray<Issued>,
  trusted: ReadonlyArray<Issued>,
  { status = 200, url: at = url }: { readonly status?: number; readonly url?: string } = {}
) {
  const received: Array<Received> = []
  const cert = chain.map(({ pem }) => pem).join("\n")
  const port = yield* listen(createSecure({ cert, key: chain[0].key }, record(received, status)))
  const sender = NodeWebhookSender.layer({
    extraCa: trusted.map(({ pem }) => pem),
    connectTo: { host: "127.0.0.1", port }
  })
  const delivery = yield* Effect.gen(function* () {
    yield* Subscriptions.subscribe({ url: at, secret: "a-long-secret" })
    const visitor = yield* Emulator.user("Анна")
    yield* visitor.start()
    return Option.getOrThrow(yield* Stream.runHead(Emulator.attempts))
  }).pipe(Effect.provide(Emulator.layerBot().pipe(Layer.provide(sender))))
  return { delivery, received }
}, Effect.scoped)

const outcome = ({ failure, status }: WebhookSender.Delivery) => status ?? failure

const isUntrusted = Effect.fnUntraced(function* (delivering: ReturnType<typeof deliverTo>) {
  const { delivery, received } = yield* delivering
  assert.strictEqual(outcome(delivery), "Untrusted")
  assert.deepStrictEqual(received, [])
})

describe("NodeWebhookSender", () => {
  says(
    "Events",
    "Events are sent over HTTPS to an endpoint whose certificate chain leads to a trusted authority",
    Effect.gen(function* () {
      const { intermediate, root } = yield* authorities
      const leaf = yield* makeHost(host, intermediate)
      const { delivery, received } = yield* deliverTo([leaf, intermediate], [root])
      assert.strictEqual(outcome(delivery), 200)
      assert.strictEqual(received.length, 1)
      const [{ body, headers, method, path }] = received
      assert.deepStrictEqual([method, path, headers.host], ["POST", "/updates?of=bot", host])
      assert.strictEqual(headers["content-type"], "application/json")
      assert.strictEqual(headers["x-svc-bot-api-secret"], "a-long-secret")
      assert.deepNestedInclude(Json.parse(body), { update_type: "bot_started", "user.first_name": "Анна" })
    })
  )

  says(
    "Events",
    "The certificate is issued by a trusted authority",
    Effect.gen(function* () {
      const { intermediate } = yield* authorities
      yield* isUntrusted(deliverTo([yield* makeHost(host, intermediate), intermediate], []))
    })
  )

  says(
    "Events",
    "Self-signed certificates are not supported",
    Effect.gen(function* () {
      const { root } = yield* authorities
      yield* isUntrusted(deliverTo([yield* makeSelfSigned(host)], [root]))
    })
  )

  says(
    "Events",
    "The URL host name matches the certificate CN or SAN",
    Effect.gen(function* () {
      const { intermediate, root } = yield* authorities
      yield* isUntrusted(deliverTo([yield* makeHost("other.example", intermediate), intermediate], [root]))
    })
  )

  it.live("does not deliver to a host that the certificate does not contain", () =>
    Effect.gen(function* () {
      const { intermediate, root } = yield* authorities
      const chain = [yield* makeHost(host, intermediate), intermediate]
      yield* isUntrusted(deliverTo(chain, [root], { url: "https://127.0.0.1/updates" }))
    })
  )

  says(
    "Events",
    "The full certificate chain is served",
    Effect.gen(function* () {
      const { intermediate, root } = yield* authorities
      yield* isUntrusted(deliverTo([yield* makeHost(host, intermediate)], [root]))
    })
  )

  it.live("does not deliver to a URL whose certificate has expired", () =>
    Effect.gen(function* () {
      const { intermediate, root } = yield* authorities
      yield* isUntrusted(deliverTo([yield* makeExpired(host, intermediate), intermediate], [root]))
    })
  )

  it.live("does not follow a redirect", () =>
    Effect.gen(function* () {
      const { intermediate, root } = yield* authorities
      const chain = [yield* makeHost(host, intermediate), intermediate]
      const { delivery } = yield* deliverTo(chain, [root], { status: 307 })
      assert.strictEqual(outcome(delivery), 307)
    })
  )
})

describe("NodeWebhookSender with insecureWebhooks", () => {
  const bot = Layer.mergeAll(
    Emulator.layerBot({ insecureWebhooks: true }).pipe(Layer.provide(NodeWebhookSender.layer())),
    Logger.layer([])
  )

  const deliverTo = Effect.fnUntraced(function* (url: string) {
    const { text } = yield* raw("POST", "/subscriptions", { body: JSON.stringify({ url }) })
    assert.deepStrictEqual(JSON.parse(text), { success: true })
    yield* Emulator.deliver({ update_type: "planet_aligned", seq: 116328127605864690n })
    return outcome(Option.getOrThrow(yield* Stream.runHead(Emulator.attempts)))
  }, Effect.provide(bot))

  it.live("delivers over HTTP to the loopback interface", () =>
    Effect.gen(function* () {
      const received: Array<Received> = []
      const port = yield* listen(createPlain(record(received)))
      assert.strictEqual(yield* deliverTo(`http://127.0.0.1:${port}/updates`), 200)
      assert.deepStrictEqual(
        received.map(({ body }) => body),
        ['{"update_type":"planet_aligned","seq":116328127605864690}']
      )
    }).pipe(Effect.scoped)
  )

  it.live("fails with Unreachable if no server listens", () =>
    Effect.gen(function* () {
      const port = yield* Effect.scoped(listen(createPlain()))
      assert.strictEqual(yield* deliverTo(`http://127.0.0.1:${port}/`), "Unreachable")
    })
  )

  it.effect("closes the connection and fails with TimedOut after 30 seconds without a response", () =>
    Effect.gen(function* () {
      const arrived = yield* Deferred.make<void>()
      const closed = yield* Deferred.make<void>()
      const neverAnswer: RequestListener = (request) => {
        Deferred.doneUnsafe(arrived, Effect.void)
        request.socket.on("close", () => Deferred.doneUnsafe(closed, Effect.void))
      }
      const port = yield* listen(createPlain(neverAnswer))
      const delivering = yield* Effect.forkChild(deliverTo(`http://127.0.0.1:${port}/`))
      yield* Deferred.await(arrived)
      yield* TestClock.adjust("29999 millis")
      assert.isFalse(yield* Deferred.isDone(closed))
      yield* TestClock.adjust("1 millis")
      assert.strictEqual(yield* Fiber.join(delivering), "TimedOut")
      yield* Deferred.await(closed)
    })
  )

  it.live("fails with ConnectionLost if the server closes the connection", () =>
    Effect.gen(function* () {
      const port = yield* listen(createPlain((request) => request.socket.destroy()))
      assert.strictEqual(yield* deliverTo(`http://127.0.0.1:${port}/`), "ConnectionLost")
    }).pipe(Effect.scoped)
  )
})
