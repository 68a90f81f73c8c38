import { Emulator } from "@colloquy/testing"
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { assumes, says } from "../support/fidelity.ts"
import { DELETE, valuesAt, GET, POST, succeeds, hasSuccess } from "../support/http.ts"

const url = "https://bot.example/updates"

const subscribe = (body: object) => POST("/subscriptions", body)

const urls = Effect.map(succeeds(GET("/subscriptions")), (answer) => valuesAt(answer, "subscriptions", "url"))

/** Receives updates at the URL, and returns the secrets in their headers. */
const secrets = Effect.gen(function* () {
  const seen: Array<string | undefined> = []
  yield* Emulator.receive(url, ({ headers }) => {
    seen.push(headers["x-svc-bot-api-secret"])
    return Effect.succeed({ status: 200 })
  })
  return seen
})

const deliver = (update_type: string) =>
  Effect.andThen(Emulator.deliver({ update_type, timestamp: 0 }), TestClock.adjust("0 millis"))

says(
  "POST /subscriptions",
  "secret has 5 to 256 characters of A-Z, a-z, 0-9 and hyphen; any other secret returns success false and creates no subscription",
  Effect.gen(function* () {
    for (const secret of ["abcd", "a".repeat(257), "under_score", "sp ace", "é-acute", "new-line\n", ""]) {
      const { at } = yield* hasSuccess(subscribe({ url, secret }), false)
      assert.match(String(at("message")), /^secret: /)
    }
    assert.deepStrictEqual(yield* urls, [])
    const received = yield* secrets
    for (const secret of ["AZaz0", "-".repeat(256)]) {
      yield* hasSuccess(subscribe({ url, secret }), true)
      yield* deliver("a")
    }
    assert.deepStrictEqual(received, ["AZaz0", "-".repeat(256)])
  })
)

says(
  "POST /subscriptions",
  "A repeated request updates the subscription",
  Effect.gen(function* () {
    const received = yield* secrets
    yield* hasSuccess(subscribe({ url, secret: "secret-1", update_types: ["a"] }), true)
    yield* hasSuccess(subscribe({ url, secret: "secret-2", update_types: ["b"] }), true)
    assert.deepStrictEqual(yield* urls, [url])
    yield* deliver("a")
    yield* deliver("b")
    assert.deepStrictEqual(received, ["secret-2"])
  })
)

says(
  "POST /subscriptions",
  "While a subscription is active, Long Polling does not work",
  Effect.gen(function* () {
    yield* succeeds(GET("/updates?timeout=0"))
    yield* hasSuccess(subscribe({ url }), true)
    assert.strictEqual((yield* GET("/updates?timeout=0")).status, 405)
    yield* hasSuccess(DELETE(`/subscriptions?url=${encodeURIComponent(url)}`), true)
    yield* succeeds(GET("/updates?timeout=0"))
  })
)

assumes(
  "C",
  "POST /subscriptions",
  "Only url is required: without update_types all types are delivered, and without a secret there is no header",
  Effect.gen(function* () {
    const received = yield* secrets
    yield* hasSuccess(subscribe({ update_types: ["a"] }), false)
    yield* hasSuccess(subscribe({ url: 5 }), false)
    yield* hasSuccess(subscribe({ url }), true)
    yield* deliver("a")
    yield* deliver("from_the_future")
    assert.deepStrictEqual(received, [undefined, undefined])
  })
)

assumes(
  "A",
  "Other operations",
  "GET /subscriptions returns {subscriptions: [{url, time, update_types?}]}",
  Effect.gen(function* () {
    yield* TestClock.adjust("1 hour")
    yield* subscribe({ url, update_types: ["bot_started"], secret: "a-long-secret" })
    yield* subscribe({ url: `${url}/all` })
    const { at } = yield* succeeds(GET("/subscriptions"))
    assert.deepStrictEqual(at("subscriptions"), [
      { url, time: 3_600_000, update_types: ["bot_started"] },
      { url: `${url}/all`, time: 3_600_000 }
    ])
  })
)

assumes(
  "A",
  "Other operations",
  "DELETE /subscriptions has the query parameter url and returns {success}, which is false if there is no subscription",
  Effect.gen(function* () {
    const remove = DELETE(`/subscriptions?url=${encodeURIComponent(url)}`)
    yield* subscribe({ url })
    yield* hasSuccess(remove, true)
    assert.deepStrictEqual(yield* urls, [])
    yield* hasSuccess(remove, false)
  })
)

says(
  "Versioning",
  "Webhooks over plain HTTP are no longer supported",
  Effect.gen(function* () {
    for (const plain of ["http://bot.example/updates", "HTTP://bot.example", "//bot.example"]) {
      yield* hasSuccess(subscribe({ url: plain }), false)
    }
    assert.deepStrictEqual(yield* urls, [])
  })
)
