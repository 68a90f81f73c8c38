import { Command, Conversation, Handler, Menu, Messages, Scene, State, Timer, Update } from "@colloquy/core"
import { Emulator, type Person } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Schema from "effect/Schema"
import { pipe } from "effect/Function"
import * as TestClock from "effect/testing/TestClock"
import { during, layer, left, nothing, presses, texts, writes } from "../../support/conversations.ts"

/** The warnings and errors that an effect logs. */
const logged = Effect.fnUntraced(function* <A, E, R>(effect: Effect.Effect<A, E, R>) {
  const messages: Array<string> = []
  const logger = Logger.make(({ cause, logLevel, message }) => {
    if (logLevel === "Warn" || logLevel === "Error") messages.push(`${String(message)}\n${Cause.pretty(cause)}`)
  })
  yield* Effect.provide(effect, Layer.fresh(Logger.layer([logger])))
  return messages
})

const makeColor = (name = "color") =>
  Conversation.make(
    name,
    { of: "userInChat", timeout: "1 hour" },
    Effect.fn(
      function* (talk) {
        yield* talk.say(`So ${yield* talk.ask("color", { say: "Color?" })}`)
      },
      Effect.catchTag("Unanswered", () => Effect.void)
    )
  )

const echo = Handler.on("message_created", (update) => Messages.reply(update, `Rest: ${Update.textOf(update)}`))

const warning =
  /The conversation "color" was started, but an update for it did not reach its handler\. Place its `handler`/

describe("the handler of a conversation", () => {
  it.effect("is missed by the first answer, with one warning", () =>
    Effect.gen(function* () {
      const Color = makeColor()
      const bot = Handler.first(Command.make("go").on(Color.start), echo)
      const ann = yield* Emulator.user("Ann")
      const messages = yield* logged(
        during(
          bot,
          Effect.forEach(["/go", "/go", "Red", "Green"], (text) => writes(ann, text), { discard: true })
        )
      )
      assert.strictEqual(messages.length, 1)
      assert.match(messages[0], warning)
      assert.deepStrictEqual((yield* texts(ann)).slice(-2), ["Rest: Red", "Rest: Green"])
    }).pipe(Effect.provide(layer))
  )

  it.effect("is missed if it stands behind a handler that takes the answers, and by a timeout", () =>
    Effect.gen(function* () {
      const Color = makeColor()
      const ann = yield* Emulator.user("Ann")
      const answer = (person: Person.Person) => Effect.andThen(writes(person, "/go"), writes(person, "Red"))
      const behind = Handler.first(Command.make("go").on(Color.start), echo, Color.handler)
      assert.match((yield* logged(during(behind, answer(ann))))[0], warning)
      const Other = makeColor()
      const bob = yield* Emulator.user("Bob")
      const silent = Effect.andThen(writes(bob, "/go"), TestClock.adjust("2 hours"))
      assert.match((yield* logged(during(Command.make("go").on(Other.start), silent)))[0], warning)
    }).pipe(Effect.provide(layer))
  )

  it.effect("is not missed if it is called by a function, or if it has declined a message before", () =>
    Effect.gen(function* () {
      const Color = makeColor()
      const bot = Handler.first(Command.make("go").on(Color.start), (update) => Color.handler(update), echo)
      const ann = yield* Emulator.user("Ann")
      const bob = yield* Emulator.user("Bob")
      const messages = yield* logged(
        during(
          bot,
          Effect.gen(function* () {
            yield* writes(ann, "/go")
            yield* writes(bob, "Hello")
            yield* writes(ann, "Red")
            yield* writes(bob, "/go")
            yield* writes(bob, "Green")
          })
        )
      )
      assert.deepStrictEqual(messages, [])
      assert.deepStrictEqual(yield* texts(ann), ["Color?", "So Red"])
    }).pipe(Effect.provide(layer))
  )

  it.effect("of a scene is missed as well", () =>
    Effect.gen(function* () {
      const Door = Scene.make("door", { of: "userInChat", states: { open: Schema.Void } }, { open: {} })
      const bot = Handler.first(
        Command.make("go").on(() => Door.go("open")),
        echo
      )
      const ann = yield* Emulator.user("Ann")
      const messages = yield* logged(during(bot, Effect.andThen(writes(ann, "/go"), writes(ann, "Hello"))))
      assert.strictEqual(messages.length, 1)
      assert.match(messages[0], /The scene "door" was started/)
    }).pipe(Effect.provide(layer))
  )

  it.effect.each(["chat", "user", "userInChat"] as const)("of a scene is missed by a timeout: %s", (of) =>
    Effect.gen(function* () {
      const Door = Scene.make("door", { of, states: { open: Schema.Void } }, { open: { timeout: "1 minute" } })
      const bot = Command.make("go").on(() => Door.go("open"))
      const ann = yield* Emulator.user("Ann")
      const messages = yield* logged(during(bot, Effect.andThen(writes(ann, "/go"), TestClock.adjust("2 minutes"))))
      assert.strictEqual(messages.length, 1)
      assert.match(messages[0], /The scene "door" was started/)
    }).pipe(Effect.provide(layer))
  )

  it.effect("of a timer and of a menu is missed as well, with one warning for each", () =>
    Effect.gen(function* () {
      const Tea = Timer.make("tea")
      const settings = Menu.make("settings", () => ({ text: "Settings", rows: [[Menu.refresh("Again")]] }))
      const start = Command.make("go").on((update) =>
        Effect.andThen(Tea.in("10 seconds", undefined), settings.reply(update))
      )
      const ann = yield* Emulator.user("Ann")
      const plays = Effect.gen(function* () {
        for (let times = 0; times < 2; times++) {
          yield* writes(ann, "/go")
          yield* presses(ann, "Again")
          yield* TestClock.adjust("1 minute")
        }
      })
      assert.deepStrictEqual(
        yield* logged(
          during(
            Handler.first(
              start,
              settings.handler,
              Tea.on(() => Effect.void)
            ),
            plays
          )
        ),
        []
      )
      const messages = yield* logged(during(start, plays))
      assert.strictEqual(messages.length, 2)
      assert.match(messages[0], /A button of the menu "settings" was pressed, and no handler took the press/)
      assert.match(messages[1], /The timer "tea" was due, and no handler took its update/)
    }).pipe(Effect.provide(layer))
  )
})

