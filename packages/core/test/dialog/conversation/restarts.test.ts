import { Command, Conversation, Handler, Journal } from "@colloquy/core"
import { Emulator } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import { during, layer, left, nothing, presses, texts, writes } from "../../support/conversations.ts"

describe("conversations and restarts", () => {
  it.effect("go on after a restart behind every line, with each message sent once and each step run once", () =>
    Effect.gen(function* () {
      const steps: Array<string> = []
      const step = (name: string) => Effect.sync(() => `${name} ${steps.push(name)}`)
      const make = () =>
        Conversation.make(
          "everything",
          { of: "userInChat", timeout: "1 hour", back: true },
          Effect.fn(function* (talk) {
            yield* talk.say("Hello")
            const id = yield* talk.step("id", Schema.String, step("id"))
            yield* talk.say(`You are ${id}`)
            const name = yield* talk.ask("name", { say: "Name?" })
            yield* talk.say(`Hello, ${name}`)
            const colors = yield* talk.choose("colors", {
              say: "Colors?",
              choices: { r: "Red", b: "Blue" },
              several: true
            })
            for (let index = 0; index < colors.length; index++) {
              yield* talk.ask(`why ${index}`, { say: `Why ${colors[index]}?`, optional: true })
              yield* talk.say("I see")
            }
            yield* talk.sleep("rest", "30 minutes")
            const pay = Effect.map(step("pay"), (receipt) => ({ receipt }))
            const { receipt } = yield* talk.step("pay", Schema.Struct({ receipt: Schema.String }), pay)
            return yield* talk.say(`Paid ${receipt}`)
          })
        )
      const bot = () => {
        const conversation = make()
        return Handler.first(Command.make("go").on(conversation.start), conversation)
      }
      const ann = yield* Emulator.user("Ann")
      const bob = yield* Emulator.user("Bob")
      for (const person of [ann, bob]) {
        yield* during(bot(), writes(person, "/go"))
        yield* during(bot(), writes(person, "Ann"))
        yield* during(bot(), presses(person, "Blue"))
        yield* during(bot(), presses(person, "Red"))
        yield* during(bot(), presses(person, "Done"))
        yield* during(bot(), writes(person, "warm"))
        yield* during(bot(), presses(person, "Skip"))
        yield* during(bot(), Effect.void)
        yield* TestClock.adjust("30 minutes")
        yield* during(bot(), Effect.void)
      }
      const expected = (id: number) => [
        "Hello",
        `You are id ${id}`,
        "Name?",
        "Hello, Ann",
        "Colors?\n✓ Red, Blue",
        "Why r?",
        "I see",
        "Why b?\n✓ Skip",
        "I see",
        `Paid pay ${id + 1}`
      ]
      assert.deepStrictEqual(yield* texts(ann), expected(1))
      assert.deepStrictEqual(yield* texts(bob), expected(3))
      assert.deepStrictEqual(yield* left("everything"), nothing)
    }).pipe(Effect.provide(layer))
  )

  it.effect("repeat nothing when a turn fails and is retried", () =>
    Effect.gen(function* () {
      let attempts = 0
      const keys = new Set<string>()
      const Pay = Conversation.make(
        "pay",
        { of: "userInChat" },
        Effect.fn(function* (talk) {
          const amount = yield* talk.choose("amount", { say: "How much?", choices: { one: "1", two: "2" } })
          yield* talk.say(`Paying ${amount}, attempt ${attempts}`)
          yield* talk.step(
            "pay",
            Schema.Void,
            Effect.gen(function* () {
              keys.add(yield* Journal.key)
              if (++attempts < 3) return yield* Effect.fail("not yet")
            })
          )
          yield* talk.say(`Paid after ${attempts}`)
        })
      )
      const ann = yield* Emulator.user("Ann")
      yield* during(
        Handler.first(Command.make("go").on(Pay.start), Pay),
        Effect.gen(function* () {
          yield* writes(ann, "/go")
          yield* presses(ann, "2")
          yield* TestClock.adjust("10 minutes")
        })
      )
      assert.deepStrictEqual(yield* texts(ann), ["How much?\n✓ 2", "Paying two, attempt 0", "Paid after 3"])
      assert.deepStrictEqual([attempts, keys.size], [3, 1])
      assert.deepStrictEqual(yield* left("pay"), nothing)
    }).pipe(Effect.provide(layer))
  )

  it.effect("keep the key of a step until its result is stored, over updates and restarts", () =>
    Effect.gen(function* () {
      const keys: Array<string> = []
      const charge = Effect.flatMap(Journal.key, (key) =>
        keys.push(key) % 3 === 0 ? Effect.succeed(`receipt ${keys.length}`) : Effect.fail("declined")
      )
      const make = () =>
        Conversation.make(
          "pay",
          { of: "userInChat" },
          Effect.fn(function* (talk) {
            const receipt = yield* talk
              .step("pay", Schema.String, charge)
              .pipe(Effect.catch(() => Effect.as(talk.ask("again", { say: "Write to try again" }), undefined)))
            yield* talk.say(receipt ?? "Not paid")
            const isRight = yield* talk.confirm("right", { say: "Is it right?" })
            if (!isRight) return yield* talk.back("pay")
          })
        )
      const bot = () => {
        const conversation = make()
        return Handler.first(Command.make("go").on(conversation.start), conversation)
      }
      const ann = yield* Emulator.user("Ann")
      yield* during(bot(), writes(ann, "/go"))
      // Each update runs the step again, because it has no result yet.
      yield* during(bot(), writes(ann, "once more"))
      yield* during(bot(), writes(ann, "and again"))
      assert.deepStrictEqual([keys.length, new Set(keys).size], [3, 1])
      // The result is forgotten, so that the next payment is another one.
      yield* during(bot(), presses(ann, "No"))
      assert.deepStrictEqual([keys.length, new Set(keys).size], [4, 2])
      yield* during(bot(), writes(ann, "once more"))
      yield* during(bot(), writes(ann, "and again"))
      assert.deepStrictEqual([keys.length, new Set(keys.slice(3)).size], [6, 1])
      const bob = yield* Emulator.user("Bob")
      yield* during(bot(), writes(bob, "/go"))
      assert.deepStrictEqual([keys.length, new Set(keys).size], [7, 3])
    }).pipe(Effect.provide(layer))
  )

  it.effect("give each conversation of one update keys of its own, and each step within a step as well", () =>
    Effect.gen(function* () {
      const keys: Array<string> = []
      const collect = Effect.map(Journal.key, (key) => void keys.push(key))
      const Note = Conversation.make(
        "note",
        { of: "userInChat" },
        Effect.fn(function* (talk) {
          yield* talk.step("a", Schema.Void, collect)
          yield* talk.step("b", Schema.Void, Effect.andThen(Journal.step("inner", Schema.Void, collect), collect))
        })
      )
      const go = Command.make("go").on((update) => Effect.andThen(Note.start(update), Note.start(update)))
      const bot = Handler.first(go, Note)
      const ann = yield* Emulator.user("Ann")
      yield* during(bot, writes(ann, "/go"))
      assert.deepStrictEqual([keys.length, new Set(keys).size], [6, 6])
    }).pipe(Effect.provide(layer))
  )

  it.effect("keep the buttons of a start that failed after it had asked, and was retried", () =>
    Effect.gen(function* () {
      const Color = Conversation.make(
        "color",
        { of: "userInChat" },
        Effect.fn(function* (talk) {
          yield* talk.say(yield* talk.choose("color", { say: "Color?", choices: { r: "Red", b: "Blue" } }))
        })
      )
      const bot = Handler.first(
        Command.make("go").on((update) =>
          Effect.gen(function* () {
            yield* Color.start(update)
            if ((yield* Handler.CurrentAttempt) < 3) return yield* Effect.fail("not yet")
          })
        ),
        Color
      )
      const ann = yield* Emulator.user("Ann")
      yield* during(bot, Effect.andThen(writes(ann, "/go"), TestClock.adjust("10 minutes")))
      yield* during(bot, presses(ann, "Blue"))
      assert.deepStrictEqual(yield* texts(ann), ["Color?\n✓ Blue", "b"])
      assert.deepStrictEqual(yield* left("color"), nothing)
    }).pipe(Effect.provide(layer))
  )
})
