import { Bot, Inbox, StoreError, Subscriptions, Updates, Webhook } from "@colloquy/core"
import { NodeWebhook } from "@colloquy/node"
import { Emulator, NodeWebhookSender } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as HttpRouter from "effect/http/HttpRouter"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as http from "node:http"
import { gzipSync } from "node:zlib"
import * as Certificates from "../support/certificates.ts"
import { closedPort } from "../support/servers.ts"
import {
  connect,
  inbox,
  listen,
  post,
  receiver,
  secret,
  started,
  texts,
  until,
  url,
  queued
} from "../support/webhooks.ts"

const server = (options: Partial<Webhook.ReceiverOptions> = {}, over?: Layer.Layer<Inbox.Inbox>) =>
  NodeWebhook.layerServer({ port: 0, host: "127.0.0.1" }).pipe(Layer.provideMerge(receiver(options, over)))

const origin = NodeWebhook.NodeWebhook.use(({ port }) => Effect.succeed(`http://127.0.0.1:${port}`))

const requestHead = (...rest: ReadonlyArray<string>) =>
  ["POST /updates HTTP/1.1", "host: bot.example", `x-svc-bot-api-secret: ${secret}`, ...rest, "", ""].join("\r\n")

const talk = Effect.flatMap(NodeWebhook.NodeWebhook, ({ port }) => connect(port))

/** An inbox that says when it was asked to store an update, and stores it after it was released. */
const makeSlow = Effect.gen(function* () {
  const asked = yield* Deferred.make<void>()
  const release = yield* Deferred.make<void>()
  const slow = inbox(({ enqueue }) => ({
    enqueue: (batch) =>
      Deferred.succeed(asked, undefined).pipe(Effect.andThen(Deferred.await(release)), Effect.andThen(enqueue(batch)))
  }))
  return { asked, release, slow }
})

