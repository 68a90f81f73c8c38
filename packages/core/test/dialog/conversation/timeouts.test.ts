import { Command, Conversation, Handler, Inbox, State, Update } from "@colloquy/core"
import { Emulator } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import {
  buttonsOf,
  during,
  textOf,
  layer,
  left,
  nothing,
  presses,
  writes,
  sent,
  texts
} from "../../support/conversations.ts"

const choices = { a: "A", b: "B" }

describe("the timeouts of conversations", () => {
  it.effect("fail with Unanswered at their time, and not a moment earlier, although no message arrives", () =>
    Effect.gen(function* () {
      const Order = Conversation.make(
        "order",
        { of: "userInChat" },
        Effect.fn(
          function* (talk) {
            yield* talk.choose("size", { say: "Size?", choices, timeout: "10 minutes" })
            yield* talk.choose("color", { say: "Color?", choices, timeout: "10 minutes" })
          },
          (self, talk) => Effect.catchTag(self, "Unanswered", ({ question }) => talk.say(`No ${question}.`))
        )
      )
      const ann = yield* Emulator.user("Ann")
      yield* during(
        Handler.first(Command.make("go").on(Order.start), Order),
        Effect.gen(function* () {
          yield* writes(ann, "/go")
          yield* TestClock.adjust("9 minutes")
          yield* presses(ann, "A")
          yield* TestClock.adjust("9 minutes")
          yield* TestClock.adjust("58 seconds")
          assert.deepStrictEqual(yield* texts(ann), ["Size?\n✓ A", "Color?"])
          yield* TestClock.adjust("2 seconds")
          assert.deepStrictEqual(yield* texts(ann), ["Size?\n✓ A", "Color?", "No color."])
        })
      )
      assert.deepStrictEqual((yield* sent(ann)).flatMap(buttonsOf), [])
      assert.deepStrictEqual(yield* left("order"), nothing)
    }).pipe(Effect.provide(layer))
  )

  it.effect("end with the text of the option, also if the user has stopped the bot and does not get the text", () =>
    Effect.gen(function* () {
      const Order = Conversation.make(
        "order",
        { of: "userInChat", timeout: "10 minutes", texts: { unanswered: "Another time, then." } },
        Effect.fn(function* (talk) {
          yield* talk.choose("size", { say: "Size?", choices })
        })
      )
      const [ann, bob] = [yield* Emulator.user("Ann"), yield* Emulator.user("Bob")]
      yield* during(
        Handler.first(Command.make("go").on(Order.start), Order),
        Effect.gen(function* () {
          yield* writes(ann, "/go")
          yield* writes(bob, "/go")
          yield* bob.stop
          yield* TestClock.adjust("10 minutes")
          assert.deepStrictEqual(yield* texts(ann), ["Size?", "Another time, then."])
        })
      )
      assert.deepStrictEqual(yield* left("order"), nothing)
    }).pipe(Effect.provide(layer))
  )

  it.effect("of a chat stay when the last writer is forgotten, and can start a conversation of the chat", () =>
    Effect.gen(function* () {
      const [ann, bob] = [yield* Emulator.user("Ann"), yield* Emulator.user("Bob")]
      const group = yield* Emulator.chat({ members: [ann, bob], bot: { admin: true } })
      const types: Array<unknown> = []
      const Next = Conversation.make("next", { of: "chat" }, (talk) => talk.say(`${talk.user_id} goes on.`))
      const Round = Conversation.make(
        "round",
        { of: "chat", timeout: "1 hour" },
        Effect.fn(
          function* (talk) {
            yield* talk.ask("first", { say: "First?" })
            yield* talk.ask("second", { say: "Second?" })
            yield* talk.ask("third", { say: "Third?" })
          },
          (self, talk) => Effect.catchTag(self, "Unanswered", ({ question }) => talk.say(`No ${question}.`))
        )
      ).pipe(
        Conversation.onDone((_, update) => {
          types.push(Update.chatTypeOf(update))
          return Next.start(update)
        })
      )
      yield* during(
        Handler.first(Command.make("go").on(Round.start), Round, Next),
        Effect.gen(function* () {
          yield* ann.send(group, "/go")
          yield* TestClock.adjust("1 second")
          yield* bob.send(group, "one")
          yield* TestClock.adjust("1 second")
          const forgotten = yield* Effect.provide(State.forget({ user_id: bob.user_id }), Inbox.layer())
          assert.strictEqual(forgotten.timers, 0)
          yield* TestClock.adjust("1 hour")
        })
      )
      const said = (yield* Emulator.messages(group)).filter(({ sender }) => sender?.is_bot === true)
      assert.deepStrictEqual(said.map(textOf), ["First?", "Second?", "No second.", `${ann.user_id} goes on.`])
      assert.deepStrictEqual(types, ["chat"])
      assert.deepStrictEqual(yield* left("round", "next"), nothing)
    }).pipe(Effect.provide(layer))
  )

  it.effect("of a part are its own", () =>
    Effect.gen(function* () {
      const of = "userInChat"
      const Patient = Conversation.make("patient", { of }, (talk) => talk.ask("name", { say: "Name?" }))
      const Hasty = Conversation.make("hasty", { of, timeout: "1 minute" }, (talk) => talk.ask("age", { say: "Age?" }))
      const Order = Conversation.make(
        "order",
        { of, timeout: "10 minutes" },
        Effect.fn(function* (talk) {
          const name = yield* talk.run("person", Patient)
          const age = yield* Effect.catchTag(talk.run("age", Hasty), "Unanswered", ({ question }) =>
            Effect.succeed(`no ${question}`)
          )
          const size = yield* Effect.catchTag(talk.ask("size", { say: "Size?" }), "Unanswered", ({ question }) =>
            Effect.succeed(`no ${question}`)
          )
          yield* talk.say([name, age, size].join(", "))
        })
      )
      const ann = yield* Emulator.user("Ann")
      yield* during(
        Handler.first(Command.make("go").on(Order.start), Order),
        Effect.gen(function* () {
          yield* writes(ann, "/go")
          yield* TestClock.adjust("1 hour")
          yield* writes(ann, "Ann")
          yield* TestClock.adjust("1 minute")
          assert.deepStrictEqual(yield* texts(ann), ["Name?", "Age?", "Size?"])
          yield* TestClock.adjust("10 minutes")
        })
      )
      assert.strictEqual((yield* texts(ann)).at(-1), "Ann, no age/age, no size")
      assert.deepStrictEqual(yield* left("order"), nothing)
    }).pipe(Effect.provide(layer))
  )

  it.effect("are remembered when the body goes on and runs again", () =>
    Effect.gen(function* () {
      const Quiz = Conversation.make(
        "quiz",
        { of: "userInChat", timeout: "1 minute" },
        Effect.fn(function* (talk) {
          const answer = yield* talk
            .ask("quick", { say: "Quick?" })
            .pipe(Effect.catchTag("Unanswered", () => Effect.as(talk.say("Too late"), "nothing")))
          const why = yield* talk.ask("why", { say: "Why?" })
          yield* talk.say(`${answer} because of ${why}`)
        })
      )
      const ann = yield* Emulator.user("Ann")
      yield* during(
        Handler.first(Command.make("go").on(Quiz.start), Quiz),
        Effect.gen(function* () {
          yield* writes(ann, "/go")
          yield* TestClock.adjust("61 seconds")
          yield* writes(ann, "sleep")
        })
      )
      assert.deepStrictEqual(yield* texts(ann), ["Quick?", "Too late", "Why?", "nothing because of sleep"])
      assert.deepStrictEqual(yield* left("quiz"), nothing)
    }).pipe(Effect.provide(layer))
  )

  it.effect("of a conversation do not concern a question whose timeout is infinite", () =>
    Effect.gen(function* () {
      const Patient = Conversation.make(
        "patient",
        { of: "userInChat", timeout: "1 minute" },
        Effect.fn(function* (talk) {
          const answer = yield* talk.ask("when", { say: "When?", timeout: Duration.infinity })
          yield* talk.say(answer)
        })
      )
      const ann = yield* Emulator.user("Ann")
      yield* during(
        Handler.first(Command.make("go").on(Patient.start), Patient),
        Effect.gen(function* () {
          yield* writes(ann, "/go")
          yield* TestClock.adjust("1 hour")
          yield* writes(ann, "now")
        })
      )
      assert.deepStrictEqual(yield* texts(ann), ["When?", "now"])
      assert.deepStrictEqual(yield* left("patient"), nothing)
    }).pipe(Effect.provide(layer))
  )

  it.effect("ask again under Effect.retry, and end the conversation if nothing recovers from them", () =>
    Effect.gen(function* () {
      const Nag = Conversation.make("nag", { of: "userInChat", timeout: "1 minute" }, (talk) =>
        Effect.retry(talk.ask("there", { say: "Are you there?" }), { times: 2 })
      )
      const ann = yield* Emulator.user("Ann")
      yield* during(
        Handler.first(Command.make("go").on(Nag.start), Nag),
        Effect.gen(function* () {
          yield* writes(ann, "/go")
          yield* TestClock.adjust("10 minutes")
        })
      )
      assert.deepStrictEqual(yield* texts(ann), ["Are you there?", "Are you there?", "Are you there?"])
      assert.deepStrictEqual(yield* left("nag"), nothing)
    }).pipe(Effect.provide(layer))
  )

  it.effect("are due after a restart, also if their time passed while no process ran", () =>
    Effect.gen(function* () {
      const Order = Conversation.make(
        "order",
        { of: "userInChat", timeout: "10 minutes" },
        Effect.fn(
          function* (talk) {
            yield* talk.ask("size", { say: "Size?" })
          },
          (self, talk) => Effect.catchTag(self, "Unanswered", () => talk.say("Too late"))
        )
      )
      const bot = Handler.first(Command.make("go").on(Order.start), Order)
      const ann = yield* Emulator.user("Ann")
      const bob = yield* Emulator.user("Bob")
      yield* during(bot, writes(ann, "/go"))
      yield* during(bot, TestClock.adjust("595 seconds"))
      assert.deepStrictEqual(yield* texts(ann), ["Size?"])
      yield* during(bot, TestClock.adjust("5 seconds"))
      assert.deepStrictEqual(yield* texts(ann), ["Size?", "Too late"])
      yield* during(bot, writes(bob, "/go"))
      yield* TestClock.adjust("1 hour")
      yield* during(bot, TestClock.adjust("1 second"))
      assert.deepStrictEqual(yield* texts(bob), ["Size?", "Too late"])
      assert.deepStrictEqual(yield* left("order"), nothing)
    }).pipe(Effect.provide(layer))
  )

  it.effect("do not change after a deploy, except that a removed timeout does not fire", () =>
    Effect.gen(function* () {
      const make = (minutes: number | undefined) => {
        const timeout = minutes === undefined ? {} : { timeout: Duration.minutes(minutes) }
        const Order = Conversation.make("order", { of: "userInChat" }, (talk) =>
          Effect.catchTag(talk.ask("size", { say: "Size?", ...timeout }), "Unanswered", () => talk.say("Too late"))
        )
        return Handler.first(Command.make("go").on(Order.start), Order)
      }
      const play = Effect.fnUntraced(function* (before: number | undefined, after: number | undefined, said: number) {
        const ann = yield* Emulator.user("Ann")
        yield* during(make(before), writes(ann, "/go"))
        yield* during(make(after), TestClock.adjust("15 minutes"))
        assert.strictEqual((yield* texts(ann)).length, said)
        yield* during(make(after), writes(ann, "Small"))
        assert.deepStrictEqual(yield* left("order"), nothing)
      })
      yield* play(10, 20, 2)
      yield* play(20, 10, 1)
      yield* play(10, undefined, 1)
      yield* play(undefined, 10, 1)
    }).pipe(Effect.provide(layer))
  )

  it.effect("continue a conversation that sleeps for no time after it has slept", () =>
    Effect.gen(function* () {
      const Oven = Conversation.make(
        "oven",
        { of: "userInChat" },
        Effect.fn(function* (talk) {
          yield* talk.sleep("oven", "20 minutes")
          yield* talk.sleep("rest", "0 seconds")
          yield* talk.say("Ready")
        })
      )
      const bot = Handler.first(Command.make("go").on(Oven.start), Oven)
      const ann = yield* Emulator.user("Ann")
      yield* during(bot, writes(ann, "/go"))
      yield* during(bot, TestClock.adjust("21 minutes"))
      assert.deepStrictEqual(yield* texts(ann), ["Ready"])
      assert.deepStrictEqual(yield* left("oven"), nothing)
    }).pipe(Effect.provide(layer))
  )

  it.effect("leave sleeping conversations alone, which pass messages to the next handler", () =>
    Effect.gen(function* () {
      const heard: Array<string> = []
      const Oven = Conversation.make(
        "oven",
        { of: "userInChat" },
        Effect.fn(function* (talk) {
          yield* talk.say("In the oven")
          yield* talk.sleep("oven", "20 minutes")
          yield* talk.say("Ready")
        })
      )
      const bot = Handler.first(
        Command.make("go").on(Oven.start),
        Oven,
        Handler.on("message_created", (update) => Effect.sync(() => void heard.push(update.message?.body?.text ?? "")))
      )
      const ann = yield* Emulator.user("Ann")
      yield* during(bot, writes(ann, "/go"))
      yield* during(bot, writes(ann, "Is it ready?"))
      yield* during(bot, writes(ann, "/go"))
      yield* TestClock.adjust("19 minutes")
      const wait = "Please wait, this is not finished yet."
      assert.deepStrictEqual(yield* texts(ann), ["In the oven", wait])
      yield* during(bot, TestClock.adjust("1 minute"))
      assert.deepStrictEqual(yield* texts(ann), ["In the oven", wait, "Ready"])
      assert.deepStrictEqual(heard, ["Is it ready?"])
      assert.deepStrictEqual(yield* left("oven"), nothing)
    }).pipe(Effect.provide(layer))
  )
})
