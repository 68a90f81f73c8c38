import { Emulator } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import * as InboxStore from "../../../src/inbox/InboxStore.ts"
import {
  Bot,
  Handler,
  Inbox,
  LongPolling,
  Messages,
  Subscriptions,
  Update,
  Updates,
  Webhook
} from "../../../src/index.ts"
import { chatOf, inTime, source, started, timeOf, within } from "../../support/deliveries.ts"
import { user } from "../../support/fixtures.ts"
import { ok, scripted, unlimited } from "../../support/scripted.ts"

const botStarted = (timestamp: number) => ({ update_type: "bot_started", timestamp, chat_id: timestamp, user })

const queued = Inbox.Inbox.use(({ stats }) => Effect.map(stats, ({ queued }) => queued))

const recording = () => {
  const times: Array<number> = []
  return { times, handler: (update: Update.Update) => Effect.sync(() => void times.push(timeOf(update))) }
}

describe("Bot.drain", () => {
  it.effect("polls without waiting until a page is empty, handles all updates, and ends", () =>
    Effect.gen(function* () {
      const platform = scripted(
        ok({ updates: [botStarted(1), botStarted(2)], marker: 1 }),
        ok({ updates: [botStarted(3)], marker: 2 }),
        ok({ updates: [], marker: 2 })
      )
      const layer = LongPolling.layer({ timeout: 30 }).pipe(
        Layer.provide(platform.layer({ limits: unlimited })),
        Layer.provideMerge(Inbox.layerMemory())
      )
      const { handler, times } = recording()
      const isEmpty = yield* inTime(Bot.drain(handler)).pipe(Effect.provide(layer))
      assert.isTrue(isEmpty)
      assert.deepStrictEqual(times, [1, 2, 3])
      assert.deepStrictEqual(
        platform.journal.map(({ url }) => url),
        ["/updates?timeout=0", "/updates?timeout=0&marker=1", "/updates?timeout=0&marker=2"]
      )
    })
  )

  it.effect("polls once if the platform returns no marker", () =>
    Effect.gen(function* () {
      const platform = scripted(ok({ updates: [botStarted(1)] }))
      const layer = LongPolling.layer().pipe(
        Layer.provide(platform.layer({ limits: unlimited })),
        Layer.provideMerge(Inbox.layerMemory())
      )
      const { handler, times } = recording()
      assert.isTrue(yield* inTime(Bot.drain(handler)).pipe(Effect.provide(layer)))
      assert.deepStrictEqual(times, [1])
    })
  )

  it.effect("waits for the retries of a handler, and ends with its dead letter", () =>
    Effect.gen(function* () {
      const drained = Bot.drain(() => Effect.fail("no"), {
        retry: Schedule.spaced("10 seconds").pipe(Schedule.upTo({ times: 2 }))
      })
      assert.isTrue(yield* inTime(drained))
      assert.strictEqual((yield* Stream.runCollect(Inbox.deadLetters)).length, 1)
    }).pipe(Effect.provide(within(Inbox.layer(), source([started(1, 1)]))))
  )

  it.effect("ends after the duration `until`, and leaves in the inbox what is not handled", () =>
    Effect.gen(function* () {
      const slowly = (update: Update.Update) => (chatOf(update) === 1 ? Effect.never : Effect.void)
      const drained = Bot.drain(slowly, { until: "50 seconds", shutdownTimeout: "5 seconds", timeout: "1 hour" })
      const fiber = yield* Effect.forkChild(drained, { startImmediately: true })
      yield* TestClock.adjust("54 seconds")
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust("1 second")
      assert.isFalse(yield* Fiber.join(fiber))
      assert.strictEqual(yield* queued, 1)
    }).pipe(Effect.provide(within(Inbox.layer(), source([started(1, 1), started(2, 2)]))))
  )

  it.effect("ends before the duration `until` if no update is left", () =>
    Effect.gen(function* () {
      const { handler, times } = recording()
      assert.isTrue(yield* Bot.drain(handler, { until: "50 seconds" }))
      assert.deepStrictEqual(times, [1])
    }).pipe(Effect.provide(within(Inbox.layer(), source([started(1, 1)]))))
  )

  it.effect("leaves the inbox open, also when its time is over", () =>
    Effect.gen(function* () {
      const inbox = yield* Inbox.Inbox
      const { handler, times } = recording()
      yield* Bot.drain(handler)
      yield* inbox.receive([started(1, 2)])
      const drained = Bot.drain(() => Effect.never, { until: "1 second", shutdownTimeout: 0 })
      const fiber = yield* Effect.forkChild(drained, { startImmediately: true })
      yield* TestClock.adjust("10 seconds")
      assert.isFalse(yield* Fiber.join(fiber))
      yield* inbox.receive([started(1, 3)])
      yield* Bot.drain(handler)
      assert.deepStrictEqual(times, [1, 2, 3])
    }).pipe(Effect.provide(within(Inbox.layer(), source([started(1, 1)]))))
  )

  it.effect("handles each update once if several run at the same time", () =>
    Effect.gen(function* () {
      const inbox = yield* Inbox.Inbox
      const handled = new Map<number, number>()
      const handler = (update: Update.Update) =>
        Effect.delay(
          Effect.sync(() => void handled.set(timeOf(update), (handled.get(timeOf(update)) ?? 0) + 1)),
          "30 millis"
        )
      const request = Effect.fnUntraced(function* (time: number) {
        yield* Effect.sleep(`${time % 50} millis`)
        yield* inbox.receive([started(time % 7, time)])
        return yield* Bot.drain(handler, { concurrency: 2 })
      })
      const times = Array.from({ length: 60 }, (_, index) => index + 1)
      const results = yield* inTime(Effect.forEach(times, request, { concurrency: "unbounded" }))
      assert.deepStrictEqual(new Set(results), new Set([true]))
      assert.strictEqual(yield* queued, 0)
      assert.deepStrictEqual(
        times.map((time) => handled.get(time)),
        times.map(() => 1)
      )
    }).pipe(Effect.provide(within(Inbox.layer(), source([]))))
  )

  it.effect("handles all updates of a chat although claims answer slowly", () =>
    Effect.gen(function* () {
      const store = yield* InboxStore.InboxStore
      // The answer arrives after other operations of the store.
      const slow = InboxStore.InboxStore.of({
        ...store,
        claim: (options) => Effect.tap(store.claim(options), () => Effect.sleep("10 millis"))
      })
      const times: Array<number> = []
      const handler = (update: Update.Update) =>
        Effect.andThen(
          Effect.yieldNow,
          Effect.sync(() => times.push(timeOf(update)))
        )
      const expected = Array.from({ length: 40 }, (_, index) => index)
      const inbox = Inbox.layer().pipe(Layer.provide(Layer.succeed(InboxStore.InboxStore, slow)))
      const updates = source(expected.map((time) => started(1, time)))
      assert.isTrue(yield* inTime(Effect.provide(Bot.drain(handler), Layer.provide(updates, inbox))))
      assert.deepStrictEqual(times, expected)
    }).pipe(Effect.provide(InboxStore.layerMemory))
  )

  it.effect("ends when its last update is handled, although another consumer of the inbox looks for updates", () =>
    Effect.gen(function* () {
      const store = yield* InboxStore.InboxStore
      const slow = InboxStore.InboxStore.of({
        ...store,
        claim: (options) => Effect.tap(store.claim(options), () => Effect.sleep("10 millis"))
      })
      const inbox = Inbox.layer().pipe(Layer.provide(Layer.succeed(InboxStore.InboxStore, slow)))
      yield* Effect.gen(function* () {
        yield* (yield* Inbox.Inbox).receive([started(1, 1)])
        const drained = yield* Effect.forkChild(
          Bot.drain(() => Effect.sleep("5 millis")),
          { startImmediately: true }
        )
        yield* TestClock.adjust("1 milli")
        const other = Bot.run(() => Effect.void, { source: yield* Updates.make(Stream.never) })
        yield* Effect.forkChild(other, { startImmediately: true })
        for (let step = 0; step < 100; step++) yield* TestClock.adjust("1 milli")
        assert.isDefined(drained.pollUnsafe())
      }).pipe(Effect.provide(Layer.provideMerge(Updates.layer(Stream.empty), inbox)))
    }).pipe(Effect.provide(InboxStore.layerMemory))
  )

  it.effect("fails with the error of its source", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(Bot.drain(() => Effect.void))
      assert.strictEqual(error._tag, "UpdateStreamFailed")
    }).pipe(Effect.provide(Updates.layer(Stream.fail("gone")).pipe(Layer.provide(Inbox.layerMemory()))))
  )
})