describe("NodeWebhook.layerServer", () => {
  it.live("stores a delivery and answers 200 without a body", () =>
    Effect.gen(function* () {
      const { body, headers, status } = yield* post(`${yield* origin}/updates?of=bot`)
      assert.deepStrictEqual([status, body, headers.get("content-length")], [200, "", "0"])
      assert.deepStrictEqual(yield* texts, [started()])
    }).pipe(Effect.provide(server()))
  )

  it.live("rejects requests that are not deliveries, without a response body", () =>
    Effect.gen(function* () {
      const at = yield* origin
      const wrong = yield* post(`${at}/updates`, { headers: { "x-svc-bot-api-secret": "wrong-secret" } })
      assert.deepStrictEqual([wrong.status, wrong.body], [403, ""])
      assert.strictEqual((yield* post(`${at}/`)).status, 404)
      const get = yield* post(`${at}/updates`, { method: "GET", body: null })
      assert.deepStrictEqual([get.status, get.headers.get("allow")], [405, "POST"])
      const form = yield* post(`${at}/updates`, { headers: { "content-type": "text/plain" } })
      assert.strictEqual(form.status, 415)
      assert.strictEqual(yield* queued, 0)
    }).pipe(Effect.provide(server()))
  )

  it.live("serves the health endpoints", () =>
    Effect.gen(function* () {
      const at = `${yield* origin}/health`
      const ready = yield* post(`${at}/ready`, { method: "GET", body: null })
      assert.deepStrictEqual([ready.status, ready.headers.get("content-type")], [200, "application/json"])
      assert.nestedPropertyVal(JSON.parse(ready.body), "checks.inbox.ok", true)
      assert.strictEqual((yield* post(`${at}/live`, { method: "HEAD", body: null })).status, 200)
      const updates = Updates.Updates.of({ inbox: yield* Inbox.Inbox, source: Effect.never })
      const bot = Effect.provideService(
        Bot.run(() => Effect.void),
        Updates.Updates,
        updates
      )
      yield* Fiber.interrupt(yield* Effect.forkChild(bot, { startImmediately: true }))
      assert.strictEqual((yield* post(`${at}/ready`, { method: "GET", body: null })).status, 503)
    }).pipe(Effect.provide(server()))
  )

  it.live("reads a compressed body, and a body that arrives byte by byte", () =>
    Effect.gen(function* () {
      const packed = yield* post(`${yield* origin}/updates`, {
        body: gzipSync(started(1)),
        headers: { "content-encoding": "gzip" }
      })
      assert.strictEqual(packed.status, 200)
      const { received, write } = yield* talk
      yield* write(requestHead("content-type: application/json", "transfer-encoding: chunked"))
      for (const byte of Buffer.from(started(2))) yield* write(Buffer.from([0x31, 0x0d, 0x0a, byte, 0x0d, 0x0a]))
      yield* write("0\r\n\r\n")
      assert.include(yield* until(received, (text) => text !== ""), "HTTP/1.1 200")
      assert.deepStrictEqual(yield* texts, [started(1), started(2)])
    }).pipe(Effect.scoped, Effect.provide(server()))
  )

  it.live("rejects a body of more than 1 MiB, with and without a content-length", () =>
    Effect.gen(function* () {
      const at = `${yield* origin}/updates`
      const large = "x".repeat(2 ** 20 + 1)
      assert.strictEqual((yield* post(at, { body: large })).status, 413)
      const { received, write } = yield* talk
      yield* write(requestHead("transfer-encoding: chunked"))
      yield* write(`${large.length.toString(16)}\r\n${large}\r\n`)
      assert.include(yield* until(received, (text) => text !== ""), "HTTP/1.1 413")
      const limit = started(1).padEnd(2 ** 20 - Buffer.byteLength(started(1)) + started(1).length, " ")
      assert.strictEqual(Buffer.byteLength(limit), 2 ** 20)
      assert.strictEqual((yield* post(at, { body: limit })).status, 200)
    }).pipe(Effect.scoped, Effect.provide(server()))
  )

  it.live("answers 408 to a client that sends its body too slowly", () =>
    Effect.gen(function* () {
      const { received, isClosed, write } = yield* talk
      yield* write(requestHead("content-length: 100"))
      yield* write("{")
      assert.include(yield* until(received, (text) => text !== ""), "HTTP/1.1 408")
      yield* until(isClosed, (closed) => closed)
      assert.strictEqual(yield* queued, 0)
    }).pipe(Effect.scoped, Effect.provide(server({ bodyTimeout: "50 millis" })))
  )

  it.live("stores nothing of an aborted body, and continues to serve", () =>
    Effect.gen(function* () {
      const { isClosed, socket, write } = yield* talk
      const text = started(1)
      yield* write(requestHead("content-type: application/json", `content-length: ${Buffer.byteLength(text) + 1}`))
      yield* write(text)
      socket.end()
      yield* until(isClosed, (closed) => closed)
      assert.strictEqual((yield* post(`${yield* origin}/updates`, { body: started(2) })).status, 200)
      assert.deepStrictEqual(yield* texts, [started(2)])
    }).pipe(Effect.scoped, Effect.provide(server()))
  )

  it.live("stores a complete delivery although the client disconnects before the response", () =>
    Effect.gen(function* () {
      const { asked, release, slow } = yield* makeSlow
      yield* Effect.gen(function* () {
        const { isClosed, socket, write } = yield* talk
        yield* write(requestHead("content-type: application/json", `content-length: ${Buffer.byteLength(started())}`))
        yield* write(started())
        yield* Deferred.await(asked)
        socket.destroy()
        yield* until(isClosed, (closed) => closed)
        yield* Deferred.succeed(release, undefined)
        yield* until(queued, (count) => count === 1)
      }).pipe(Effect.scoped, Effect.provide(server({}, slow)))
    })
  )

  it.live("completes responses in progress when it stops, and accepts no new connections", () =>
    Effect.gen(function* () {
      const { asked, release, slow } = yield* makeSlow
      const scope = yield* Scope.make()
      const server = NodeWebhook.layerServer({ port: 0, host: "127.0.0.1", stopTimeout: "1 hour" })
      const services = yield* Layer.buildWithScope(Layer.provideMerge(server, receiver({}, slow)), scope)
      const at = yield* Effect.provide(origin, services)
      const inProgress = yield* Effect.forkChild(post(`${at}/updates`))
      yield* Deferred.await(asked)
      const stopping = yield* Effect.forkChild(Scope.close(scope, Exit.void), { startImmediately: true })
      const isRefused = Effect.callback<boolean>((resume) => {
        http
          .get(`${at}/health/live`, { agent: false }, (response) => {
            response.resume()
            resume(Effect.succeed(false))
          })
          .on("error", () => resume(Effect.succeed(true)))
      })
      yield* until(isRefused, (value) => value)
      yield* Deferred.succeed(release, undefined)
      assert.strictEqual((yield* Fiber.join(inProgress)).status, 200)
      yield* Fiber.join(stopping)
    })
  )

  it.live.each([
    [true, "accepts", 200],
    [false, "refuses", 503]
  ] as const)(
    "with isShared: %s, %s deliveries while the bot completes its handlers, and is not ready",
    ([isShared, , status]) =>
      Effect.gen(function* () {
        const begun = yield* Deferred.make<void>()
        const release = yield* Deferred.make<void>()
        const handler = () => Effect.andThen(Deferred.succeed(begun, undefined), Deferred.await(release))
        const at = yield* origin
        const ready = post(`${at}/health/ready`, { method: "GET", body: null })
        const bot = yield* Effect.forkChild(Bot.run(handler, { shutdownTimeout: "1 hour" }))
        yield* post(`${at}/updates`, { body: started(1) })
        yield* Deferred.await(begun)
        const stopping = yield* Effect.forkChild(Fiber.interrupt(bot), { startImmediately: true })
        yield* until(ready, (reply) => reply.status === 503)
        assert.strictEqual((yield* post(`${at}/updates`, { body: started(2) })).status, status)
        yield* Deferred.succeed(release, undefined)
        yield* Fiber.join(stopping)
        assert.deepStrictEqual(yield* texts, isShared ? [started(2)] : [])
      }).pipe(
        Effect.provide(
          Updates.layer(Stream.never).pipe(
            Layer.provideMerge(
              server(
                {},
                inbox(() => ({ isShared }))
              )
            )
          )
        )
      )
  )

  it.live("closes connections after the stop timeout", () =>
    Effect.gen(function* () {
      const never = inbox(() => ({ enqueue: () => Effect.never }))
      const scope = yield* Scope.make()
      const layer = NodeWebhook.layerServer({ port: 0, host: "127.0.0.1", stopTimeout: "20 millis" }).pipe(
        Layer.provideMerge(receiver({}, never))
      )
      const services = yield* Layer.buildWithScope(layer, scope)
      yield* Effect.gen(function* () {
        const { isClosed, write } = yield* talk
        yield* write(requestHead("content-type: application/json", `content-length: ${Buffer.byteLength(started())}`))
        yield* write(started())
        yield* Scope.close(scope, Exit.void)
        yield* until(isClosed, (closed) => closed)
      }).pipe(Effect.scoped, Effect.provide(services))
    })
  )

  const failing = (options: NodeWebhook.ServerOptions) =>
    Effect.flip(Effect.scoped(Layer.build(NodeWebhook.layerServer(options).pipe(Layer.provide(receiver())))))

  it.live("fails if its host is not an address of the machine", () =>
    Effect.gen(function* () {
      assert.include((yield* failing({ port: 0, host: "192.0.2.1" })).message, "does not have the address")
    })
  )

  it.live("fails if its port is in use", () =>
    Effect.gen(function* () {
      const taken = new URL(yield* listen(http.createServer())).port
      const inUse = yield* failing({ port: Number(taken), host: "127.0.0.1" })
      if (inUse._tag !== "WebhookServerError") return assert.fail(inUse.message)
      assert.strictEqual(inUse.code, "EADDRINUSE")
      assert.include(inUse.message, `127.0.0.1:${taken}: another program uses this port`)
    }).pipe(Effect.scoped)
  )

  it.live("fails if its key belongs to another certificate", () =>
    Effect.gen(function* () {
      const [one, other] = [yield* Certificates.makeSelfSigned(), yield* Certificates.makeSelfSigned()]
      const mixed = yield* failing({ port: 0, tls: { key: one.key, cert: other.pem } })
      assert.strictEqual(mixed._tag, "WebhookServerError")
      assert.notInclude(mixed.message, "PRIVATE KEY")
    }).pipe(Effect.scoped)
  )
})

