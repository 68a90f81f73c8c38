import { assert, describe, it } from "@effect/vitest"
import { inspect } from "node:util"
import * as Base64 from "effect/encoding/Base64"
import * as Cause from "effect/Cause"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Headers from "effect/http/Headers"
import * as HttpRouter from "effect/http/HttpRouter"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Metric from "effect/Metric"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import { Inbox, StoreError, Webhook, WebhookRequest } from "../src/index.ts"
import { scripted } from "./support/scripted.ts"
import {
  dead,
  type Delivery,
  deliver,
  inbox,
  packed,
  receiver,
  secret,
  started,
  status,
  texts,
  waiting
} from "./support/webhooks.ts"

const large = "x".repeat(2 ** 20 + 1)

/** A logger that keeps the messages. */
const captureLogs = () => {
  const logs: Array<string> = []
  const layer = Logger.layer([
    Logger.make(({ cause, message }) => void logs.push(inspect(message), Cause.pretty(cause)))
  ])
  return { logs, layer }
}

describe("A delivery", () => {
  it.effect("is answered with 200 after its text is stored in the inbox", () =>
    Effect.gen(function* () {
      const body = `{"update_type":"bot_started", "timestamp":1, "chat_id":1, "user":{"user_id":1,"first_name":"Анна 👋","is_bot":false}}`
      assert.deepStrictEqual(yield* deliver({ body }), { status: 200, headers: {}, body: "" })
      assert.deepStrictEqual(yield* texts, [body])
    }).pipe(Effect.provide(receiver()))
  )

  it.effect("is stored once if it is repeated", () =>
    Effect.gen(function* () {
      for (let time = 0; time < 3; time++) assert.strictEqual(yield* status(), 200)
      assert.strictEqual(yield* waiting, 1)
    }).pipe(Effect.provide(receiver()))
  )

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
      assert.strictEqual(yield* waiting, 1)
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
      assert.strictEqual(yield* waiting, 0)
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
      assert.strictEqual(yield* waiting, 0)
    }).pipe(Effect.provide(receiver()))
  )

  it.effect("contains its secret in the header of the options", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* status(), 403)
      assert.strictEqual(yield* status({ headers: { "x-bot-secret": secret } }), 200)
    }).pipe(Effect.provide(receiver({ secretHeader: "X-Bot-Secret" })))
  )

  it.effect("is rejected with 408 if its body takes too long, and with 413 if its body is too large", () =>
    Effect.gen(function* () {
      const slow = yield* Effect.forkChild(deliver({ body: Effect.never }))
      yield* TestClock.adjust("9999 millis")
      assert.isUndefined(slow.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      assert.strictEqual((yield* Fiber.join(slow)).status, 408)
      const tooLarge = new WebhookRequest.BodyError({ reason: "TooLarge" })
      assert.strictEqual(yield* status({ body: Effect.fail(tooLarge) }), 413)
    }).pipe(Effect.provide(receiver()))
  )
})

describe("A compressed delivery", () => {
  it.effect.each(["gzip", "deflate"] as const)("is decompressed from %s", (format) =>
    Effect.gen(function* () {
      const body = yield* packed(started(1, "Анна"), format)
      assert.strictEqual(yield* status({ body, headers: { "content-encoding": format.toUpperCase() } }), 200)
      assert.deepStrictEqual(yield* texts, [started(1, "Анна")])
    }).pipe(Effect.provide(receiver()))
  )

  it.effect("is rejected with 413 if it has more than 1 MiB after decompression", () =>
    Effect.gen(function* () {
      const body = yield* packed("x".repeat(2 ** 26), "gzip")
      assert.isBelow(body.length, 2 ** 17)
      assert.strictEqual(yield* status({ body, headers: { "content-encoding": "gzip" } }), 413)
    }).pipe(Effect.provide(receiver()))
  )

  it.effect("is kept as a dead letter with all its bytes if it is damaged or incomplete", () =>
    Effect.gen(function* () {
      const whole = yield* packed(started(1), "gzip")
      const bodies = [whole.subarray(0, 20), new TextEncoder().encode("no gzip at all")]
      for (const body of bodies) {
        assert.strictEqual(yield* status({ body, headers: { "content-encoding": "gzip" } }), 200)
      }
      assert.deepStrictEqual(
        (yield* dead).map(({ update }) => update.text),
        bodies.map((body) => Base64.encode(body))
      )
    }).pipe(Effect.provide(receiver()))
  )
})

