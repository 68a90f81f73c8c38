import { Json, Subscriptions, Updates } from "@colloquy/core"
import { Emulator } from "@colloquy/testing"
import { assert, describe } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import { assumes, says } from "../../support/fidelity.ts"
import { codeOf } from "../../support/inspect.ts"
import * as Scene from "../../support/scene.ts"
import {
  attempts,
  delayed,
  deliver,
  deliverPending,
  hour,
  makeReceiver,
  retries,
  second,
  subscriptions,
  textOf,
  url
} from "../../support/webhooks.ts"

const layer = Emulator.layerBot()

const type = "message_created"

describe("a delivery", () => {
  says(
    "Events",
    "After POST /subscriptions, events are sent as POST requests whose body is an Update object",
    Effect.gen(function* () {
      const { receive, received, texts } = makeReceiver()
      const visitor = yield* Emulator.user("visitor")
      yield* visitor.send("before")
      yield* Emulator.receive(url, receive)
      yield* Subscriptions.subscribe({ url })
      yield* visitor.send("a")
      yield* visitor.send("b")
      yield* deliverPending
      assert.deepStrictEqual(texts(), ["a", "b"])
      const [{ body, headers, update }] = received
      assert.deepStrictEqual(headers, { "content-type": "application/json" })
      assert.deepStrictEqual(Json.parse(body), update)
      const { message } = update as { readonly message: { readonly body: { readonly seq: bigint } } }
      assert.isTrue(message.body.seq > 2n ** 53n)
      assert.include(body, `"seq":${message.body.seq}`)
      assert.deepStrictEqual((yield* Emulator.deliveries)[0], {
        at: 0,
        url,
        update: (yield* Emulator.updates)[2],
        attempt: 1,
        status: 200,
        failure: undefined,
        latency: 0
      })
    })
  )

  says(
    "Events",
    "If a secret was set, it is sent in the header X-Svc-Bot-Api-Secret of every request",
    Effect.gen(function* () {
      const { receive, received } = makeReceiver(() => 500)
      yield* Emulator.receive(url, receive)
      yield* Subscriptions.subscribe({ url, secret: "a-long-secret" })
      yield* deliver("a")
      yield* TestClock.adjust("60 seconds")
      assert.deepStrictEqual(
        received.map(({ headers }) => headers["x-svc-bot-api-secret"]),
        ["a-long-secret", "a-long-secret"]
      )
    })
  )

  says(
    "POST /subscriptions",
    "update_types selects the event types; updates of comments are sent to webhooks only",
    Effect.gen(function* () {
      const { post, visitor } = yield* Scene.make
      const some = makeReceiver()
      const all = makeReceiver()
      const none = makeReceiver()
      yield* Emulator.receive(url, some.receive)
      yield* Emulator.receive(`${url}/all`, all.receive)
      yield* Emulator.receive(`${url}/none`, none.receive)
      yield* Subscriptions.subscribe({ url, update_types: [type, "comment_created", "planet_aligned"] })
      yield* Subscriptions.subscribe({ url: `${url}/all` })
      yield* Subscriptions.subscribe({ url: `${url}/none`, update_types: [] })
      const comment = yield* visitor.comment(post, "a comment")
      yield* visitor.editComment(comment, "a comment!")
      yield* visitor.send("a")
      yield* deliver("planet_aligned")
      yield* deliver("planet_exploded")
      yield* deliverPending
      assert.deepStrictEqual(some.texts(), ["a comment", "a", "planet_aligned"])
      assert.deepStrictEqual(all.texts(), ["a comment", "a comment!", "a", "planet_aligned", "planet_exploded"])
      assert.deepStrictEqual(none.texts(), [])
      assert.deepStrictEqual(yield* subscriptions, [url, `${url}/all`, `${url}/none`])
      yield* Effect.forEach(yield* subscriptions, (url) => Subscriptions.unsubscribe({ url }))
      const { updates } = yield* Updates.list({ marker: 0n })
      const polled = updates.map((update) => (update._tag === "Success" ? textOf(update.success) : "malformed"))
      assert.include(polled, "a")
      assert.notInclude(polled.join(), "comment")
    })
  )

  assumes(
    "C",
    "Events",
    "The first attempts of the updates of a subscription are made one after the other, in order",
    Effect.gen(function* () {
      const { receive, texts } = makeReceiver(() => delayed("10 seconds"))
      yield* Emulator.receive(url, receive)
      yield* Subscriptions.subscribe({ url })
      for (const text of ["a", "b", "c"]) yield* deliver(text)
      yield* TestClock.adjust("19 seconds")
      assert.deepStrictEqual(texts(), ["a", "b"])
      yield* TestClock.adjust("11 seconds")
      assert.deepStrictEqual(texts(), ["a", "b", "c"])
      assert.deepStrictEqual(
        (yield* Emulator.deliveries).map(({ at, latency }) => [at, latency]),
        [
          [0, 10_000],
          [10_000, 10_000],
          [20_000, 10_000]
        ]
      )
    })
  )

  says(
    "Events",
    "The endpoint must answer within 30 seconds",
    Effect.gen(function* () {
      const { receive } = makeReceiver((text) => delayed(text === "a" ? "29999 millis" : "30 seconds"))
      yield* Emulator.receive(url, receive)
      yield* Subscriptions.subscribe({ url })
      yield* deliver("a")
      yield* deliver("b")
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(
        (yield* Emulator.deliveries).map(({ failure, latency, status }) => [latency, status ?? failure]),
        [
          [29_999, 200],
          [30_000, "TimedOut"]
        ]
      )
    })
  )

  says(
    "Events",
    "A delivery fails if the status is not 200",
    Effect.gen(function* () {
      for (const status of [201, 204, 302, 400, 404, 500]) {
        yield* Effect.gen(function* () {
          yield* Emulator.receive(url, makeReceiver(() => status).receive)
          yield* Subscriptions.subscribe({ url })
          const start = yield* Clock.currentTimeMillis
          yield* deliver("a")
          yield* TestClock.adjust("60 seconds")
          assert.deepStrictEqual(yield* attempts, [
            [1, start, status],
            [2, start + 60_000, status]
          ])
        }).pipe(Effect.scoped, Effect.provide(Layer.fresh(layer)))
      }
    })
  )

  says(
    "Events",
    "If the endpoint is unreachable, events are not delivered",
    Effect.gen(function* () {
      yield* Emulator.receive(url, () => Effect.fail("gone"))
      yield* Emulator.receive(`${url}/2`, () => Effect.die(new Error("a defect")))
      for (const path of ["", "/2", "/3"]) yield* Subscriptions.subscribe({ url: url + path })
      yield* deliver("a")
      yield* deliverPending
      assert.sameDeepMembers(
        (yield* Emulator.deliveries).map(({ failure, url }) => [url, failure]),
        [
          [url, "ConnectionLost"],
          [`${url}/2`, "ConnectionLost"],
          [`${url}/3`, "Unreachable"]
        ]
      )
    })
  )
})

