import { Emulator } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as HttpRouter from "effect/http/HttpRouter"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Metric from "effect/Metric"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import { inspect } from "node:util"
import { url } from "../../../testing/test/support/webhooks.ts"
import { Bot, Inbox, StoreError, Subscriptions, type Update, Updates, Webhook } from "../../src/index.ts"
import { recordSpans } from "../support/spans.ts"
import { ok, scripted } from "../support/scripted.ts"
import { deliverTo, secret as botSecret, webhook } from "../support/webhookBots.ts"
import { inbox, queued, receiver, secret, started, status, texts } from "../support/webhooks.ts"

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

  it.effect("creates a span for each delivery", () => {
    const { attributesOf, lines, tracer } = recordSpans()
    return Effect.gen(function* () {
      assert.strictEqual(yield* status(), 200)
      assert.strictEqual(yield* status({ headers: { "x-svc-bot-api-secret": "wrong" } }), 403)
      assert.deepStrictEqual(lines(), ["Webhook.receive"])
      assert.include(attributesOf("Webhook.receive")[0], { "http.response.status_code": 200 })
    }).pipe(Effect.provide(receiver()), Effect.withTracer(tracer))
  })

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

const textOf = (update: Update.Update): string =>
  update.update_type === "message_created" ? (update.message?.body?.text ?? "") : update.update_type

/** A bot that records the updates that it handles. */
const bot = (handled: Array<string>) => Bot.run((update) => Effect.sync(() => handled.push(textOf(update))))

const platform = Emulator.layerBot()

const inMemory = Layer.provideMerge(Inbox.layerMemory(), platform)

const say = (text: string) => Emulator.deliver({ update_type: text, timestamp: 0 })

const subscriptions = Effect.map(Subscriptions.list(), (list) =>
  list.map(({ update_types, url }) => [url, ...(update_types ?? [])])
)

const answers = Effect.map(Emulator.deliveries, (deliveries) =>
  deliveries.map(({ at, failure, status }) => [at, status ?? failure])
)

const captureLogs = () => {
  const logs: Array<string> = []
  const layer = Logger.layer([
    Logger.make(({ cause, message }) => void logs.push(inspect(message), Cause.pretty(cause)))
  ])
  return { logs, layer }
}

const metricOf = (name: string) =>
  Effect.map(Metric.snapshot, (metrics) =>
    metrics.flatMap(({ id, state }) =>
      id !== name ? [] : "count" in state ? [Number(state.count)] : "value" in state ? [Number(state.value)] : []
    )
  )

