import { Emulator, Fixtures, TestBotApi } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import {
  AttachmentRequest,
  Command,
  Conversation,
  Handler,
  Inbox,
  Messages,
  Timer,
  type Update
} from "../../src/index.ts"
import {
  buttonsOf,
  deadLetters,
  during,
  last,
  layer,
  left,
  nothing,
  presses,
  sent,
  textOf,
  texts,
  writes
} from "../support/conversations.ts"

const of = "userInChat"

const Order = Conversation.make("order", { of }, (talk) => talk.ask("size", { say: "Which size?" }))

describe("Conversation", () => {
  it("has a name, a kind of owner and a version that are valid", () => {
    const body = () => Effect.void
    assert.throws(() => Conversation.make("", { of }, body), /needs a name that is not empty/)
    assert.throws(
      () => Conversation.make("a", { of: "bot" as never }, body),
      /needs an `of` that is "userInChat" or "chat"/
    )
    for (const version of [0, 1.5, -1])
      assert.throws(
        () => Conversation.make("a", { of, version }, body),
        /needs a `version` that is a positive whole number/
      )
  })

  it("takes messages, its own buttons and its own timers, and leaves all other updates to other handlers", () => {
    const press = (payload: string) => Fixtures.messageCallback({ payload })
    assert.isDefined(Order(Fixtures.messageCreated()))
    assert.isDefined(Order(press('conversation/order:["run","size",".s"]')))
    assert.isDefined(Order(press("conversation/order:[broken")))
    assert.isUndefined(Order(press('conversation/other:["run","size",".s"]')))
    assert.isUndefined(Order(press('order:["run","size",".s"]')))
    assert.isUndefined(Order(Fixtures.botStarted()))
    const timer = { update_type: "colloquy_timer", timestamp: 1, key: "chat:1", value: "1" } as const
    assert.isUndefined(Order({ ...timer, name: "other" }))
    assert.isDefined(Order({ ...timer, name: "conversation/order" }))
  })

  it.effect("fails with NoParticipant where there is no user in a chat, and outside of handling", () =>
    Effect.gen(function* () {
      const posted = Fixtures.messageCreated({ sender: undefined } as never)
      const noUser = yield* Effect.flip(Order.start(posted))
      assert.strictEqual(noUser._tag, "NoParticipant")
      assert.include(noUser.message, 'the update "message_created" does not say who did it in which chat')
      const outside = yield* Effect.flip(Order.start(Fixtures.messageCreated()))
      assert.include(
        outside.message,
        'The conversation "order" needs a user in a chat, but no single update is being handled'
      )
      assert.isFalse(yield* Handler.run(Order.cancel, posted))
    }).pipe(Effect.provide(TestBotApi.layer()))
  )

  it.effect("fails with a permanent SchemaError if the input does not match its schema", () =>
    Effect.gen(function* () {
      const Greet = Conversation.make(
        "greet",
        { of, input: Schema.Struct({ name: Schema.NonEmptyString }) },
        () => Effect.void
      )
      const error = yield* Effect.flip(Greet.start(Fixtures.messageCreated(), { name: "" }))
      assert.strictEqual(error._tag, "SchemaError")
    }).pipe(Effect.provide(TestBotApi.layer()))
  )
})

const rest = Handler.on("message_created", (update) => Messages.reply(update, "(not for the conversation)"))

/** A bot with one conversation, which `/go` starts and `/stop` cancels. */
const botOf = <E, R>(
  conversation: Handler.Handler<E, R> & {
    readonly start: (update: never) => Effect.Effect<void, E, R>
    readonly cancel: (update: never) => Effect.Effect<void, unknown, R>
  }
) =>
  Handler.first(
    Command.make("go").on((update) => conversation.start(update as never)),
    Command.make("stop").on((update) => conversation.cancel(update as never)),
    conversation,
    rest
  )

const Age = Schema.FiniteFromString.check(Schema.isInt(), Schema.isBetween({ minimum: 1, maximum: 120 }))

