import { Bot, Command, Conversation, Handler } from "@colloquy/core"
import { Emulator } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import {
  buttonsOf,
  during,
  layer,
  left,
  nothing,
  presses,
  sent,
  textOf,
  texts,
  writes
} from "../../support/conversations.ts"

type Body = (talk: Conversation.Talk) => Effect.Effect<unknown, unknown, never>

const rest = Handler.on("message_created", () => Effect.void)

const botOf = (body: unknown, options: Partial<Conversation.Options> = {}) => {
  const conversation = Conversation.make("form", { of: "userInChat", ...options }, body as Body)
  return Handler.first(Command.make("go").on(conversation.start), conversation, rest)
}

const before = Effect.fn(function* (talk: Conversation.Talk) {
  yield* talk.say("Hello")
  const name = yield* talk.ask("name", { say: "Name?" })
  yield* talk.say(`Dear ${name}`)
  const age = yield* talk.ask("age", { say: "Age?" })
  yield* talk.say(`You are ${age}`)
})

/** Plays the first version up to the second question, and then another version, with two more messages. */
const deploy = Effect.fnUntraced(function* (
  after: unknown,
  options: Partial<Conversation.Options> = {},
  answers: ReadonlyArray<string> = ["7", "8"]
) {
  const ann = yield* Emulator.user("Ann")
  yield* during(
    botOf(before),
    Effect.gen(function* () {
      yield* writes(ann, "/go")
      yield* writes(ann, "Ann")
    })
  )
  yield* during(
    botOf(after, options),
    Effect.gen(function* () {
      for (const answer of answers) yield* writes(ann, answer)
      yield* TestClock.adjust("1 hour")
    })
  )
  const said = yield* texts(ann)
  assert.deepStrictEqual(said.slice(0, 4), ["Hello", "Name?", "Dear Ann", "Age?"])
  assert.strictEqual((yield* left("form")).deadLetters, 0)
  return said.slice(4)
})

