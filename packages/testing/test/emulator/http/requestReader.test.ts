import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { asBot, inEmulator, postOk } from "../../support/control.ts"

describe("a request of the bot", () => {
  it.effect("ignores unknown parameters and fields, and rejects them if strict is set", () => {
    const misspelt = Effect.gen(function* () {
      const { user_id } = yield* postOk("/users", { first_name: "Ann" })
      yield* postOk("/start", { user_id })
      return yield* asBot("POST", `/messages?user_id=${user_id}&disable_links=true`, { text: "hi", atachments: [] })
    })
    return Effect.gen(function* () {
      assert.strictEqual((yield* inEmulator(misspelt)).status, 200)
      const { body, status } = yield* inEmulator(misspelt, { strict: true })
      assert.strictEqual(status, 400)
      assert.include(body.message, "atachments")
      assert.include(body.message, "disable_links")
    })
  })

  it.effect("rejects a known field at a wrong place if strict is set", () =>
    inEmulator(
      Effect.gen(function* () {
        const { user_id } = yield* postOk("/users", { first_name: "Ann" })
        yield* postOk("/start", { user_id })
        const requests = [
          ["POST", `/messages?user_id=${user_id}&text=hi`, {}],
          ["POST", "/messages", { user_id, text: "hi" }],
          ["POST", "/uploads?type=file", { x: 1 }],
          ["GET", "/me?x=1", undefined],
          ["GET", "/me?toString=1", undefined]
        ] as const
        for (const [method, path, body] of requests) {
          assert.strictEqual((yield* asBot(method, path, body)).status, 400, path)
        }
      }),
      { strict: true }
    )
  )

  it.effect("lists only the first mistakes of a request with thousands of them", () =>
    inEmulator(
      Effect.gen(function* () {
        for (const count of [100, 100_000]) {
          const { body, status } = yield* asBot("POST", "/messages?user_id=1", { attachments: Array(count).fill(1) })
          assert.strictEqual(status, 400)
          assert.isBelow(body.message.length, 10_000)
        }
      })
    )
  )
})