describe("The routes of NodeWebhook.layerServer", () => {
  class Greeting extends Context.Service<Greeting, string>()("test/Greeting") {}

  const greeting = HttpRouter.use((router) =>
    Effect.gen(function* () {
      const text = yield* Greeting
      yield* router.add("GET", "/about", HttpServerResponse.text(text))
      yield* router.add("POST", "/updates", HttpServerResponse.text("not the webhook"))
    })
  ).pipe(Layer.provide(Layer.succeed(Greeting, "A bot.")))

  const routed = NodeWebhook.layerServer({
    port: 0,
    host: "127.0.0.1",
    metricsPath: "/metrics",
    routes: greeting
  }).pipe(Layer.provideMerge(receiver()))

  const get = (address: string) => post(address, { method: "GET", body: null, headers: { "x-svc-bot-api-secret": "" } })

  it.live("serve the metrics to Prometheus, beside deliveries and health endpoints", () =>
    Effect.gen(function* () {
      const at = yield* origin
      assert.deepStrictEqual((yield* post(`${at}/updates?of=bot`)).body, "")
      assert.strictEqual((yield* get(`${at}/updates`)).status, 405)
      assert.strictEqual((yield* get(`${at}/health/ready`)).status, 200)
      const metrics = yield* get(`${at}/metrics`)
      assert.strictEqual(metrics.status, 200)
      assert.include(metrics.headers.get("content-type"), "version=0.0.4")
      for (const line of [
        "# TYPE colloquy_updates_received_total counter",
        'colloquy_updates_received_total{update_type="bot_started"} 1',
        'colloquy_webhook_rejected_total{status="405"} 1'
      ]) {
        assert.include(metrics.body, `${line}\n`)
      }
      assert.deepStrictEqual(yield* texts, [started()])
    }).pipe(Effect.provide(routed), Effect.provideService(Metric.MetricRegistry, new Map()))
  )

  it.live("receive the services of their layer, and answer unknown paths with 404", () =>
    Effect.gen(function* () {
      const at = yield* origin
      const about = yield* get(`${at}/about`)
      assert.deepStrictEqual([about.status, about.body], [200, "A bot."])
      assert.strictEqual((yield* get(`${at}/nothing`)).status, 404)
      assert.strictEqual((yield* post(`${at}/about`, { headers: { "x-svc-bot-api-secret": "" } })).status, 404)
    }).pipe(Effect.provide(routed))
  )

  const serving = (
    handle: (request: HttpServerRequest.HttpServerRequest) => Effect.Effect<HttpServerResponse.HttpServerResponse>
  ) =>
    Effect.map(
      NodeWebhook.make({
        port: 0,
        host: "127.0.0.1",
        routes: HttpRouter.use((router) => router.add("*", "/own", handle))
      }),
      ({ port }) => `http://127.0.0.1:${port}`
    )

  it.live("receive the method, the address, the headers and the body, and send all of a response", () =>
    Effect.gen(function* () {
      const at = yield* serving((request) =>
        Effect.gen(function* () {
          const seen = [
            request.method,
            request.url,
            request.headers["x-name"],
            Option.getOrUndefined(request.remoteAddress)
          ]
          const bytes = yield* Effect.orDie(request.arrayBuffer)
          return HttpServerResponse.stream(
            Stream.make(JSON.stringify(seen), `\n${bytes.byteLength}`).pipe(Stream.encodeText),
            { status: 201, headers: { "x-answer": "yes" } }
          ).pipe(HttpServerResponse.setCookieUnsafe("a", "1"), HttpServerResponse.setCookieUnsafe("b", "2"))
        })
      )
      const sent = yield* post(`${at}/own?x=1`, {
        method: "PUT",
        body: new Uint8Array(300_000),
        headers: { "x-name": "Ann" }
      })
      assert.deepStrictEqual([sent.status, sent.headers.get("x-answer")], [201, "yes"])
      assert.deepStrictEqual(sent.headers.getSetCookie(), ["a=1", "b=2"])
      assert.strictEqual(sent.body, '["PUT","/own?x=1","Ann","127.0.0.1"]\n300000')
    }).pipe(Effect.scoped, Effect.provide(receiver()))
  )

  it.live("are interrupted when the client disconnects", () =>
    Effect.gen(function* () {
      const [begun, ended] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const at = yield* serving(() =>
        Deferred.succeed(begun, undefined).pipe(
          Effect.andThen(Effect.never),
          Effect.onInterrupt(() => Deferred.succeed(ended, undefined))
        )
      )
      const request = http.get(`${at}/own`).on("error", () => {})
      yield* Deferred.await(begun)
      request.destroy()
      yield* Deferred.await(ended)
    }).pipe(Effect.scoped, Effect.provide(receiver()))
  )

  it.live("are not called for a request whose host is no host, which is answered with 400", () =>
    Effect.gen(function* () {
      const at = yield* serving(() => Effect.die(new Error("called")))
      const status = yield* Effect.callback<number | undefined>((resume) => {
        http.get(`${at}/own`, { headers: { host: "not a host" } }, (response) => {
          response.resume()
          resume(Effect.succeed(response.statusCode))
        })
      })
      assert.strictEqual(status, 400)
    }).pipe(Effect.scoped, Effect.provide(receiver()))
  )

  it.live("receive the deliveries of a second bot, which has its own inbox", () =>
    Effect.gen(function* () {
      const bot = (name: string) =>
        Layer.build(
          Layer.fresh(
            receiver({ url: `https://bot.example/${name}`, secret: `secret-of-${name}`, healthPath: `/${name}/health` })
          )
        )
      const [shop, support] = [yield* bot("shop"), yield* bot("support")]
      const routes = Layer.provide(Webhook.route, Layer.succeedContext(support))
      const { port } = yield* Effect.provideContext(NodeWebhook.make({ port: 0, host: "127.0.0.1", routes }), shop)
      const at = `http://127.0.0.1:${port}`
      const deliver = (name: string, to: string) =>
        Effect.map(
          post(`${at}/${to}`, { headers: { "x-svc-bot-api-secret": `secret-of-${name}` } }),
          ({ status }) => status
        )
      assert.deepStrictEqual([yield* deliver("shop", "shop"), yield* deliver("support", "support")], [200, 200])
      assert.strictEqual(yield* deliver("shop", "support"), 404)
      assert.strictEqual(yield* deliver("support", "shop"), 403)
      for (const name of ["shop", "support"]) assert.strictEqual((yield* get(`${at}/${name}/health/live`)).status, 200)
      for (const context of [shop, support]) {
        assert.deepStrictEqual(yield* Effect.provideContext(texts, context), [started()])
      }
    }).pipe(Effect.scoped)
  )

  it.live("do not receive a delivery to a wrong path, which is rejected with a warning", () =>
    Effect.gen(function* () {
      const logs: Array<string> = []
      const logger = Logger.layer([Logger.make(({ message }) => void logs.push(String(message)))])
      const at = yield* Effect.provide(
        Effect.flatMap(origin, (at) => Effect.as(post(`${at}/about`), at)),
        Layer.provideMerge(routed, logger)
      )
      assert.match(at, /^http/)
      assert.include(logs.join(), "A delivery arrived at another path than /updates")
    })
  )
})

