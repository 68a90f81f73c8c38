import { Webhook } from "@colloquy/core"
import { NodeWebhook } from "@colloquy/node"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import express from "express"
import fastify, { type FastifyInstance } from "fastify"
import { Hono } from "hono"
import { createServer } from "node:http"
import { gzipSync } from "node:zlib"
import { listen, post, receiver, secret, started, texts, queued } from "../../support/webhooks.ts"

/** Sends a delivery, one with a wrong secret, and a compressed one. */
const deliverTo = Effect.fnUntraced(function* (address: string) {
  const one = yield* post(address)
  const wrong = yield* post(address, { body: started(2), headers: { "x-svc-bot-api-secret": "wrong-secret" } })
  const packed = yield* post(address, { body: gzipSync(started(3)), headers: { "content-encoding": "gzip" } })
  assert.deepStrictEqual([one.status, wrong.status, packed.status], [200, 403, 200])
  assert.strictEqual(wrong.body, "")
  assert.deepStrictEqual(yield* texts, [started(), started(3)])
})

/** A parsed body has lost digits of large integers, so it is rejected, and the response says how to mount the webhook. */
const rejectsParsed = Effect.fnUntraced(function* (address: string) {
  const { body, status } = yield* post(address)
  assert.strictEqual(status, 500)
  assert.include(body, "before body parsers")
  const unauthorized = yield* post(address, { headers: { "x-svc-bot-api-secret": "wrong-secret" } })
  assert.deepStrictEqual([unauthorized.status, unauthorized.body], [403, ""])
  assert.strictEqual(yield* queued, 0)
})

const health = Effect.fnUntraced(function* (origin: string) {
  const { body, status } = yield* post(`${origin}/health/ready`, { method: "GET", body: null })
  assert.strictEqual(status, 200)
  assert.isTrue((JSON.parse(body) as { readonly ok: boolean }).ok)
})

describe("NodeWebhook.toNodeHandler in Express", () => {
  const serve = (mount: (app: express.Express, handle: NodeWebhook.Handler) => void) =>
    Effect.gen(function* () {
      const app = express()
      mount(app, yield* NodeWebhook.toNodeHandler)
      return yield* listen(createServer(app))
    })

  it.live("serves its path", () =>
    Effect.gen(function* () {
      const origin = yield* serve((app, handle) => app.post("/updates", handle).use(handle))
      yield* deliverTo(`${origin}/updates`)
      yield* health(origin)
    }).pipe(Effect.scoped, Effect.provide(receiver()))
  )

  it.live("serves a path below a prefix, which Express removes from the URL", () =>
    Effect.gen(function* () {
      const origin = yield* serve((app, handle) => app.use("/bots", express.Router().post("/one", handle)))
      yield* deliverTo(`${origin}/bots/one`)
    }).pipe(Effect.scoped, Effect.provide(receiver({ url: "https://bot.example/bots/one" })))
  )

  it.live("rejects deliveries after express.json() and says how to mount it", () =>
    Effect.gen(function* () {
      const origin = yield* serve((app, handle) => app.use(express.json()).post("/updates", handle))
      yield* rejectsParsed(`${origin}/updates`)
    }).pipe(Effect.scoped, Effect.provide(receiver()))
  )

  it.live("works after express.json() that keeps the bytes as rawBody", () =>
    Effect.gen(function* () {
      const keep: Parameters<typeof express.json>[0] = {
        verify: (request, _, rawBody) => void Object.assign(request, { rawBody })
      }
      const origin = yield* serve((app, handle) => app.use(express.json(keep)).post("/updates", handle))
      yield* deliverTo(`${origin}/updates`)
    }).pipe(Effect.scoped, Effect.provide(receiver()))
  )

  it.live.each([
    ["express.raw()", express.raw({ type: "*/*", limit: "5mb" })],
    ["express.text()", express.text({ type: "*/*", limit: "5mb" })]
  ] as const)("works after %s", ([, parser]) =>
    Effect.gen(function* () {
      const origin = yield* serve((app, handle) => app.use(parser).post("/updates", handle))
      yield* deliverTo(`${origin}/updates`)
      assert.strictEqual((yield* post(`${origin}/updates`, { body: "x".repeat(2 ** 20 + 1) })).status, 413)
    }).pipe(Effect.scoped, Effect.provide(receiver()))
  )
})

