import {
  Answers,
  Bot,
  Command,
  Conversation,
  DeepLink,
  Handler,
  Inbox,
  Keyboard,
  Me,
  Menu,
  Messages,
  Payload,
  Scene,
  Timer,
  Update
} from "@colloquy/core"
import { Emulator, Fixtures } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { pipe } from "effect/Function"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import {
  buttonsOf,
  deadLetters,
  during,
  layer,
  left,
  nothing,
  presses,
  sent,
  texts,
  writes
} from "../support/conversations.ts"

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

const makeSize = (name = "size") =>
  Conversation.make(
    name,
    { of: "userInChat" },
    Effect.fn(function* (talk) {
      const size = yield* talk.choose("size", { say: "Size?", choices: { s: "Small", l: "Large" } })
      yield* talk.say(`Size ${size}`)
    })
  )

const makeDoor = (of: Scene.Of = "userInChat") =>
  Scene.make(
    "door",
    { of, states: { open: Schema.Void } },
    {
      open: {
        handler: ({ end }) =>
          Handler.on("message_created", (update) =>
            Update.textOf(update) === "close" ? Effect.andThen(Messages.reply(update, "Bang"), end) : undefined
          ),
        timeout: "1 hour",
        onTimeout: ({ update }) => Messages.reply(update, "Closed")
      }
    }
  )

const settings = Menu.make("settings", () => ({
  text: "Settings",
  rows: [[Menu.button("on", "On", (update) => Answers.answer(update, "It is on"))]]
}))

const Tea = Timer.make("tea")
const tea = Tea.on((_, update) => Messages.reply(update, "Tea!"))

const echo = Handler.on("message_created", (update) => Messages.reply(update, `Rest: ${Update.textOf(update)}`))
const anyPress = Handler.on("message_callback", (update) => Answers.answer(update, "Somebody else"))
const go = <E, R>(start: (update: Update.Of<"message_created">) => Effect.Effect<unknown, E, R>) =>
  Command.make("go").on(start)

/** The messages of the dead letters, with the number of their attempts. */
const dead = Effect.map(
  Effect.provide(Stream.runCollect(Inbox.deadLetters), Inbox.layer()),
  (all): ReadonlyArray<unknown> => all.map(({ attempts, error }) => [attempts, error.split("\n")[0]])
)

