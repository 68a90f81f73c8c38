import { type Chat, Command, Handler, Inbox, Messages, Pattern, Scene, Update } from "@colloquy/core"
import * as InboxStore from "@colloquy/core/inbox/InboxStore"
import { Emulator, type Person } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { during, platform, settled } from "../support/restarts.ts"

const Ride = Scene.make(
  "ride",
  { of: "userInChat", states: { waiting: Schema.Struct({ address: Schema.String }), riding: Schema.Void } },
  {
    waiting: {
      enter: ({ data, update }) => Messages.reply(update, `Waiting at ${data.address}`),
      handler: ({ data, end, go, stay }) =>
        Handler.first(
          Pattern.make("in").on(() => go("riding")),
          Pattern.make("slowly in").on(() => Effect.andThen(Effect.sleep("20 seconds"), go("riding"))),
          Pattern.make("never mind").on(() => end),
          Command.make("to", { arguments: { address: Schema.String } }).on((_, { address }) => stay({ address })),
          Command.make("again").on(() => go("waiting", data)),
          Pattern.make("where").on((update) => Messages.reply(update, data.address)),
          Pattern.make("broken").on((update) =>
            Effect.andThen(go("riding"), Effect.fail(`${Update.textOf(update)} forever`))
          ),
          Pattern.make("not mine").on(() => Effect.andThen(go("riding"), Handler.notHandled))
        ),
      leave: ({ data, update }) => Messages.reply(update, `Left ${data.address}`),
      timeout: "30 minutes",
      onTimeout: ({ update }) => Messages.reply(update, "The taxi has left")
    },
    riding: {
      handler: ({ end }) => Pattern.make("there").on(() => end),
      leave: ({ update }) => Messages.reply(update, "Goodbye")
    }
  }
)

const rest = Handler.on("message_created", (update) => Messages.reply(update, `Rest: ${Update.textOf(update)}`))

const bot = Handler.first(
  Command.make("taxi", { arguments: { address: Schema.String } }).on((_, { address }) =>
    Ride.go("waiting", { address })
  ),
  Command.make("cancel").on(() => Ride.end),
  Ride,
  rest
)

const textsOfBot = (chat: Chat.Chat) =>
  Effect.map(Emulator.messages(chat), (messages) =>
    messages.filter(({ sender }) => sender?.is_bot === true).map(({ body }) => body?.text)
  )

/** The time until the next timer is due. `undefined`: no timer is set. */
const untilTimer = Effect.flatMap(InboxStore.InboxStore, ({ untilNext }) => untilNext)

const stats = Effect.flatMap(InboxStore.InboxStore, ({ stats }) => stats)

/** Operations of a program that handles nothing. */
const elsewhere = <A, E>(effect: Effect.Effect<A, E, Inbox.Inbox>) => Effect.provide(effect, Layer.fresh(Inbox.layer()))

/** Plays with a bot in a dialog, and checks what the bot has said in it at the end. */
const inDialog = <E, R>(
  play: (ann: Person.Person, dialog: Chat.Chat) => Effect.Effect<unknown, E, R>,
  said: Array<string>
) =>
  Effect.gen(function* () {
    const ann = yield* Emulator.user("Ann")
    const dialog = yield* ann.start()
    yield* play(ann, dialog)
    assert.deepStrictEqual(yield* textsOfBot(dialog), said)
  }).pipe(Effect.provide(platform))