describe("NodeWebhook.toNodeHandler in Fastify", () => {
  const serve = (mount: (app: FastifyInstance, handle: NodeWebhook.Handler) => void) =>
    Effect.gen(function* () {
      const app = fastify()
      mount(app, yield* NodeWebhook.toNodeHandler)
      return yield* Effect.acquireRelease(
        Effect.promise(() => app.listen({ port: 0, host: "127.0.0.1" })),
        () => Effect.promise(() => app.close())
      )
    })

  it.live("works without content type parsers", () =>
    Effect.gen(function* () {
      const origin = yield* serve((app, handle) => {
        app.register(async (scope) => {
          scope.removeAllContentTypeParsers()
          scope.addContentTypeParser("*", (_request, _payload, done) => done(null))
          scope.all("/updates", (request, reply) => {
            reply.hijack()
            handle(request.raw, reply.raw)
          })
        })
        app.post("/echo", ({ body }) => body)
      })
      yield* deliverTo(`${origin}/updates`)
      const echo = yield* post(`${origin}/echo`, { body: "[1]" })
      assert.strictEqual(echo.body, "[1]")
    }).pipe(Effect.scoped, Effect.provide(receiver()))
  )

  it.live("rejects deliveries after the default parser and says how to mount it", () =>
    Effect.gen(function* () {
      const origin = yield* serve((app, handle) =>
        app.post("/updates", (request, reply) => {
          reply.hijack()
          handle(request.raw, reply.raw)
        })
      )
      yield* rejectsParsed(`${origin}/updates`)
    }).pipe(Effect.scoped, Effect.provide(receiver()))
  )
})

describe("Webhook.toWebHandler in Hono", () => {
  /** Runs a web-standard application on node:http. */
  const serve = (mount: (app: Hono, handle: Webhook.WebHandler) => void) =>
    Effect.gen(function* () {
      const app = new Hono()
      mount(app, yield* Webhook.toWebHandler)
      return (address: string, init: RequestInit = {}) =>
        Effect.promise(async () => {
          const headers = { "content-type": "application/json", "x-svc-bot-api-secret": secret }
          const response = await app.request(address, {
            method: "POST",
            body: started(),
            ...init,
            headers: { ...headers, ...(init.headers as Record<string, string>) }
          })
          return { status: response.status, body: await response.text() }
        })
    })

  it.live("serves its path", () =>
    Effect.gen(function* () {
      const request = yield* serve((app, handle) =>
        app.post("/updates", ({ req }) => handle(req.raw)).get("/health/*", ({ req }) => handle(req.raw))
      )
      assert.strictEqual((yield* request("/updates?x=1")).status, 200)
      const wrong = yield* request("/updates", { headers: { "x-svc-bot-api-secret": "wrong-secret" } })
      assert.deepStrictEqual([wrong.status, wrong.body], [403, ""])
      const packed = yield* request("/updates", {
        body: gzipSync(started(3)),
        headers: { "content-encoding": "gzip" }
      })
      assert.strictEqual(packed.status, 200)
      assert.deepStrictEqual(yield* texts, [started(), started(3)])
      assert.strictEqual((yield* request("/health/ready", { method: "GET", body: null })).status, 200)
    }).pipe(Effect.provide(receiver()))
  )

  it.live("rejects a body that a middleware has read and says how to mount it", () =>
    Effect.gen(function* () {
      const request = yield* serve((app, handle) =>
        app
          .use(async ({ req }, next) => {
            await req.json()
            await next()
          })
          .post("/updates", ({ req }) => handle(req.raw))
      )
      const { body, status } = yield* request("/updates")
      assert.strictEqual(status, 500)
      assert.include(body, "before body parsers")
    }).pipe(Effect.provide(receiver()))
  )
})

describe("Webhook.route on Node", () => {
  it.live("serves deliveries and health requests", () => {
    const served = HttpRouter.serve(Webhook.route, { disableLogger: true, disableListenLog: true }).pipe(
      Layer.provideMerge(NodeHttpServer.layer(() => createServer(), { port: 0, host: "127.0.0.1" })),
      Layer.provideMerge(receiver())
    )
    return Effect.gen(function* () {
      const origin = HttpServer.formatAddress((yield* HttpServer.HttpServer).address)
      yield* deliverTo(`${origin}/updates`)
      yield* health(origin)
      const large = yield* post(`${origin}/updates`, { body: "x".repeat(2 ** 20 + 1) })
      assert.strictEqual(large.status, 413)
    }).pipe(Effect.provide(served))
  })
})
