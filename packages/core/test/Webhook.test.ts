import { assert, describe, it } from "@effect/vitest"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { Webhook } from "../src/index.ts"
import { ok, scripted } from "./support/scripted.ts"
import { inbox, receiver, secret, started, status, texts, queued } from "./support/webhooks.ts"

const large = "x".repeat(2 ** 20 + 1)

describe("Webhook.layerReceiver", () => {
  const build = (options: Partial<Webhook.ReceiverOptions>) =>
    Effect.scoped(Layer.build(receiver(options))).pipe(
      Effect.map((context) => Context.get(context, Webhook.Webhook)),
      Effect.flip,
      Effect.map(({ message, option }) => ({ message, option }))
    )

  const problems: ReadonlyArray<readonly [string, string, Partial<Webhook.ReceiverOptions>]> = [
    ["url", "http://bot.example/updates", { url: "http://bot.example/updates" }],
    ["url", "http://127.0.0.1 without insecure", { url: "http://127.0.0.1/updates" }],
    ["url", "http:// on another machine with insecure", { url: "http://bot.example/updates", insecure: true }],
    ["url", "a port", { url: "https://bot.example:8443/updates" }],
    ["url", "a path alone", { url: "/updates" }],
    ["path", "a path without a slash", { path: "updates" }],
    ["path", "a path with a query", { path: "/updates?x=1" }],
    ["healthPath", "a path without a slash", { healthPath: "health" }],
    ["secretHeader", "a name with a blank", { secretHeader: "X Secret" }],
    ["secret", "four characters", { secret: "x-x-" }],
    ["secret", "a character that may not be", { secret: "not_allowed_here" }],
    ["secret", "257 characters", { secret: Redacted.make("x".repeat(257)) }],
    ["secret", "a hyphen that is not in the alphabet", { secret: "a-secret", secretCharacters: "_" }],
    ["acceptedSecrets", "a character that may not be", { acceptedSecrets: ["long-enough", "not_allowed_here"] }],
    ["secretCharacters", "a blank", { secretCharacters: "- " }],
    ["secretCharacters", "a letter beyond ASCII", { secretCharacters: "-я" }]
  ]
  it.effect.each(problems)("fails with InvalidWebhook for the option `%s`: %s", ([expected, , options]) =>
    Effect.gen(function* () {
      const { message, option } = yield* build(options)
      assert.strictEqual(option, expected)
      assert.include(message, `\`${expected}\``)
      if (typeof options.secret === "string") assert.notInclude(message, options.secret)
    })
  )

  it.effect("accepts an http:// URL of this machine with insecure", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* status({ url: "/" }), 200)
    }).pipe(Effect.provide(receiver({ url: "http://127.0.0.1:8080", insecure: true })))
  )

  it.effect("generates a new secret at each start by default", () =>
    Effect.gen(function* () {
      const secretOf = Effect.scoped(Layer.build(Layer.fresh(receiver({ secret: undefined })))).pipe(
        Effect.map((context) => Redacted.value(Context.get(context, Webhook.Webhook).secret))
      )
      const [first, second] = [yield* secretOf, yield* secretOf]
      assert.match(first, /^[a-f0-9]{64}$/)
      assert.notStrictEqual(first, second)
    })
  )

  it.effect("reads the secrets, their header and their alphabet from settings", () =>
    Effect.gen(function* () {
      const env = {
        BOT_WEBHOOK_URL: "https://bot.example/updates",
        BOT_WEBHOOK_SECRET: "the_current_secret",
        BOT_WEBHOOK_ACCEPTED_SECRETS: "the_next_secret, the_last_secret",
        BOT_SECRET_HEADER: "X-Bot-Secret",
        BOT_SECRET_CHARACTERS: "_"
      }
      const platform = scripted(ok({ success: true }))
      const webhook = Webhook.layerConfig().pipe(
        Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env }))),
        Layer.provideMerge(inbox()),
        Layer.provide(platform.layer())
      )
      yield* Effect.gen(function* () {
        for (const given of ["the_current_secret", "the_next_secret", "the_last_secret"]) {
          assert.strictEqual(yield* status({ headers: { "x-bot-secret": given } }), 200)
        }
        assert.strictEqual(yield* status({ headers: { "x-bot-secret": "the-current-secret" } }), 403)
      }).pipe(Effect.provide(webhook))
      assert.nestedPropertyVal(platform.journal[0], "body.secret", "the_current_secret")
    })
  )

  it.effect("fails in layerConfig with all invalid settings", () =>
    Effect.gen(function* () {
      const env = {
        BOT_WEBHOOK_URL: "http://bot.example",
        BOT_WEBHOOK_SECRET: "not_allowed",
        BOT_WEBHOOK_ACCEPTED_SECRETS: "long-enough,not_allowed",
        BOT_SECRET_CHARACTERS: "-"
      }
      const layer = Webhook.layerConfig().pipe(
        Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env }))),
        Layer.provide(inbox()),
        Layer.provide(scripted().layer())
      )
      const error = yield* Effect.flip(Effect.scoped(Layer.build(layer)))
      assert.include(error.message, "BOT_WEBHOOK_URL")
      assert.include(error.message, "BOT_WEBHOOK_SECRET must be 5 to 256 characters of A-Z, a-z, 0-9 and hyphen")
      assert.include(error.message, "BOT_WEBHOOK_ACCEPTED_SECRETS")
      assert.notInclude(error.message, "not_allowed")
    })
  )
})

