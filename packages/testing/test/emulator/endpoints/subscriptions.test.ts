import { Subscriptions } from "@colloquy/core"
import { Emulator } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import { call, post, getOk } from "../../support/control.ts"
import { raw } from "../../support/raw.ts"

const layer = Emulator.layerBot()

describe("Subscriptions.subscribe", () => {
  it.effect.each(['{"url":"http://bot.example"}', '{"url":"https://b.example","secret":"a_b"}', "{}", '{"url":5}'])(
    "answers %s with success: false",
    (body) =>
      Effect.gen(function* () {
        const { status, text } = yield* raw("POST", "/subscriptions", { body })
        assert.deepInclude(JSON.parse(text), { success: false })
        assert.strictEqual(status, 200)
        assert.deepStrictEqual(yield* Subscriptions.list(), [])
      }).pipe(Effect.provide(layer))
  )
})

describe("The secret of webhooks", () => {
  const url = "https://bot.example"

  const subscribe = (secret: string) => raw("POST", "/subscriptions", { body: JSON.stringify({ url, secret }) })

  it.effect("may contain the characters of the options", () =>
    Effect.gen(function* () {
      const rejected = JSON.parse((yield* subscribe("a-secret")).text)
      assert.deepStrictEqual(rejected, {
        success: false,
        message: "secret: must be 5 to 256 characters of A-Z, a-z, 0-9, _ and ."
      })
      assert.deepInclude(JSON.parse((yield* subscribe("a_secret.")).text), { success: true })
    }).pipe(Effect.provide(Emulator.layerBot({ secretCharacters: "_." })))
  )

  it.effect.each([{ secretHeader: "X Header" }, { secretCharacters: "a b" }])("fails to start with %j", (options) =>
    Effect.gen(function* () {
      const exit = yield* Effect.exit(Effect.scoped(Layer.build(Emulator.layer(options))))
      assert.isTrue(Exit.hasDies(exit))
    })
  )

  it.effect("has the header and the characters that the control API sets, until a reset", () =>
    Effect.gen(function* () {
      const documented = { secret_header: "X-Svc-Bot-Api-Secret", secret_characters: "-" }
      assert.deepStrictEqual(yield* getOk("/webhooks"), documented)
      const changed = { secret_header: "X-Other-Secret", secret_characters: "_" }
      const set = (body: object) => call("PUT", "/_emulator/webhooks", body)
      assert.deepStrictEqual((yield* set({ secret_header: "X-Other-Secret" })).body, {
        ...documented,
        ...changed,
        secret_characters: "-"
      })
      assert.deepStrictEqual((yield* set({ secret_characters: "_" })).body, changed)
      assert.strictEqual((yield* set({ secret_header: "X Other" })).status, 400)
      assert.strictEqual((yield* set({ secret_characters: "a b" })).status, 400)
      const received: Array<Readonly<Record<string, string | undefined>>> = []
      yield* Emulator.receive(url, ({ headers }) =>
        Effect.sync(() => {
          received.push(headers)
          return { status: 200 }
        })
      )
      assert.deepInclude(JSON.parse((yield* subscribe("a_secret")).text), { success: true })
      yield* Emulator.deliver({ update_type: "a", timestamp: 0 })
      yield* TestClock.adjust("1 second")
      assert.strictEqual(received[0]?.["x-other-secret"], "a_secret")
      assert.notProperty(received[0], "x-svc-bot-api-secret")
      yield* post("/reset", {})
      assert.deepStrictEqual(yield* getOk("/webhooks"), documented)
    }).pipe(Effect.scoped, Effect.provide(layer))
  )
})
