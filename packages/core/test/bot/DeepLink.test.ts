import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { DeepLink, Handler, PermanentError, User } from "../../src/index.ts"
import { botStarted, receivedValue, user } from "../support/handlers.ts"

const invitation = DeepLink.make("invitation", Schema.Struct({ by: User.UserId, from: Schema.String }))
const promo = DeepLink.make("promo")

describe("DeepLink.encode", () => {
  it.effect("returns the name for a link without a value", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* promo.encode(), "promo")
    })
  )

  it.effect("uses only letters, digits, _ and - for a value", () =>
    Effect.gen(function* () {
      const payload = yield* invitation.encode({ by: user.user_id, from: "Анна 🦊 & co" })
      assert.match(payload, /^invitation-[\w-]+$/)
    })
  )

  it.effect("fails with InvalidPayload if the payload has more than 128 characters", () =>
    Effect.gen(function* () {
      const text = DeepLink.make("t", Schema.String)
      assert.lengthOf(yield* text.encode("a".repeat(92)), 128)
      const error = yield* Effect.flip(text.encode("a".repeat(93)))
      assert.include(error.message, "it has 129 characters, and the maximum is 128")
    })
  )

  it.effect("fails with InvalidPayload if the name has other characters than letters, digits and _", () =>
    Effect.gen(function* () {
      for (const name of ["a:b", "a-b", "a b", ""]) {
        assert.include((yield* Effect.flip(DeepLink.make(name, Schema.Int).encode(1))).message, "letters, digits and _")
      }
    })
  )
})

describe("DeepLink.on", () => {
  it.effect("passes the value of the link to the handler", () =>
    Effect.gen(function* () {
      const value = { by: user.user_id, from: "Анна 🦊 & co" }
      const payload = yield* invitation.encode(value)
      assert.deepStrictEqual(yield* receivedValue((handler) => invitation.on(handler), botStarted(payload)), value)
    })
  )

  it.effect.prop("passes any value whose payload is not too long", [Schema.String], ([value]) =>
    Effect.gen(function* () {
      const text = DeepLink.make("t", Schema.String)
      const payload = yield* Effect.catchTag(text.encode(value), "InvalidPayload", () => Effect.void)
      if (payload === undefined) return assert.isAbove(JSON.stringify(value).length, 40)
      assert.strictEqual(yield* receivedValue((handler) => text.on(handler), botStarted(payload)), value)
    })
  )

  it.effect("takes a link without a value only if the payload is its name", () =>
    Effect.gen(function* () {
      assert.isUndefined(yield* receivedValue((handler) => promo.on(handler), botStarted("promo")))
      assert.strictEqual(yield* receivedValue((handler) => promo.on(handler), botStarted("promo-2")), "not called")
    })
  )

  it.effect("does not take a bot_started without a payload or with a payload of another name", () =>
    Effect.gen(function* () {
      for (const payload of [null, "", "promo", "invitations-1", "spring_sale"]) {
        const value = yield* receivedValue((handler) => invitation.on(handler), botStarted(payload))
        assert.strictEqual(value, "not called")
      }
    })
  )

  it.effect("does not take an update for which its handler returns undefined", () =>
    Effect.gen(function* () {
      assert.isFalse(
        yield* Handler.run(
          promo.on(() => undefined),
          botStarted("promo")
        )
      )
    })
  )

  it.effect("fails with MalformedLink if the payload was truncated or changed", () =>
    Effect.gen(function* () {
      const payload = yield* invitation.encode({ by: user.user_id, from: "" })
      for (const broken of ["invitation", "invitation-", payload.slice(0, -3), `${payload}*`, "invitation-e30"]) {
        const error = yield* Effect.flip(
          Handler.run(
            invitation.on(() => Effect.void),
            botStarted(broken)
          )
        )
        assert.instanceOf(error, DeepLink.MalformedLink)
        assert.isNotEmpty(error.problem)
        assert.isTrue(PermanentError.isPermanentError(error))
        assert.strictEqual(error.update.payload, broken)
      }
    })
  )
})
