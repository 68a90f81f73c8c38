import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import { Chat, DeepLink, Handler, Keyboard, Payload, type Update, User } from "../src/index.ts"

const user = { user_id: User.UserId.make(42), first_name: "Ann", is_bot: false }

const pressed = (payload: string | null): Update.Of<"message_callback"> => ({
  update_type: "message_callback",
  timestamp: 1,
  callback: { timestamp: 1, callback_id: "callback", user, payload }
})

const started = (payload: string | null): Update.Of<"bot_started"> => ({
  update_type: "bot_started",
  timestamp: 1,
  chat_id: Chat.ChatId.make(4242),
  user,
  payload
})

const Vote = Schema.Struct({
  poll: Schema.Int.check(Schema.isGreaterThan(0)),
  choice: Schema.Literals(["yes", "no"]),
  note: Schema.optionalKey(Schema.String)
})

const vote = Payload.make("vote", Vote)
const again = Payload.make("again")
const invitation = DeepLink.make("invitation", Schema.Struct({ by: User.UserId, from: Schema.String }))
const promo = DeepLink.make("promo")

/** What the handler is given, or that it is not asked. */
const valueOf = <E>(
  make: (gives: (_: unknown, value: unknown) => Effect.Effect<void>) => Handler.Handler<E>,
  update: Update.Update
) =>
  Effect.gen(function* () {
    const given = yield* Ref.make<unknown>("not asked")
    yield* Handler.run(
      make((_, value) => Ref.set(given, value)),
      update
    )
    return yield* Ref.get(given)
  })

describe("a payload", () => {
  it.effect("comes back from the button that carries it", () =>
    Effect.gen(function* () {
      const value = { poll: 7, choice: "yes", note: "“🦊”\n:" } as const
      const button = yield* vote.button("Yes", value)
      assert.deepStrictEqual(button, Keyboard.callback("Yes", yield* vote.encode(value)))
      assert.deepStrictEqual(yield* valueOf((gives) => vote.on(gives), pressed(yield* vote.encode(value))), value)
    })
  )

  it.effect("that carries nothing is its name", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* again.button("Again"), Keyboard.callback("Again", "again"))
      assert.isUndefined(yield* valueOf((gives) => again.on(gives), pressed("again")))
    })
  )

  it("of another name is left to others", () => {
    const any = vote.on(() => Effect.void)
    for (const payload of [null, "", "again", "votes:1", "Vote:1", "vot", `{"vote":1}`, "voter"]) {
      assert.isUndefined(any(pressed(payload)), String(payload))
    }
    assert.isUndefined(again.on(() => Effect.void)(pressed("again:1")))
    assert.isUndefined(any(started("vote:1")))
  })

  it.effect("that is malformed is told with the update, and is not handed on", () =>
    Effect.gen(function* () {
      for (const [payload, problem] of [
        ["vote", "it carries no value"],
        ["vote:", "it is cut short or garbled"],
        [`vote:{"poll":7,"cho`, "it is cut short or garbled"],
        ["vote:null", "must be an object"],
        [`vote:{"poll":"seven"}`, "`poll` must be a number; `choice` is missing"]
      ] as const) {
        const handler = Handler.first(
          vote.on(() => Effect.void),
          () => Effect.void
        )
        const error = yield* Effect.flip(Handler.run(handler, pressed(payload)))
        assert.instanceOf(error, Payload.MalformedPayload)
        assert.include(error.problem, problem)
        assert.isNotEmpty(error.problem)
        assert.deepStrictEqual([error.payload, error.update], [payload, pressed(payload)])
      }
    })
  )

  it.effect("has at most 1024 characters, and says so where it is made", () =>
    Effect.gen(function* () {
      const text = Payload.make("text", Schema.String)
      const longest = yield* text.encode("🦊".repeat(508) + "a")
      assert.lengthOf(longest, 1024)
      const error = yield* Effect.flip(text.button("Press", "🦊".repeat(509)))
      assert.strictEqual(
        error.message,
        `the payload "text" cannot be made: it has 1025 characters, and 1024 fit: put an id in, and keep the rest yourself.`
      )
    })
  )

  it.effect("cannot be made of what its schema refuses, or with a name that has a separator in it", () =>
    Effect.gen(function* () {
      assert.include((yield* Effect.flip(vote.encode({ poll: 1.5, choice: "yes" }))).message, "`poll`")
      for (const name of ["a:b", "a-b", "a b", ""]) {
        assert.include((yield* Effect.flip(Payload.make(name).encode())).message, "letters, digits and _")
        assert.include((yield* Effect.flip(DeepLink.make(name, Schema.Int).encode(1))).message, "letters, digits")
      }
    })
  )

  it.effect.prop("comes back, whatever it carries", [Vote], ([value]) =>
    Effect.gen(function* () {
      const payload = yield* vote.encode(value)
      assert.deepStrictEqual(yield* valueOf((gives) => vote.on(gives), pressed(payload)), value)
    })
  )

  it.effect("carries dates and bigints too", () =>
    Effect.gen(function* () {
      const due = Payload.make("due", Schema.Struct({ at: Schema.Date, seq: Schema.BigInt }))
      const value = { at: new Date(1_775_000_000_000), seq: 2n ** 63n }
      assert.deepStrictEqual(yield* valueOf((gives) => due.on(gives), pressed(yield* due.encode(value))), value)
    })
  )
})

