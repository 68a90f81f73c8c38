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
import { type Issued, makeAuthority, makeExpired, makeHost, makeSelfSigned } from "./support/certificates.ts"
import { says } from "./support/fidelity.ts"
import { listen } from "./support/listen.ts"
import { raw } from "./support/raw.ts"

interface Received {
  readonly method: string | undefined
  readonly path: string | undefined
  readonly headers: IncomingMessage["headers"]
  readonly body: string
}

/** Keeps what comes, and answers 200. */
const keep =
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

/** What becomes of a delivery to a server that shows a certificate and those above it. */
const deliverTo = Effect.fnUntraced(function* (
  shown: ReadonlyArray<Issued>,
  trusted: ReadonlyArray<Issued>,
  { status = 200, url: at = url }: { readonly status?: number; readonly url?: string } = {}
) {
  const received: Array<Received> = []
  const cert = shown.map(({ pem }) => pem).join("\n")
  const port = yield* listen(createSecure({ cert, key: shown[0].key }, keep(received, status)))
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

const untrusted = Effect.fnUntraced(function* (delivering: ReturnType<typeof deliverTo>) {
  const { delivery, received } = yield* delivering
  assert.strictEqual(outcome(delivery), "Untrusted")
  assert.deepStrictEqual(received, [])
})

describe("a webhook over HTTPS", () => {
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
      yield* untrusted(deliverTo([yield* makeHost(host, intermediate), intermediate], []))
    })
  )

  says(
    "Events",
    "Self-signed certificates are not supported",
    Effect.gen(function* () {
      const { root } = yield* authorities
      yield* untrusted(deliverTo([yield* makeSelfSigned(host)], [root]))
    })
  )

  says(
    "Events",
    "The URL host name matches the certificate CN or SAN",
    Effect.gen(function* () {
      const { intermediate, root } = yield* authorities
      yield* untrusted(deliverTo([yield* makeHost("other.example", intermediate), intermediate], [root]))
    })
  )

  it.live("is not told at an address that its certificate does not name", () =>
    Effect.gen(function* () {
      const { intermediate, root } = yield* authorities
      const shown = [yield* makeHost(host, intermediate), intermediate]
      yield* untrusted(deliverTo(shown, [root], { url: "https://127.0.0.1/updates" }))
    })
  )

  says(
    "Events",
    "The full certificate chain is served",
    Effect.gen(function* () {
      const { intermediate, root } = yield* authorities
      yield* untrusted(deliverTo([yield* makeHost(host, intermediate)], [root]))
    })
  )

  it.live("is not told where its certificate has expired", () =>
    Effect.gen(function* () {
      const { intermediate, root } = yield* authorities
      yield* untrusted(deliverTo([yield* makeExpired(host, intermediate), intermediate], [root]))
    })
  )

  it.live("is not followed where it redirects", () =>
    Effect.gen(function* () {
      const { intermediate, root } = yield* authorities
      const shown = [yield* makeHost(host, intermediate), intermediate]
      const { delivery } = yield* deliverTo(shown, [root], { status: 307 })
      assert.strictEqual(outcome(delivery), 307)
    })
  )
})

describe("a webhook over HTTP on the loopback", () => {
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

  it.live("is told where that is switched on", () =>
    Effect.gen(function* () {
      const received: Array<Received> = []
      const port = yield* listen(createPlain(keep(received)))
      assert.strictEqual(yield* deliverTo(`http://127.0.0.1:${port}/updates`), 200)
      assert.deepStrictEqual(
        received.map(({ body }) => body),
        ['{"update_type":"planet_aligned","seq":116328127605864690}']
      )
    }).pipe(Effect.scoped)
  )

  it.live("is unreachable where nobody listens", () =>
    Effect.gen(function* () {
      const port = yield* Effect.scoped(listen(createPlain()))
      assert.strictEqual(yield* deliverTo(`http://127.0.0.1:${port}/`), "Unreachable")
    })
  )

  it.effect("is hung up on where it has not answered in 30 seconds", () =>
    Effect.gen(function* () {
      const begun = yield* Deferred.make<void>()
      const ended = yield* Deferred.make<void>()
      const hang: RequestListener = (request) => {
        Deferred.doneUnsafe(begun, Effect.void)
        request.socket.on("close", () => Deferred.doneUnsafe(ended, Effect.void))
      }
      const port = yield* listen(createPlain(hang))
      const delivering = yield* Effect.forkChild(deliverTo(`http://127.0.0.1:${port}/`))
      yield* Deferred.await(begun)
      yield* TestClock.adjust("29999 millis")
      assert.isFalse(yield* Deferred.isDone(ended))
      yield* TestClock.adjust("1 millis")
      assert.strictEqual(yield* Fiber.join(delivering), "TimedOut")
      yield* Deferred.await(ended)
    })
  )

  it.live("has failed where it hangs up", () =>
    Effect.gen(function* () {
      const port = yield* listen(createPlain((request) => request.socket.destroy()))
      assert.strictEqual(yield* deliverTo(`http://127.0.0.1:${port}/`), "ConnectionLost")
    }).pipe(Effect.scoped)
  )
})