const url = "https://bot.example/updates"
const secret = "a-secret-for-tests"

const echo = Handler.on("message_created", (update) => Messages.reply(update, `${Update.textOf(update)}!`))

const echoLater = Handler.on("message_created", (update) =>
  Effect.delay(Messages.reply(update, `${Update.textOf(update)}!`), "10 seconds")
)

const platform = Emulator.layerBot()

/** A function without a server: it receives a request, and its program exists only while a request is handled. */
const functionOf = Webhook.layerReceiver({ url, secret }).pipe(
  Layer.merge(Updates.layer(Stream.empty)),
  Layer.provideMerge(platform)
)

/** Subscribes the URL, as a deployment does, and passes its deliveries to the function. */
const deploy = <E, R>(respond: (request: Request) => Effect.Effect<Response, E, R>) =>
  Effect.gen(function* () {
    yield* Emulator.receive(url, ({ body, headers, url }) =>
      respond(new Request(url, { method: "POST", headers, body }))
    )
    yield* Subscriptions.subscribe({ url, secret })
  })

describe("Bot.drain with Webhook.toWebHandler", () => {
  it.effect("handles the update of a request before the response", () =>
    Effect.gen(function* () {
      const receive = yield* Webhook.toWebHandler
      const left: Array<number> = []
      yield* deploy((request) =>
        Effect.gen(function* () {
          const response = yield* Effect.promise(() => receive(request))
          yield* Bot.drain(echo, { until: "20 seconds" })
          left.push((yield* (yield* Inbox.Inbox).stats).queued)
          return response
        })
      )
      const ann = yield* Emulator.user("Ann")
      for (const text of ["one", "two"]) {
        yield* ann.send(text)
        assert.strictEqual((yield* ann.reply).body?.text, `${text}!`)
      }
      yield* TestClock.adjust("1 second")
      // The first delivery is that of `bot_started`.
      assert.deepStrictEqual(left, [0, 0, 0])
      assert.deepStrictEqual(
        (yield* Emulator.deliveries).map(({ status }) => status),
        [200, 200, 200]
      )
    }).pipe(Effect.scoped, Effect.provide(functionOf))
  )

  it.effect("handles the update of a request after the response", () =>
    Effect.gen(function* () {
      const receive = yield* Webhook.toWebHandler
      const background: Array<Fiber.Fiber<boolean, unknown>> = []
      yield* deploy((request) =>
        Effect.gen(function* () {
          const response = yield* Effect.promise(() => receive(request))
          const drained = Bot.drain(echoLater, { until: "1 minute" })
          background.push(yield* Effect.forkDetach(drained))
          return response
        })
      )
      const ann = yield* Emulator.user("Ann")
      yield* ann.send("one")
      const statuses = Effect.map(Emulator.deliveries, (deliveries) => deliveries.map(({ status }) => status))
      yield* Effect.repeat(Effect.andThen(TestClock.adjust("10 millis"), statuses), {
        until: ({ length }) => length === 2
      })
      assert.deepStrictEqual(yield* statuses, [200, 200])
      assert.strictEqual((yield* Emulator.messages(yield* ann.dialog)).length, 1)
      yield* Effect.forkChild(Effect.forever(TestClock.adjust("1 second")))
      assert.strictEqual((yield* ann.reply).body?.text, "one!")
      assert.deepStrictEqual(yield* Effect.forEach(background, Fiber.join), [true, true])
    }).pipe(Effect.scoped, Effect.provide(functionOf))
  )

  it.effect("leaves an update whose time is over to the next request", () =>
    Effect.gen(function* () {
      const receive = yield* Webhook.toWebHandler
      let isBroken = true
      const handler = Handler.on("message_created", (update) =>
        isBroken ? Effect.never : Messages.reply(update, `${Update.textOf(update)}!`)
      )
      const results: Array<boolean> = []
      yield* deploy((request) =>
        Effect.gen(function* () {
          const response = yield* Effect.promise(() => receive(request))
          results.push(yield* Bot.drain(handler, { until: "10 seconds" }))
          return response
        })
      )
      const ann = yield* Emulator.user("Ann")
      yield* ann.send("one")
      yield* TestClock.adjust("11 seconds")
      assert.deepStrictEqual(results, [true, false])
      isBroken = false
      yield* ann.send("two")
      assert.strictEqual((yield* ann.reply).body?.text, "one!")
      assert.strictEqual((yield* ann.reply).body?.text, "two!")
    }).pipe(Effect.scoped, Effect.provide(functionOf))
  )
})

describe("Bot.drain with LongPolling", () => {
  it.effect("handles in each run of a cron job the updates since the last run", () =>
    Effect.gen(function* () {
      const ann = yield* Emulator.user("Ann")
      for (const text of ["one", "two"]) {
        yield* ann.send(`${text} a`)
        yield* ann.send(`${text} b`)
        assert.isTrue(yield* Bot.drain(echo, { until: "50 seconds" }))
        assert.strictEqual((yield* ann.reply).body?.text, `${text} a!`)
        assert.strictEqual((yield* ann.reply).body?.text, `${text} b!`)
        yield* TestClock.adjust("1 minute")
      }
    }).pipe(Effect.provide(LongPolling.layer().pipe(Layer.provideMerge(platform))))
  )

  it.effect("drains a bot that is a value", () =>
    Effect.gen(function* () {
      const ann = yield* Emulator.user("Ann")
      yield* ann.send("one")
      assert.isTrue(yield* Bot.drain(echo, { source: yield* LongPolling.make() }))
      assert.strictEqual((yield* ann.reply).body?.text, "one!")
    }).pipe(Effect.provide(platform))
  )
})
