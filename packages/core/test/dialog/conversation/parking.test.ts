import { Conversation } from "@colloquy/core"
import { Emulator } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Tracer from "effect/Tracer"
import { deadLetters, layer, left, nothing, play } from "../../support/conversations.ts"

describe("a conversation that waits", () => {
  it.effect("cannot be woken by operators on failures, defects and causes", () =>
    Effect.gen(function* () {
      const swallowed: Array<string> = []
      const note = (name: string) => Effect.sync(() => void swallowed.push(name))
      const Guarded = Conversation.make(
        "guarded",
        { of: "userInChat" },
        Effect.fn(function* (talk) {
          const ask = (name: string) => talk.ask(name, { say: `${name}?` })
          yield* Effect.catch(ask("catch"), () => note("catch"))
          yield* Effect.ignore(ask("ignore"))
          yield* Effect.retry(ask("retry"), { times: 3 })
          yield* Effect.catchDefect(ask("defect"), () => note("defect"))
          yield* Effect.catchCause(ask("cause"), () => note("cause"))
          yield* Effect.exit(ask("exit"))
          yield* Effect.uninterruptible(ask("uninterruptible"))
          yield* Effect.timeout(ask("timeout"), "1 day")
          yield* Effect.orElseSucceed(ask("orElse"), () => "nothing")
          yield* talk.say("Done")
        })
      )
      const names = ["catch", "ignore", "retry", "defect", "cause", "exit", "uninterruptible", "timeout", "orElse"]
      assert.deepStrictEqual(yield* play(Guarded, ...names), [...names.map((name) => `${name}?`), "Done"])
      assert.deepStrictEqual(swallowed, [])
      assert.deepStrictEqual(yield* left("guarded"), nothing)
    }).pipe(Effect.provide(layer))
  )

  it.effect("releases its resources at each turn, and says nothing in finalizers of a run that only waits", () =>
    Effect.gen(function* () {
      const log: Array<string> = []
      const Careful = Conversation.make(
        "careful",
        { of: "userInChat" },
        Effect.fn(function* (talk) {
          yield* Effect.acquireRelease(
            Effect.sync(() => log.push("acquired")),
            () => Effect.sync(() => log.push("released"))
          )
          yield* Effect.ensuring(talk.ask("first", { say: "First?" }), Effect.ignore(talk.say("After the first")))
          yield* talk.say("End")
        }, Effect.scoped)
      )
      assert.deepStrictEqual(yield* play(Careful, "1"), ["First?", "After the first", "End"])
      assert.deepStrictEqual(log, ["acquired", "released", "acquired", "released"])
    }).pipe(Effect.provide(layer))
  )

  it.effect("asks one question at a time in concurrent branches, and finishes the running operations", () =>
    Effect.gen(function* () {
      let runs = 0
      const Both = Conversation.make(
        "both",
        { of: "userInChat" },
        Effect.fn(function* (talk) {
          const branch = Effect.fnUntraced(function* (name: string) {
            yield* talk.say(`Now ${name}`)
            const answer = yield* talk.ask(name, { say: `${name}?` })
            yield* talk.say("Thank you")
            return answer
          })
          const count = Effect.delay(
            Effect.sync(() => ++runs),
            "1 second"
          )
          const slow = talk.step("slow", Schema.Int, count)
          const [run, a, b] = yield* Effect.all([slow, branch("a"), branch("b")], { concurrency: "unbounded" })
          yield* talk.say(`${a} ${b} ${run}`)
        })
      )
      assert.deepStrictEqual(yield* play(Both, "1", "2"), [
        "Now a",
        "a?",
        "Thank you",
        "Now b",
        "b?",
        "Thank you",
        "1 2 1"
      ])
      assert.strictEqual(runs, 1)
      assert.deepStrictEqual(yield* left("both"), nothing)
    }).pipe(Effect.provide(layer))
  )

  it.effect("asks one question at a time in concurrent branches, also while the platform is slow", () =>
    Effect.gen(function* () {
      yield* Emulator.addFault({ endpoint: "Messages.send", delay: 100 })
      const Band = Conversation.make(
        "band",
        { of: "userInChat" },
        Effect.fn(function* (talk) {
          const questions = ["Guitar", "Drums", "Bass"].map((name) => talk.ask(name, { say: `${name}?` }))
          const names = yield* Effect.all(questions, { concurrency: "unbounded" })
          yield* talk.say(names.join(", "))
        })
      )
      const asked = ["Guitar?", "Drums?", "Bass?", "Ann, Bob, Cid"]
      assert.deepStrictEqual(yield* play(Band, "Ann", "Bob", "Cid"), asked)
    }).pipe(Effect.provide(layer))
  )

  it.effect("finishes a step that speaks, and that has a step of its own, while another branch waits", () =>
    Effect.gen(function* () {
      const Both = Conversation.make(
        "both",
        { of: "userInChat" },
        Effect.fn(function* (talk) {
          const inner = talk.step("inner", Schema.Int, Effect.succeed(1))
          const slow = Effect.delay(Effect.andThen(Effect.orDie(talk.say("Saved")), inner), "1 second")
          const [step, name] = yield* Effect.all(
            [talk.step("outer", Schema.Int, slow), talk.ask("name", { say: "Name?" })],
            {
              concurrency: 2
            }
          )
          yield* talk.say(`${step} ${name}`)
        })
      )
      assert.deepStrictEqual(yield* play(Both, "Ann"), ["Name?", "Saved", "1 Ann"])
      assert.deepStrictEqual(yield* left("both"), nothing)
    }).pipe(Effect.provide(layer))
  )

  it.effect("fails its handler with the errors of the body, and waits for the dead letter", () =>
    Effect.gen(function* () {
      const Broken = Conversation.make(
        "broken",
        { of: "userInChat" },
        Effect.fn(function* (talk) {
          const name = yield* talk.ask("name", { say: "Name?" })
          if (name === "Bob") return yield* Effect.die(new Error("not Bob"))
          return yield* talk.say(`Hello, ${name}`)
        })
      )
      assert.deepStrictEqual(yield* play(Broken, "Bob", "Ann"), ["Name?"])
      const [error] = yield* deadLetters
      assert.include(error, "not Bob")
      assert.deepStrictEqual(yield* left("broken"), { values: 1, timer: undefined, deadLetters: 1 })
    }).pipe(Effect.provide(layer))
  )

  it.effect("fails its handler if a concurrent branch fails while another one waits, and is retried", () =>
    Effect.gen(function* () {
      let attempts = 0
      const Both = Conversation.make(
        "branches",
        { of: "userInChat" },
        Effect.fn(function* (talk) {
          const flaky = Effect.suspend(() => (++attempts < 3 ? Effect.fail("not yet") : Effect.succeed(attempts)))
          const step = talk.step("step", Schema.Int, Effect.delay(flaky, "1 second"))
          const [count, name] = yield* Effect.all([step, talk.ask("name", { say: "Name?" })], { concurrency: 2 })
          yield* talk.say(`${count} ${name}`)
        })
      )
      assert.deepStrictEqual(yield* play(Both), ["Name?"])
      assert.strictEqual(attempts, 3)
    }).pipe(Effect.provide(layer))
  )

  it.effect("waits although a concurrent branch has recovered from a failure of its own", () =>
    Effect.gen(function* () {
      const Both = Conversation.make(
        "recovered",
        { of: "userInChat" },
        Effect.fn(function* (talk) {
          const flaky = Effect.delay(Effect.fail("never"), "1 second")
          const step = Effect.ignore(talk.step("step", Schema.Void, flaky))
          const [, name] = yield* Effect.all([step, talk.ask("name", { say: "Name?" })], { concurrency: 2 })
          yield* talk.say(`Hello, ${name}`)
        })
      )
      assert.deepStrictEqual(yield* play(Both, "Ann"), ["Name?", "Hello, Ann"])
      assert.deepStrictEqual(yield* left("recovered"), nothing)
    }).pipe(Effect.provide(layer))
  )

  it.effect("goes back to a question by its name, also from a part, and fails if the name has no result", () =>
    Effect.gen(function* () {
      const Part = Conversation.make(
        "part",
        { of: "userInChat" },
        Effect.fn(function* (talk) {
          const street = yield* talk.ask("street", { say: "Street?" })
          const number = yield* talk.ask("number", { say: "Number?" })
          if (number === "again") return yield* talk.back("street")
          if (number === "before") return yield* talk.back()
          if (number === "unknown") return yield* talk.back("unknown")
          return `${street} ${number}`
        })
      )
      const Whole = Conversation.make(
        "whole",
        { of: "userInChat" },
        Effect.fn(function* (talk) {
          const name = yield* talk.ask("name", { say: "Name?" })
          yield* talk.say("Now the address")
          const address = yield* talk.run("address", Part)
          yield* talk.say(`${name}, ${address}`)
        })
      )
      assert.deepStrictEqual(
        yield* play(Whole, "Ann", "Long Lane", "again", "Hill Road", "before", "7", "unknown", "7"),
        ["Name?", "Now the address", "Street?", "Number?", "Street?", "Number?", "Number?", "Ann, Hill Road 7"]
      )
    }).pipe(Effect.provide(layer))
  )

  it.effect("goes back to the beginning of a part by its name", () =>
    Effect.gen(function* () {
      const Part = Conversation.make(
        "part",
        { of: "userInChat" },
        Effect.fn(function* (talk) {
          const street = yield* talk.ask("street", { say: "Street?" })
          return `${street} ${yield* talk.ask("number", { say: "Number?" })}`
        })
      )
      const Whole = Conversation.make(
        "whole",
        { of: "userInChat" },
        Effect.fn(function* (talk) {
          const name = yield* talk.ask("name", { say: "Name?" })
          const address = yield* talk.run("address", Part)
          if (!(yield* talk.confirm("right", { say: `${address}?` }))) return yield* talk.back("address")
          return yield* talk.say(`${name}, ${address}`)
        })
      )
      assert.deepStrictEqual(yield* play(Whole, "Ann", "Hill Road", "7", "No", "Long Lane", "8", "Yes"), [
        "Name?",
        "Street?",
        "Number?",
        "Hill Road 7?",
        "Street?",
        "Number?",
        "Long Lane 8?",
        "Ann, Long Lane 8"
      ])
      assert.deepStrictEqual(yield* left("whole"), nothing)
    }).pipe(Effect.provide(layer))
  )

  it.effect("has a span for each answer", () =>
    Effect.gen(function* () {
      const spans: Array<unknown> = []
      const tracer = Tracer.make({
        span: (options) => {
          const span = new Tracer.NativeSpan(options)
          if (options.name === "Conversation.answer") spans.push(span.attributes)
          return span
        }
      })
      const Traced = Conversation.make(
        "traced",
        { of: "userInChat", timeout: "1 minute" },
        Effect.fn(function* (talk) {
          yield* talk.ask("name", { say: "Name?" })
          yield* talk.ask("age", { say: "Age?" })
        })
      )
      yield* Effect.withTracer(play(Traced, "Ann"), tracer)
      assert.deepStrictEqual(
        spans.map((attributes) => Object.fromEntries(attributes as Map<string, unknown>)),
        [
          { conversation: "traced", question: "name", event: "Message" },
          { conversation: "traced", question: "age", event: "Timeout" }
        ]
      )
    }).pipe(Effect.provide(layer))
  )
})
