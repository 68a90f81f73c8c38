import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { Inbox, StoreError } from "../../../src/index.ts"
import { hooks } from "../../../src/inbox/internal/hooks.ts"
import { deliver, inbox, receiver } from "../../support/webhooks.ts"

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
        body: { ok: true, checks: { inbox: { ok: true }, queue: { ok: true, waiting: 0, ageMs: 0 } } }
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
          queue: {
            ok: false,
            problem: "the oldest update has been waiting for more than 5m",
            waiting: 1,
            ageMs: 301_000
          }
        }
      })
    }).pipe(Effect.provide(receiver()))
  )

  it.effect("is ready while the inbox is paused, although updates wait", () =>
    Effect.gen(function* () {
      yield* Inbox.pause
      yield* deliver()
      yield* TestClock.adjust("1 day")
      assert.strictEqual((yield* ask("ready")).status, 200)
      yield* Inbox.resume
      assert.strictEqual((yield* ask("ready")).status, 503)
    }).pipe(Effect.provide(receiver()))
  )

  it.effect("is not ready while the program is stopping", () =>
    Effect.gen(function* () {
      yield* Inbox.Inbox.use((inbox) => inbox[hooks].close)
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