describe("retries of a delivery", () => {
  says(
    "Events",
    "A delivery is retried after 60 s, 150 s, 375 s and so on; 8 hours without a success end the subscription",
    Effect.gen(function* () {
      const { receive } = makeReceiver(() => 503)
      yield* Emulator.receive(url, receive)
      yield* Subscriptions.subscribe({ url })
      yield* deliver("a")
      yield* TestClock.adjust(8 * hour - 1)
      assert.deepStrictEqual(
        yield* attempts,
        [0, ...retries].map((at, index) => [index + 1, at, 503])
      )
      assert.deepStrictEqual(yield* subscriptions, [url])
      assert.strictEqual(yield* codeOf(Updates.list({ timeout: 0 })), "MethodNotAllowed method.not.allowed")
      yield* TestClock.adjust("1 millis")
      assert.deepStrictEqual(yield* subscriptions, [])
      assert.deepStrictEqual(yield* Effect.map(Updates.list({}), ({ updates }) => updates.length), 1)
      yield* deliver("b")
      yield* TestClock.adjust("5 days")
      assert.strictEqual((yield* attempts).length, 8)
    })
  )

  assumes(
    "C",
    "Events",
    "The interval before a retry begins at the end of the failed attempt",
    Effect.gen(function* () {
      yield* Emulator.receive(url, makeReceiver(() => Effect.never).receive)
      yield* Subscriptions.subscribe({ url })
      yield* deliver("a")
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(
        (yield* attempts).map(([, at]) => at),
        [0, 90, 270, 675, 1642.5].map((at) => at * second)
      )
    })
  )

  assumes(
    "C",
    "Events",
    "A failing delivery does not delay later ones, and is retried up to 10 times while others succeed",
    Effect.gen(function* () {
      const { receive, texts } = makeReceiver((text) => (text === "bad" ? 500 : 200))
      yield* Emulator.receive(url, receive)
      yield* Subscriptions.subscribe({ url })
      yield* deliver("bad")
      yield* deliver("good")
      yield* deliverPending
      assert.deepStrictEqual(texts(), ["bad", "good"])
      // Other deliveries succeed, so the subscription continues. The failing delivery ends after ten retries.
      for (let elapsed = 0; elapsed < 120; elapsed += 6) {
        yield* TestClock.adjust("6 hours")
        yield* deliver("good")
      }
      yield* deliverPending
      const bad = (yield* Emulator.deliveries).filter(({ status }) => status === 500)
      assert.deepStrictEqual(
        bad.map(({ attempt }) => attempt),
        [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]
      )
      assert.strictEqual(Math.round(bad[10].at / second), 381_430)
      assert.deepStrictEqual(yield* subscriptions, [url])
    })
  )

  says(
    "Events",
    "A failed delivery is repeated until it succeeds",
    Effect.gen(function* () {
      let isUp = false
      const { receive } = makeReceiver(() => (isUp ? 200 : 502))
      yield* Emulator.receive(url, receive)
      yield* Subscriptions.subscribe({ url })
      yield* deliver("a")
      yield* TestClock.adjust("3 minutes")
      isUp = true
      yield* TestClock.adjust("9 hours")
      assert.deepStrictEqual(yield* attempts, [
        [1, 0, 502],
        [2, 60_000, 502],
        [3, 210_000, 200]
      ])
      assert.deepStrictEqual(yield* subscriptions, [url])
    })
  )
})