describe("NodeWebhook.layerConfig", () => {
  const build = (env: Record<string, string>) =>
    Layer.build(
      NodeWebhook.layerConfig().pipe(
        Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env }))),
        Layer.provide(Emulator.layerBot({ insecureWebhooks: true })),
        Layer.provide(Inbox.layerMemory())
      )
    )

  const complete = {
    BOT_WEBHOOK_URL: url,
    BOT_WEBHOOK_SECRET: secret,
    BOT_WEBHOOK_PORT: "0",
    BOT_WEBHOOK_HOST: "127.0.0.1",
    BOT_SECRET_HEADER: "X-Bot-Secret"
  }

  it.live("reads the port, the host, the URL, the secret and its header", () =>
    Effect.gen(function* () {
      const services = yield* build(complete)
      const at = `${yield* Effect.provide(origin, services)}/updates`
      assert.strictEqual((yield* post(at)).status, 403)
      assert.strictEqual((yield* post(at, { headers: { "x-bot-secret": secret } })).status, 200)
    }).pipe(Effect.scoped)
  )

  it.live("accepts an http:// URL of this machine only with BOT_WEBHOOK_INSECURE", () =>
    Effect.gen(function* () {
      const here = { ...complete, BOT_WEBHOOK_URL: "http://127.0.0.1:8080/updates" }
      const services = yield* build({ ...here, BOT_WEBHOOK_INSECURE: "true" })
      assert.strictEqual(Context.get(services, Webhook.Webhook).url, here.BOT_WEBHOOK_URL)
      const error = yield* Effect.flip(build(here))
      assert.strictEqual(error._tag, "InvalidWebhook")
      assert.include(error.message, "set `insecure` for the emulator")
      const elsewhere = yield* Effect.flip(
        build({ ...complete, BOT_WEBHOOK_URL: "http://bot.example", BOT_WEBHOOK_INSECURE: "true" })
      )
      assert.strictEqual(
        elsewhere.message,
        "Set these before the bot starts: BOT_WEBHOOK_URL must be a complete https:// URL."
      )
    }).pipe(Effect.scoped)
  )

  it.live("fails with all missing and malformed settings", () =>
    Effect.gen(function* () {
      const { message } = yield* Effect.flip(
        build({ BOT_WEBHOOK_PORT: "65536", BOT_WEBHOOK_SECRET: "not_allowed", BOT_WEBHOOK_METRICS_PATH: "metrics" })
      )
      for (const name of [
        "BOT_WEBHOOK_URL is missing",
        "BOT_WEBHOOK_PORT must be a port",
        "BOT_WEBHOOK_METRICS_PATH must be a path, such as /metrics",
        "BOT_WEBHOOK_SECRET"
      ]) {
        assert.include(message, name)
      }
      assert.notInclude(message, "not_allowed")
    }).pipe(Effect.scoped)
  )
})

