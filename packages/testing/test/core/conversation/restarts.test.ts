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
        return Handler.first(Command.make("go").on(conversation.start), conversation.handler)
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
        Handler.first(Command.make("go").on(Pay.start), Pay.handler),
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
        Color.handler
      )
      const ann = yield* Emulator.user("Ann")
      yield* during(bot, Effect.andThen(writes(ann, "/go"), TestClock.adjust("10 minutes")))
      yield* during(bot, presses(ann, "Blue"))
      assert.deepStrictEqual(yield* texts(ann), ["Color?\n✓ Blue", "b"])
      assert.deepStrictEqual(yield* left("color"), nothing)
    }).pipe(Effect.provide(layer))
  )
})