describe("conversations and new versions of the code", () => {
  it.effect("go on where they are if nothing that they wait for has changed", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* deploy(before), ["You are 7"])
      assert.deepStrictEqual(yield* left("form"), nothing)
    }).pipe(Effect.provide(layer))
  )

  it.effect("do not repeat earlier messages, even if a text has changed or messages were added", () =>
    Effect.gen(function* () {
      const after = Effect.fn(function* (talk: Conversation.Talk) {
        yield* talk.say("Hello!")
        yield* talk.say("Welcome")
        const name = yield* talk.ask("name", { say: "Your name?" })
        yield* talk.say(`Dear ${name}!`)
        yield* talk.say("Fine")
        const age = yield* talk.ask("age", { say: "Your age?" })
        yield* talk.say(`You are ${age}!`)
      })
      assert.deepStrictEqual(yield* deploy(after), ["You are 7!"])
    }).pipe(Effect.provide(layer))
  )

  it.effect("do not repeat messages after a step that is new, moved or renamed, or that failed before", () =>
    Effect.gen(function* () {
      const ran: Array<string> = []
      const run = (name: string) => Effect.sync(() => ran.push(name))
      const after = Effect.fn(function* (talk: Conversation.Talk) {
        yield* talk.say("Hello")
        const name = yield* talk.ask("name", { say: "Name?" })
        yield* Effect.ignore(talk.step("failing", Schema.Int, Effect.andThen(run("failing"), Effect.fail("away"))))
        yield* talk.step("reserve", Schema.Int, run("reserve"))
        yield* talk.say(`Dear ${name}`)
        const age = yield* talk.ask("age", { say: "Age?" })
        yield* talk.say(`You are ${age}`)
        yield* talk.ask("end", { say: "More?" })
      })
      assert.deepStrictEqual(yield* deploy(after, {}, ["7"]), ["You are 7", "More?"])
      assert.deepStrictEqual(ran, ["failing", "reserve"])
    }).pipe(Effect.provide(layer))
  )

  it.effect.each([
    ["new", ["name"], ["name", "city"]],
    ["moved", ["name", "thanks", "age", "city"], ["name", "city", "thanks", "age"]],
    ["renamed", ["name"], ["full name"]]
  ] as const)("send messages without a name again that follow a question that is %s", ([, before, after]) =>
    Effect.gen(function* () {
      const form = (questions: ReadonlyArray<string>, options?: { readonly name: string }) =>
        Effect.fn(function* (talk: Conversation.Talk) {
          const all = questions.includes("thanks") ? questions : [...questions, "thanks", "age"]
          for (const name of all) {
            yield* name === "thanks" ? talk.say("Thank you", options) : talk.ask(name, { say: `${name}?` })
          }
        })
      const played = Effect.fnUntraced(function* (options?: { readonly name: string }) {
        const ann = yield* Emulator.user("Ann")
        yield* during(botOf(form(before, options)), Effect.andThen(writes(ann, "/go"), writes(ann, "Ann")))
        const next = Effect.forEach(["Hi", "Rome"], (answer) => writes(ann, answer))
        yield* during(botOf(form(after, options)), next)
        return (yield* texts(ann)).filter((text) => text === "Thank you").length
      })
      assert.strictEqual(yield* played(), 2)
      assert.strictEqual(yield* played({ name: "thanks" }), 1)
    }).pipe(Effect.provide(layer))
  )

  it.effect("ask a new question when it is reached, and keep an answer that was given to a later one", () =>
    Effect.gen(function* () {
      const after = Effect.fn(function* (talk: Conversation.Talk) {
        yield* talk.say("Hello")
        const name = yield* talk.ask("name", { say: "Name?" })
        const city = yield* talk.ask("city", { say: "City?" })
        const age = yield* talk.ask("age", { say: "Age?" })
        const last = yield* talk.ask("last", { say: "Last?" })
        yield* talk.say([name, city, age, last].join(" "))
      })
      assert.deepStrictEqual(yield* deploy(after, {}, ["7", "Rome", "bye"]), ["City?", "Last?", "Ann Rome 7 bye"])
      assert.deepStrictEqual(yield* left("form"), nothing)
    }).pipe(Effect.provide(layer))
  )

  it.effect("ask a new question when it is reached, and a later one again whose button was pressed first", () =>
    Effect.gen(function* () {
      const make = (isNew: boolean) =>
        botOf(
          Effect.fn(function* (talk: Conversation.Talk) {
            const name = isNew ? yield* talk.ask("name", { say: "Name?" }) : ""
            const color = yield* talk.choose("color", { say: "Color?", choices: { r: "Red", b: "Blue" } })
            yield* talk.say(`${name} ${color}`)
          })
        )
      const ann = yield* Emulator.user("Ann")
      yield* during(make(false), writes(ann, "/go"))
      yield* during(
        make(true),
        Effect.gen(function* () {
          yield* presses(ann, "Red")
          assert.strictEqual(yield* ann.notification, "This question is closed.")
          assert.deepStrictEqual((yield* sent(ann)).flatMap(buttonsOf), [])
          yield* writes(ann, "Ann")
          yield* presses(ann, "Blue")
        })
      )
      assert.deepStrictEqual(yield* texts(ann), ["Color?", "Name?", "Color?\n✓ Blue", "Ann b"])
      assert.deepStrictEqual(yield* left("form"), nothing)
    }).pipe(Effect.provide(layer))
  )

  it.effect("do not use the answer of a question that was removed", () =>
    Effect.gen(function* () {
      const after = Effect.fn(function* (talk: Conversation.Talk) {
        yield* talk.say("Hello")
        const age = yield* talk.ask("age", { say: "Age?" })
        yield* talk.say(`${age}`)
      })
      assert.deepStrictEqual(yield* deploy(after), ["7"])
      assert.deepStrictEqual(yield* left("form"), nothing)
    }).pipe(Effect.provide(layer))
  )

  it.effect("end with the later messages if the question that they wait for was removed", () =>
    Effect.gen(function* () {
      const after = Effect.fn(function* (talk: Conversation.Talk) {
        yield* talk.say("Hello")
        const name = yield* talk.ask("name", { say: "Name?" })
        yield* talk.say(`Dear ${name}`)
        yield* talk.say(`Bye, ${name}`)
      })
      assert.deepStrictEqual(yield* deploy(after), ["Bye, Ann"])
      assert.deepStrictEqual(yield* left("form"), nothing)
    }).pipe(Effect.provide(layer))
  )

  it.effect("ask a question again that was renamed", () =>
    Effect.gen(function* () {
      const after = Effect.fn(function* (talk: Conversation.Talk) {
        yield* talk.say("Hello")
        const name = yield* talk.ask("name", { say: "Name?" })
        yield* talk.say(`Dear ${name}`)
        const age = yield* talk.ask("years", { say: "Years?" })
        yield* talk.say(`You are ${age}`)
      })
      assert.deepStrictEqual(yield* deploy(after), ["Years?", "You are 8"])
      assert.deepStrictEqual(yield* left("form"), nothing)
    }).pipe(Effect.provide(layer))
  )

  it.effect("read an answer of another type by a migration, and ask again without one", () =>
    Effect.gen(function* () {
      const read = Schema.FiniteFromString
      const migrated = Effect.fn(function* (talk: Conversation.Talk) {
        const name = yield* talk.ask("name", { say: "Name?", read, migrate: (name) => String(name).length })
        const age = yield* talk.ask("age", { say: "Age?", read })
        yield* talk.say(`${name + 1} ${age + 1}`)
      })
      assert.deepStrictEqual(yield* deploy(migrated), ["4 8"])
      const asked = Effect.fn(function* (talk: Conversation.Talk) {
        const name = yield* talk.ask("name", { say: "Number?", read })
        const age = yield* talk.ask("age", { say: "Age?", read })
        yield* talk.say(`${name + 1} ${age + 1}`)
      })
      assert.deepStrictEqual(yield* deploy(asked), ["Number?", "9 8"])
      assert.deepStrictEqual(yield* left("form"), nothing)
    }).pipe(Effect.provide(layer))
  )

  it.effect("ask again if the kind of the question has changed", () =>
    Effect.gen(function* () {
      const after = Effect.fn(function* (talk: Conversation.Talk) {
        yield* talk.ask("name", { say: "Name?" })
        const age = yield* talk.choose("age", { say: "Young or old?", choices: { y: "Young", o: "Old" } })
        yield* talk.say(age)
      })
      assert.deepStrictEqual(yield* deploy(after, {}, ["7", "old"]), ["Young or old?", "o"])
      assert.deepStrictEqual(yield* left("form"), nothing)
    }).pipe(Effect.provide(layer))
  )

  it.effect("ask again with new buttons if the pressed one does not exist any more", () =>
    Effect.gen(function* () {
      const make = (choices: Conversation.Choices, several: boolean) =>
        botOf(
          Effect.fn(function* (talk: Conversation.Talk) {
            const answer = yield* talk.choose("color", { say: "Color?", choices, several })
            yield* talk.say(`${String(answer)}`)
          })
        )
      const ann = yield* Emulator.user("Ann")
      yield* during(make({ r: "Red", b: "Blue" }, false), writes(ann, "/go"))
      yield* during(make({ g: "Green", b: "Blue" }, false), Effect.andThen(presses(ann, "Red"), presses(ann, "Green")))
      assert.deepStrictEqual(yield* texts(ann), ["Color?", "Color?\n✓ Green", "g"])
      const bob = yield* Emulator.user("Bob")
      yield* during(make({ r: "Red", b: "Blue" }, true), Effect.andThen(writes(bob, "/go"), presses(bob, "Red")))
      yield* during(
        make({ g: "Green", b: "Blue" }, true),
        Effect.gen(function* () {
          yield* presses(bob, "Blue")
          yield* presses(bob, "Done")
        })
      )
      assert.deepStrictEqual(yield* texts(bob), ["Color?\n✓ Blue", "b"])
      assert.deepStrictEqual(yield* left("form"), nothing)
    }).pipe(Effect.provide(layer))
  )

  it.effect("ask a choice of several again, with the chosen keys, if the pressed button does not exist any more", () =>
    Effect.gen(function* () {
      const make = (choices: Conversation.Choices) =>
        botOf((talk: Conversation.Talk) => talk.choose("color", { say: "Color?", choices, several: true }))
      const ann = yield* Emulator.user("Ann")
      const before = make({ r: "Red", b: "Blue" })
      yield* during(before, Effect.andThen(writes(ann, "/go"), presses(ann, "Blue")))
      yield* during(make({ g: "Green", b: "Blue" }), presses(ann, "Red"))
      assert.strictEqual(yield* ann.notification, "This question is closed.")
      assert.deepStrictEqual(
        (yield* sent(ann)).map((message) => [textOf(message), ...buttonsOf(message)]),
        [["Color?"], ["Color?", "Green", "✓ Blue", "Done"]]
      )
    }).pipe(Effect.provide(layer))
  )

  it.effect("ask again if the button that led back was removed", () =>
    Effect.gen(function* () {
      const make = (back: boolean) =>
        botOf(
          Effect.fn(function* (talk: Conversation.Talk) {
            yield* talk.ask("name", { say: "Name?" })
            yield* talk.ask("place", { say: "Place?", back })
          })
        )
      const ann = yield* Emulator.user("Ann")
      yield* during(make(true), Effect.andThen(writes(ann, "/go"), writes(ann, "Ann")))
      yield* during(make(false), presses(ann, "Back"))
      assert.strictEqual(yield* ann.notification, "This question is closed.")
      assert.deepStrictEqual(yield* texts(ann), ["Name?", "Place?", "Place?"])
    }).pipe(Effect.provide(layer))
  )

  it.effect("keep an answer for a later question only from a user who may answer it", () =>
    Effect.gen(function* () {
      const [ann, bob] = [yield* Emulator.user("Ann"), yield* Emulator.user("Bob")]
      const group = yield* Emulator.chat({ owner: ann, members: [bob], bot: { admin: true } })
      const make = (isNew: boolean) =>
        botOf(
          Effect.fn(function* (talk: Conversation.Talk) {
            const from = ann.user_id
            if (isNew) yield* talk.confirm("gift", { say: "Is it a gift?", from })
            const address = yield* talk.ask("address", { say: "Where to?", from })
            yield* talk.say(`It goes to ${address}`)
          }),
          { of: "chat" }
        )
      const said = Effect.map(Emulator.messages(group), (all) => all.filter(({ sender }) => sender?.is_bot === true))
      const sends = (person: typeof ann, text: string) =>
        Effect.andThen(person.send(group, text), TestClock.adjust("1 second"))
      yield* during(make(false), sends(ann, "/go"))
      yield* during(
        make(true),
        Effect.gen(function* () {
          yield* sends(bob, "my house")
          yield* ann.press(
            (yield* said).findLast((message) => textOf(message) === "Is it a gift?")!,
            "Yes"
          )
          yield* TestClock.adjust("1 second")
          assert.strictEqual(textOf((yield* said).at(-1)!), "Where to?")
          yield* sends(ann, "Riga")
        })
      )
      assert.strictEqual(textOf((yield* said).at(-1)!), "It goes to Riga")
    }).pipe(Effect.provide(layer))
  )

  it.effect("lose their buttons if they were removed", () =>
    Effect.gen(function* () {
      const ann = yield* Emulator.user("Ann")
      const form = botOf((talk: Conversation.Talk) => talk.confirm("sure", { say: "Sure?" }))
      yield* during(form, writes(ann, "/go"))
      const russian = Effect.provideService(Bot.CurrentTexts, { outdated: "Кнопка устарела." })
      yield* during(Handler.transform(Bot.make(rest), russian), presses(ann, "Yes"))
      assert.strictEqual(yield* ann.notification, "Кнопка устарела.")
      assert.deepStrictEqual((yield* sent(ann)).flatMap(buttonsOf), [])
      yield* during(form, writes(ann, "/go"))
      yield* during(rest, presses(ann, "No"))
      assert.strictEqual(yield* ann.notification, "This button is out of date.")
      assert.strictEqual((yield* left("form")).deadLetters, 0)
    }).pipe(Effect.provide(layer))
  )

  it.effect("can replace a question by a sleep, and a sleep by a question", () =>
    Effect.gen(function* () {
      const asleep = Effect.fn(function* (talk: Conversation.Talk) {
        yield* talk.ask("name", { say: "Name?" })
        yield* talk.sleep("age", "10 minutes")
        yield* talk.say("Awake")
      })
      assert.deepStrictEqual(yield* deploy(asleep), ["Awake"])
      const ann = yield* Emulator.user("Ann")
      yield* during(botOf(asleep), Effect.andThen(writes(ann, "/go"), writes(ann, "Ann")))
      yield* during(botOf(before), Effect.andThen(writes(ann, "hello?"), writes(ann, "7")))
      assert.deepStrictEqual(yield* texts(ann), ["Name?", "Dear Ann", "Age?", "You are 7"])
      assert.deepStrictEqual(yield* left("form"), nothing)
    }).pipe(Effect.provide(layer))
  )

  it.effect("follow the policy for another version: continue, restart, or end", () =>
    Effect.gen(function* () {
      const seen: Array<number> = []
      const policies = {
        continue: ["You are 7"],
        restart: ["Hello", "Name?", "Dear 8", "Age?"],
        end: ["Something has changed here. Please begin again."]
      }
      for (const policy of ["continue", "restart", "end"] as const) {
        assert.deepStrictEqual(yield* deploy(before, { version: 2, onVersion: policy }), policies[policy])
        const onVersion = (from: number) => {
          seen.push(from)
          return policy
        }
        assert.deepStrictEqual(yield* deploy(before, { version: 2, onVersion }), policies[policy])
      }
      assert.deepStrictEqual(seen, [1, 1, 1])
    }).pipe(Effect.provide(layer))
  )

  it.effect("follow the policy for another version also after the answer that they go on", () =>
    Effect.gen(function* () {
      const make = (version: number) =>
        botOf(before, { version, ifRunning: "ask", onVersion: version === 1 ? "continue" : "end" })
      const ann = yield* Emulator.user("Ann")
      yield* during(
        make(1),
        Effect.gen(function* () {
          for (const text of ["/go", "Ann", "/go"]) yield* writes(ann, text)
        })
      )
      yield* during(make(2), presses(ann, "No"))
      assert.strictEqual((yield* texts(ann)).at(-1), "Something has changed here. Please begin again.")
      assert.deepStrictEqual(yield* left("form"), nothing)
    }).pipe(Effect.provide(layer))
  )

  it.effect("begin again if they are started while an outdated one runs", () =>
    Effect.gen(function* () {
      const options = { version: 2, onVersion: "end" } as const
      assert.deepStrictEqual(yield* deploy(before, options, ["/go"]), ["Hello", "Name?"])
    }).pipe(Effect.provide(layer))
  )

  it.effect("end with a message if their input cannot be read any more", () =>
    Effect.gen(function* () {
      const make = (input: Schema.Codec<unknown, unknown>) =>
        Conversation.make("form", { of: "userInChat", input }, (talk) => talk.ask("name", { say: "Name?" }))
      const first = make(Schema.String)
      const second = make(Schema.Int)
      const ann = yield* Emulator.user("Ann")
      yield* during(
        Handler.first(
          Command.make("go").on((update) => first.start(update, "input")),
          first
        ),
        writes(ann, "/go")
      )
      yield* during(Handler.first(second, rest), Effect.andThen(writes(ann, "Ann"), writes(ann, "Ann")))
      assert.deepStrictEqual(yield* texts(ann), ["Name?", "Something has changed here. Please begin again."])
      assert.deepStrictEqual(yield* left("form"), nothing)
    }).pipe(Effect.provide(layer))
  )

  it.effect("run a step again whose stored result the schema does not accept", () =>
    Effect.gen(function* () {
      const make = <A>(schema: Schema.Codec<A, unknown>, value: A) =>
        botOf(
          Effect.fn(function* (talk: Conversation.Talk) {
            const result = yield* talk.step("step", schema, Effect.succeed(value))
            yield* talk.ask("name", { say: "Name?" })
            yield* talk.say(`${String(result)}`)
          })
        )
      const ann = yield* Emulator.user("Ann")
      yield* during(make(Schema.String, "text"), writes(ann, "/go"))
      yield* during(make(Schema.Int, 7), writes(ann, "Ann"))
      assert.deepStrictEqual(yield* texts(ann), ["Name?", "7"])
      assert.deepStrictEqual(yield* left("form"), nothing)
    }).pipe(Effect.provide(layer))
  )

  it.effect("answer the buttons of another kind of question, and ask again", () =>
    Effect.gen(function* () {
      const choices = { r: "Red", b: "Blue" }
      const bots = {
        one: botOf((talk: Conversation.Talk) => talk.choose("color", { say: "Color?", choices, optional: true })),
        several: botOf((talk: Conversation.Talk) => talk.choose("color", { say: "Color?", choices, several: true })),
        text: botOf((talk: Conversation.Talk) => talk.ask("color", { say: "Color?" }))
      }
      const play = Effect.fnUntraced(function* (
        name: string,
        from: keyof typeof bots,
        to: keyof typeof bots,
        button: string
      ) {
        const person = yield* Emulator.user(name)
        yield* during(bots[from], writes(person, "/go"))
        yield* during(bots[to], presses(person, button))
        return (yield* sent(person)).map((message) => [textOf(message), ...buttonsOf(message)])
      })
      assert.deepStrictEqual(yield* play("Ann", "one", "text", "Red"), [["Color?"], ["Color?"]])
      assert.deepStrictEqual(yield* play("Bob", "one", "several", "Red"), [["Color?", "✓ Red", "Blue", "Done"]])
      assert.deepStrictEqual(yield* play("Cid", "one", "several", "Skip"), [
        ["Color?"],
        ["Color?", "Red", "Blue", "Done"]
      ])
      assert.deepStrictEqual(yield* play("Dee", "several", "one", "Done"), [
        ["Color?"],
        ["Color?", "Red", "Blue", "Skip"]
      ])
      assert.deepStrictEqual(yield* play("Eve", "several", "one", "Red"), [["Color?\n✓ Red"]])
      assert.strictEqual((yield* left("form")).deadLetters, 0)
    }).pipe(Effect.provide(layer))
  )
})