describe("A bot with a webhook", () => {
  it.effect("handles each delivered update once, in order", () =>
    Effect.gen(function* () {
      const handled: Array<string> = []
      yield* Effect.forkChild(bot(handled), { startImmediately: true })
      const visitor = yield* Emulator.user("visitor")
      for (const text of ["a", "b", "c"]) yield* visitor.send(text)
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(handled, ["bot_started", "a", "b", "c"])
      assert.deepStrictEqual(
        yield* answers,
        handled.map(() => [0, 200])
      )
      assert.deepStrictEqual(yield* subscriptions, [[url]])
      assert.isTrue((yield* Webhook.Webhook.use(({ health }) => health)).ok)
    }).pipe(Effect.provide(Layer.provideMerge(webhook(), inMemory)))
  )

  it.effect("subscribes only the given update types", () =>
    Effect.gen(function* () {
      const handled: Array<string> = []
      yield* Effect.forkChild(bot(handled), { startImmediately: true })
      for (const text of ["planet_aligned", "planet_exploded"]) yield* say(text)
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(handled, ["unknown"])
      assert.deepStrictEqual(yield* subscriptions, [[url, "planet_aligned"]])
    }).pipe(Effect.provide(Layer.provideMerge(webhook({ updateTypes: ["planet_aligned"] }), inMemory)))
  )

  it.effect("receives an update again after 60 seconds if its inbox could not store it", () => {
    let isDown = true
    const down = new StoreError.StoreError({ store: "inbox", operation: "enqueue", reason: "down", isRetryable: true })
    const refusing = inbox(({ enqueue }) => ({
      enqueue: (batch) => Effect.suspend(() => (isDown ? Effect.fail(down) : enqueue(batch)))
    }))
    return Effect.gen(function* () {
      const handled: Array<string> = []
      yield* Effect.forkChild(bot(handled), { startImmediately: true })
      yield* say("a")
      yield* TestClock.adjust("59 seconds")
      assert.deepStrictEqual(yield* answers, [[0, 503]])
      isDown = false
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(yield* answers, [
        [0, 503],
        [60_000, 200]
      ])
      assert.deepStrictEqual(handled, ["unknown"])
    }).pipe(Effect.provide(Layer.provideMerge(webhook(), Layer.provideMerge(refusing, platform))))
  })

  it.effect("handles an update once if it was stored after the timeout", () => {
    const slow = inbox(({ enqueue }) => ({ enqueue: (batch) => Effect.delay(enqueue(batch), "20 seconds") }))
    return Effect.gen(function* () {
      const handled: Array<string> = []
      yield* Effect.forkChild(bot(handled), { startImmediately: true })
      yield* say("a")
      yield* TestClock.adjust("10 minutes")
      assert.isAbove((yield* answers).length, 1)
      assert.deepStrictEqual(handled, ["unknown"])
    }).pipe(Effect.provide(Layer.provideMerge(webhook(), Layer.provideMerge(slow, platform))))
  })

  it.effect("answers 503 while it stops, and receives these updates after the next start", () =>
    Effect.gen(function* () {
      const inbox = Inbox.layerMemory()
      const visitor = yield* Emulator.user("visitor")
      yield* visitor.start()
      const handled: Array<string> = []
      const first = Effect.gen(function* () {
        const running = yield* Effect.forkChild(bot(handled), { startImmediately: true })
        yield* visitor.send("a")
        yield* TestClock.adjust("1 second")
        yield* Fiber.interrupt(running)
        yield* visitor.send("b")
        yield* TestClock.adjust("1 second")
      })
      yield* Effect.provide(first, Layer.fresh(Layer.provideMerge(webhook(), inbox)))
      yield* visitor.send("c")
      yield* TestClock.adjust("1 second")
      const second = Effect.gen(function* () {
        yield* Effect.forkChild(bot(handled), { startImmediately: true })
        yield* TestClock.adjust("2 minutes")
      })
      yield* Effect.provide(second, Layer.fresh(Layer.provideMerge(webhook(), inbox)))
      assert.deepStrictEqual(
        (yield* answers).map(([, outcome]) => outcome),
        [200, 503, "Unreachable", 200, 200]
      )
      assert.deepStrictEqual(handled, ["a", "b", "c"])
    }).pipe(Effect.provide(platform))
  )

  it.effect("generates a new secret at each start, and receives rejected deliveries again with it", () =>
    Effect.gen(function* () {
      const inbox = Inbox.layerMemory()
      const handled: Array<string> = []
      // Another process has just subscribed the URL with another secret.
      yield* Effect.gen(function* () {
        yield* Effect.forkChild(bot(handled), { startImmediately: true })
        yield* Subscriptions.subscribe({ url, secret: "another-secret" })
        yield* say("a")
        yield* TestClock.adjust("1 second")
      }).pipe(Effect.provide(Layer.fresh(Layer.provideMerge(webhook({ secret: undefined }), inbox))))
      assert.deepStrictEqual(yield* answers, [[0, 403]])
      yield* Effect.gen(function* () {
        yield* Effect.forkChild(bot(handled), { startImmediately: true })
        yield* TestClock.adjust("1 minute")
      }).pipe(Effect.provide(Layer.fresh(Layer.provideMerge(webhook({ secret: undefined }), inbox))))
      assert.deepStrictEqual(handled, ["unknown"])
    }).pipe(Effect.provide(platform))
  )
})

