import { Json, Me, Subscriptions, Updates } from "@colloquy/core"
import { Emulator, type WebhookSender } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import { assumes, says } from "../support/fidelity.ts"
import { codeOf } from "../support/inspect.ts"
import { raw } from "../support/raw.ts"
import * as Scene from "../support/scene.ts"

const layer = Emulator.layerBot()

const url = "https://bot.example/updates"

const second = 1000
const hour = 3600 * second

/** The retries after a failure at 0, as the API document has them: each interval is the previous one times 2.5. */
const retries = [60, 210, 585, 1522.5, 3866.25, 9725.625, 24374.063].map((at) => Math.floor(at * second))

const textOf = (update: unknown): string => {
  const { message, update_type } = update as {
    readonly update_type: string
    readonly message?: { readonly body: { readonly text: string } }
  }
  return message?.body.text ?? update_type
}

/** Answers what it is told to, and keeps what came. */
const receiver = (answer: (text: string) => number | Effect.Effect<WebhookSender.Response> = () => 200) => {
  const received: Array<WebhookSender.Request> = []
  const receive: WebhookSender.Receiver = (request) => {
    received.push(request)
    const answered = answer(textOf(request.update))
    return typeof answered === "number" ? Effect.succeed({ status: answered }) : answered
  }
  return { received, receive, texts: () => received.map(({ update }) => textOf(update)) }
}

const slow = (latency: Duration.Input, status = 200) => Effect.delay(Effect.succeed({ status }), latency)

/** Lets go on what need not wait for the clock. */
const settle = TestClock.adjust("0 millis")

const attempts = Effect.map(Emulator.deliveries, (deliveries) =>
  deliveries.map(({ at, attempt, failure, status }) => [attempt, at, status ?? failure])
)

const subscriptions = Effect.map(Subscriptions.list(), (list) => list.map(({ url }) => url))

const say = (text: string) => Emulator.deliver({ update_type: text, timestamp: 0 })

const type = "message_created"