describe("a bot sends an update to its parts by their data", () => {
  it.effect("presses, although handlers of every press stand before", () =>
    Effect.gen(function* () {
      const Size = makeSize()
      const ann = yield* Emulator.user("Ann")
      const bot = Bot.make(
        anyPress,
        echo,
        settings,
        go((update) => settings.reply(update)),
        Command.make("size").on(Size.start),
        Size
      )
      yield* during(
        bot,
        Effect.gen(function* () {
          yield* writes(ann, "/go")
          yield* presses(ann, "On")
          assert.strictEqual(yield* ann.notification, "It is on")
          yield* writes(ann, "/size")
          yield* presses(ann, "Large")
        })
      )
      assert.deepStrictEqual(yield* texts(ann), ["Settings", "Size?\n✓ Large", "Size l"])
    }).pipe(Effect.provide(layer))
  )

  it.effect("commands and answers, although a handler of every message stands before", () =>
    Effect.gen(function* () {
      const Color = makeColor()
      const ann = yield* Emulator.user("Ann")
      const help = Command.make("help").on((update) => Messages.reply(update, "Help"))
      const bot = Bot.make(echo, Color, help, go(Color.start))
      yield* during(
        bot,
        Effect.forEach(["hi", "/go", "/help", "/unknown", "Red", "Green"], (text) => writes(ann, text))
      )
      assert.deepStrictEqual(yield* texts(ann), [
        "Rest: hi",
        "Color?",
        "Help",
        "Rest: /unknown",
        "So Red",
        "Rest: Green"
      ])
    }).pipe(Effect.provide(layer))
  )

  it.effect("the first of two dialogs that are open, and then the other one", () =>
    Effect.gen(function* () {
      const Color = makeColor()
      const Door = makeDoor()
      const ann = yield* Emulator.user("Ann")
      const bot = Bot.make(
        echo,
        Door,
        Color,
        go((update) => Effect.andThen(Color.start(update), Door.go("open")))
      )
      yield* during(
        bot,
        Effect.forEach(["/go", "close", "Red", "more"], (text) => writes(ann, text))
      )
      assert.deepStrictEqual(yield* texts(ann), ["Color?", "Bang", "So Red", "Rest: more"])
    }).pipe(Effect.provide(layer))
  )

  it.effect("timers and timeouts, although a handler of every timer stands before", () =>
    Effect.gen(function* () {
      const Door = makeDoor()
      const taken: Array<string> = []
      const anyTimer = Handler.on("colloquy_timer", ({ name }) => Effect.sync(() => void taken.push(name)))
      const ann = yield* Emulator.user("Ann")
      const start = go(() => Effect.andThen(Tea.in("10 minutes", undefined), Door.go("open")))
      yield* during(
        Bot.make(anyTimer, start, tea, Door),
        Effect.andThen(writes(ann, "/go"), TestClock.adjust("2 hours"))
      )
      assert.deepStrictEqual(yield* texts(ann), ["Tea!", "Closed"])
      assert.deepStrictEqual(taken, [])
    }).pipe(Effect.provide(layer))
  )

  it.effect("to other parts, if the part declines", () =>
    Effect.gen(function* () {
      const ann = yield* Emulator.user("Ann")
      const none = Handler.filter(Bot.make(settings), ({ update_type }) => update_type !== "message_callback")
      const silent = Command.make("go").on((update) =>
        Update.textOf(update) === "/go loud" ? settings.reply(update) : undefined
      )
      yield* during(
        Bot.make(none, silent, anyPress, echo),
        Effect.gen(function* () {
          yield* writes(ann, "/go")
          yield* writes(ann, "/go loud")
          yield* presses(ann, "On")
          assert.strictEqual(yield* ann.notification, "Somebody else")
        })
      )
      assert.deepStrictEqual(yield* texts(ann), ["Rest: /go", "Settings"])
    }).pipe(Effect.provide(layer))
  )

  it.effect("also in groups of groups, whose filters concern each part", () =>
    Effect.gen(function* () {
      const ann = yield* Emulator.user("Ann")
      const bob = yield* Emulator.user("Bob")
      const Size = makeSize()
      const forAnn = pipe(
        Handler.first(echo, Bot.make(Size, go(Size.start), settings)),
        Handler.fromUsers([ann.user.user_id]),
        Handler.transform((effect) => Effect.tap(effect, () => Effect.logDebug("handled")))
      )
      const welcome = Command.make("settings").on((update) => settings.reply(update))
      const other = Command.make("go").on((update) => Messages.reply(update, "Not for you"))
      yield* during(
        Bot.make(forAnn, other, welcome, anyPress),
        Effect.gen(function* () {
          yield* writes(ann, "/go")
          yield* presses(ann, "Small")
          yield* writes(bob, "/go")
          yield* writes(bob, "/settings")
          yield* presses(bob, "On")
          assert.strictEqual(yield* bob.notification, "Somebody else")
        })
      )
      assert.deepStrictEqual(yield* texts(ann), ["Size?\n✓ Small", "Size s"])
      assert.deepStrictEqual(yield* texts(bob), ["Not for you", "Settings"])
    }).pipe(Effect.provide(layer))
  )

  it.effect("and timeouts pass the filters of chats and users", () =>
    Effect.gen(function* () {
      const Color = makeColor()
      const Door = makeDoor("chat")
      const owner = yield* Emulator.user("Ann")
      const group = yield* Emulator.chat({ title: "Group", owner, bot: { admin: true } })
      const parts = Bot.make(
        go((update) => Effect.andThen(Color.start(update), Door.go("open"))),
        Color,
        Door
      )
      const isMessage = ({ update_type }: Update.Update) => update_type === "message_created"
      const bot = pipe(
        parts,
        Handler.inChatType("chat"),
        Handler.fromUsers([owner.user.user_id]),
        Handler.filterEffect((update) => Effect.succeed(isMessage(update))),
        Handler.filter(isMessage)
      )
      yield* during(Bot.make(echo, bot), Effect.andThen(owner.send(group, "/go"), TestClock.adjust("2 hours")))
      const said = (yield* Emulator.messages(group)).filter(({ sender }) => sender?.is_bot === true)
      assert.deepStrictEqual(
        said.map(({ body }) => body?.text),
        ["Color?", "Closed"]
      )
      assert.deepStrictEqual(yield* left("color"), nothing)
    }).pipe(Effect.provide(layer))
  )

  it("in the order of the bot, which a function of parts has without a platform", () => {
    const calls: Array<string> = []
    const note = (name: string) => Effect.sync(() => void calls.push(name))
    const group = Handler.first(
      Handler.on("message_created", () => note("any")),
      Command.make("a").on(() => note("a")),
      Command.make("b").on(() => Handler.notHandled)
    )
    for (const text of ["/a", "/b", "c"]) Effect.runSync(Handler.run(group, Fixtures.messageCreated({ text })) as never)
    assert.deepStrictEqual(calls, ["a", "any", "any"])
  })
})