describe("Conversation on the emulator", () => {
  it.effect("asks one question after the other, and says the result", () =>
    Effect.gen(function* () {
      const Greeting = Conversation.make(
        "greeting",
        { of: "userInChat" },
        Effect.fn(function* (talk) {
          yield* talk.say("Welcome")
          const name = yield* talk.ask("name", { say: "Your name?" })
          yield* talk.say(`Nice, ${name}`)
          const age = yield* talk.ask("age", { say: "Your age?", read: Age, again: "A number from 1 to 120, please." })
          yield* talk.say(`${name} is ${age}`)
          yield* talk.say("Bye")
        })
      )
      const ann = yield* Emulator.user("Ann")
      yield* during(
        botOf(Greeting),
        Effect.gen(function* () {
          yield* writes(ann, "/go")
          yield* writes(ann, "  Ann ")
          yield* writes(ann, "old")
          yield* writes(ann, "130")
          yield* writes(ann, "33")
          yield* writes(ann, "hello")
        })
      )
      assert.deepStrictEqual(yield* texts(ann), [
        "Welcome",
        "Your name?",
        "Nice, Ann",
        "Your age?",
        "A number from 1 to 120, please.",
        "A number from 1 to 120, please.",
        "Ann is 33",
        "Bye",
        "(not for the conversation)"
      ])
      assert.deepStrictEqual(yield* left("greeting"), nothing)
    }).pipe(Effect.provide(layer))
  )

  it.effect("accepts a choice by a button and by its text, and removes the buttons", () =>
    Effect.gen(function* () {
      const Size = Conversation.make(
        "size",
        { of: "userInChat" },
        Effect.fn(function* (talk) {
          const choices = { s: "Small", m: "Medium" }
          const first = yield* talk.choose("first", { say: "First?", choices })
          const second = yield* talk.choose("second", { say: { text: "<b>Second?</b>", format: "html" }, choices })
          yield* talk.say(`${first} ${second}`)
        })
      )
      const ann = yield* Emulator.user("Ann")
      yield* during(
        botOf(Size),
        Effect.gen(function* () {
          yield* writes(ann, "/go")
          assert.deepStrictEqual(buttonsOf(yield* last(ann)), ["Small", "Medium"])
          yield* presses(ann, "Medium")
          yield* writes(ann, "large")
          yield* writes(ann, "small")
        })
      )
      assert.deepStrictEqual(yield* texts(ann), ["First?\n✓ Medium", "Second?", "(not for the conversation)", "m s"])
      assert.deepStrictEqual((yield* sent(ann)).flatMap(buttonsOf), [])
      assert.deepStrictEqual(yield* left("size"), nothing)
    }).pipe(Effect.provide(layer))
  )

  it.effect("removes the buttons also if the text of the question has no room for the chosen one", () =>
    Effect.gen(function* () {
      const Long = Conversation.make("long", { of: "userInChat" }, (talk) =>
        talk.choose("one", { say: "🦊".repeat(3999), choices: { a: "Apple" } })
      )
      const ann = yield* Emulator.user("Ann")
      yield* during(botOf(Long), Effect.andThen(writes(ann, "/go"), presses(ann, "Apple")))
      assert.deepStrictEqual(yield* texts(ann), ["🦊".repeat(3999)])
      assert.deepStrictEqual((yield* sent(ann)).flatMap(buttonsOf), [])
    }).pipe(Effect.provide(layer))
  )

  it.effect("takes the presses of its buttons if another name is the beginning of its own", () =>
    Effect.gen(function* () {
      const Short = Conversation.make("order", { of: "userInChat" }, (talk) => talk.ask("name", { say: "Name?" }))
      const Long = Conversation.make("order:special", { of: "userInChat" }, (talk) =>
        Effect.flatMap(talk.confirm("sure", { say: "Sure?" }), (isSure) => talk.say(String(isSure)))
      )
      const ann = yield* Emulator.user("Ann")
      yield* during(Handler.first(Short, botOf(Long)), Effect.andThen(writes(ann, "/go"), presses(ann, "Yes")))
      assert.deepStrictEqual(yield* texts(ann), ["Sure?\n✓ Yes", "true"])
    }).pipe(Effect.provide(layer))
  )

  it.effect("lets several be chosen between a minimum and a maximum, and shows them in the keyboard", () =>
    Effect.gen(function* () {
      const results: Array<unknown> = []
      const Colors = Conversation.onDone(
        Conversation.make("colors", { of: "userInChat" }, (talk) =>
          talk.choose("colors", {
            say: "Which colors?",
            choices: { r: "Red", g: "Green", b: "Blue" },
            several: true,
            min: 1,
            max: 2
          })
        ),
        (colors) => Effect.sync(() => void results.push(colors))
      )
      const ann = yield* Emulator.user("Ann")
      yield* during(
        botOf(Colors),
        Effect.gen(function* () {
          yield* writes(ann, "/go")
          yield* presses(ann, "Done")
          assert.strictEqual(yield* ann.notification, "Please choose at least 1.")
          yield* presses(ann, "Blue")
          yield* presses(ann, "Red")
          assert.deepStrictEqual(buttonsOf(yield* last(ann)), ["✓ Red", "Green", "✓ Blue", "Done"])
          yield* presses(ann, "Green")
          assert.strictEqual(yield* ann.notification, "Please choose at most 2.")
          yield* presses(ann, "✓ Red")
          yield* presses(ann, "Green")
          yield* presses(ann, "Done")
        })
      )
      assert.deepStrictEqual(results, [["g", "b"]])
      assert.deepStrictEqual(yield* texts(ann), ["Which colors?\n✓ Green, Blue"])
      assert.deepStrictEqual((yield* sent(ann)).flatMap(buttonsOf), [])
    }).pipe(Effect.provide(layer))
  )

  it.effect("chooses or releases one of several once if its button is pressed twice", () =>
    Effect.gen(function* () {
      const bot = botOf(
        Conversation.make("colors", { of: "userInChat" }, (talk) =>
          talk.choose("colors", { say: "Which?", choices: { r: "Red", g: "Green" }, several: true, max: 1 })
        )
      )
      const ann = yield* Emulator.user("Ann")
      yield* during(bot, writes(ann, "/go"))
      const pressesTwice = Effect.fnUntraced(function* (button: string) {
        const shown = yield* last(ann)
        yield* ann.press(shown, button)
        yield* ann.press(shown, button)
        yield* during(bot, Effect.void)
        return buttonsOf(yield* last(ann))
      })
      assert.deepStrictEqual(yield* pressesTwice("Red"), ["✓ Red", "Green", "Done"])
      assert.deepStrictEqual(yield* pressesTwice("✓ Red"), ["Red", "Green", "Done"])
    }).pipe(Effect.provide(layer))
  )

  it.effect("takes the presses of several choices whose buttons an earlier version has sent", () =>
    Effect.gen(function* () {
      const bot = botOf(
        Conversation.make("colors", { of: "userInChat" }, (talk) =>
          talk.choose("colors", { say: "Which?", choices: { r: "Red", g: "Green" }, several: true })
        )
      )
      const asEarlier = (update: Update.Update): Update.Update => {
        if (update.update_type !== "message_callback") return update
        const payload = (update.callback.payload ?? "").replace(/"[+-]([rg])"/, '".$1"')
        assert.notStrictEqual(payload, update.callback.payload)
        return { ...update, callback: { ...update.callback, payload } }
      }
      const earlier: typeof bot = Object.assign((update: Update.Update) => bot(asEarlier(update)), {
        parts: bot.parts!.map((part) => ({
          ...part,
          handle: (update: Update.Update) => part.handle(asEarlier(update))
        }))
      })
      const ann = yield* Emulator.user("Ann")
      yield* during(bot, writes(ann, "/go"))
      const press = Effect.fnUntraced(function* (button: string) {
        yield* during(earlier, presses(ann, button))
        return buttonsOf(yield* last(ann))
      })
      assert.deepStrictEqual(yield* press("Red"), ["✓ Red", "Green", "Done"])
      assert.deepStrictEqual(yield* press("Green"), ["✓ Red", "✓ Green", "Done"])
      assert.deepStrictEqual(yield* press("✓ Red"), ["Red", "✓ Green", "Done"])
      yield* during(bot, presses(ann, "Done"))
      assert.deepStrictEqual(yield* texts(ann), ["Which?\n✓ Green"])
    }).pipe(Effect.provide(layer))
  )

  it.effect.each([
    {
      choices: {},
      problem: "it has no choices. Add a choice, or do not ask the question while there is none."
    },
    {
      choices: { a: "A", b: "B" },
      several: true as const,
      min: 3,
      problem: "its `min` is 3, and at most 2 can be chosen. Lower `min`."
    },
    {
      choices: { a: "A", b: "B" },
      several: true as const,
      min: 2,
      max: 1,
      problem: "its `min` is 2, and at most 1 can be chosen. Lower `min`."
    }
  ])("does not send a question that cannot be answered: $problem", ({ problem, ...options }) =>
    Effect.gen(function* () {
      const Pick = Conversation.make("pick", { of: "userInChat" }, (talk) =>
        talk.choose("what", { say: "Which?", ...options })
      )
      const ann = yield* Emulator.user("Ann")
      yield* during(botOf(Pick), Effect.andThen(writes(ann, "/go"), TestClock.adjust("10 minutes")))
      const dead = yield* Stream.runCollect(Inbox.deadLetters).pipe(Effect.provide(Inbox.layer()))
      assert.strictEqual(dead.length, 1)
      assert.include(dead[0]!.error, `The question "what" of the conversation "pick" cannot be answered: ${problem}`)
      assert.deepStrictEqual(yield* ann.unread, [])
    }).pipe(Effect.provide(layer))
  )

  it.effect("skips an optional question, and goes back to the question before", () =>
    Effect.gen(function* () {
      const results: Array<unknown> = []
      const Form = Conversation.onDone(
        Conversation.make(
          "form",
          { of: "userInChat", back: true },
          Effect.fn(function* (talk) {
            yield* talk.say("Hello")
            const name = yield* talk.ask("name", { say: "Name?" })
            yield* talk.say(`Hello, ${name}`)
            const nick = yield* talk.ask("nick", { say: "Nick?", optional: true })
            const isSure = yield* talk.confirm("sure", { say: "Sure?", no: "Never" })
            return [name, nick, isSure]
          })
        ),
        (result) => Effect.sync(() => void results.push(result))
      )
      const ann = yield* Emulator.user("Ann")
      yield* during(
        botOf(Form),
        Effect.gen(function* () {
          yield* writes(ann, "/go")
          assert.deepStrictEqual(buttonsOf(yield* last(ann)), [])
          yield* writes(ann, "Ann")
          assert.deepStrictEqual(buttonsOf(yield* last(ann)), ["Skip", "Back"])
          yield* presses(ann, "Skip")
          assert.deepStrictEqual(buttonsOf(yield* last(ann)), ["Yes", "Never", "Back"])
          yield* presses(ann, "Back")
          yield* writes(ann, "back")
          yield* writes(ann, "Anna")
          yield* writes(ann, "skip")
          yield* presses(ann, "Never")
        })
      )
      assert.deepStrictEqual(results, [["Anna", undefined, false]])
      assert.deepStrictEqual(yield* texts(ann), [
        "Hello",
        "Name?",
        "Hello, Ann",
        "Nick?\n✓ Skip",
        "Sure?\n✓ Back",
        "Nick?",
        "Name?",
        "Hello, Anna",
        "Nick?",
        "Sure?\n✓ Never"
      ])
      assert.deepStrictEqual((yield* sent(ann)).flatMap(buttonsOf), [])
      assert.deepStrictEqual(yield* left("form"), nothing)
    }).pipe(Effect.provide(layer))
  )

  it.effect("takes attachments, a contact, a location, and one of several kinds of answers", () =>
    Effect.gen(function* () {
      const results: Array<unknown> = []
      const Send = Conversation.onDone(
        Conversation.make(
          "send",
          { of: "userInChat" },
          Effect.fn(function* (talk) {
            const image = yield* talk.attachment("image", { say: "An image?", kind: "image" })
            const contact = yield* talk.contact("contact", { say: "Your contact?", button: "Send my contact" })
            const place = yield* talk.location("place", { say: "Where are you?", button: "Send my location" })
            const found: Array<unknown> = []
            for (const index of [1, 2, 3, 4]) {
              const any = yield* talk.any(`any ${index}`, {
                say: "Anything?",
                answers: {
                  photo: Conversation.attachment("image"),
                  size: Conversation.choice({ s: "Small", m: "Medium" }),
                  help: Conversation.command("help"),
                  age: Conversation.text(Age)
                }
              })
              found.push(any._tag === "photo" ? any.value.payload.token : any.value)
            }
            return [image.payload.photo_id, contact.payload?.max_info?.first_name, place.latitude, found]
          })
        ),
        (result) => Effect.sync(() => void results.push(result))
      )
      const ann = yield* Emulator.user("Ann")
      const photo = {
        type: "image",
        payload: { photo_id: 9_007_199_254_740_993n, token: "token", url: "https://example.com" }
      } as const
      yield* during(
        botOf(Send),
        Effect.gen(function* () {
          yield* writes(ann, "/go")
          yield* writes(ann, "no image")
          yield* writes(ann, "", { attachments: [photo] })
          yield* presses(ann, "Send my contact")
          yield* writes(ann, "", { attachments: [{ type: "location", latitude: 1.5, longitude: 2 }] })
          assert.deepStrictEqual(buttonsOf(yield* last(ann)), ["Small", "Medium"])
          yield* writes(ann, "", { attachments: [photo] })
          yield* presses(ann, "Medium")
          yield* writes(ann, "/help me")
          yield* writes(ann, "-1")
          yield* writes(ann, "44")
        })
      )
      assert.deepStrictEqual(results, [[9_007_199_254_740_993n, "Ann", 1.5, ["token", "m", "me", 44]]])
      const all = yield* texts(ann)
      assert.strictEqual(all.filter((text) => text === "(not for the conversation)").length, 1)
      assert.strictEqual(all.filter((text) => text?.startsWith("Please try again: it must be")).length, 1)
      assert.deepStrictEqual((yield* sent(ann)).flatMap(buttonsOf), [])
    }).pipe(Effect.provide(layer))
  )

  it.effect("passes other updates to the next handler, or to `otherwise`", () =>
    Effect.gen(function* () {
      const Picky = Conversation.make(
        "picky",
        { of: "userInChat" },
        Effect.fn(function* (talk) {
          yield* talk.choose("first", { say: "First?", choices: { a: "A" } })
          yield* talk.choose("second", {
            say: "Second?",
            choices: { a: "A" },
            otherwise: (update) => Messages.reply(update, "Press a button, please.")
          })
        })
      )
      const ann = yield* Emulator.user("Ann")
      yield* during(
        botOf(Picky),
        Effect.gen(function* () {
          yield* writes(ann, "/go")
          yield* writes(ann, "/help")
          yield* writes(ann, "b")
          yield* presses(ann, "A")
          yield* writes(ann, "/help")
          yield* writes(ann, "b")
          yield* presses(ann, "A")
        })
      )
      assert.deepStrictEqual(yield* texts(ann), [
        "First?\n✓ A",
        "(not for the conversation)",
        "(not for the conversation)",
        "Second?\n✓ A",
        "(not for the conversation)",
        "Press a button, please."
      ])
    }).pipe(Effect.provide(layer))
  )

  it.effect("gives each question one answer, in order, when there are many messages and presses at once", () =>
    Effect.gen(function* () {
      const Many = Conversation.make(
        "many",
        { of: "userInChat" },
        Effect.fn(function* (talk) {
          const answers: Array<string> = []
          for (let index = 0; index < 20; index++) answers.push(yield* talk.ask(`${index}`, { say: `${index}?` }))
          yield* talk.choose("button", { say: "Button?", choices: { a: "A", b: "B" } })
          yield* talk.choose("other", { say: "Other?", choices: { a: "A", b: "B" } })
          yield* talk.say(answers.join(" "))
        })
      )
      const ann = yield* Emulator.user("Ann")
      yield* during(
        botOf(Many),
        Effect.gen(function* () {
          yield* writes(ann, "/go")
          for (let index = 0; index < 20; index++) yield* ann.send(`answer${index}`)
          yield* TestClock.adjust("1 minute")
        })
      )
      // While no process runs, people press quickly.
      const pressAll = Effect.fnUntraced(function* (...buttons: ReadonlyArray<string>) {
        const message = yield* last(ann)
        for (const button of buttons) yield* ann.press(message, button)
        yield* during(botOf(Many), Effect.void)
        return yield* Effect.forEach(buttons.slice(1), () => ann.notification)
      })
      const late = "This question is closed."
      assert.deepStrictEqual(yield* pressAll("A", "A", "B"), [late, late])
      assert.strictEqual(textOf(yield* last(ann)), "Other?")
      assert.deepStrictEqual(yield* pressAll("B", "B"), [late])
      const expected = Array.from({ length: 20 }, (_, index) => `answer${index}`).join(" ")
      assert.deepStrictEqual((yield* texts(ann)).slice(20), ["Button?\n✓ A", "Other?\n✓ B", expected])
      assert.deepStrictEqual(yield* left("many"), nothing)
    }).pipe(Effect.provide(layer))
  )

  it.effect("is cancelled at any time, without buttons or timers that stay", () =>
    Effect.gen(function* () {
      const Endless = Conversation.make("endless", { of: "userInChat", timeout: "1 hour" }, (talk) =>
        talk.choose("button", { say: "Button?", choices: { a: "A" } })
      )
      const ann = yield* Emulator.user("Ann")
      yield* during(
        botOf(Endless),
        Effect.gen(function* () {
          yield* writes(ann, "/go")
          yield* writes(ann, "/stop")
          yield* writes(ann, "/stop")
          yield* TestClock.adjust("2 hours")
        })
      )
      assert.deepStrictEqual(yield* texts(ann), ["Button?", "Cancelled.", "(not for the conversation)"])
      assert.deepStrictEqual((yield* sent(ann)).flatMap(buttonsOf), [])
      assert.deepStrictEqual(yield* left("endless"), nothing)
    }).pipe(Effect.provide(layer))
  )

  it.effect.each(["cancelled", "started again", "left by its body"])(
    "keeps the attachments of a question when it is %s, and removes its buttons",
    (end) =>
      Effect.gen(function* () {
        const make = (asksFirst: boolean) =>
          Conversation.make("picture", { of: "userInChat", ifRunning: "restart" }, (talk) => {
            const say = {
              text: "Nice?",
              attachments: [AttachmentRequest.imageFromUrl("https://example.com/photo.png")]
            }
            return asksFirst ? talk.choose("nice", { say, choices: { a: "A" } }) : talk.ask("name", { say: "Name?" })
          })
        const ann = yield* Emulator.user("Ann")
        yield* during(botOf(make(true)), writes(ann, "/go"))
        const asked = yield* last(ann)
        assert.deepStrictEqual(buttonsOf(asked), ["A"])
        yield* during(
          botOf(make(end === "cancelled")),
          writes(ann, { cancelled: "/stop", "started again": "/go" }[end] ?? "Hi")
        )
        const [message] = yield* sent(ann)
        assert.strictEqual(message?.body?.mid, asked.body?.mid)
        assert.deepStrictEqual(
          message?.body?.attachments?.map(({ type }) => type),
          ["image"]
        )
      }).pipe(Effect.provide(layer))
  )

  it.effect("is kept, started again, or asked about if it is started while it runs", () =>
    Effect.gen(function* () {
      const make = (ifRunning: "keep" | "restart" | "ask") =>
        Conversation.make(
          ifRunning,
          { of: "userInChat", ifRunning, timeout: "1 hour" },
          Effect.fn(function* (talk) {
            yield* talk.say("Hello")
            yield* talk.ask("first", { say: "First?" })
            yield* talk.choose("second", { say: "Second?", choices: { a: "A" } })
          })
        )
      const play = Effect.fnUntraced(function* (
        ifRunning: "keep" | "restart" | "ask",
        ...answers: ReadonlyArray<string>
      ) {
        const person = yield* Emulator.user(ifRunning)
        yield* during(
          botOf(make(ifRunning)),
          Effect.gen(function* () {
            yield* writes(person, "/go")
            yield* writes(person, "1")
            yield* writes(person, "/go")
            for (const answer of answers) yield* presses(person, answer)
          })
        )
        const state = yield* left(ifRunning)
        return [
          yield* texts(person),
          (yield* sent(person)).map(buttonsOf).filter((all) => all.length > 0),
          state.values
        ]
      })
      assert.deepStrictEqual(yield* play("keep", "A"), [["Hello", "First?", "Second?", "Second?\n✓ A"], [], 0])
      assert.deepStrictEqual(yield* play("restart"), [["Hello", "First?", "Second?", "Hello", "First?"], [], 1])
      const question = "You have not finished yet. Start over?"
      assert.deepStrictEqual(yield* play("ask", "Yes"), [
        ["Hello", "First?", "Second?", `${question}\n✓ Yes`, "Hello", "First?"],
        [],
        1
      ])
    }).pipe(Effect.provide(layer))
  )

  it.effect("goes on after the question whether to start over was denied", () =>
    Effect.gen(function* () {
      const Ask = Conversation.make(
        "ask",
        { of: "userInChat", ifRunning: "ask" },
        Effect.fn(function* (talk) {
          yield* talk.say(`Hello, ${yield* talk.ask("name", { say: "Name?" })}`)
        })
      )
      const ann = yield* Emulator.user("Ann")
      yield* during(
        botOf(Ask),
        Effect.gen(function* () {
          yield* writes(ann, "/go")
          yield* writes(ann, "/go")
          yield* presses(ann, "No")
          yield* writes(ann, "Ann")
        })
      )
      assert.deepStrictEqual(yield* texts(ann), [
        "Name?",
        "You have not finished yet. Start over?\n✓ No",
        "Name?",
        "Hello, Ann"
      ])
      assert.deepStrictEqual(yield* left("ask"), nothing)
    }).pipe(Effect.provide(layer))
  )

  it.effect("is started by a timer of a user in a chat, and not by that of a user alone", () =>
    Effect.gen(function* () {
      const Survey = Conversation.make("survey", { of: "userInChat" }, (talk) => talk.confirm("well", { say: "Well?" }))
      const Later = Timer.make("later", Schema.Void)
      const ann = yield* Emulator.user("Ann")
      const { chat_id } = yield* ann.start()
      const { user_id } = ann
      const bot = Handler.first(
        Later.on((_, update) => Survey.start(update)),
        Survey
      )
      const elsewhere = Inbox.layer()
      yield* Effect.provide(Later.for({ chat_id, user_id }).in("1 minute"), elsewhere)
      yield* during(bot, Effect.andThen(TestClock.adjust("1 minute"), presses(ann, "Yes")))
      assert.deepStrictEqual(yield* texts(ann), ["Well?\n✓ Yes"])
      yield* Effect.provide(Later.for({ user_id }).in("1 minute"), elsewhere)
      yield* during(bot, TestClock.adjust("1 minute"))
      assert.include((yield* deadLetters)[0], "or for a timer of a user in a chat")
      assert.deepStrictEqual(yield* left("survey"), { ...nothing, deadLetters: 1 })
    }).pipe(Effect.provide(layer))
  )

  it.effect("gets an input, runs other conversations as parts, and passes a result out", () =>
    Effect.gen(function* () {
      const results: Array<unknown> = []
      const Address = Conversation.make(
        "address",
        { of: "userInChat", input: Schema.Struct({ kind: Schema.String }) },
        Effect.fn(function* (talk, { kind }) {
          const street = yield* talk.ask("street", { say: `The ${kind} street?` })
          const city = yield* talk.ask("city", { say: `The ${kind} city?` })
          return `${street}, ${city}`
        })
      )
      const Parcel = Conversation.onDone(
        Conversation.make(
          "parcel",
          { of: "userInChat", input: Schema.Struct({ weight: Schema.FiniteFromString }) },
          Effect.fn(function* (talk, { weight }) {
            const from = yield* talk.run("from", Address, { kind: "first" })
            const to = yield* talk.run("to", Address, { kind: "second" })
            yield* talk.say(`${weight} kg from ${from} to ${to}`)
            return { weight, from, to }
          })
        ),
        (result, update) => Effect.sync(() => void results.push([result, update.update_type]))
      )
      const ann = yield* Emulator.user("Ann")
      yield* during(
        Handler.first(Command.make("go", { arguments: { weight: Command.Number } }).on(Parcel.start), Parcel),
        Effect.gen(function* () {
          yield* writes(ann, "/go 12")
          for (const answer of ["a", "b", "c", "d"]) yield* writes(ann, answer)
        })
      )
      assert.deepStrictEqual(results, [[{ weight: 12, from: "a, b", to: "c, d" }, "message_created"]])
      assert.strictEqual(textOf(yield* last(ann)), "12 kg from a, b to c, d")
      assert.deepStrictEqual(yield* left("parcel", "address"), nothing)
    }).pipe(Effect.provide(layer))
  )

  it.effect("asks several people of a chat in turn, and answers the presses of others", () =>
    Effect.gen(function* () {
      const ann = yield* Emulator.user("Ann")
      const bob = yield* Emulator.user("Bob")
      const group = yield* Emulator.chat({ members: [ann, bob] })
      const Duel = Conversation.make(
        "duel",
        { of: "chat" },
        Effect.fn(function* (talk) {
          const choices = { rock: "Rock", paper: "Paper" }
          yield* talk.choose("ann", { say: "Ann?", choices, from: ann.user_id })
          yield* talk.ask("bob", { say: "Bob?", from: [bob.user_id] })
          yield* talk.ask("anybody", { say: "Anybody?" })
          yield* talk.say(
            `${Option.getOrThrow(yield* talk.answeredBy("ann"))} ${Option.getOrThrow(yield* talk.answeredBy("anybody"))}`
          )
        })
      )
      const message = Effect.map(Emulator.messages(group), (all) => all.findLast(({ sender }) => sender?.is_bot)!)
      yield* during(
        botOf(Duel),
        Effect.gen(function* () {
          const say = (person: typeof ann, text: string) =>
            Effect.andThen(person.send(group, text), TestClock.adjust("1 second"))
          yield* say(bob, "/go")
          yield* bob.press(yield* message, "Rock")
          yield* TestClock.adjust("1 second")
          assert.strictEqual(yield* bob.notification, "This question is for somebody else.")
          yield* ann.press(yield* message, "Paper")
          yield* TestClock.adjust("1 second")
          yield* say(ann, "I am Bob")
          yield* say(bob, "I am")
          yield* say(ann, "me")
        })
      )
      const all = yield* Emulator.messages(group)
      assert.deepStrictEqual(all.filter(({ sender }) => sender?.is_bot).map(textOf), [
        "Ann?\n✓ Paper",
        "Bob?",
        "(not for the conversation)",
        "Anybody?",
        `${ann.user_id} ${ann.user_id}`
      ])
      assert.deepStrictEqual(yield* left("duel"), nothing)
    }).pipe(Effect.provide(layer))
  )

  it.effect("belongs to one user in a group chat, and answers the presses of others", () =>
    Effect.gen(function* () {
      const ann = yield* Emulator.user("Ann")
      const bob = yield* Emulator.user("Bob")
      const group = yield* Emulator.chat({ members: [ann, bob] })
      const Own = Conversation.make(
        "own",
        { of: "userInChat", timeout: "1 hour" },
        Effect.fn(function* (talk) {
          const color = yield* talk.choose("color", { say: `${talk.user_id}?`, choices: { r: "Red", b: "Blue" } })
          yield* talk.say(`${talk.user_id} ${color}`)
        })
      )
      yield* during(
        botOf(Own),
        Effect.gen(function* () {
          yield* ann.send(group, "/go")
          yield* bob.send(group, "/go")
          yield* TestClock.adjust("1 second")
          const [first, second] = (yield* Emulator.messages(group)).filter(({ sender }) => sender?.is_bot)
          yield* bob.press(first!, "Red")
          yield* TestClock.adjust("1 second")
          assert.strictEqual(yield* bob.notification, "This question is for somebody else.")
          yield* bob.press(second!, "Blue")
          yield* ann.press(first!, "Red")
          yield* TestClock.adjust("1 second")
        })
      )
      const all = (yield* Emulator.messages(group)).filter(({ sender }) => sender?.is_bot).map(textOf)
      assert.deepStrictEqual(all.slice(2), [`${bob.user_id} b`, `${ann.user_id} r`])
      assert.deepStrictEqual(yield* left("own"), nothing)
    }).pipe(Effect.provide(layer))
  )

  it.effect("shows operators where it is, and ends for one user or for all", () =>
    Effect.gen(function* () {
      const Slow = Conversation.make(
        "slow",
        { of: "userInChat", timeout: "1 hour", version: 3 },
        Effect.fn(function* (talk) {
          yield* talk.ask("first", { say: "First?" })
          yield* talk.ask("second", { say: "Second?" })
        })
      )
      const people = yield* Effect.forEach(["Ann", "Bob", "Cid"], Emulator.user)
      const [ann, bob] = people
      yield* during(
        botOf(Slow),
        Effect.gen(function* () {
          for (const person of people) yield* writes(person, "/go")
          yield* writes(bob!, "1")
        })
      )
      const keyOf = Effect.fnUntraced(function* (person: typeof ann) {
        return { chat_id: (yield* person!.dialog).chat_id, user_id: person!.user_id }
      })
      yield* Effect.gen(function* () {
        const status = yield* Conversation.status(Slow, yield* keyOf(bob))
        const { startedAt, until, ...others } = Option.getOrThrow(status)
        assert.deepStrictEqual(others, { waitingFor: "second", version: 3, deadLetter: undefined, results: ["first"] })
        assert.isAbove(until!, startedAt)
        const all = yield* Stream.runCollect(Conversation.stream(Slow))
        assert.deepStrictEqual(
          all.map(({ key, status }) => [key.user_id, status.waitingFor]).sort(),
          people.map(({ user_id }) => [user_id, user_id === bob!.user_id ? "second" : "first"]).sort()
        )
        assert.isTrue(yield* Conversation.stop(Slow, yield* keyOf(ann)))
        assert.isFalse(yield* Conversation.stop(Slow, yield* keyOf(ann)))
        assert.isTrue(Option.isNone(yield* Conversation.status(Slow, yield* keyOf(ann))))
        assert.strictEqual(yield* Conversation.cancelAll(Slow), 2)
      }).pipe(Effect.provide(Inbox.layer()))
      assert.deepStrictEqual(yield* left("slow"), nothing)
    }).pipe(Effect.provide(layer))
  )
})
