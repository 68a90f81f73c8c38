import { Inbox, LongPolling, Messages, Subscriptions, Update, Updates, Webhook } from "@colloquy/core"
import { Emulator } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"

const url = "https://bot.example/updates"
const secret = "a-secret-for-tests"

const echo = Updates.on("message_created", (update) => Messages.reply(update, `${Update.textOf(update)}!`))

const echoLater = Updates.on("message_created", (update) =>
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

describe("Updates.drain with Webhook.toWebHandler", () => {
  it.effect("handles the update of a request before the response", () =>
    Effect.gen(function* () {
      const receive = yield* Webhook.toWebHandler
      const left: Array<number> = []
      yield* deploy((request) =>
        Effect.gen(function* () {
          const response = yield* Effect.promise(() => receive(request))
          yield* Updates.drain(echo, { until: "20 seconds" })
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
          const drained = Updates.drain(echoLater, { until: "1 minute" })
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
      const handler = Updates.on("message_created", (update) =>
        isBroken ? Effect.never : Messages.reply(update, `${Update.textOf(update)}!`)
      )
      const results: Array<boolean> = []
      yield* deploy((request) =>
        Effect.gen(function* () {
          const response = yield* Effect.promise(() => receive(request))
          results.push(yield* Updates.drain(handler, { until: "10 seconds" }))
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

describe("Updates.drain with LongPolling", () => {
  it.effect("handles in each run of a cron job what arrived since the last one", () =>
    Effect.gen(function* () {
      const ann = yield* Emulator.user("Ann")
      for (const text of ["one", "two"]) {
        yield* ann.send(`${text} a`)
        yield* ann.send(`${text} b`)
        assert.isTrue(yield* Updates.drain(echo, { until: "50 seconds" }))
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
      assert.isTrue(yield* Updates.drainFrom(yield* LongPolling.make(), echo))
      assert.strictEqual((yield* ann.reply).body?.text, "one!")
    }).pipe(Effect.provide(platform))
  )
})