describe("a part that the bot does not have any more", () => {
  const keyboard = Keyboard.make([Keyboard.callback("Old", 'menu_old:{"at":[]}')])
  const sends = go((update) =>
    Effect.andThen(
      Messages.reply(update, { text: "Old menu", attachments: [keyboard] }),
      Messages.reply(update, {
        text: "Old question",
        attachments: [Keyboard.make([Keyboard.callback("Older", 'conversation/old:[b:["run","q",".x"]')])]
      })
    )
  )

  it.effect("has its buttons answered and removed, also if a handler takes every press", () =>
    Effect.gen(function* () {
      const ann = yield* Emulator.user("Ann")
      yield* during(
        Bot.make(anyPress, sends, settings, makeColor("old:")),
        Effect.gen(function* () {
          yield* writes(ann, "/go")
          for (const button of ["Older", "Old"]) {
            yield* presses(ann, button)
            assert.strictEqual(yield* ann.notification, "This button is out of date.")
          }
        })
      )
      assert.deepStrictEqual((yield* sent(ann)).flatMap(buttonsOf), [])
      assert.deepStrictEqual(yield* texts(ann), ["Old menu", "Old question"])
    }).pipe(Effect.provide(layer))
  )

  it.effect("has a text that can be replaced", () =>
    Effect.gen(function* () {
      const ann = yield* Emulator.user("Ann")
      const replaced = Handler.transform(
        Bot.make(sends),
        Effect.provideService(Bot.CurrentTexts, { outdated: "Кнопка устарела." })
      )
      yield* during(
        Bot.make(replaced),
        Effect.gen(function* () {
          yield* writes(ann, "/go")
          yield* presses(ann, "Older")
          assert.strictEqual(yield* ann.notification, "Кнопка устарела.")
        })
      )
    }).pipe(Effect.provide(layer))
  )

  it.effect("has its timer logged once and settled", () =>
    Effect.gen(function* () {
      const ann = yield* Emulator.user("Ann")
      const start = go(() =>
        Effect.andThen(Tea.in("10 minutes", undefined), Tea.in("20 minutes", undefined, { key: "two" }))
      )
      yield* during(Bot.make(start, tea), writes(ann, "/go"))
      const messages = yield* logged(during(Bot.make(start), TestClock.adjust("1 hour")))
      assert.deepStrictEqual(
        messages.map((message) => message.trim()),
        ['The timer "tea" was due, and the bot has no handler of the timer any more.']
      )
      assert.deepStrictEqual(yield* left(), nothing)
    }).pipe(Effect.provide(layer))
  )

  it.effect("is handled by `onOutdated`, of the bot or of a bot in the bot, unless the handler declines", () =>
    Effect.gen(function* () {
      const ann = yield* Emulator.user("Ann")
      const names: Array<string> = []
      const own = Bot.onOutdated((update) => {
        if (update.update_type === "colloquy_timer") return Effect.sync(() => void names.push(update.name))
        return update.callback.payload?.startsWith("menu_") ? Answers.answer(update, "Moved") : undefined
      })
      const start = go(() => Tea.in("10 minutes", undefined))
      yield* during(Bot.make(start, tea), writes(ann, "/go"))
      for (const bot of [Bot.make(anyPress, own, sends), Bot.make(Bot.make(sends), Bot.make(own))]) {
        yield* during(
          bot,
          Effect.gen(function* () {
            yield* TestClock.adjust("1 hour")
            yield* writes(ann, "/go")
            yield* presses(ann, "Older")
            assert.strictEqual(yield* ann.notification, "This button is out of date.")
            yield* presses(ann, "Old")
            assert.strictEqual(yield* ann.notification, "Moved")
          })
        )
      }
      assert.deepStrictEqual(names, ["tea"])
    }).pipe(Effect.provide(layer))
  )
})

