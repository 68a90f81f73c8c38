import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Handler, Keyboard, Payload, Platform, PermanentError } from "../../src/index.ts"
import { botStarted, callback, receivedValue } from "../support/handlers.ts"

const Vote = Schema.Struct({
  poll: Schema.Int.check(Schema.isGreaterThan(0)),
  choice: Schema.Literals(["yes", "no"]),
  note: Schema.optionalKey(Schema.String)
})

const vote = Payload.make("vote", Vote)
const again = Payload.make("again")

describe("Payload.button", () => {
  it.effect("creates a callback button with the encoded payload", () =>
    Effect.gen(function* () {
      const value = { poll: 7, choice: "yes", note: "“🦊”\n:" } as const
      const button = yield* vote.button("Yes", value)
      assert.deepStrictEqual(button, Keyboard.callback("Yes", yield* vote.encode(value)))
      assert.deepStrictEqual(yield* again.button("Again"), Keyboard.callback("Again", "again"))
    })
  )

  it.effect("fails with InvalidPayload if the payload has more than 1024 characters", () =>
    Effect.gen(function* () {
      const text = Payload.make("text", Schema.String)
      // The name, a colon and two quotes are 7 characters.
      assert.strictEqual(Platform.lengthOf(yield* text.encode("🦊".repeat(1017))), 1024)
      const error = yield* Effect.flip(text.button("Press", "🦊".repeat(1018)))
      assert.instanceOf(error, Payload.InvalidPayload)
      assert.strictEqual(
        error.message,
        'Cannot create the payload "text": it has 1025 characters, and the maximum is 1024: store the value and put its ' +
          "id in the payload."
      )
    })
  )
})

describe("Payload.encode", () => {
  it.effect("fails with InvalidPayload if the schema rejects the value", () =>
    Effect.gen(function* () {
      assert.include((yield* Effect.flip(vote.encode({ poll: 1.5, choice: "yes" }))).message, "`poll`")
    })
  )

  it.effect("fails with InvalidPayload if the name has other characters than letters, digits and _", () =>
    Effect.gen(function* () {
      for (const name of ["a:b", "a-b", "a b", ""]) {
        assert.include((yield* Effect.flip(Payload.make(name).encode())).message, "letters, digits and _")
      }
    })
  )
})

describe("Payload.on", () => {
  it.effect.prop("passes the value of the button to the handler", [Vote], ([value]) =>
    Effect.gen(function* () {
      const payload = yield* vote.encode(value)
      assert.deepStrictEqual(yield* receivedValue((handler) => vote.on(handler), callback(payload)), value)
    })
  )

  it.effect("passes undefined to the handler of a payload without a value", () =>
    Effect.gen(function* () {
      assert.isUndefined(yield* receivedValue((handler) => again.on(handler), callback("again")))
    })
  )

  it.effect("decodes dates and bigints", () =>
    Effect.gen(function* () {
      const due = Payload.make("due", Schema.Struct({ at: Schema.Date, seq: Schema.BigInt }))
      const value = { at: new Date(1_775_000_000_000), seq: 2n ** 63n }
      const payload = yield* due.encode(value)
      assert.deepStrictEqual(yield* receivedValue((handler) => due.on(handler), callback(payload)), value)
    })
  )

  it("does not take a payload of another name, or another type of update", () => {
    const handler = vote.on(() => Effect.void)
    for (const payload of [null, "", "again", "votes:1", "Vote:1", "vot", `{"vote":1}`, "voter"]) {
      assert.isUndefined(handler(callback(payload)), String(payload))
    }
    assert.isUndefined(again.on(() => Effect.void)(callback("again:1")))
    assert.isUndefined(handler(botStarted("vote:1")))
  })

  it.effect("does not take an update for which its handler returns undefined", () =>
    Effect.gen(function* () {
      assert.isFalse(
        yield* Handler.run(
          again.on(() => undefined),
          callback("again")
        )
      )
    })
  )

  it.effect("fails with MalformedPayload if the value is nested too deep for its schema to decode", () =>
    Effect.gen(function* () {
      const tree = Payload.make("tree", Schema.Json)
      const handler = tree.on(() => Effect.void)
      const payload = `tree:${"[".repeat(20_000)}${"]".repeat(20_000)}`
      assert.instanceOf(yield* Effect.flip(Handler.run(handler, callback(payload))), Payload.MalformedPayload)
    })
  )

  it.effect("fails with MalformedPayload, and does not try the next handler, if the value cannot be decoded", () =>
    Effect.gen(function* () {
      for (const [payload, problem] of [
        ["vote", "it has no value"],
        ["vote:", "its value is truncated or is not valid JSON"],
        [`vote:{"poll":7,"cho`, "its value is truncated or is not valid JSON"],
        ["vote:null", "must be an object"],
        [`vote:{"poll":"seven"}`, "`poll` must be a number; `choice` is missing"]
      ] as const) {
        const handler = Handler.first(
          vote.on(() => Effect.void),
          () => Effect.void
        )
        const error = yield* Effect.flip(Handler.run(handler, callback(payload)))
        assert.instanceOf(error, Payload.MalformedPayload)
        assert.include(error.problem, problem)
        assert.isTrue(PermanentError.isPermanentError(error))
        assert.deepStrictEqual([error.payload, error.update], [payload, callback(payload)])
      }
    })
  )
})
