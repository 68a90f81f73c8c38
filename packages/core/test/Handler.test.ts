import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { pipe } from "effect/Function"
import * as Ref from "effect/Ref"
import { Chat, Handler, type Update, Updates, User } from "../src/index.ts"

class Tired extends Data.TaggedError("Tired")<{}> {}

const started: Update.Of<"bot_started"> = {
  update_type: "bot_started",
  timestamp: 1,
  chat_id: Chat.ChatId.make(4242),
  user: { user_id: User.UserId.make(42), first_name: "Ann", is_bot: false }
}

const added: Update.Of<"bot_added"> = {
  ...started,
  update_type: "bot_added",
  chat_id: Chat.ChatId.make(-1),
  is_channel: false
}

const unknown: Update.Update = { update_type: "unknown", raw: { update_type: "comet_seen" } }

/** What handlers of these names did, in order, and whether the update was handled. */
const watch = <E>(
  make: (says: (name: string) => Effect.Effect<void>) => Handler.Handler<E>,
  update: Update.Update = started
) =>
  Effect.gen(function* () {
    const said = yield* Ref.make<ReadonlyArray<string>>([])
    const handler = make((name) => Ref.update(said, (names) => [...names, name]))
    const isHandled = yield* Handler.run(handler, update)
    return [isHandled, ...(yield* Ref.get(said))]
  })

describe("a handler of a type", () => {
  const greet = Handler.on("bot_started", ({ user }) => Effect.succeed(user.first_name))

  it("leaves every other update alone, without an effect", () => {
    assert.isUndefined(greet(added))
    assert.isUndefined(greet(unknown))
    assert.isDefined(greet(started))
  })

  it("takes several types, and unknown updates by that name", () => {
    const both = Updates.on(["bot_started", "unknown"], () => Effect.void)
    assert.deepStrictEqual(
      [started, added, unknown].map((update) => both(update) !== undefined),
      [true, false, true]
    )
  })

  it.effect("is what any function of an update is, and whatever it succeeds with is handled", () =>
    Effect.gen(function* () {
      for (const result of [undefined, null, false, "unhandled"]) {
        assert.isTrue(yield* Handler.run(() => Effect.succeed(result), unknown))
      }
    })
  )
})

describe("running a handler", () => {
  it.effect("makes what it throws a defect, and asks it anew each time", () =>
    Effect.gen(function* () {
      let asked = 0
      const running = Handler.run(() => {
        asked++
        if (asked === 1) throw new Error("a slip")
        return Effect.void
      }, started)
      const cause = yield* Effect.flip(Effect.sandbox(running))
      assert.isTrue(Cause.hasDies(cause))
      assert.isTrue(yield* running)
    })
  )
})

describe("the first of several handlers", () => {
  it.effect("is the only one that has its turn", () =>
    Effect.gen(function* () {
      const outcome = yield* watch((says) =>
        Handler.first(
          Handler.on("bot_added", () => says("other")),
          Handler.on("bot_started", () => says("one")),
          Handler.on("bot_started", () => says("two")),
          () => says("any")
        )
      )
      assert.deepStrictEqual(outcome, [true, "one"])
    })
  )

  it.effect("is nobody where the update is nobody's, which is told", () =>
    Effect.gen(function* () {
      const outcome = yield* watch((says) => Handler.first(Handler.on("bot_started", () => says("one"))), added)
      assert.deepStrictEqual(outcome, [false])
      assert.isUndefined(Handler.first()(started))
    })
  )

  it.effect("is a function of any update, where that stands last", () =>
    Effect.gen(function* () {
      for (const update of [added, unknown]) {
        const outcome = yield* watch(
          (says) =>
            Handler.first(
              Handler.on("bot_started", () => says("one")),
              says.bind(null, "any")
            ),
          update
        )
        assert.deepStrictEqual(outcome, [true, "any"])
      }
    })
  )

  it.effect("leaves the update to the next one that takes it when it finds out late that it is none of its own", () =>
    Effect.gen(function* () {
      const outcome = yield* watch((says) =>
        Handler.first(
          () => Effect.andThen(says("late"), Handler.unhandled),
          () => undefined,
          Handler.first(
            () => Handler.unhandled,
            Handler.on("bot_started", () => says("inner"))
          ),
          () => says("never")
        )
      )
      assert.deepStrictEqual(outcome, [true, "late", "inner"])
    })
  )

  it.effect("tells that nobody handled it also where all found out late", () =>
    Effect.gen(function* () {
      const late = () => Handler.unhandled
      assert.isFalse(yield* Handler.run(Handler.first(late), started))
      assert.isFalse(
        yield* Handler.run(
          Handler.first(
            late,
            Handler.first(late, () => undefined)
          ),
          started
        )
      )
      assert.isFalse(
        yield* Handler.run(
          Handler.first(
            late,
            () => undefined,
            () => undefined
          ),
          started
        )
      )
    })
  )

  it.effect("fails for all: the next one is not asked", () =>
    Effect.gen(function* () {
      const said = yield* Ref.make(0)
      const handler = Handler.first(
        () => Effect.fail(new Tired()),
        () => Ref.set(said, 1)
      )
      assert.instanceOf(yield* Effect.flip(Handler.run(handler, started)), Tired)
      assert.strictEqual(yield* Ref.get(said), 0)
    })
  )

  it.effect("may be one of thousands", () =>
    Effect.gen(function* () {
      const others = Array.from({ length: 20_000 }, () => Handler.on("bot_added", () => Effect.void))
      assert.isTrue(
        yield* Handler.run(
          Handler.first(...others, () => Effect.void),
          started
        )
      )
    })
  )
})