describe("a webhook", () => {
  says(
    "Events",
    "After POST /subscriptions events are sent as POST requests whose body is an Update object",
    Effect.gen(function* () {
      const { receive, received, texts } = receiver()
      const visitor = yield* Emulator.user("visitor")
      yield* visitor.send("before")
      yield* Emulator.receive(url, receive)
      yield* Subscriptions.subscribe({ url })
      yield* visitor.send("a")
      yield* visitor.send("b")
      yield* settle
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
      const { receive, received } = receiver(() => 500)
      yield* Emulator.receive(url, receive)
      yield* Subscriptions.subscribe({ url, secret: "a-long-secret" })
      yield* say("a")
      yield* TestClock.adjust("60 seconds")
      assert.deepStrictEqual(
        received.map(({ headers }) => headers["x-svc-bot-api-secret"]),
        ["a-long-secret", "a-long-secret"]
      )
    })
  )

  says(
    "POST /subscriptions",
    "update_types are the event types that the bot wants; comment updates come by webhook only",
    Effect.gen(function* () {
      const { post, visitor } = yield* Scene.make
      const some = receiver()
      const all = receiver()
      const none = receiver()
      yield* Emulator.receive(url, some.receive)
      yield* Emulator.receive(`${url}/all`, all.receive)
      yield* Emulator.receive(`${url}/none`, none.receive)
      yield* Subscriptions.subscribe({ url, update_types: [type, "comment_created", "planet_aligned"] })
      yield* Subscriptions.subscribe({ url: `${url}/all` })
      yield* Subscriptions.subscribe({ url: `${url}/none`, update_types: [] })
      const comment = yield* visitor.comment(post, "a comment")
      yield* visitor.editComment(comment, "a comment!")
      yield* visitor.send("a")
      yield* say("planet_aligned")
      yield* say("planet_exploded")
      yield* settle
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
    "The first attempts of a webhook's updates follow each other in order",
    Effect.gen(function* () {
      const { receive, texts } = receiver(() => slow("10 seconds"))
      yield* Emulator.receive(url, receive)
      yield* Subscriptions.subscribe({ url })
      for (const text of ["a", "b", "c"]) yield* say(text)
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
      const { receive } = receiver((text) => slow(text === "a" ? "29999 millis" : "30 seconds"))
      yield* Emulator.receive(url, receive)
      yield* Subscriptions.subscribe({ url })
      yield* say("a")
      yield* say("b")
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
    "Any other status than 200 is a delivery failure",
    Effect.gen(function* () {
      for (const status of [201, 204, 302, 400, 404, 500]) {
        yield* Effect.gen(function* () {
          yield* Emulator.receive(url, receiver(() => status).receive)
          yield* Subscriptions.subscribe({ url })
          const start = yield* Clock.currentTimeMillis
          yield* say("a")
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
      yield* say("a")
      yield* settle
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

describe("a failing webhook", () => {
  says(
    "Events",
    "Retries follow after 60 s, 150 s, 375 s and so on, and 8 hours without a success end the subscription",
    Effect.gen(function* () {
      const { receive } = receiver(() => 503)
      yield* Emulator.receive(url, receive)
      yield* Subscriptions.subscribe({ url })
      yield* say("a")
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
      yield* say("b")
      yield* TestClock.adjust("5 days")
      assert.strictEqual((yield* attempts).length, 8)
    })
  )

  assumes(
    "C",
    "Events",
    "An interval between attempts begins when the failed one has ended",
    Effect.gen(function* () {
      yield* Emulator.receive(url, receiver(() => Effect.never).receive)
      yield* Subscriptions.subscribe({ url })
      yield* say("a")
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
    "A failing delivery does not hold up later ones; up to 10 retries follow while others succeed",
    Effect.gen(function* () {
      const { receive, texts } = receiver((text) => (text === "bad" ? 500 : 200))
      yield* Emulator.receive(url, receive)
      yield* Subscriptions.subscribe({ url })
      yield* say("bad")
      yield* say("good")
      yield* settle
      assert.deepStrictEqual(texts(), ["bad", "good"])
      // A success in time keeps the subscription: the update that always fails is given up after ten retries.
      for (let elapsed = 0; elapsed < 120; elapsed += 6) {
        yield* TestClock.adjust("6 hours")
        yield* say("good")
      }
      yield* settle
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
    "After a failure the delivery is repeated until it succeeds",
    Effect.gen(function* () {
      let isUp = false
      const { receive } = receiver(() => (isUp ? 200 : 502))
      yield* Emulator.receive(url, receive)
      yield* Subscriptions.subscribe({ url })
      yield* say("a")
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

describe("a subscription", () => {
  assumes(
    "C",
    "POST /subscriptions",
    "A subscription that is changed keeps its retries, and its 8 hours begin anew",
    Effect.gen(function* () {
      const { receive, received } = receiver(() => 500)
      yield* Emulator.receive(url, receive)
      yield* Subscriptions.subscribe({ url, secret: "secret-1" })
      yield* say("a")
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
    "Several subscriptions stand side by side, each failing for itself",
    Effect.gen(function* () {
      const good = receiver()
      const bad = receiver(() => 500)
      yield* Emulator.receive(url, good.receive)
      yield* Emulator.receive(`${url}/bad`, bad.receive)
      yield* Subscriptions.subscribe({ url })
      yield* Subscriptions.subscribe({ url: `${url}/bad` })
      yield* say("a")
      yield* TestClock.adjust("8 hours")
      assert.deepStrictEqual([good.texts().length, bad.texts().length], [1, 8])
      assert.deepStrictEqual(yield* subscriptions, [url])
      assert.strictEqual(yield* codeOf(Updates.list({ timeout: 0 })), "MethodNotAllowed method.not.allowed")
    })
  )

  it.effect("ends with its retries, though not with what is under way", () =>
    Effect.gen(function* () {
      const { receive } = receiver((text) => (text === "a" ? 500 : slow("20 seconds")))
      yield* Emulator.receive(url, receive)
      yield* Subscriptions.subscribe({ url })
      yield* say("a")
      yield* say("b")
      yield* say("c")
      yield* TestClock.adjust("10 seconds")
      yield* Subscriptions.unsubscribe({ url })
      yield* TestClock.adjust("1 day")
      assert.deepStrictEqual(yield* attempts, [
        [1, 0, 500],
        [1, 0, 200]
      ])
    }).pipe(Effect.provide(layer))
  )

  it.effect("can be ended by its webhook, which calls the platform while it answers", () =>
    Effect.gen(function* () {
      yield* Emulator.receive(url, () =>
        Effect.gen(function* () {
          yield* Me.get()
          yield* Subscriptions.unsubscribe({ url })
          return { status: 200 }
        })
      )
      yield* Subscriptions.subscribe({ url })
      yield* say("a")
      yield* say("b")
      yield* settle
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
      yield* say("a")
      assert.strictEqual((yield* Updates.list({})).updates.length, 1)
    })
  )

  it.effect("has updates twice or not at all where faults say so", () =>
    Effect.gen(function* () {
      const { receive, texts } = receiver()
      yield* Emulator.receive(url, receive)
      yield* Subscriptions.subscribe({ url })
      yield* Emulator.setFaults([
        { update_type: "a", delivery: "duplicate" },
        { update_type: "b", delivery: "drop", nth: 1 }
      ])
      for (const text of ["a", "b", "c", "b"]) yield* say(text)
      yield* settle
      assert.deepStrictEqual(texts(), ["a", "a", "c", "b"])
    }).pipe(Effect.provide(layer))
  )

  it.effect("goes on behind an update that cannot be written", () =>
    Effect.gen(function* () {
      const { receive, texts } = receiver()
      yield* Emulator.receive(url, receive)
      yield* Subscriptions.subscribe({ url })
      const circle: Record<string, unknown> = { update_type: "circle", timestamp: 0 }
      circle["self"] = circle
      yield* Emulator.deliver(circle)
      yield* say("a")
      yield* settle
      assert.deepStrictEqual(texts(), ["a"])
    }).pipe(Effect.provide(Layer.merge(layer, Logger.layer([]))))
  )

  it.effect("ends with the emulator", () =>
    Effect.gen(function* () {
      const { receive, received } = receiver(() => 500)
      const scope = yield* Scope.make()
      const context = yield* Layer.buildWithScope(Layer.fresh(layer), scope)
      yield* Effect.gen(function* () {
        yield* Emulator.receive(url, receive)
        yield* Subscriptions.subscribe({ url })
        yield* say("a")
        yield* settle
      }).pipe(Effect.provide(context))
      yield* Scope.close(scope, Exit.void)
      yield* TestClock.adjust("8 hours")
      assert.strictEqual(received.length, 1)
    })
  )

  const isRefused = Effect.fnUntraced(function* (url: string) {
    const { status, text } = yield* raw("POST", "/subscriptions", { body: JSON.stringify({ url }) })
    assert.strictEqual(status, 200)
    const { message, success } = JSON.parse(text)
    assert.isFalse(success)
    assert.match(message, /^url: must /)
    assert.deepStrictEqual(yield* subscriptions, [])
  })

  says(
    "POST /subscriptions",
    "The url must start with https://; a failed request returns 200 with success false",
    Effect.gen(function* () {
      const refused = [
        "http://bot.example/updates",
        "http://127.0.0.1:8080",
        "https://",
        "ftp://b.example",
        "b.example"
      ]
      for (const url of refused) yield* isRefused(url)
    })
  )

  says(
    "Events",
    "The port is not written in the URL",
    Effect.gen(function* () {
      for (const end of [":443/updates", ":8443", ":/", ":443?a=b"]) yield* isRefused(`https://bot.example${end}`)
    })
  )
})

describe("insecure webhooks", () => {
  const insecure = Emulator.layerBot({ insecureWebhooks: true })

  const subscribe = (url: string) =>
    Effect.map(
      raw("POST", "/subscriptions", { body: JSON.stringify({ url }) }),
      ({ text }) => JSON.parse(text).success as boolean
    )

  it.effect.each(["http://127.0.0.1:8080/updates", "http://localhost:3000", "http://localhost/?a=b"])(
    "are taken at %s where they are switched on, with a warning in the log",
    (url) => {
      const logged: Array<unknown> = []
      const logger = Logger.make(({ logLevel, message }) => logged.push([logLevel, message]))
      return Effect.gen(function* () {
        const { receive, texts } = receiver()
        yield* Emulator.receive(url, receive)
        assert.isTrue(yield* subscribe(url))
        assert.deepStrictEqual(logged, [
          ["Warn", [`The webhook ${url} is insecure: the platform accepts https:// URLs only`]]
        ])
        yield* say("a")
        yield* settle
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
  ])("are refused at %s nevertheless", (url) =>
    Effect.gen(function* () {
      assert.isFalse(yield* subscribe(url))
    }).pipe(Effect.provide(insecure))
  )
})
