import { assert, describe, it } from "@effect/vitest"
import { inspect } from "node:util"
import * as Effect from "effect/Effect"
import * as Headers from "effect/http/Headers"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as Redacted from "effect/Redacted"
import * as TestClock from "effect/testing/TestClock"
import { Webhook } from "../../../src/index.ts"
import {
  captureLogs,
  type Delivery,
  deliver,
  receiver,
  secret,
  started,
  status,
  queued
} from "../../support/webhooks.ts"

describe("A delivery", () => {
  const accepted: ReadonlyArray<readonly [string, Delivery]> = [
    ["with a query string", { url: "/updates?of=bot&x=%20" }],
    ["with a complete URL", { url: "https://bot.example/updates?of=bot" }],
    ["with a character set", { headers: { "content-type": "Application/JSON; charset=utf-8" } }],
    ["with a type that ends in +json", { headers: { "content-type": "application/vnd.bot+json" } }],
    ["with a byte order mark", { body: `\uFEFF${started(1)}` }],
    ["with the encoding identity", { headers: { "content-encoding": "identity" } }]
  ]
  it.effect.each(accepted)("is accepted %s", ([, delivery]) =>
    Effect.gen(function* () {
      assert.strictEqual(yield* status(delivery), 200)
      assert.strictEqual(yield* queued, 1)
    }).pipe(Effect.provide(receiver()))
  )

  it.effect("is accepted without a content type", () =>
    Effect.gen(function* () {
      const header = (name: string) => (name === "x-svc-bot-api-secret" ? secret : undefined)
      const body = Effect.succeed(new TextEncoder().encode(started(1)))
      const webhook = yield* Webhook.Webhook
      const answer = yield* webhook.handle({ method: "POST", url: "/updates", header, body })
      assert.strictEqual(answer.status, 200)
    }).pipe(Effect.provide(receiver()))
  )

  const rejected: ReadonlyArray<readonly [number, string, Delivery, object?]> = [
    [404, "to another path", { url: "/update" }],
    [404, "to a longer path", { url: "/updates/1" }],
    [404, "to the path with a trailing slash", { url: "/updates/" }],
    [405, "by GET", { method: "GET" }, { allow: "POST" }],
    [405, "by HEAD", { method: "HEAD" }, { allow: "POST" }],
    [405, "by OPTIONS", { method: "OPTIONS" }, { allow: "POST" }],
    [405, "by PUT", { method: "PUT" }, { allow: "POST" }],
    [415, "as a form", { headers: { "content-type": "application/x-www-form-urlencoded" } }],
    [415, "as plain text", { headers: { "content-type": "text/plain" } }],
    [415, "as jsonp", { headers: { "content-type": "application/jsonp" } }],
    [415, "with an unknown encoding", { headers: { "content-encoding": "br" } }],
    [413, "with a content-length above 1 MiB", { headers: { "content-length": String(2 ** 20 + 1) } }]
  ]
  it.effect.each(rejected)("is rejected with %i %s", ([expected, , delivery, headers]) =>
    Effect.gen(function* () {
      const answer = yield* deliver({ ...delivery, body: Effect.die("the body is not read") })
      assert.strictEqual(answer.status, expected)
      assert.strictEqual(answer.body, "")
      if (headers !== undefined) assert.deepStrictEqual(answer.headers, headers)
      assert.strictEqual(yield* queued, 0)
    }).pipe(Effect.provide(receiver()))
  )

  const wrong = ["", secret.slice(0, -1), `${secret}x`, secret.toUpperCase(), "x".repeat(1000), `${secret}, ${secret}`]

  it.effect("is rejected in the same way, whether its secret is missing, wrong, shorter or longer", () =>
    Effect.gen(function* () {
      const header = () => undefined
      const webhook = yield* Webhook.Webhook
      const body = Effect.die("the body is not read")
      const missing = yield* webhook.handle({ method: "POST", url: "/updates", header, body })
      assert.deepStrictEqual(missing, { status: 403, headers: {}, body: "" })
      for (const given of wrong) {
        assert.deepStrictEqual(yield* deliver({ headers: { "x-svc-bot-api-secret": given }, body }), missing)
      }
      assert.strictEqual(yield* queued, 0)
    }).pipe(Effect.provide(receiver()))
  )

  it.effect("contains its secret in the header of the options", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* status(), 403)
      assert.strictEqual(yield* status({ headers: { "x-bot-secret": secret } }), 200)
    }).pipe(Effect.provide(receiver({ secretHeader: "X-Bot-Secret" })))
  )

  it.effect("is accepted with each of the accepted secrets, and with no other one", () =>
    Effect.gen(function* () {
      const statusOf = (given: string) => status({ headers: { "x-svc-bot-api-secret": given } })
      for (const given of [secret, "the-next-secret", "the-last-secret"]) {
        assert.strictEqual(yield* statusOf(given), 200)
      }
      for (const given of [...wrong, "the-next-secre", "the-next-secret,the-last-secret", "the-first-secret"]) {
        assert.strictEqual(yield* statusOf(given), 403)
      }
    }).pipe(Effect.provide(receiver({ acceptedSecrets: ["the-next-secret", Redacted.make("the-last-secret")] })))
  )

  it.effect("has a secret with the characters of the options", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* status({ headers: { "x-svc-bot-api-secret": "a_secret.for]tests" } }), 200)
      assert.strictEqual(yield* status({ headers: { "x-svc-bot-api-secret": "a_secret-for]tests" } }), 403)
    }).pipe(Effect.provide(receiver({ secret: "a_secret.for]tests", secretCharacters: "_.]" })))
  )

  it.effect("is counted by its status if it is rejected", () =>
    Effect.gen(function* () {
      const rejected = Effect.map(Metric.snapshot, (metrics) =>
        metrics.flatMap(({ attributes, id, state }) =>
          id === "colloquy_webhook_rejected_total" && attributes?.["status"] === "405" && "count" in state
            ? [state.count]
            : []
        )
      )
      const [before = 0] = yield* rejected
      yield* deliver({ method: "GET" })
      assert.deepStrictEqual(yield* rejected, [Number(before) + 1])
    }).pipe(Effect.provide(receiver()))
  )
})