describe("a deep link", () => {
  it.effect("brings back what it carries, in characters that no link changes", () =>
    Effect.gen(function* () {
      const value = { by: user.user_id, from: "Анна 🦊 & co" }
      const payload = yield* invitation.encode(value)
      assert.match(payload, /^invitation-[\w-]+$/)
      assert.deepStrictEqual(yield* valueOf((gives) => invitation.on(gives), started(payload)), value)
    })
  )

  it.effect("that carries nothing is its name", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* promo.encode(), "promo")
      assert.isUndefined(yield* valueOf((gives) => promo.on(gives), started("promo")))
      assert.strictEqual(yield* valueOf((gives) => promo.on(gives), started("promo-2")), "not asked")
    })
  )

  it.effect("of another name, and a start without one, are left to others", () =>
    Effect.gen(function* () {
      for (const payload of [null, "", "promo", "invitations-1", "spring_sale"]) {
        assert.strictEqual(yield* valueOf((gives) => invitation.on(gives), started(payload)), "not asked")
      }
    })
  )

  it.effect("that was cut or changed is told with the update", () =>
    Effect.gen(function* () {
      const payload = yield* invitation.encode({ by: user.user_id, from: "" })
      for (const broken of ["invitation", "invitation-", payload.slice(0, -3), `${payload}*`, "invitation-e30"]) {
        const error = yield* Effect.flip(
          Handler.run(
            invitation.on(() => Effect.void),
            started(broken)
          )
        )
        assert.instanceOf(error, DeepLink.MalformedLink)
        assert.isNotEmpty(error.problem)
        assert.strictEqual(error.update.payload, broken)
      }
    })
  )

  it.effect("has at most 128 characters, and says so where it is made", () =>
    Effect.gen(function* () {
      const text = DeepLink.make("t", Schema.String)
      assert.lengthOf(yield* text.encode("a".repeat(92)), 128)
      const error = yield* Effect.flip(text.encode("a".repeat(93)))
      assert.include(error.message, "it has 129 characters, and 128 fit")
    })
  )

  it.effect.prop("comes back, whatever it carries, or is too long", [Schema.String], ([value]) =>
    Effect.gen(function* () {
      const text = DeepLink.make("t", Schema.String)
      const payload = yield* Effect.catchTag(text.encode(value), "InvalidPayload", () => Effect.void)
      if (payload === undefined) return assert.isAbove(JSON.stringify(value).length, 40)
      assert.strictEqual(yield* valueOf((gives) => text.on(gives), started(payload)), value)
    })
  )
})