describe("a part that is missing", () => {
  const missing = (what: string) => `Error: ${what} is not a part of the bot. Add it to Bot.make.`

  it.effect("fails the attempt that needs the part, at once, with its name", () =>
    Effect.gen(function* () {
      const Color = makeColor()
      const Door = makeDoor()
      const ann = yield* Emulator.user("Ann")
      const cases: ReadonlyArray<readonly [string, Handler.Handler<unknown, never>]> = [
        ['The conversation "color"', go((update) => Color.start(update)) as never],
        ['The scene "door"', go(() => Door.go("open")) as never],
        ['The menu "settings"', go((update) => settings.reply(update)) as never],
        ['The handler of the timer "tea"', go(() => Tea.in("1 hour", undefined)) as never]
      ]
      for (const [, part] of cases) yield* during(Bot.make(part, echo), writes(ann, "/go"))
      assert.deepStrictEqual(
        yield* dead,
        cases.map(([what]) => [1, missing(what)])
      )
      assert.deepStrictEqual(yield* texts(ann), [])
      assert.strictEqual((yield* left("color")).timer, undefined)
    }).pipe(Effect.provide(layer))
  )

  it.effect("fails the attempt although another part has its name, or a function hides the part", () =>
    Effect.gen(function* () {
      const Color = makeColor()
      const ann = yield* Emulator.user("Ann")
      const start = go((update) => Color.start(update))
      yield* during(Bot.make(start, makeColor()), writes(ann, "/go"))
      yield* during(
        Bot.make(start, (update) => Color(update)),
        writes(ann, "/go")
      )
      const expected = [1, missing('The conversation "color"')]
      assert.deepStrictEqual(yield* dead, [expected, expected])
    }).pipe(Effect.provide(layer))
  )

  it.effect("is no problem if the part is in a group of the bot that runs", () =>
    Effect.gen(function* () {
      const Color = makeColor()
      const ann = yield* Emulator.user("Ann")
      const inner = Bot.make(go((update) => Effect.andThen(settings.reply(update), Color.start(update))))
      const outer = Handler.filter(
        Handler.first(
          Conversation.onDone(Color, () => Effect.void),
          settings
        ),
        () => true
      )
      yield* during(Bot.make(inner, outer), Effect.andThen(writes(ann, "/go"), writes(ann, "Red")))
      assert.deepStrictEqual(yield* texts(ann), ["Settings", "Color?", "So Red"])
      assert.deepStrictEqual(yield* deadLetters, [])
    }).pipe(Effect.provide(layer))
  )

  it("is refused when the bot is made, if a part starts the conversation", () => {
    const Color = makeColor()
    const expected =
      /The command "go" starts the conversation "color", which is not a part of the bot\. Add it to Bot\.make\./
    assert.throws(() => Bot.make(go(Color.start)), expected)
    assert.throws(() => Bot.make(Handler.inChatType(Handler.first(echo, go(Color.start)), "dialog")), expected)
    assert.throws(() => Bot.make(go(Color.start), makeColor()), expected)
    assert.throws(() => Bot.make(Handler.on("bot_started", Color.start)), /The handler "bot_started" starts/)
    assert.doesNotThrow(() =>
      Bot.make(
        Handler.first(go(Color.start)),
        Handler.filter(Color, () => true)
      )
    )
    assert.doesNotThrow(() =>
      Bot.make(
        go(Color.start),
        Conversation.onDone(Color, () => Effect.void)
      )
    )
  })

  it("is refused if the part itself is the handler of a command", () => {
    assert.throws(
      () => Command.make("go").on(makeColor()),
      /The handler of the command "go" is the conversation "color"/
    )
  })
})

type Any = Handler.Handler<unknown, unknown>

describe("parts of a bot with one name", () => {
  const menu = () => Menu.make("a", () => ({ text: "Menu", rows: [] }))
  const scene = () => Scene.make("a", { of: "chat", states: { open: Schema.Void } }, { open: {} })
  const timer = () => Timer.make("a").on(() => Effect.void)
  const command = () => Command.make("a").on(() => Effect.void)
  const button = () => Payload.make("a").on(() => Effect.void)
  const link = () => DeepLink.make("a").on(() => Effect.void)

  it("are refused", () => {
    const all: Readonly<Record<string, () => Any>> = { conversation: () => makeColor("a"), scene, menu, timer }
    for (const [kind, part] of Object.entries(all)) {
      const expected = new RegExp(`Two ${kind}s of the bot have the name "a"`)
      const [one, other] = [part(), part()]
      assert.throws(() => Bot.make(one, other), expected)
      const filtered = Handler.filter(Handler.first(echo, one), () => true)
      const nested = Handler.transform(filtered, (effect) => Effect.asVoid(effect))
      assert.throws(() => Handler.first(nested, echo, Handler.inChatType(other, "chat")), expected)
    }
    const plain: Readonly<Record<string, () => Any>> = { command, button, link }
    for (const [kind, part] of Object.entries(plain)) {
      assert.throws(() => Bot.make(part(), part()), new RegExp(`Two ${kind}s of the bot have the name "a"`))
      assert.doesNotThrow(() => Bot.make(Handler.inChatType(part(), "dialog"), part()))
    }
  })

  it("are accepted if they are one, of different kinds, or commands of different updates", () => {
    const Color = makeColor("a")
    const withResult = Conversation.onDone(Color, () => Effect.void)
    const Reminder = Timer.make("a")
    const reminder = () => Reminder.on(() => Effect.void)
    const comments = Command.make("a", { types: ["comment_created"] }).on(() => Effect.void)
    assert.doesNotThrow(() => {
      Bot.make(Color, withResult, scene(), menu(), reminder(), reminder(), command(), comments, button(), link())
    })
  })
})