describe("The secret of a webhook", () => {
  const rotation = ["old-secret", "new-secret"] as const

  /** A process of the bot: its webhook, which shares an inbox with the others. */
  const startProcess = Effect.fnUntraced(function* (
    inbox: Layer.Layer<Inbox.Inbox>,
    options: Partial<Webhook.Options>
  ) {
    const scope = yield* Scope.make()
    const given = { url, ...options }
    const layer = Webhook.layerSubscription(given).pipe(Layer.provideMerge(Webhook.layerReceiver(given)))
    const context = yield* Layer.buildWithScope(Layer.fresh(Layer.provide(layer, inbox)), scope)
    return { deliver: deliverTo(Context.get(context, Webhook.Webhook)), stop: Scope.close(scope, Exit.void) }
  })

  it.effect("is changed in several processes without a rejected, late or misplaced delivery", () =>
    Effect.gen(function* () {
      const inbox = Layer.succeed(Inbox.Inbox, yield* Inbox.Inbox)
      const [old, renewed] = rotation
      const steps: ReadonlyArray<Partial<Webhook.Options>> = [
        { secret: old },
        { secret: old, acceptedSecrets: [renewed] },
        { secret: renewed, acceptedSecrets: [old] },
        { secret: renewed }
      ]
      const handled: Array<string> = []
      const visitor = yield* Emulator.user("visitor")
      // The load balancer sends each delivery to the next of two processes, which are replaced one after the other.
      const processes = yield* Effect.forEach([0, 1], () => startProcess(inbox, steps[0]))
      let count = 0
      yield* Emulator.receive(url, (request) => processes[count++ % 2].deliver(request))
      const updates = Updates.Updates.of({ inbox: yield* Inbox.Inbox, source: Effect.never })
      yield* Effect.forkChild(Effect.provideService(bot(handled), Updates.Updates, updates), { startImmediately: true })
      const sent: Array<string> = []
      const talk = Effect.gen(function* () {
        for (let i = 0; i < 10; i++) {
          const text = `message ${sent.length}`
          sent.push(text)
          yield* visitor.send(text)
          yield* TestClock.adjust("10 millis")
        }
      })
      yield* talk
      for (const step of steps.slice(1)) {
        for (const index of [0, 1]) {
          const replaced = processes[index]
          processes[index] = yield* startProcess(inbox, step)
          yield* replaced.stop
          yield* talk
        }
      }
      assert.deepStrictEqual(handled, ["bot_started", ...sent])
      const deliveries = yield* Emulator.deliveries
      assert.deepStrictEqual(
        new Set(deliveries.map(({ attempt, status }) => `${attempt}: ${status}`)),
        new Set(["1: 200"])
      )
    }).pipe(Effect.provide(inMemory))
  )

  it.effect("has another header and another alphabet if the platform has", () =>
    Effect.gen(function* () {
      const handled: Array<string> = []
      yield* Effect.forkChild(bot(handled), { startImmediately: true })
      yield* say("a")
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(yield* answers, [[0, 200]])
      assert.deepStrictEqual(handled, ["unknown"])
    }).pipe(
      Effect.provide(
        Layer.provideMerge(
          webhook({ secret: "a_long_secret", secretHeader: "X-Other-Secret", secretCharacters: "_" }),
          Layer.provideMerge(
            Inbox.layerMemory(),
            Emulator.layerBot({ secretHeader: "X-Other-Secret", secretCharacters: "_" })
          )
        )
      )
    )
  )
})

