import { Inbox, StoreError, Subscriptions, type Update, Updates, Webhook } from "@colloquy/core"
import * as InboxStore from "@colloquy/core/InboxStore"
import { Emulator } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import { inspect } from "node:util"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Metric from "effect/Metric"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import { deliverTo, secret, webhook } from "../support/webhookBots.ts"
import { url } from "../support/webhooks.ts"

const textOf = (update: Update.Update): string =>
  update.update_type === "message_created" ? (update.message?.body?.text ?? "") : update.update_type

/** A bot that records the updates that it handles. */
const bot = (handled: Array<string>) => Updates.run((update) => Effect.sync(() => handled.push(textOf(update))))

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
    const inbox = Inbox.layer().pipe(
      Layer.provide(
        Layer.effect(
          InboxStore.InboxStore,
          InboxStore.InboxStore.use((store) =>
            Effect.succeed({
              ...store,
              enqueue: (batch: InboxStore.Batch) =>
                Effect.suspend(() => (isDown ? Effect.fail(down) : store.enqueue(batch)))
            })
          )
        )
      ),
      Layer.provide(InboxStore.layerMemory())
    )
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
    }).pipe(Effect.provide(Layer.provideMerge(webhook(), Layer.provideMerge(inbox, platform))))
  })

  it.effect("handles an update once if it was stored after the timeout", () => {
    const inbox = Inbox.layer().pipe(
      Layer.provide(
        Layer.effect(
          InboxStore.InboxStore,
          InboxStore.InboxStore.use((store) =>
            Effect.succeed({
              ...store,
              enqueue: (batch: InboxStore.Batch) => Effect.delay(store.enqueue(batch), "20 seconds")
            })
          )
        )
      ),
      Layer.provide(InboxStore.layerMemory())
    )
    return Effect.gen(function* () {
      const handled: Array<string> = []
      yield* Effect.forkChild(bot(handled), { startImmediately: true })
      yield* say("a")
      yield* TestClock.adjust("10 minutes")
      assert.isAbove((yield* answers).length, 1)
      assert.deepStrictEqual(handled, ["unknown"])
    }).pipe(Effect.provide(Layer.provideMerge(webhook(), Layer.provideMerge(inbox, platform))))
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
        assert.notInclude(logs.join(), secret)
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

  it.effect("fails Updates.run if the token is revoked", () =>
    Effect.gen(function* () {
      const running = yield* Effect.forkChild(Effect.flip(bot([])), { startImmediately: true })
      yield* Emulator.revokeToken()
      yield* TestClock.adjust("5 minutes")
      const error = yield* Fiber.join(running)
      assert.strictEqual(error._tag, "Unauthorized")
    }).pipe(Effect.provide(Layer.provideMerge(webhook(), inMemory)))
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