type Any = Handler.Handler<unknown, unknown>

describe("parts of a bot with one name", () => {
  const scene = () => Scene.make("a", { of: "chat", states: { open: Schema.Void } }, { open: {} })
  const menu = () => Menu.make("a", () => ({ text: "Menu", rows: [] }))
  const timer = () => Timer.make("a").on(() => Effect.void)

  it("are refused where their handlers are composed", () => {
    const pairs: Readonly<Record<string, readonly [Any, Any]>> = {
      conversation: [makeColor("a").handler, makeColor("a").handler],
      scene: [scene().handler, scene().handler],
      menu: [menu().handler, menu().handler],
      timer: [timer(), timer()]
    }
    for (const [kind, [one, other]] of Object.entries(pairs)) {
      const expected = new RegExp(`Two ${kind}s of the bot have the name "a"`)
      assert.throws(() => Handler.first(one, other), expected)
      const filtered = Handler.filter(Handler.first(echo, one), () => true)
      const nested = Handler.transform(filtered, (effect) => Effect.asVoid(effect))
      assert.throws(() => Handler.first(nested, echo, Handler.inChatType(other, "chat")), expected)
    }
  })

  it("are accepted if they are one, or of different kinds", () => {
    const Color = makeColor("a")
    const withResult = Conversation.onDone(Color, () => Effect.void)
    const Reminder = Timer.make("a")
    const reminder = () => Reminder.on(() => Effect.void)
    assert.doesNotThrow(() => {
      Handler.first(Color.handler, withResult.handler, scene().handler, menu().handler, reminder(), reminder())
    })
  })

  it.effect("fail in the first update that uses both, where they are not composed", () =>
    Effect.gen(function* () {
      const [one, other] = [makeColor(), makeColor()]
      const bot = Handler.first(
        Command.make("go").on(one.start),
        (update) => one.handler(update),
        (update) => other.handler(update)
      )
      const [a, b] = [1, 2].map((initial) => State.make("a", Schema.Int, { of: "user", initial: () => initial }))
      const states = Command.make("states").on(() => Effect.andThen(a!.get, b!.get))
      const ann = yield* Emulator.user("Ann")
      const messages = yield* logged(
        during(Handler.first(bot, states), Effect.andThen(writes(ann, "Hello"), TestClock.adjust("10 minutes")))
      )
      assert.include(messages.join("\n"), 'Two states with the name "conversation/color" are used in one update.')
      const others = yield* logged(
        during(states, Effect.andThen(writes(ann, "/states"), TestClock.adjust("10 minutes")))
      )
      assert.include(others.join("\n"), 'Two states with the name "a" are used in one update.')
    }).pipe(Effect.provide(layer))
  )
})

describe("filters of chats and users", () => {
  it.effect("do not concern timeouts of conversations and scenes", () =>
    Effect.gen(function* () {
      const Color = makeColor()
      const Door = Scene.make(
        "door",
        { of: "chat", states: { open: Schema.Void } },
        { open: { timeout: "1 hour", onTimeout: ({ update }) => Messages.reply(update, "Closed") } }
      )
      const owner = yield* Emulator.user("Ann")
      const group = yield* Emulator.chat({ title: "Group", owner, bot: { admin: true } })
      const parts = Handler.first(
        Command.make("go").on((update) => Effect.andThen(Color.start(update), Door.go("open"))),
        Color.handler,
        Door.handler
      )
      const isMessage = ({ update_type }: Update.Update) => update_type === "message_created"
      const bot = pipe(
        parts,
        Handler.inChatType("chat"),
        Handler.fromUsers([owner.user.user_id]),
        Handler.filterEffect((update) => Effect.succeed(isMessage(update))),
        Handler.filter(isMessage)
      )
      yield* during(
        bot,
        Effect.gen(function* () {
          yield* owner.send(group, "/go")
          yield* TestClock.adjust("2 hours")
        })
      )
      const said = (yield* Emulator.messages(group)).filter(({ sender }) => sender?.is_bot === true)
      assert.deepStrictEqual(
        said.map(({ body }) => body?.text),
        ["Color?", "Closed"]
      )
      assert.deepStrictEqual(yield* left("color"), nothing)
    }).pipe(Effect.provide(layer))
  )
})