describe("the parts of a bot as data", () => {
  const order = Command.make("order", { description: "Orders a pizza" }).on(() => Effect.void)
  const admin = Command.make("admin").on(() => Effect.void)
  const bot = Bot.make(order, Bot.make(Handler.inChatType(admin, "dialog"), makeColor()), settings, tea, echo)

  it("have kinds and names", () => {
    assert.deepStrictEqual(
      bot.parts.map(({ description, kind, name }) => [kind, name, description]),
      [
        ["command", "order", "Orders a pizza"],
        ["command", "admin", undefined],
        ["conversation", "color", undefined],
        ["menu", "settings", undefined],
        ["timer", "tea", undefined],
        ["handler", "message_created", undefined],
        ["outdated", "default", undefined]
      ]
    )
  })

  it("are documentation", () => {
    assert.strictEqual(
      Bot.describe(bot),
      [
        "## Commands\n\n- `/order`: Orders a pizza\n- `/admin`\n",
        "## Conversations\n\n- `color`\n",
        "## Menus\n\n- `settings`\n",
        "## Timers\n\n- `tea`\n",
        "## Other updates\n\n- `message_created`\n"
      ].join("\n")
    )
  })

  it("are commands for the messenger, without those that have no description", () => {
    assert.deepStrictEqual(Bot.commands(bot), [{ name: "order", description: "Orders a pizza" }])
  })

  it.effect("are published at the start, if the option says so", () =>
    Effect.gen(function* () {
      const { processLayer } = yield* Effect.promise(() => import("../support/conversations.ts"))
      const published = Effect.fnUntraced(function* (options: { readonly publishCommands?: boolean }) {
        yield* Effect.forkScoped(Effect.provide(Bot.run(bot, options), Layer.fresh(processLayer())))
        yield* TestClock.adjust("1 second")
        return (yield* Effect.provide(Me.get(), Layer.fresh(processLayer()))).commands
      }, Effect.scoped)
      assert.deepStrictEqual((yield* published({})) ?? [], [])
      assert.deepStrictEqual(
        (yield* published({ publishCommands: true }))?.map(({ description, name }) => ({ name, description })),
        [{ name: "order", description: "Orders a pizza" }]
      )
    }).pipe(Effect.provide(layer))
  )
})

describe("services of a group", () => {
  class Count extends Context.Service<Count, { count: number }>()("test/Count") {}
  class Name extends Context.Service<Name, string>()("test/Name") {}

  const counting = go((update) =>
    Effect.gen(function* () {
      const counter = yield* Count
      counter.count++
      yield* Messages.reply(update, `${yield* Name} ${counter.count}`)
    })
  )

  it.effect("are made once for each run, and released at its end", () =>
    Effect.gen(function* () {
      const events: Array<string> = []
      const count = Layer.effect(
        Count,
        Effect.acquireRelease(
          Effect.map(Name, (name) => {
            events.push(`open ${name}`)
            return { count: 0 }
          }),
          () => Effect.sync(() => void events.push("close"))
        )
      )
      const inner = Bot.provide(Bot.make(counting), count)
      const bot = Bot.make(echo, Bot.provide(inner, Layer.succeed(Name, "Ann")))
      const ann = yield* Emulator.user("Ann")
      for (let run = 0; run < 2; run++) {
        yield* during(bot, Effect.andThen(writes(ann, "/go"), writes(ann, "/go")))
      }
      assert.deepStrictEqual(yield* texts(ann), ["Ann 1", "Ann 2", "Ann 1", "Ann 2"])
      assert.deepStrictEqual(events, ["open Ann", "close", "open Ann", "close"])
    }).pipe(Effect.provide(layer))
  )

  it.effect("are made for the update, where no bot runs", () =>
    Effect.gen(function* () {
      const seen: Array<number> = []
      const part = Handler.on("message_created", () => Effect.map(Count, ({ count }) => seen.push(count)))
      const group = Bot.provide(part, Layer.succeed(Count, { count: 7 }))
      assert.isTrue(yield* Handler.run(group, Fixtures.messageCreated()))
      assert.deepStrictEqual(seen, [7])
    })
  )
})
