import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { Me, Messages, RetryPolicy } from "../../src/index.ts"
import { CurrentLease } from "../../src/client/internal/currentLease.ts"
import { bot, chat_id, message } from "../support/fixtures.ts"
import { ok, type Reply, scripted, text } from "../support/scripted.ts"

describe("A call of a handler", () => {
  /** A call whose lease is certain, or not, right before each request. When nothing is left, another process has the chat. */
  const call = Effect.fnUntraced(function* (isHeld: ReadonlyArray<boolean>) {
    const platform = scripted(ok({ message: message() }))
    let confirmed = 0
    const confirm = Effect.suspend(() => (confirmed++ < isHeld.length ? Effect.void : Effect.interrupt))
    const exit = yield* Messages.send({ chat_id, text: "a" }).pipe(
      Effect.provideService(CurrentLease, { confirm, isHeld: () => isHeld[confirmed - 1]! }),
      Effect.provide(platform.layer()),
      Effect.exit
    )
    const isInterrupted = Exit.hasInterrupts(exit)
    return { isInterrupted, confirmed, requests: platform.journal.length }
  })

  it.effect("is sent while its lease is certain", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* call([true]), { isInterrupted: false, confirmed: 1, requests: 1 })
    })
  )

  it.effect("is not sent if the process stands still between the confirmation of the lease and the request", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* call([false]), { isInterrupted: true, confirmed: 2, requests: 0 })
    })
  )

  it.effect("is sent, although it is not idempotent, when the lease is confirmed again", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* call([false, true]), { isInterrupted: false, confirmed: 2, requests: 1 })
    })
  )
})

describe("A response that is larger than maxResponseSize", () => {
  const failure = (reply: Reply, maxResponseSize: number) =>
    Me.get().pipe(
      Effect.flip,
      Effect.map((error) => (error._tag === "RequestFailed" ? error.reason : error)),
      Effect.provideService(RetryPolicy.RetryPolicy, RetryPolicy.none),
      Effect.provide(scripted(reply).layer({ maxResponseSize }))
    )

  it.effect("is not read if it is a success", () =>
    Effect.gen(function* () {
      const body = JSON.stringify({ ...bot, description: "é" })
      const size = new TextEncoder().encode(body).byteLength
      assert.deepInclude(yield* failure(text(200, body), size - 1), {
        _tag: "InvalidResponse",
        status: 200,
        problem: `the response has more than ${size - 1} bytes (the option maxResponseSize, BOT_MAX_RESPONSE_SIZE)`,
        body: ""
      })
      const me = yield* Me.get().pipe(Effect.provide(scripted(text(200, body)).layer({ maxResponseSize: size })))
      assert.strictEqual(me.description, "é")
    })
  )

  it.effect("is recognized by its status if it is an error", () =>
    Effect.gen(function* () {
      const body = JSON.stringify({ code: "verify.token", message: "x".repeat(1000) })
      assert.deepInclude(yield* failure(text(401, body), 100), { _tag: "Unauthorized", status: 401 })
      assert.deepInclude(yield* failure(text(500, body), 100), { _tag: "UnexpectedStatus", status: 500, body: "" })
    })
  )

  it.effect("is 8 MiB by default", () =>
    Effect.gen(function* () {
      const large = scripted(text(200, " ".repeat(8 * 2 ** 20 + 1)))
      const error = yield* Effect.flip(Effect.provide(Me.get(), large.layer()))
      assert.include(error.message, "the response has more than 8388608 bytes")
    })
  )
})