describe("NodeWebhook.layer", () => {
  it.live("receives updates over HTTPS from an emulator that verifies its certificate", () =>
    Effect.gen(function* () {
      const root = yield* Certificates.makeRoot("Root")
      const intermediate = yield* Certificates.makeIntermediate("Intermediate", root)
      const leaf = yield* Certificates.makeLeaf(intermediate, [{ type: "dns", value: "bot.example" }])
      const port = yield* closedPort
      const platform = Emulator.layerBot().pipe(
        Layer.provide(NodeWebhookSender.layer({ extraCa: root.pem, connectTo: { host: "127.0.0.1", port } }))
      )
      const tls = { key: leaf.key, cert: [leaf.pem, intermediate.pem].join("\n") }
      const webhook = NodeWebhook.layer({ url, port, host: "127.0.0.1", tls }).pipe(Layer.provide(Inbox.layerMemory()))
      yield* Effect.gen(function* () {
        const handled: Array<string> = []
        yield* Effect.forkScoped(Bot.run(({ update_type }) => Effect.sync(() => handled.push(update_type))))
        const visitor = yield* Emulator.user("visitor")
        yield* visitor.send("hello")
        yield* until(
          Effect.sync(() => handled.length),
          (count) => count === 2
        )
        assert.deepStrictEqual(handled, ["bot_started", "message_created"])
        yield* until(
          Emulator.deliveries,
          (deliveries) => deliveries.filter(({ status }) => status === 200).length === 2
        )
      }).pipe(Effect.scoped, Effect.provide(Layer.provideMerge(webhook, platform)))
    })
  )

  it.live("starts its server before it subscribes, without TLS if it is insecure", () =>
    Effect.gen(function* () {
      const port = yield* closedPort
      const address = `http://127.0.0.1:${port}/updates`
      const platform = Emulator.layerBot({ insecureWebhooks: true }).pipe(Layer.provide(NodeWebhookSender.layer()))
      const webhook = NodeWebhook.layer({ url: address, insecure: true, port, host: "127.0.0.1" }).pipe(
        Layer.provide(Inbox.layerMemory())
      )
      yield* Effect.gen(function* () {
        assert.deepStrictEqual(
          (yield* Subscriptions.list()).map(({ url }) => url),
          [address]
        )
        yield* Emulator.deliver({ update_type: "planet_aligned", timestamp: 0 })
        const [{ status }] = yield* until(Emulator.deliveries, ({ length }) => length > 0)
        assert.strictEqual(status, 200)
      }).pipe(Effect.provide(Layer.provideMerge(webhook, platform)))
    })
  )

  it.live("works behind a proxy that removes a prefix of the path", () =>
    Effect.gen(function* () {
      const at = yield* origin
      const proxy = yield* listen(
        http.createServer((request, response) => {
          const path = request.url?.replace(/^\/bots\/one/, "")
          const forward = http.request(`${at}${path}`, { method: "POST", headers: request.headers }, (answer) => {
            response.writeHead(answer.statusCode ?? 0)
            answer.pipe(response)
          })
          request.pipe(forward)
        })
      )
      assert.strictEqual((yield* post(`${proxy}/bots/one/updates`)).status, 200)
      assert.strictEqual(yield* queued, 1)
    }).pipe(Effect.scoped, Effect.provide(server({ url: "https://bot.example/bots/one/updates", path: "/updates" })))
  )
})

describe("NodeWebhook with an unavailable store", () => {
  const down = new StoreError.StoreError({ store: "inbox", operation: "enqueue", reason: "down", isRetryable: true })

  it.live("answers 503 with a retry-after header", () =>
    Effect.gen(function* () {
      const { headers, status } = yield* post(`${yield* origin}/updates`)
      assert.deepStrictEqual([status, headers.get("retry-after")], [503, "60"])
    }).pipe(
      Effect.provide(
        server(
          {},
          inbox(() => ({ enqueue: () => Effect.fail(down) }))
        )
      )
    )
  )
})