describe("a scene on the emulator", () => {
  it.effect("goes from state to state, each with its functions, also if the program restarts before each update", () =>
    inDialog(
      Effect.fnUntraced(function* (ann) {
        for (const text of ["/taxi Dock", "where", "/to Gate", "where", "in", "where", "there", "there"]) {
          yield* during(bot, ann.send(text))
        }
        assert.deepStrictEqual(yield* elsewhere(Stream.runCollect(Ride.stream)), [])
      }),
      ["Waiting at Dock", "Dock", "Gate", "Left Gate", "Rest: where", "Goodbye", "Rest: there"]
    )
  )

  it.effect("has a timer only in a state with a time-out", () =>
    Effect.gen(function* () {
      const ann = yield* Emulator.user("Ann")
      yield* ann.start()
      for (const texts of [["in"], ["never mind"], ["/cancel"]]) {
        yield* during(bot, ann.send("/taxi Dock"))
        assert.isDefined(yield* untilTimer)
        for (const text of texts) yield* during(bot, ann.send(text))
        assert.isUndefined(yield* untilTimer)
      }
    }).pipe(Effect.provide(platform))
  )

  it.effect("belongs to each user in a chat, and ends by itself when its time is over, also after a restart", () =>
    Effect.gen(function* () {
      const [ann, ben] = [yield* Emulator.user("Ann"), yield* Emulator.user("Ben")]
      const group = yield* Emulator.chat({ members: [ann, ben], bot: { admin: true } })
      yield* during(bot, Effect.andThen(ann.send(group, "/taxi Dock"), ben.send(group, "/taxi Gate")))
      yield* during(bot, ben.send(group, "in"))
      const key = { chat_id: group.chat_id, user_id: ann.user_id }
      assert.deepStrictEqual(Option.getOrUndefined(yield* elsewhere(Ride.at(key).current)), {
        state: "waiting",
        data: { address: "Dock" }
      })
      const states = yield* elsewhere(Stream.runCollect(Ride.stream))
      assert.deepStrictEqual(
        states.map(({ key, value }) => [key.user_id, Result.getOrThrow(value).state]),
        [
          [ann.user_id, "waiting"],
          [ben.user_id, "riding"]
        ]
      )
      yield* TestClock.adjust("20 minutes")
      yield* during(bot, TestClock.adjust("20 minutes"))
      assert.deepStrictEqual(yield* textsOfBot(group), [
        "Waiting at Dock",
        "Waiting at Gate",
        "Left Gate",
        "The taxi has left",
        "Left Dock"
      ])
      assert.isTrue(Option.isNone(yield* elsewhere(Ride.at(key).current)))
      yield* during(bot, ben.send(group, "there"))
      assert.strictEqual((yield* textsOfBot(group)).at(-1), "Goodbye")
    }).pipe(Effect.provide(platform))
  )

  it.effect("begins the time of a state again when it is entered again, and not when its data are replaced", () =>
    inDialog(
      (ann, dialog) =>
        during(
          bot,
          Effect.gen(function* () {
            yield* ann.send("/taxi Dock")
            yield* TestClock.adjust("20 minutes")
            yield* ann.send("/again")
            yield* TestClock.adjust("20 minutes")
            yield* ann.send("/to Gate")
            yield* TestClock.adjust("9 minutes")
            yield* ann.send("where")
            yield* settled
            assert.lengthOf(yield* textsOfBot(dialog), 4)
            yield* TestClock.adjust("1 minute")
          })
        ),
      ["Waiting at Dock", "Left Dock", "Waiting at Dock", "Gate", "The taxi has left", "Left Gate"]
    )
  )

  it.effect("ignores the time-out of a state that is left while the time-out waits in the inbox", () =>
    inDialog(
      Effect.fnUntraced(function* (ann) {
        yield* during(
          bot,
          Effect.gen(function* () {
            yield* ann.send("/taxi Dock")
            yield* TestClock.adjust("29 minutes")
            yield* TestClock.adjust("50 seconds")
            yield* ann.send("slowly in")
            yield* TestClock.adjust("2 minutes")
          })
        )
        yield* during(bot, ann.send("there"))
      }),
      ["Waiting at Dock", "Left Dock", "Goodbye"]
    )
  )

  it.effect("does not change if a handler fails or declines the update, and ends by an operation of the scene", () =>
    inDialog(
      Effect.fnUntraced(function* (ann) {
        yield* during(bot, ann.send("/taxi Dock"))
        yield* during(bot, Effect.andThen(ann.send("broken"), TestClock.adjust("5 minutes")))
        assert.strictEqual((yield* stats).deadLetters, 1)
        for (const text of ["not mine", "where", "/cancel", "/cancel", "where"]) yield* during(bot, ann.send(text))
      }),
      ["Waiting at Dock", "Rest: not mine", "Dock", "Left Dock", "Rest: where"]
    )
  )

  it.effect("is ended from elsewhere without the functions of its state", () =>
    Effect.gen(function* () {
      const ann = yield* Emulator.user("Ann")
      const dialog = yield* ann.start()
      yield* during(bot, ann.send("/taxi Dock"))
      yield* elsewhere(Ride.at({ chat_id: dialog.chat_id, user_id: ann.user_id }).clear)
      yield* during(bot, TestClock.adjust("1 hour"))
      yield* during(bot, ann.send("where"))
      assert.deepStrictEqual(yield* textsOfBot(dialog), ["Waiting at Dock", "Rest: where"])
      const error = yield* Effect.flip(Effect.provide(Ride.end, Emulator.layerBot()))
      assert.include(String(error), 'The state "scene:ride" belongs to "userInChat"')
    }).pipe(Effect.provide(platform))
  )

  it.effect("follows the states that `enter` and `onTimeout` ask for, in a chat and for a user in all chats", () =>
    Effect.gen(function* () {
      const [ann, ben] = [yield* Emulator.user("Ann"), yield* Emulator.user("Ben")]
      const group = yield* Emulator.chat({ members: [ann, ben], bot: { admin: true } })
      const dialog = yield* ann.start()
      const rounds = { of: "chat", states: { start: Schema.Int, round: Schema.Int } } as const
      const timeouts: Array<unknown> = []
      const Game = Scene.make("game", rounds, {
        start: { enter: ({ data, go }) => go("round", data) },
        round: {
          enter: ({ data, update }) => Messages.reply(update, `Round ${data}`),
          handler: ({ data, go }) => Pattern.make("next").on(() => go("round", data + 1)),
          timeout: "1 minute",
          onTimeout: ({ data, end, go, update }) => {
            timeouts.push([Update.chatTypeOf(update), Update.userIdOf(update)])
            return data < 4 ? go("round", data + 1) : end
          }
        }
      })
      const Mood = Scene.make(
        "mood",
        { of: "user", states: { sad: Schema.Void } },
        {
          sad: {
            handler: () => Pattern.make("how am I").on((update) => Messages.reply(update, "Sad")),
            timeout: "10 minutes",
            onTimeout: ({ update }) => Messages.reply(update, "Cheer up")
          }
        }
      )
      const both = Handler.first(
        Command.make("game").on(() => Game.go("start", 1)),
        Command.make("sad").on(() => Mood.go("sad")),
        Game,
        Mood
      )
      yield* during(
        both,
        Effect.gen(function* () {
          yield* ann.send(group, "/game")
          yield* ben.send(group, "next")
          yield* ann.send(group, "/sad")
          yield* ann.send("how am I")
          yield* ben.send(group, "how am I")
          yield* TestClock.adjust("20 minutes")
        })
      )
      assert.deepStrictEqual(yield* textsOfBot(group), ["Round 1", "Round 2", "Round 3", "Round 4"])
      assert.deepStrictEqual(
        timeouts,
        Array.from({ length: 3 }, () => ["chat", undefined])
      )
      assert.deepStrictEqual(yield* textsOfBot(dialog), ["Sad", "Cheer up"])
      assert.deepStrictEqual(yield* elsewhere(Stream.runCollect(Game.stream)), [])
      assert.deepStrictEqual(yield* elsewhere(Stream.runCollect(Mood.stream)), [])
    }).pipe(Effect.provide(platform))
  )

  it.effect("fails if the data do not match the schema of a state, or if states enter each other forever", () =>
    Effect.gen(function* () {
      const ann = yield* Emulator.user("Ann")
      yield* ann.start()
      const errors: Array<string> = []
      const Loop = Scene.make(
        "loop",
        { of: "chat", states: { a: Schema.Int, b: Schema.Void } },
        { a: { enter: ({ go }) => go("b") }, b: { enter: ({ go }) => go("a", 1) } }
      )
      const failing = Handler.on("message_created", (update) =>
        Effect.catchCause(Loop.go("a", Number(Update.textOf(update))), (cause) =>
          Effect.sync(() => errors.push(String(cause)))
        )
      )
      yield* during(Handler.first(failing, Loop), Effect.andThen(ann.send("0.5"), ann.send("1")))
      assert.include(errors[0], 'The new value of the state "scene:loop" does not match its schema')
      assert.include(errors[1], 'The scene "loop" entered 100 states in a row')
      assert.strictEqual(errors.length, 2)
    }).pipe(Effect.provide(platform))
  )

  it.effect("can be changed by its own functions, but not forever", () =>
    Effect.gen(function* () {
      const ann = yield* Emulator.user("Ann")
      yield* ann.start()
      const errors: Array<string> = []
      const Stairs = Scene.make(
        "stairs",
        { of: "chat", states: { down: Schema.Void, up: Schema.Int } },
        {
          down: { enter: (): Effect.Effect<void> => Effect.orDie(Stairs.go("up", 1)) },
          up: { leave: ({ data }): Effect.Effect<void> => (data === 0 ? Effect.void : Effect.orDie(Stairs.end)) }
        }
      )
      const bot = Handler.first(
        Command.make("begin").on(() => Stairs.go("down")),
        Command.make("end").on(() =>
          Effect.catchCause(Stairs.end, (cause) => Effect.sync(() => errors.push(String(cause))))
        ),
        Stairs
      )
      yield* during(bot, ann.send("/begin"))
      const states = yield* elsewhere(Stream.runCollect(Stairs.stream))
      assert.deepStrictEqual(
        states.map(({ value }) => Result.getOrThrow(value)),
        [{ state: "up", data: 1 }]
      )
      yield* during(bot, ann.send("/end"))
      assert.include(errors[0], 'The functions of the scene "stairs" change it forever')
      assert.strictEqual(errors.length, 1)
    }).pipe(Effect.provide(platform))
  )

  describe("after a deploy", () => {
    /** The program that has only the state `riding`, with data. */
    const after = (
      onStale?: Scene.OnStale<{ readonly riding: { readonly seat: number } }>,
      timeout?: "10 minutes" | "1 hour"
    ) => {
      const Other = Scene.make(
        "ride",
        { of: "userInChat", states: { riding: Schema.Struct({ seat: Schema.Int }) }, onStale },
        {
          riding: {
            handler: ({ data }) => Pattern.make("where").on((update) => Messages.reply(update, `Seat ${data.seat}`)),
            timeout,
            onTimeout: ({ update }) => Messages.reply(update, "Time is over")
          }
        }
      )
      return Handler.first(Other, rest)
    }

    const begin = (...texts: ReadonlyArray<string>) =>
      Effect.gen(function* () {
        const ann = yield* Emulator.user("Ann")
        const dialog = yield* ann.start()
        for (const text of texts) yield* during(bot, ann.send(text))
        const before = (yield* textsOfBot(dialog)).length
        return { ann, dialog, since: Effect.map(textsOfBot(dialog), (texts) => texts.slice(before)) }
      })

    it.effect("ends a state that the program does not have, or whose data have changed, and handles the update", () =>
      Effect.gen(function* () {
        for (const texts of [["/taxi Dock"], ["/taxi Dock", "in"]]) {
          const { ann, since } = yield* begin(...texts)
          yield* during(after(), ann.send("where"))
          assert.isUndefined(yield* untilTimer)
          yield* during(after(), TestClock.adjust("1 hour"))
          assert.deepStrictEqual(yield* since, ["Rest: where"])
          assert.strictEqual((yield* stats).deadLetters, 0)
          yield* during(bot, ann.send("there"))
          assert.deepStrictEqual(yield* since, ["Rest: where", "Rest: there"])
        }
      }).pipe(Effect.provide(platform))
    )

    it.effect("ends such a state also when its time is over", () =>
      Effect.gen(function* () {
        const { ann, since } = yield* begin("/taxi Dock")
        yield* during(after(), TestClock.adjust("1 hour"))
        yield* during(bot, ann.send("in"))
        assert.deepStrictEqual(yield* since, ["Rest: in"])
        assert.strictEqual((yield* stats).deadLetters, 0)
      }).pipe(Effect.provide(platform))
    )

    it.effect("does not end a state whose time-out was removed", () =>
      Effect.gen(function* () {
        const { ann, since } = yield* begin("/taxi Dock")
        const Endless = Scene.make(
          "ride",
          { of: "userInChat", states: { waiting: Schema.Struct({ address: Schema.String }) } },
          {
            waiting: {
              handler: ({ data }) => Pattern.make("where").on((update) => Messages.reply(update, data.address)),
              onTimeout: ({ update }) => Messages.reply(update, "Time is over")
            }
          }
        )
        const next = Handler.first(Endless, rest)
        yield* during(next, TestClock.adjust("1 hour"))
        yield* during(next, ann.send("where"))
        assert.deepStrictEqual(yield* since, ["Dock"])
      }).pipe(Effect.provide(platform))
    )

    it.effect("goes on in the state that a function says, whose time counts from the beginning", () =>
      Effect.gen(function* () {
        const { ann, since } = yield* begin("/taxi Dock")
        const seen: Array<string> = []
        const next = after((stale) => {
          seen.push(stale.state)
          return ["riding", { seat: 7 }]
        }, "1 hour")
        yield* TestClock.adjust("20 minutes")
        yield* during(next, ann.send("where"))
        yield* during(next, ann.send("where"))
        assert.deepStrictEqual(seen, ["waiting"])
        yield* during(next, TestClock.adjust("30 minutes"))
        assert.deepStrictEqual(yield* since, ["Seat 7", "Seat 7"])
        yield* during(next, TestClock.adjust("15 minutes"))
        assert.deepStrictEqual(yield* since, ["Seat 7", "Seat 7", "Time is over"])
      }).pipe(Effect.provide(platform))
    )

    it.effect("does not take over the timeout of the state that a function replaces", () =>
      Effect.gen(function* () {
        const { ann, since } = yield* begin("/taxi Dock")
        const next = after(() => ["riding", { seat: 7 }], "1 hour")
        // The timeout of the stored state is 30 minutes.
        yield* during(next, TestClock.adjust("50 minutes"))
        assert.deepStrictEqual(yield* since, [])
        yield* during(next, ann.send("where"))
        yield* during(next, TestClock.adjust("15 minutes"))
        assert.deepStrictEqual(yield* since, ["Seat 7", "Time is over"])
        assert.isUndefined(yield* untilTimer)
      }).pipe(Effect.provide(platform))
    )

    it.effect(
      "keeps the state with the policy `fail`, so that the dead letter can be handled by a corrected program",
      () =>
        Effect.gen(function* () {
          const { ann, since } = yield* begin("/taxi Dock")
          yield* during(after("fail"), ann.send("where"))
          const { updates } = yield* InboxStore.InboxStore
          const [letter] = yield* updates({ of: "deadLetters", limit: 1 })
          assert.include(
            letter!.failure!.error,
            'is in the state "waiting", which cannot be read: the program has no such state'
          )
          assert.deepStrictEqual(yield* since, [])
          yield* elsewhere(Inbox.replay(letter!.id))
          yield* during(bot, Effect.void)
          assert.deepStrictEqual(yield* since, ["Dock"])
        }).pipe(Effect.provide(platform))
    )
  })
})

it("throws if its name is empty, its version is no positive whole number, or a time-out is not positive and finite", () => {
  const make = (name: string, timeout: "0 seconds" | "Infinity") =>
    Scene.make(name, { of: "chat", states: { one: Schema.Void } }, { one: { timeout } })
  assert.throws(() => make("", "0 seconds"), 'The scene "" needs a name that is not empty.')
  assert.throws(() => make("a", "0 seconds"), 'The scene "a" needs a positive, finite `timeout` of "one".')
  assert.throws(() => make("a", "Infinity"), 'The scene "a" needs a positive, finite `timeout` of "one".')
  assert.throws(
    () => Scene.make("a", { of: "chat", version: 0, states: { one: Schema.Void } }, { one: {} }),
    'The scene "a" needs a `version` that is a positive whole number.'
  )
})