describe("The webhook", () => {
  it.effect("does not show its secret in logs or on the service", () => {
    const { layer, logs } = captureLogs()
    return Effect.gen(function* () {
      yield* deliver({ headers: { "x-svc-bot-api-secret": "another-secret" } })
      yield* deliver({ url: "/elsewhere" })
      yield* deliver({ body: "" })
      const webhook = yield* Webhook.Webhook
      const shown = [...logs, inspect(webhook, { depth: Infinity, showHidden: true }), JSON.stringify(webhook)].join()
      assert.isNotEmpty(logs)
      assert.notInclude(shown, secret)
      assert.notInclude(shown, "another-secret")
    }).pipe(Effect.provide(Layer.provideMerge(receiver(), layer)))
  })

  it.effect("warns about wrong secrets and wrong paths once a minute", () => {
    const { layer, logs } = captureLogs()
    return Effect.gen(function* () {
      const wrong = { headers: { "x-svc-bot-api-secret": "another-secret" } }
      for (let time = 0; time < 10; time++) yield* deliver(wrong)
      assert.strictEqual(logs.filter((log) => log.includes("X-Svc-Bot-Api-Secret")).length, 1)
      yield* TestClock.adjust("1 minute")
      yield* deliver(wrong)
      assert.strictEqual(logs.filter((log) => log.includes("X-Svc-Bot-Api-Secret")).length, 2)
      yield* deliver({ url: "/bot/updates", headers: { "x-svc-bot-api-secret": "a-stranger" } })
      assert.strictEqual(logs.filter((log) => log.includes("`path`")).length, 0)
      yield* deliver({ url: "/bot/updates" })
      assert.strictEqual(logs.filter((log) => log.includes("`path`")).length, 1)
    }).pipe(Effect.provide(Layer.provideMerge(receiver(), layer)))
  })

  it.effect("redacts the header of its secret in spans and logs", () =>
    Effect.gen(function* () {
      const names = yield* Headers.CurrentRedactedNames
      assert.include(names, "x-svc-bot-api-secret")
      assert.include(names, "authorization")
    }).pipe(Effect.provide(receiver()))
  )
})
