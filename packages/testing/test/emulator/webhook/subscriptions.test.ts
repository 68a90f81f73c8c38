import { Me, Subscriptions, Updates } from "@colloquy/core"
import { Emulator } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import { assumes, says } from "../../support/fidelity.ts"
import { codeOf } from "../../support/inspect.ts"
import { raw } from "../../support/raw.ts"
import {
  attempts,
  delayed,
  deliver,
  deliverPending,
  hour,
  makeReceiver,
  subscriptions,
  url
} from "../../support/webhooks.ts"

const layer = Emulator.layerBot()

const type = "message_created"

describe("a webhook subscription", () => {
  assumes(
    "C",
    "POST /subscriptions",
    "An updated subscription keeps its retries, and its 8 hours start again",
    Effect.gen(function* () {
      const { receive, received } = makeReceiver(() => 500)
      yield* Emulator.receive(url, receive)
      yield* Subscriptions.subscribe({ url, secret: "secret-1" })
      yield* deliver("a")
      yield* TestClock.adjust("4 hours")
      yield* Subscriptions.subscribe({ url, secret: "secret-2", update_types: [type] })
      assert.deepStrictEqual(yield* Subscriptions.list(), [{ url, time: 4 * hour, update_types: [type] }])
      yield* TestClock.adjust("4 hours")
      assert.deepStrictEqual(yield* subscriptions, [url])
      assert.strictEqual(received.length, 8)
      assert.strictEqual(received.at(-1)?.headers["x-svc-bot-api-secret"], "secret-2")
      yield* TestClock.adjust("20 hours")
      assert.deepStrictEqual(yield* subscriptions, [])
    })
  )

  assumes(
    "C",
    "POST /subscriptions",
    "A bot can have several subscriptions, each of which fails independently",
    Effect.gen(function* () {
      const good = makeReceiver()
      const bad = makeReceiver(() => 500)
      yield* Emulator.receive(url, good.receive)
      yield* Emulator.receive(`${url}/bad`, bad.receive)
      yield* Subscriptions.subscribe({ url })
      yield* Subscriptions.subscribe({ url: `${url}/bad` })
      yield* deliver("a")
      yield* TestClock.adjust("8 hours")
      assert.deepStrictEqual([good.texts().length, bad.texts().length], [1, 8])
      assert.deepStrictEqual(yield* subscriptions, [url])
      assert.strictEqual(yield* codeOf(Updates.list({ timeout: 0 })), "MethodNotAllowed method.not.allowed")
    })
  )

  it.effect("cancels its retries when it ends, but not the current delivery", () =>
    Effect.gen(function* () {
      const { receive } = makeReceiver((text) => (text === "a" ? 500 : delayed("20 seconds")))
      yield* Emulator.receive(url, receive)
      yield* Subscriptions.subscribe({ url })
      yield* deliver("a")
      yield* deliver("b")
      yield* deliver("c")
      yield* TestClock.adjust("10 seconds")
      yield* Subscriptions.unsubscribe({ url })
      yield* TestClock.adjust("1 day")
      assert.deepStrictEqual(yield* attempts, [
        [1, 0, 500],
        [1, 0, 200]
      ])
    }).pipe(Effect.provide(layer))
  )

  it.effect("can be ended by its webhook before the webhook responds", () =>
    Effect.gen(function* () {
      yield* Emulator.receive(url, () =>
        Effect.gen(function* () {
          yield* Me.get()
          yield* Subscriptions.unsubscribe({ url })
          return { status: 200 }
        })
      )
      yield* Subscriptions.subscribe({ url })
      yield* deliver("a")
      yield* deliver("b")
      yield* deliverPending
      assert.deepStrictEqual(yield* attempts, [[1, 0, 200]])
      assert.deepStrictEqual(yield* subscriptions, [])
    }).pipe(Effect.provide(layer))
  )

  says(
    "Events",
    "Long Polling and a webhook cannot be used at the same time",
    Effect.gen(function* () {
      const waiting = yield* Effect.forkChild(codeOf(Updates.list({ timeout: 30 })))
      yield* TestClock.adjust("10 seconds")
      yield* Subscriptions.subscribe({ url })
      assert.strictEqual(yield* Fiber.join(waiting), "MethodNotAllowed method.not.allowed")
      yield* Subscriptions.unsubscribe({ url })
      yield* deliver("a")
      assert.strictEqual((yield* Updates.list({})).updates.length, 1)
    })
  )

  it.effect("duplicates or drops updates according to faults", () =>
    Effect.gen(function* () {
      const { receive, texts } = makeReceiver()
      yield* Emulator.receive(url, receive)
      yield* Subscriptions.subscribe({ url })
      yield* Emulator.setFaults([
        { update_type: "a", delivery: "duplicate" },
        { update_type: "b", delivery: "drop", nth: 1 }
      ])
      for (const text of ["a", "b", "c", "b"]) yield* deliver(text)
      yield* deliverPending
      assert.deepStrictEqual(texts(), ["a", "a", "c", "b"])
    }).pipe(Effect.provide(layer))
  )

  it.effect("continues after an update that cannot be encoded", () =>
    Effect.gen(function* () {
      const { receive, texts } = makeReceiver()
      yield* Emulator.receive(url, receive)
      yield* Subscriptions.subscribe({ url })
      const circle: Record<string, unknown> = { update_type: "circle", timestamp: 0 }
      circle["self"] = circle
      yield* Emulator.deliver(circle)
      yield* deliver("a")
      yield* deliverPending
      assert.deepStrictEqual(texts(), ["a"])
    }).pipe(Effect.provide(Layer.merge(layer, Logger.layer([]))))
  )

  it.effect("ends when the scope of the emulator closes", () =>
    Effect.gen(function* () {
      const { receive, received } = makeReceiver(() => 500)
      const scope = yield* Scope.make()
      const context = yield* Layer.buildWithScope(Layer.fresh(layer), scope)
      yield* Effect.gen(function* () {
        yield* Emulator.receive(url, receive)
        yield* Subscriptions.subscribe({ url })
        yield* deliver("a")
        yield* deliverPending
      }).pipe(Effect.provide(context))
      yield* Scope.close(scope, Exit.void)
      yield* TestClock.adjust("8 hours")
      assert.strictEqual(received.length, 1)
    })
  )

  const isRejected = Effect.fnUntraced(function* (url: string) {
    const { status, text } = yield* raw("POST", "/subscriptions", { body: JSON.stringify({ url }) })
    assert.strictEqual(status, 200)
    const { message, success } = JSON.parse(text)
    assert.isFalse(success)
    assert.match(message, /^url: must /)
    assert.deepStrictEqual(yield* subscriptions, [])
  })

  says(
    "POST /subscriptions",
    "The url must start with https://; an invalid url returns 200 with success false",
    Effect.gen(function* () {
      const urls = ["http://bot.example/updates", "http://127.0.0.1:8080", "https://", "ftp://b.example", "b.example"]
      for (const url of urls) yield* isRejected(url)
    })
  )

  says(
    "Events",
    "The URL must not contain a port",
    Effect.gen(function* () {
      for (const end of [":443/updates", ":8443", ":/", ":443?a=b"]) yield* isRejected(`https://bot.example${end}`)
    })
  )
})