const post = (body: string | ReadableStream<Uint8Array>, init: RequestInit & { readonly duplex?: "half" } = {}) =>
  new Request("https://bot.example/updates?of=bot", {
    method: "POST",
    ...init,
    headers: { "content-type": "application/json", "x-svc-bot-api-secret": secret, ...init.headers },
    body
  })

const inPieces = (pieces: ReadonlyArray<Uint8Array>) =>
  new ReadableStream<Uint8Array>({
    start: (controller) => {
      for (const piece of pieces) controller.enqueue(piece)
      controller.close()
    }
  })

const ask = (request: Request) =>
  Effect.flatMap(Webhook.toWebHandler, (handle) => Effect.promise(() => handle(request)))

describe("Webhook.toWebHandler", () => {
  it.effect("answers deliveries and health requests", () =>
    Effect.gen(function* () {
      const response = yield* ask(post(started(1)))
      assert.strictEqual(response.status, 200)
      assert.strictEqual(yield* Effect.promise(() => response.text()), "")
      assert.strictEqual((yield* ask(new Request("https://bot.example/health/ready"))).status, 200)
      assert.strictEqual((yield* ask(new Request("https://bot.example/"))).status, 404)
      assert.deepStrictEqual(yield* texts, [started(1)])
    }).pipe(Effect.provide(receiver()))
  )

  it.effect("rejects a body of more than 1 MiB without a content-length", () =>
    Effect.gen(function* () {
      const bytes = new TextEncoder().encode(large)
      const request = post(inPieces([bytes.subarray(0, 2 ** 19), bytes.subarray(2 ** 19)]), { duplex: "half" })
      assert.strictEqual((yield* ask(request)).status, 413)
    }).pipe(Effect.provide(receiver()))
  )

  it.effect("rejects a body that was read before, and says how to mount the webhook", () =>
    Effect.gen(function* () {
      const request = post(started(1))
      yield* Effect.promise(() => request.json())
      const response = yield* ask(request)
      assert.strictEqual(response.status, 500)
      assert.include(yield* Effect.promise(() => response.text()), "before body parsers")
      assert.strictEqual(yield* queued, 0)
    }).pipe(Effect.provide(receiver()))
  )

  it.effect("answers an aborted body with 400 and stores nothing", () =>
    Effect.gen(function* () {
      const body = new ReadableStream<Uint8Array>({
        pull: (controller) => controller.error(new Error("the connection broke"))
      })
      assert.strictEqual((yield* ask(post(body, { duplex: "half" }))).status, 400)
      assert.strictEqual(yield* queued, 0)
    }).pipe(Effect.provide(receiver()))
  )

  it.effect.prop(
    "reads a text whatever the boundaries of its chunks",
    { name: Schema.String, cuts: Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 200 }))) },
    ({ cuts, name }) =>
      Effect.gen(function* () {
        const text = started(1, `Анна 👋🏽 ${name.toWellFormed()}`)
        const bytes = new TextEncoder().encode(text)
        const places = [0, ...[...cuts].sort((a, b) => a - b), bytes.length]
        const pieces = places.slice(1).map((to, index) => bytes.slice(places[index], to))
        assert.strictEqual((yield* ask(post(inPieces(pieces), { duplex: "half" }))).status, 200)
        assert.deepStrictEqual(yield* texts, [text])
      }).pipe(Effect.provide(Layer.fresh(receiver())))
  )
})

describe("Webhook.route", () => {
  const served = (options: Partial<Webhook.ReceiverOptions>, requests: ReadonlyArray<Request>) =>
    Effect.acquireUseRelease(
      Effect.sync(() =>
        HttpRouter.toWebHandler(Webhook.route.pipe(Layer.provide(receiver(options))), { disableLogger: true })
      ),
      ({ handler }) =>
        Effect.forEach(requests, (request) =>
          Effect.map(
            Effect.promise(() => handler(request)),
            ({ status }) => status
          )
        ),
      ({ dispose }) => Effect.promise(dispose)
    )

  it.effect("serves the webhook and its health endpoints", () =>
    Effect.gen(function* () {
      const statuses = yield* served({}, [
        post(started(1)),
        post(started(1), { headers: { "x-svc-bot-api-secret": "wrong-secret" } }),
        new Request("https://bot.example/updates"),
        new Request("https://bot.example/health/live"),
        new Request("https://bot.example/health/ready", { method: "HEAD" }),
        new Request("https://bot.example/elsewhere")
      ])
      assert.deepStrictEqual(statuses, [200, 403, 405, 200, 200, 404])
    })
  )

  it.effect("serves a path with a colon literally", () =>
    Effect.gen(function* () {
      const at = "https://bot.example/bot:7/updates"
      const statuses = yield* served({ url: at }, [
        new Request(at, post(started(1))),
        new Request("https://bot.example/bot8/updates", post(started(1)))
      ])
      assert.deepStrictEqual(statuses, [200, 404])
    })
  )
})

it.effect("An endless body is rejected at the size limit", () =>
  Effect.gen(function* () {
    let pulled = 0
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        pulled++
        controller.enqueue(new Uint8Array(2 ** 16))
      }
    })
    assert.strictEqual((yield* ask(post(endless, { duplex: "half" }))).status, 413)
    assert.isBelow(pulled, 40)
  }).pipe(Effect.provide(receiver()))
)