describe("a filtered handler", () => {
  const any = () => Effect.void
  const takes = (handler: Handler.Handler) => [started, added, unknown].map((update) => handler(update) !== undefined)

  it("takes what the predicate lets through", () => {
    assert.deepStrictEqual(takes(Handler.filter(any, (update) => "user" in update)), [true, true, false])
    assert.deepStrictEqual(
      takes(
        pipe(
          any,
          Handler.filter((update) => "is_channel" in update)
        )
      ),
      [false, true, false]
    )
  })

  it("takes what happens in chats of a kind, and nothing whose kind nobody knows", () => {
    assert.deepStrictEqual(takes(Handler.inChat(any, "dialog")), [true, false, false])
    assert.deepStrictEqual(takes(pipe(any, Handler.inChat(["chat", "channel"]))), [false, true, false])
    assert.deepStrictEqual(takes(Handler.inChat(any, ["chat", "dialog", "channel"])), [true, true, false])
  })

  it("takes what certain people do", () => {
    assert.deepStrictEqual(takes(Handler.onlyFrom(any, [started.user.user_id])), [true, true, false])
    assert.deepStrictEqual(takes(pipe(any, Handler.onlyFrom([User.UserId.make(7)]))), [false, false, false])
    assert.deepStrictEqual(takes(Handler.onlyFrom(any, [])), [false, false, false])
  })

  it.effect("asks an effect about its own updates only, and leaves the others to the next", () =>
    Effect.gen(function* () {
      for (const allowed of [true, false]) {
        const make = (says: (name: string) => Effect.Effect<void>) =>
          Handler.first(
            Handler.filterEffect(
              Handler.on("bot_started", () => says("one")),
              () => Effect.as(says("asked"), allowed)
            ),
            () => says("two")
          )
        assert.deepStrictEqual(yield* watch(make), [true, "asked", allowed ? "one" : "two"])
        assert.deepStrictEqual(yield* watch(make, added), [true, "two"])
      }
    })
  )
})

describe("a transformed handler", () => {
  const failing = Handler.on("bot_started", () => Effect.fail(new Tired()))

  it.effect("does what its effect was made to do", () =>
    Effect.gen(function* () {
      const outcome = yield* watch((says) =>
        Handler.transform(failing, (work, { update_type }) => Effect.catchTag(work, "Tired", () => says(update_type)))
      )
      assert.deepStrictEqual(outcome, [true, "bot_started"])
    })
  )

  it.effect("has the same updates as before, those that it finds out about late included", () =>
    Effect.gen(function* () {
      const retried = Handler.transform(failing, Effect.retry({ times: 1 }))
      assert.isUndefined(retried(added))
      const late = Handler.transform(() => Handler.unhandled, Effect.timeout("1 second"))
      assert.isFalse(yield* Handler.run(late, started))
    })
  )
})