describe("The subscription of a webhook", () => {
  it.effect("is created again if the platform has removed it, with a log and a metric", () => {
    const { layer, logs } = captureLogs()
    return Effect.gen(function* () {
      yield* Subscriptions.subscribe({ url: "https://other.example/", update_types: ["bot_started"] })
      yield* Effect.gen(function* () {
        const before = (yield* metricOf("colloquy_webhook_resubscribed_total"))[0] ?? 0
        assert.deepStrictEqual(yield* metricOf("colloquy_webhook_subscribed"), [1])
        yield* Subscriptions.unsubscribe({ url })
        yield* TestClock.adjust("299 seconds")
        assert.deepStrictEqual(yield* subscriptions, [["https://other.example/", "bot_started"]])
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual(yield* subscriptions, [
          ["https://other.example/", "bot_started"],
          [url, "message_created"]
        ])
        assert.deepStrictEqual(yield* metricOf("colloquy_webhook_resubscribed_total"), [before + 1])
        assert.include(logs.join(), "The webhook subscribes again")
        assert.notInclude(logs.join(), botSecret)
        yield* TestClock.adjust("1 hour")
        assert.deepStrictEqual(yield* metricOf("colloquy_webhook_resubscribed_total"), [before + 1])
      }).pipe(Effect.provide(webhook({ updateTypes: ["message_created"] })))
    }).pipe(Effect.provide(Layer.provideMerge(inMemory, layer)))
  })

  it.effect("is created again if its update types were changed", () =>
    Effect.gen(function* () {
      yield* Subscriptions.subscribe({ url, update_types: ["bot_started"] })
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(yield* subscriptions, [[url, "bot_added", "message_created"]])
    }).pipe(
      Effect.provide(
        Layer.provideMerge(webhook({ updateTypes: ["bot_added", "message_created"], checkEvery: "1 minute" }), inMemory)
      )
    )
  )

  it.effect("is created again only once if the platform lists other update types than it was asked for", () =>
    Effect.gen(function* () {
      const listed = { subscriptions: [{ url, time: 0, update_types: ["message"] }] }
      yield* Emulator.addFault({ endpoint: "Subscriptions.list", body: listed })
      yield* TestClock.adjust("1 hour")
      const requests = yield* Emulator.requests
      const subscribed = requests.filter(({ endpoint }) => endpoint === "Subscriptions.subscribe")
      assert.strictEqual(subscribed.length, 2)
    }).pipe(Effect.scoped, Effect.provide(Layer.provideMerge(webhook({ updateTypes: ["message_created"] }), inMemory)))
  )

  it.effect("is missing in the health while it cannot be created again", () =>
    Effect.gen(function* () {
      const { health } = yield* Webhook.Webhook
      yield* Subscriptions.unsubscribe({ url })
      yield* Emulator.addFault({
        endpoint: "Subscriptions.subscribe",
        body: { success: false, message: "no" },
        times: 1
      })
      yield* TestClock.adjust("5 minutes")
      assert.deepStrictEqual((yield* health).checks.subscription, {
        ok: false,
        problem: "the platform does not have the subscription"
      })
      yield* TestClock.adjust("5 minutes")
      assert.deepStrictEqual((yield* health).checks.subscription, { ok: true })
    }).pipe(Effect.scoped, Effect.provide(Layer.provideMerge(webhook(), inMemory)))
  )

  it.effect("waits at the start until the platform is available", () =>
    Effect.gen(function* () {
      yield* Emulator.addFault({ endpoint: "Subscriptions.subscribe", status: 502, times: 5 })
      const building = yield* Effect.forkChild(Effect.exit(Effect.scoped(Layer.build(webhook()))))
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(yield* subscriptions, [])
      yield* TestClock.adjust("1 minute")
      assert.isTrue(Exit.isSuccess(yield* Fiber.join(building)))
      assert.deepStrictEqual(yield* subscriptions, [[url]])
    }).pipe(Effect.scoped, Effect.provide(inMemory))
  )

  const buildError = (options?: Partial<Webhook.Options>) =>
    Effect.map(Effect.flip(Effect.scoped(Layer.build(webhook(options)))), ({ _tag }) => _tag)

  it.effect("fails at the start if an option is invalid, the URL is rejected, or the token is wrong", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* buildError({ url: "http://bot.example/" }), "InvalidWebhook")
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* Emulator.addFault({ endpoint: "Subscriptions.subscribe", body: { success: false, message: "no" } })
          assert.strictEqual(yield* buildError(), "OperationRejected")
        })
      )
      yield* Emulator.revokeToken()
      assert.strictEqual(yield* buildError(), "Unauthorized")
    }).pipe(Effect.provide(inMemory))
  )

  it.effect("fails Bot.run if the token is revoked", () =>
    Effect.gen(function* () {
      const running = yield* Effect.forkChild(Effect.flip(bot([])), { startImmediately: true })
      yield* Emulator.revokeToken()
      yield* TestClock.adjust("5 minutes")
      const error = yield* Fiber.join(running)
      assert.strictEqual(error._tag, "Unauthorized")
    }).pipe(Effect.provide(Layer.provideMerge(webhook(), inMemory)))
  )

  it.effect("ends Bot.run with the defect of a check", () =>
    Effect.gen(function* () {
      const fail = Logger.make(({ message }) => {
        if (String(message).includes("does not have the subscription")) throw new Error("a defect of a logger")
      })
      const running = yield* Effect.forkChild(
        Effect.exit(Effect.provide(bot([]), webhook().pipe(Layer.provide(Logger.layer([fail]))))),
        { startImmediately: true }
      )
      yield* TestClock.adjust("1 second")
      yield* Subscriptions.unsubscribe({ url })
      yield* TestClock.adjust("5 minutes")
      const exit = running.pollUnsafe()
      assert.isTrue(
        exit !== undefined &&
          Exit.isSuccess(exit) &&
          Exit.isFailure(exit.value) &&
          Cause.pretty(exit.value.cause).includes("a defect of a logger")
      )
    }).pipe(Effect.provide(inMemory))
  )

  it.effect("is checked again after a failed check", () =>
    Effect.gen(function* () {
      yield* Emulator.addFault({ endpoint: "Subscriptions.list", status: 400, times: 1 })
      yield* TestClock.adjust("5 minutes")
      yield* Subscriptions.unsubscribe({ url })
      yield* TestClock.adjust("5 minutes")
      assert.deepStrictEqual(yield* subscriptions, [[url]])
    }).pipe(Effect.scoped, Effect.provide(Layer.provideMerge(webhook(), inMemory)))
  )

  it.effect("stays when the program stops, unless unsubscribeAtStop is set", () =>
    Effect.gen(function* () {
      const startAndStop = Effect.fnUntraced(function* (options?: Partial<Webhook.Options>) {
        const scope = yield* Scope.make()
        yield* Layer.buildWithScope(Layer.fresh(webhook(options)), scope)
        yield* Scope.close(scope, Exit.void)
        return yield* subscriptions
      })
      assert.deepStrictEqual(yield* startAndStop(), [[url]])
      assert.deepStrictEqual(yield* startAndStop({ unsubscribeAtStop: true }), [])
    }).pipe(Effect.provide(inMemory))
  )

  it.effect("is created for an http:// URL of this machine if the webhook is insecure", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* subscriptions, [["http://127.0.0.1:8080/updates"]])
    }).pipe(
      Effect.provide(
        Layer.provideMerge(
          webhook({ url: "http://127.0.0.1:8080/updates", insecure: true }),
          Layer.provideMerge(Inbox.layerMemory(), Emulator.layerBot({ insecureWebhooks: true }))
        )
      )
    )
  )
})