describe("An invalid body", () => {
  const bodies: ReadonlyArray<readonly [string, string, RegExp]> = [
    ["that is empty", "", /not JSON/],
    ["that is not JSON", "<html>", /not JSON/],
    ["that is incomplete", started(1).slice(0, -5), /not JSON/],
    ["with a malformed update of a known type", `{"update_type":"bot_started","timestamp":1}`, /chat_id/],
    ["that is not an object", "[1]", /./],
    ["with an id beyond 2^53", started(1).replace(`"chat_id":1`, `"chat_id":9007199254740993`), /chat_id/]
  ]
  it.effect.each(bodies)("%s is kept as a dead letter and answered with 200", ([, body, problem]) =>
    Effect.gen(function* () {
      assert.strictEqual(yield* status({ body }), 200)
      const [deadLetter] = yield* dead
      assert.strictEqual(deadLetter.update.text, body)
      assert.match(deadLetter.error, problem)
      assert.strictEqual(yield* waiting, 0)
    }).pipe(Effect.provide(receiver()))
  )

  it.effect("that is not UTF-8 is kept as a dead letter with all its bytes", () =>
    Effect.gen(function* () {
      const body = Uint8Array.of(...new TextEncoder().encode(started(1)), 0xff, 0xfe)
      assert.strictEqual(yield* status({ body }), 200)
      const [deadLetter] = yield* dead
      assert.strictEqual(deadLetter.update.text, Base64.encode(body))
      assert.include(deadLetter.error, "UTF-8")
    }).pipe(Effect.provide(receiver()))
  )
})

