import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { Messages } from "../../src/index.ts"
import { CurrentLease } from "../../src/internal/updates/currentLease.ts"
import { chat_id, message } from "../support/fixtures.ts"
import { ok, scripted } from "../support/scripted.ts"

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
