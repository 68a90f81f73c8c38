import { Bot, Command, Inbox, LongPolling, Menu, Messages, Update, UpdateLog } from "@colloquy/core"
import { Emulator, TestStory } from "@colloquy/testing"
import { ChatId } from "@colloquy/core/model/Recipient"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import { inEmulator, postOk } from "../../../testing/test/support/control.ts"
import { layerOf } from "../../../node/test/support/inboxLayers.ts"
import { describeStory } from "../../src/commands/logView.ts"
import { makeBot } from "../support/bots.ts"

const Sizes = Menu.make(
  "sizes",
  { pages: { main: Schema.Void } },
  {
    main: () => ({
      text: "Which size?",
      rows: [[Menu.button("small", "Small", () => Menu.finish("A small one"))]]
    })
  }
)

const botThat = (answers: string) =>
  Bot.make(
    Sizes,
    Command.make("size").on((update) => Sizes.reply(update)),
    Command.make("start").on((update) => Messages.reply(update, `${answers} ${Update.userOf(update)?.first_name}`))
  )

const bot = botThat("Welcome")

/** A conversation of a person with a bot whose log has texts. */
const converse = (place: string, logTexts: boolean) =>
  Effect.gen(function* () {
    const person = yield* Emulator.user({ first_name: "Anastasia", username: "anastasia_p" })
    const { chat_id } = yield* person.start()
    const fiber = yield* Effect.forkChild(Bot.run(bot), { startImmediately: true })
    yield* person.send("/start")
    yield* TestClock.adjust("10 seconds")
    yield* person.send("/size")
    yield* TestClock.adjust("10 seconds")
    yield* person.press((yield* Emulator.messages(chat_id)).at(-1)!, "Small")
    yield* TestClock.adjust("10 seconds")
    yield* Fiber.interrupt(fiber)
    return { chat_id: String(chat_id), person: person.user, messages: yield* Emulator.messages(chat_id) }
  }).pipe(
    Effect.scoped,
    Effect.provide(
      LongPolling.layer().pipe(
        Layer.provideMerge(Layer.provide(Inbox.layer({ logTexts }), layerOf("SQLite", place))),
        Layer.provideMerge(Emulator.layerBot({ limits: false }))
      )
    )
  )

/** The data of the source of a test, and the lines that the test expects. */
const partsOf = (source: string) => {
  const [, story = ""] = /^const story: TestStory\.Story = (\[[\s\S]*?^\])$/m.exec(source) ?? []
  const [, lines = ""] = /expect\(lines\)\.toEqual\((\[[\s\S]*\])\)$/m.exec(source) ?? []
  return {
    story: Schema.decodeUnknownSync(Schema.Array(UpdateLog.Entry))(JSON.parse(story)),
    lines: JSON.parse(lines) as ReadonlyArray<string>
  }
}

describe("colloquy updates story", () => {
  it.effect("writes a test of what the bot did, which fails if another bot does something else", () =>
    Effect.gen(function* () {
      const { colloquy, place } = yield* makeBot("SQLite")
      const { chat_id, person } = yield* converse(place, true)
      const { out } = yield* colloquy("updates", "story", chat_id, "--as", "test", "--bot", "../bot.ts")
      assert.include(out, `import { bot } from "../bot.ts"`)
      const hex = BigInt(chat_id).toString(16).padStart(16, "0")
      for (const personal of [person.first_name, String(person.user_id), "anastasia_p", chat_id, hex]) {
        assert.notInclude(out, personal)
      }
      const { lines, story } = partsOf(out)
      assert.deepStrictEqual(
        lines.filter((line) => !line.startsWith(" ")),
        [
          "bot_started: unhandled",
          "message_created: handled by command start",
          "message_created: handled by command size",
          "message_callback: handled by menu sizes"
        ]
      )
      assert.deepStrictEqual(yield* TestStory.run(bot, story), lines)
      const changed = yield* TestStory.run(botThat("Hello"), story)
      assert.deepStrictEqual(
        lines.filter((line) => !changed.includes(line)).map((line) => /"text":"(\w+) /.exec(line)?.[1]),
        ["Welcome"]
      )
    })
  )

  it.effect("writes a conversation that the emulator shows, with its messages as they were at the end", () =>
    Effect.gen(function* () {
      const { colloquy, place } = yield* makeBot("SQLite")
      const { chat_id, messages: original, person } = yield* converse(place, true)
      for (const flags of [[], ["--raw"]]) {
        const { out } = yield* colloquy("updates", "story", chat_id, "--as", "seed", ...flags)
        const name = flags.length === 0 ? /"first_name":"(First\d+)"/.exec(out)![1]! : person.first_name
        const shown = Effect.gen(function* () {
          const { chats } = yield* postOk("/seed", JSON.parse(out))
          const messages = yield* Emulator.messages(ChatId.make(chats[0].chat_id))
          if (flags.length > 0) {
            assert.deepStrictEqual(
              messages.map(({ body }) => body),
              original.map(({ body }) => body)
            )
          }
          assert.deepStrictEqual(
            messages.map(({ body, sender }) => [sender?.is_bot === true ? "bot" : sender?.first_name, body?.text]),
            [
              [name, "/start"],
              ["bot", `Welcome ${name}`],
              [name, "/size"],
              ["bot", "A small one"]
            ]
          )
        })
        yield* inEmulator(shown)
      }
    })
  )

  it.effect("says that the log has no texts, and prints how many calls are left out", () =>
    Effect.gen(function* () {
      const { colloquy, place } = yield* makeBot("SQLite")
      const { chat_id } = yield* converse(place, false)
      const refused = yield* colloquy("updates", "story", chat_id, "--as", "test")
      assert.deepStrictEqual([refused.code, refused.out], [1, ""])
      assert.include(refused.err, "The log has no texts. Set the option `logTexts` of the inbox")
      const none = yield* colloquy("updates", "story", "5", "--as", "seed")
      assert.deepStrictEqual([none.code, none.out], [1, ""])
      const entry = { id: "1", update_type: "bot_started", outcome: "handled" as const, attempt: 1 }
      const times = { receivedAt: 0, startedAt: 0, endedAt: 1 }
      const call = { endpoint: "Messages.send", startedAt: 0, duration: 1, status: 200 }
      assert.match(describeStory({ ...entry, ...times, calls: [call], omittedCalls: 3 }), /\n {4}… and 3 more calls$/)
    })
  )
})
