import { assert, describe, it } from "@effect/vitest"
import * as Base64 from "effect/encoding/Base64"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import { Inbox, StoreError, Webhook } from "../../../src/index.ts"
import { hooks } from "../../../src/inbox/internal/hooks.ts"
import {
  captureLogs,
  deadLetters,
  deliver,
  inbox,
  packed,
  receiver,
  started,
  status,
  texts,
  queued
} from "../../support/webhooks.ts"

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
      assert.strictEqual(yield* queued, 1)
    }).pipe(Effect.provide(receiver()))
  )

  it.effect("is rejected with 408 if its body takes too long, and with 413 if its body is too large", () =>
    Effect.gen(function* () {
      const slow = yield* Effect.forkChild(deliver({ body: Effect.never }))
      yield* TestClock.adjust("9999 millis")
      assert.isUndefined(slow.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      assert.strictEqual((yield* Fiber.join(slow)).status, 408)
      const tooLarge = new Webhook.BodyError({ reason: "TooLarge" })
      assert.strictEqual(yield* status({ body: Effect.fail(tooLarge) }), 413)
    }).pipe(Effect.provide(receiver()))
  )
})

describe("A delivery nested deep", () => {
  it.effect.each([
    [6000, "is nested deeper than 256 levels"],
    [100_000, "has more than 16384 values"]
  ] as const)("is kept as a dead letter at %i levels, and the next one is queued", ([levels, problem]) =>
    Effect.gen(function* () {
      const body = `{"update_type":"comet_seen","deep":${"[".repeat(levels)}${"]".repeat(levels)}}`
      assert.strictEqual(yield* status({ body }), 200)
      assert.strictEqual(yield* status({ body: started(1) }), 200)
      assert.deepStrictEqual(yield* texts, [started(1)])
      const [{ error, update }] = yield* deadLetters
      assert.strictEqual(update.text, body)
      assert.include(error, problem)
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
        (yield* deadLetters).map(({ update }) => update.text),
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
      const [deadLetter] = yield* deadLetters
      assert.strictEqual(deadLetter.update.text, body)
      assert.match(deadLetter.error, problem)
      assert.strictEqual(yield* queued, 0)
    }).pipe(Effect.provide(receiver()))
  )

  it.effect("that is not UTF-8 is kept as a dead letter with all its bytes", () =>
    Effect.gen(function* () {
      const body = Uint8Array.of(...new TextEncoder().encode(started(1)), 0xff, 0xfe)
      assert.strictEqual(yield* status({ body }), 200)
      const [deadLetter] = yield* deadLetters
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
      yield* Inbox.Inbox.use((inbox) => inbox[hooks].close)
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
      assert.strictEqual(yield* queued, 1)
      const again = yield* Effect.forkChild(deliver())
      yield* TestClock.adjust("20 seconds")
      yield* Fiber.join(again)
      assert.strictEqual(yield* queued, 1)
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
        assert.strictEqual(yield* queued, 0)
        yield* Deferred.succeed(stored, undefined)
        yield* Effect.yieldNow
        assert.strictEqual(yield* queued, 1)
      }).pipe(Effect.provide(layer))
    })
  )
})