describe("a subscription with insecureWebhooks", () => {
  const insecure = Emulator.layerBot({ insecureWebhooks: true })

  const subscribe = (url: string) =>
    Effect.map(
      raw("POST", "/subscriptions", { body: JSON.stringify({ url }) }),
      ({ text }) => JSON.parse(text).success as boolean
    )

  it.effect.each(["http://127.0.0.1:8080/updates", "http://localhost:3000", "http://localhost/?a=b"])(
    "accepts %s without a warning, because the option asks for such URLs",
    (url) => {
      const logged: Array<unknown> = []
      const logger = Logger.make(({ logLevel, message }) => logged.push([logLevel, message]))
      return Effect.gen(function* () {
        const { receive, texts } = makeReceiver()
        yield* Emulator.receive(url, receive)
        assert.isTrue(yield* subscribe(url))
        assert.deepStrictEqual(logged, [])
        yield* deliver("a")
        yield* deliverPending
        assert.deepStrictEqual(texts(), ["a"])
        assert.deepStrictEqual(yield* subscriptions, [url])
      }).pipe(Effect.provide(Layer.mergeAll(insecure, Logger.layer([logger]))))
    }
  )

  it.effect.each([
    "http://bot.example",
    "http://127.0.0.1.example:80",
    "http://localhost@bot.example",
    "http://localhost:99999"
  ])("rejects %s", (url) =>
    Effect.gen(function* () {
      assert.isFalse(yield* subscribe(url))
    }).pipe(Effect.provide(insecure))
  )
})