describe("A delivery that the inbox does not store", () => {
  const answersWith503 = Effect.gen(function* () {
    const { headers, status } = yield* deliver({ body: started(2) })
    assert.strictEqual(status, 503)
    assert.deepStrictEqual(headers, { "retry-after": "60" })
  })

  it.effect("because the inbox is full is answered with 503", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* status(), 200)
      yield* answersWith503
    }).pipe(Effect.provide(receiver({}, inbox(undefined, { capacity: 1 }))))
  )

  it.effect("because the program is stopping is answered with 503", () =>
    Effect.gen(function* () {
      yield* Inbox.Inbox.use(({ close }) => close)
      yield* answersWith503
    }).pipe(Effect.provide(receiver()))
  )

  const broken = new StoreError.StoreError({
    store: "inbox",
    operation: "enqueue",
    reason: "no connection",
    isRetryable: true
  })

  it.effect("because the store is unavailable is answered with 503, and the log contains the reason", () => {
    const { layer, logs } = captureLogs()
    return Effect.gen(function* () {
      yield* answersWith503
      assert.include(logs.join(), "no connection")
    }).pipe(
      Effect.provide(
        Layer.provideMerge(
          receiver(
            {},
            inbox(() => ({ enqueue: () => Effect.fail(broken) }))
          ),
          layer
        )
      )
    )
  })

  it.effect("because the store fails later is answered with 503 after the failure", () =>
    Effect.gen(function* () {
      const answering = yield* Effect.forkChild(answersWith503, { startImmediately: true })
      yield* TestClock.adjust("999 millis")
      assert.isUndefined(answering.pollUnsafe())
      yield* TestClock.adjust("1 milli")
      yield* Fiber.join(answering)
    }).pipe(
      Effect.provide(
        receiver(
          {},
          inbox(() => ({ enqueue: () => Effect.delay(Effect.fail(broken), "1 second") }))
        )
      )
    )
  )

  it.effect("because the store has a defect is answered with 503", () =>
    answersWith503.pipe(
      Effect.provide(
        receiver(
          {},
          inbox(() => ({ enqueue: () => Effect.die("a defect") }))
        )
      )
    )
  )

  it.effect("in time is answered with 503 after 15 seconds, and is not stored again when it is repeated", () =>
    Effect.gen(function* () {
      const late = yield* Effect.forkChild(deliver())
      yield* TestClock.adjust("14999 millis")
      assert.isUndefined(late.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      assert.strictEqual((yield* Fiber.join(late)).status, 503)
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual(yield* waiting, 1)
      const again = yield* Effect.forkChild(deliver())
      yield* TestClock.adjust("20 seconds")
      yield* Fiber.join(again)
      assert.strictEqual(yield* waiting, 1)
    }).pipe(
      Effect.provide(
        receiver(
          {},
          inbox(({ enqueue }) => ({ enqueue: (batch) => Effect.delay(enqueue(batch), "20 seconds") }))
        )
      )
    )
  )

  it.effect("before the client disconnects is still stored", () =>
    Effect.gen(function* () {
      const stored = yield* Deferred.make<void>()
      const layer = receiver(
        {},
        inbox(({ enqueue }) => ({ enqueue: (batch) => Effect.andThen(Deferred.await(stored), enqueue(batch)) }))
      )
      yield* Effect.gen(function* () {
        const delivering = yield* Effect.forkChild(deliver(), { startImmediately: true })
        yield* Effect.yieldNow
        yield* Fiber.interrupt(delivering)
        assert.strictEqual(yield* waiting, 0)
        yield* Deferred.succeed(stored, undefined)
        yield* Effect.yieldNow
        assert.strictEqual(yield* waiting, 1)
      }).pipe(Effect.provide(layer))
    })
  )

  it.effect("is counted by its status", () =>
    Effect.gen(function* () {
      const rejected = Effect.map(Metric.snapshot, (metrics) =>
        metrics.flatMap(({ attributes, id, state }) =>
          id === "colloquy_webhook_rejected" && attributes?.["status"] === "405" && "count" in state
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
    ["secret", "257 characters", { secret: Redacted.make("x".repeat(257)) }]
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

  it.effect("fails in layerConfig with all invalid settings", () =>
    Effect.gen(function* () {
      const env = { BOT_WEBHOOK_URL: "http://bot.example", BOT_WEBHOOK_SECRET: "not_allowed" }
      const layer = Webhook.layerConfig().pipe(
        Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env }))),
        Layer.provide(inbox()),
        Layer.provide(scripted().layer())
      )
      const error = yield* Effect.flip(Effect.scoped(Layer.build(layer)))
      assert.include(error.message, "BOT_WEBHOOK_URL")
      assert.include(error.message, "BOT_WEBHOOK_SECRET")
      assert.notInclude(error.message, "not_allowed")
    })
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

describe("The health of the webhook", () => {
  const ask = (path: string, method = "GET") =>
    Effect.map(deliver({ url: `/health/${path}`, method, headers: { "x-svc-bot-api-secret": "" } }), (answer) => ({
      status: answer.status,
      body: answer.body === "" ? undefined : (JSON.parse(answer.body) as unknown)
    }))

  it.effect("is live, and ready if updates can be received", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* ask("live"), { status: 200, body: { ok: true } })
      assert.deepStrictEqual(yield* ask("ready", "HEAD"), {
        status: 200,
        body: { ok: true, checks: { inbox: { ok: true }, backlog: { ok: true, waiting: 0, ageMs: 0 } } }
      })
      assert.strictEqual((yield* ask("ready", "POST")).status, 405)
      assert.strictEqual((yield* ask("other")).status, 404)
    }).pipe(Effect.provide(receiver()))
  )

  it.effect("is not ready while an update has been waiting for too long", () =>
    Effect.gen(function* () {
      yield* deliver()
      yield* TestClock.adjust("5 minutes")
      assert.strictEqual((yield* ask("ready")).status, 200)
      yield* TestClock.adjust("1 second")
      const { body, status } = yield* ask("ready")
      assert.strictEqual(status, 503)
      assert.deepStrictEqual(body, {
        ok: false,
        checks: {
          inbox: { ok: true },
          backlog: {
            ok: false,
            problem: "the oldest update has been waiting for more than 5m",
            waiting: 1,
            ageMs: 301_000
          }
        }
      })
    }).pipe(Effect.provide(receiver()))
  )

  it.effect("is not ready while the program is stopping", () =>
    Effect.gen(function* () {
      yield* Inbox.Inbox.use(({ close }) => close)
      const { body, status } = yield* ask("ready")
      assert.strictEqual(status, 503)
      assert.include(JSON.stringify(body), "the program is stopping")
      assert.strictEqual((yield* ask("live")).status, 200)
    }).pipe(Effect.provide(receiver()))
  )

  const down = new StoreError.StoreError({
    store: "inbox",
    operation: "stats",
    reason: "postgres://user:pass@host",
    isRetryable: true
  })

  it.effect.each([
    ["cannot be reached", Effect.fail(down)],
    ["does not answer", Effect.never]
  ] as const)("is not ready if the inbox %s, and does not show the message of the store", ([, stats]) =>
    Effect.gen(function* () {
      const asking = yield* Effect.forkChild(ask("ready"))
      yield* TestClock.adjust("5 seconds")
      const { body, status } = yield* Fiber.join(asking)
      assert.strictEqual(status, 503)
      assert.include(JSON.stringify(body), "cannot be reached")
      assert.notInclude(JSON.stringify(body), "postgres")
    }).pipe(
      Effect.provide(
        receiver(
          {},
          inbox(() => ({ stats }))
        )
      )
    )
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
      assert.strictEqual(yield* waiting, 0)
    }).pipe(Effect.provide(receiver()))
  )

  it.effect("answers an aborted body with 400 and stores nothing", () =>
    Effect.gen(function* () {
      const body = new ReadableStream<Uint8Array>({
        pull: (controller) => controller.error(new Error("the connection broke"))
      })
      assert.strictEqual((yield* ask(post(body, { duplex: "half" }))).status, 400)
      assert.strictEqual(yield* waiting, 0)
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
