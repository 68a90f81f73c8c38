import { Bot, Handler, Json, Keyboard, LiveMessage, Messages, RateLimiter, Timer } from "@colloquy/core"
import { Emulator } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Ref from "effect/Ref"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import {
  asking,
  buttonsOf,
  edits,
  layer,
  ofBot,
  seconds,
  stop,
  textsOfBot,
  ticking,
  withBot,
  words
} from "../support/liveMessages.ts"

describe("LiveMessage.reply", () => {
  it.effect("sends the first words, edits at most twice a second, and ends with all of the text", () =>
    Effect.gen(function* () {
      const tokens = words(200)
      const { ann, dialog, handler, results } = yield* asking((update) =>
        LiveMessage.reply(update, ticking(tokens, 25))
      )
      yield* withBot(
        Bot.run(handler),
        Effect.gen(function* () {
          yield* ann.send("tell")
          yield* TestClock.adjust(300)
          assert.strictEqual((yield* textsOfBot(dialog)).length, 1)
          yield* seconds(10)
        })
      )
      assert.deepStrictEqual(yield* textsOfBot(dialog), [tokens.join("")])
      assert.strictEqual(results[0]?.outcome, "completed")
      assert.strictEqual(results[0]?.text, tokens.join(""))
      const shown = yield* edits
      assert.isAtLeast(shown.length, 8)
      assert.isAtMost(shown.length, 12)
      assert.isTrue(shown.every((text, index) => index === 0 || text.length > shown[index - 1]!.length))
      const statuses = (yield* Emulator.requests).map(({ status }) => status)
      assert.notInclude(statuses, 429)
    }).pipe(Effect.provide(layer))
  )

  it.effect("shows that the bot is typing until the first words are there", () =>
    Effect.gen(function* () {
      const late = Stream.fromEffect(Effect.delay(Effect.succeed("Here it is."), "12 seconds"))
      const { ann, handler } = yield* asking((update) => LiveMessage.reply(update, late))
      yield* withBot(Bot.run(handler), Effect.andThen(ann.send("tell"), seconds(20)))
      const kinds = (yield* Emulator.seen).flatMap((event) => (event._tag === "Action" ? [event.action] : []))
      assert.deepStrictEqual(kinds, ["typing_on", "typing_on", "typing_on"])
    }).pipe(Effect.provide(layer))
  )

  it.effect("closes open markdown in each edit, and shows code of fenced blocks", () =>
    Effect.gen(function* () {
      const source =
        "Some **bold and _italic_ text** here:\n\n```ts\nconst a = 1 * 2\n```\n\nDone `now` [ok](https://example.com)."
      const tokens = source.match(/[\s\S]{1,3}/g)!
      const { ann, dialog, handler } = yield* asking((update) => LiveMessage.reply(update, ticking(tokens, 200)))
      yield* withBot(Bot.run(handler), Effect.andThen(ann.send("tell"), seconds(20)))
      const shown = yield* edits
      for (const text of shown) assert.notMatch(text, /\*\*|```|\]\(/)
      const [message] = yield* ofBot(dialog)
      assert.strictEqual(message?.body?.text, "Some bold and italic text here:\n\nconst a = 1 * 2\n\nDone now ok.")
      assert.deepStrictEqual(
        message?.body?.markup?.map(({ type }) => type),
        ["strong", "emphasized", "monospaced", "monospaced", "link"]
      )
    }).pipe(Effect.provide(layer))
  )

  it.effect("shows no half of a surrogate pair, also before the notice of a failure", () =>
    Effect.gen(function* () {
      const emoji = Stream.concat(ticking(["Two words and ", "\ud83d", "\ude00 the end "], 700), Stream.make("\ud83d"))
      const failing = Stream.concat(emoji, Stream.fail("overloaded"))
      const { ann, dialog, handler } = yield* asking((update) => LiveMessage.reply(update, failing))
      yield* withBot(Bot.run(handler, { retry: Schedule.recurs(0) }), Effect.andThen(ann.send("tell"), seconds(20)))
      for (const text of yield* edits) assert.isTrue(text.isWellFormed(), JSON.stringify(text))
      const notice = "The answer could not be completed."
      assert.deepStrictEqual(yield* textsOfBot(dialog), [`Two words and \u{1f600} the end \n\n${notice}`])
    }).pipe(Effect.provide(layer))
  )

  it.effect("goes on in a new message after a sentence, and never inside a block of code", () =>
    Effect.gen(function* () {
      const sentence = "This is a sentence of the text that is long enough."
      const code = Array.from({ length: 60 }, (_, index) => `const value${index} = compute(${index})`).join("\n")
      const source = `${Array.from({ length: 60 }, () => sentence).join(" ")}\n\n\`\`\`ts\n${code}\n\`\`\`\n\n${Array.from({ length: 60 }, () => sentence).join(" ")}`
      const tokens = source.match(/[\s\S]{1,40}/g)!
      const { ann, dialog, handler } = yield* asking((update) =>
        LiveMessage.reply(update, ticking(tokens, 50), { keyboard: stop })
      )
      yield* withBot(Bot.run(handler), Effect.andThen(ann.send("tell"), seconds(30)))
      const messages = yield* ofBot(dialog)
      assert.isAtLeast(messages.length, 3)
      for (const { body } of messages) {
        const text = body?.text ?? ""
        assert.isTrue(text.endsWith("enough.") || text.endsWith(")"), text.slice(-20))
        const lines = text.split("\n").filter((line) => line.startsWith("const"))
        assert.isTrue(lines.length === 0 || lines.length === 60)
      }
      assert.deepStrictEqual(
        messages.map(buttonsOf),
        messages.map(() => 0)
      )
      const all = messages.map(({ body }) => body?.text).join("\n\n")
      assert.strictEqual(
        all.replace(/\s+/g, " "),
        source
          .replace(/```(ts)?\n?/g, "")
          .replace(/\s+/g, " ")
          .trim()
      )
    }).pipe(Effect.provide(layer))
  )

  it.effect("has a keyboard while it runs, another one at the end, and attachments at the end", () =>
    Effect.gen(function* () {
      const { ann, dialog, handler } = yield* asking((update) =>
        LiveMessage.reply(update, ticking(words(20), 100), {
          keyboard: stop,
          atEnd: {
            keyboard: Keyboard.make([Keyboard.callback("Again", "again")]),
            attachments: [{ type: "image", payload: { url: "https://example.com/image.png" } }]
          }
        })
      )
      yield* withBot(
        Bot.run(handler),
        Effect.gen(function* () {
          yield* ann.send("tell")
          yield* seconds(1)
          const [running] = yield* ofBot(dialog)
          assert.include(Json.stringify(running?.body?.attachments), "Stop")
          yield* seconds(5)
        })
      )
      const [message] = yield* ofBot(dialog)
      const attachments = Json.stringify(message?.body?.attachments)
      assert.include(attachments, "Again")
      assert.include(attachments, "image")
      assert.notInclude(attachments, "Stop")
    }).pipe(Effect.provide(layer))
  )

  it.effect("is stopped at once by its button, which is answered, and leaves the text so far", () =>
    Effect.gen(function* () {
      const { ann, dialog, handler, outcomes } = yield* asking((update) =>
        LiveMessage.reply(update, ticking(words(1000), 100), { keyboard: stop })
      )
      const bot = Bot.run(Handler.first(LiveMessage.onStop, handler), { timeout: "10 minutes" })
      yield* withBot(
        bot,
        Effect.gen(function* () {
          yield* ann.send("tell")
          yield* seconds(5)
          const [message] = yield* ofBot(dialog)
          yield* ann.press(message!, "Stop")
          yield* seconds(2)
          assert.deepStrictEqual(outcomes, ["stopped"])
          assert.strictEqual(yield* ann.notification, "Stopped")
          yield* seconds(5)
        })
      )
      const [message] = yield* ofBot(dialog)
      assert.strictEqual(buttonsOf(message!), 0)
      assert.match(message?.body?.text ?? "", /^word0 .*word4\d/)
      const answers = (yield* Emulator.requests).filter(({ path }) => path.startsWith("/answers"))
      assert.strictEqual(answers.length, 1)
    }).pipe(Effect.provide(layer))
  )

  it.effect.each([
    ["queue", ["completed", "completed"]],
    ["replace", ["replaced", "completed"]],
    ["drop", ["completed", "dropped", "completed"]]
  ] as const)("with onNextMessage %s, treats the next message as documented", ([onNextMessage, expected]) =>
    Effect.gen(function* () {
      const { ann, handler, outcomes } = yield* asking((update) =>
        LiveMessage.reply(update, ticking(words(30), 100), { onNextMessage })
      )
      yield* withBot(
        Bot.run(handler),
        Effect.gen(function* () {
          yield* ann.send("one")
          yield* seconds(1)
          yield* ann.send("two")
          yield* seconds(1)
          assert.deepStrictEqual(outcomes, onNextMessage === "replace" ? ["replaced"] : [])
          yield* seconds(10)
          if (onNextMessage === "drop") {
            yield* ann.send("three")
            yield* seconds(10)
          }
        })
      )
      assert.deepStrictEqual(outcomes, [...expected])
    }).pipe(Effect.provide(layer))
  )

  it.effect("is interrupted when the person removes the message", () =>
    Effect.gen(function* () {
      const isEnded = yield* Ref.make(false)
      const { ann, handler, outcomes } = yield* asking((update) =>
        LiveMessage.reply(update, ticking(words(1000), 100).pipe(Stream.ensuring(Ref.set(isEnded, true))))
      )
      const group = yield* Emulator.chat({ members: [ann], owner: ann })
      yield* withBot(
        Bot.run(handler),
        Effect.gen(function* () {
          yield* ann.send(group, "tell")
          yield* seconds(3)
          const [message] = yield* ofBot(group)
          yield* ann.remove(message!)
          yield* seconds(2)
        })
      )
      assert.isTrue(yield* Ref.get(isEnded))
      assert.deepStrictEqual(outcomes, ["removed"])
    }).pipe(Effect.provide(layer))
  )

  it.effect("is interrupted when the person stops the bot, and does not fail", () =>
    Effect.gen(function* () {
      const { ann, handler, outcomes } = yield* asking((update) => LiveMessage.reply(update, ticking(words(1000), 100)))
      yield* withBot(
        Bot.run(handler),
        Effect.gen(function* () {
          yield* ann.send("tell")
          yield* seconds(3)
          yield* ann.stop
          yield* seconds(3)
        })
      )
      assert.deepStrictEqual(outcomes, ["removed"])
    }).pipe(Effect.provide(layer))
  )

  it.effect(
    "leaves what was there with a notice when the stream fails, and the next attempt goes on in the same message",
    () =>
      Effect.gen(function* () {
        let attempts = 0
        const { ann, dialog, handler } = yield* asking((update) =>
          Effect.suspend(() => {
            attempts++
            const said = ticking(["First **half ", "of the text"], 600)
            const text =
              attempts === 1 ? Stream.concat(said, Stream.fail("broken" as const)) : Stream.make("All of the text.")
            return LiveMessage.reply(update, text, { onFailure: (error) => `The model failed: ${error}.` })
          })
        )
        yield* withBot(
          Bot.run(handler),
          Effect.gen(function* () {
            yield* ann.send("tell")
            yield* TestClock.adjust(2500)
            assert.deepStrictEqual(yield* textsOfBot(dialog), ["First half of the text\n\nThe model failed: broken."])
            yield* seconds(10)
          })
        )
        assert.strictEqual(attempts, 2)
        assert.deepStrictEqual(yield* textsOfBot(dialog), ["All of the text."])
      }).pipe(Effect.provide(layer))
  )

  it.effect("does not ask again for the recorded text when the handler fails after it", () =>
    Effect.gen(function* () {
      let asked = 0
      const results: Array<LiveMessage.Result> = []
      const { ann, dialog, handler } = yield* asking((update) =>
        Effect.gen(function* () {
          const text = Stream.suspend(() => {
            asked++
            return ticking(words(20, asked * 100), 100)
          })
          const result = yield* LiveMessage.reply(update, text)
          results.push(result)
          if ((yield* Handler.CurrentAttempt) === 1) return yield* Effect.fail("the database is down")
          yield* Messages.reply(update, "Saved")
          return result
        })
      )
      yield* withBot(Bot.run(handler), Effect.andThen(ann.send("tell"), seconds(20)))
      assert.strictEqual(asked, 1)
      const said = words(20, 100).join("")
      assert.deepStrictEqual(yield* textsOfBot(dialog), [said, "Saved"])
      assert.deepStrictEqual(
        results.map(({ text }) => text),
        [said, said]
      )
      assert.deepStrictEqual(results[0]?.messages, results[1]?.messages)
    }).pipe(Effect.provide(layer))
  )

  it.effect("goes on in the same message when the attempt before was interrupted by its timeout", () =>
    Effect.gen(function* () {
      const { ann, dialog, handler } = yield* asking((update) =>
        Effect.flatMap(Handler.CurrentAttempt, (attempt) =>
          LiveMessage.reply(update, ticking(words(attempt === 1 ? 1000 : 30, attempt * 1000), 100))
        )
      )
      yield* withBot(
        Bot.run(handler, { timeout: "5 seconds" }),
        Effect.gen(function* () {
          yield* ann.send("tell")
          yield* seconds(6)
          const [text] = yield* textsOfBot(dialog)
          assert.match(text ?? "", /word1048 $/)
          yield* seconds(10)
        })
      )
      assert.deepStrictEqual(yield* textsOfBot(dialog), [words(30, 2000).join("")])
    }).pipe(Effect.provide(layer))
  )

  it.effect("goes on in the same message when it is repeated within an attempt", () =>
    Effect.gen(function* () {
      const asked: Array<string> = []
      const { ann, dialog, handler, outcomes } = yield* asking((update) =>
        LiveMessage.reply(update, (said) => {
          asked.push(said)
          const rest = ticking(words(20).slice(said.split(" ").length - 1), 100)
          return asked.length < 3 ? Stream.concat(Stream.take(rest, 6), Stream.fail("broken")) : rest
        }).pipe(Effect.retry({ times: 2 }))
      )
      yield* withBot(Bot.run(handler), Effect.andThen(ann.send("tell"), seconds(20)))
      assert.deepStrictEqual(asked, ["", words(6).join(""), words(12).join("")])
      assert.deepStrictEqual(outcomes, ["completed"])
      assert.deepStrictEqual(yield* textsOfBot(dialog), [words(20).join("")])
    }).pipe(Effect.provide(layer))
  )

  it.effect("continues in the messages of each of several live messages with the same name", () =>
    Effect.gen(function* () {
      const long = Array.from({ length: 130 }, (_, index) => `This is the sentence with the number ${index}. `)
      const sent: Array<ReadonlyArray<unknown>> = []
      const { ann, dialog, handler } = yield* asking((update) =>
        Effect.gen(function* () {
          const first = yield* LiveMessage.reply(update, ticking(long, 20))
          const second = yield* LiveMessage.reply(update, ticking(words(20), 100))
          sent.push([...first.messages, ...second.messages])
          if ((yield* Handler.CurrentAttempt) === 1) return yield* Effect.fail("the database is down")
          return yield* LiveMessage.reply(update, Stream.make("The third one."))
        })
      )
      yield* withBot(Bot.run(handler), Effect.andThen(ann.send("tell"), seconds(60)))
      const texts = yield* textsOfBot(dialog)
      assert.lengthOf(texts, 4)
      assert.strictEqual(texts.slice(0, 2).join(" ").trim(), long.join("").trim())
      assert.deepStrictEqual(texts.slice(2), [words(20).join(""), "The third one."])
      assert.deepStrictEqual(sent[0], sent[1])
    }).pipe(Effect.provide(layer))
  )

  it.effect("delivers the final text when edits fail for a while", () =>
    Effect.gen(function* () {
      const { ann, dialog, handler } = yield* asking((update) => LiveMessage.reply(update, ticking(words(30), 100)))
      yield* Emulator.addFault({ endpoint: "Messages.edit", status: 503, times: 4 })
      yield* withBot(Bot.run(handler), Effect.andThen(ann.send("tell"), seconds(60)))
      assert.deepStrictEqual(yield* textsOfBot(dialog), [words(30).join("")])
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("sends nothing for a stream without text", () =>
    Effect.gen(function* () {
      const { ann, dialog, handler } = yield* asking((update) => LiveMessage.reply(update, Stream.make(" ", "\n")))
      yield* withBot(Bot.run(handler), Effect.andThen(ann.send("tell"), seconds(5)))
      assert.deepStrictEqual(yield* textsOfBot(dialog), [])
    }).pipe(Effect.provide(layer))
  )

  it.effect("can drop next messages in the answer to a timer of a user, which has no chat", () =>
    Effect.gen(function* () {
      const ann = yield* Emulator.user("Ann")
      const dialog = yield* ann.start()
      const Tick = Timer.make("tick")
      const outcomes: Array<string> = []
      const bot = Bot.run(
        Handler.first(
          Handler.on("message_created", () => Tick.for({ user_id: ann.user_id }).in("1 second", undefined)),
          Tick.on((_, update) =>
            Effect.map(LiveMessage.reply(update, ticking(words(10), 100), { onNextMessage: "drop" }), ({ outcome }) => {
              outcomes.push(outcome)
            })
          )
        )
      )
      yield* withBot(bot, Effect.andThen(ann.send("tell"), seconds(10)))
      assert.deepStrictEqual(outcomes, ["completed"])
      assert.deepStrictEqual(yield* textsOfBot(dialog), [words(10).join("")])
    }).pipe(Effect.provide(layer))
  )
})

describe("LiveMessage.send", () => {
  it.effect("shows the text that is there when it is interrupted, and removes the keyboard", () =>
    Effect.gen(function* () {
      const ann = yield* Emulator.user("Ann")
      const dialog = yield* ann.start()
      const fiber = yield* Effect.forkChild(
        LiveMessage.send({ chat_id: dialog.chat_id }, ticking(words(100), 100), { keyboard: stop })
      )
      yield* TestClock.adjust(2250)
      yield* Fiber.interrupt(fiber)
      yield* seconds(2)
      const [message] = yield* ofBot(dialog)
      assert.strictEqual(message?.body?.text, words(22).join(""))
      assert.strictEqual(buttonsOf(message!), 0)
    }).pipe(Effect.provide(layer))
  )

  it.effect("is stopped by its button through onStop", () =>
    Effect.gen(function* () {
      const ann = yield* Emulator.user("Ann")
      const dialog = yield* ann.start()
      yield* withBot(
        Bot.run(LiveMessage.onStop),
        Effect.gen(function* () {
          const fiber = yield* Effect.forkChild(
            LiveMessage.send({ chat_id: dialog.chat_id }, ticking(words(100), 100), { keyboard: stop })
          )
          yield* seconds(2)
          const [message] = yield* ofBot(dialog)
          yield* ann.press(message!, "Stop")
          yield* seconds(2)
          assert.strictEqual((yield* Fiber.join(fiber)).outcome, "stopped")
          // The message has no button any more, but a press can be late.
        })
      )
    }).pipe(Effect.provide(layer))
  )
})

describe("LiveMessage.progress", () => {
  it.effect("shows a bar, edits only as often as allowed, and returns the result of the work", () =>
    Effect.gen(function* () {
      const ann = yield* Emulator.user("Ann")
      const dialog = yield* ann.start()
      const work = LiveMessage.progress({ chat_id: dialog.chat_id }, { atEnd: { notice: "Done" } }, (report) =>
        Effect.as(
          Effect.forEach(words(100), (_, index) =>
            Effect.delay(report({ done: index + 1, total: 100, label: "Copying" }), 30)
          ),
          "result" as const
        )
      )
      const fiber = yield* Effect.forkChild(work)
      yield* seconds(6)
      assert.strictEqual(yield* Fiber.join(fiber), "result")
      assert.deepStrictEqual(yield* textsOfBot(dialog), ["Copying\n▓▓▓▓▓▓▓▓▓▓ 100 %\n\nDone"])
      const shown = yield* edits
      assert.isAtMost(shown.length, 8)
    }).pipe(Effect.provide(layer))
  )

  it.effect(
    "goes on when the person removes the message, and fails with ProgressStopped when the button is pressed",
    () =>
      Effect.gen(function* () {
        const ann = yield* Emulator.user("Ann")
        const group = yield* Emulator.chat({ members: [ann], owner: ann })
        const work = LiveMessage.progress({ chat_id: group.chat_id }, { keyboard: stop }, (report) =>
          Effect.as(
            Effect.forEach(words(50), (_, index) => Effect.delay(report({ done: index }), 100)),
            "result" as const
          )
        )
        yield* withBot(
          Bot.run(LiveMessage.onStop),
          Effect.gen(function* () {
            const first = yield* Effect.forkChild(work)
            yield* seconds(2)
            yield* ann.remove((yield* ofBot(group))[0]!)
            yield* seconds(8)
            assert.strictEqual(yield* Fiber.join(first), "result")
            const second = yield* Effect.forkChild(Effect.exit(work))
            yield* seconds(2)
            yield* ann.press((yield* ofBot(group))[0]!, "Stop")
            yield* seconds(2)
            const exit = yield* Fiber.join(second)
            assert.deepStrictEqual(exit, Exit.fail(new LiveMessage.ProgressStopped()))
          })
        )
      }).pipe(Effect.provide(layer))
  )
})

describe("LiveMessage.dashboard", () => {
  it.effect("edits one message, sends nothing for the same content, and a new message if it was removed", () =>
    Effect.gen(function* () {
      const ann = yield* Emulator.user("Ann")
      const group = yield* Emulator.chat({ members: [ann], owner: ann })
      const board = LiveMessage.dashboard("sales")
      const count = Effect.map(Emulator.requests, (requests) => requests.length)
      const show = (text: string) =>
        Effect.gen(function* () {
          const fiber = yield* Effect.forkChild(board.show(group.chat_id, text))
          yield* seconds(2)
          return yield* Fiber.join(fiber)
        })
      const id = yield* show("1 sold")
      assert.strictEqual(yield* show("2 sold"), id)
      const before = yield* count
      assert.strictEqual(yield* show("2 sold"), id)
      assert.strictEqual(yield* count, before)
      assert.deepStrictEqual(yield* textsOfBot(group), ["2 sold"])
      yield* ann.remove(id)
      assert.notStrictEqual(yield* show("3 sold"), id)
      assert.deepStrictEqual(yield* textsOfBot(group), ["3 sold"])
    }).pipe(Effect.provide(layer))
  )

  it.effect("sends one message if it is shown for the first time several times at once", () =>
    Effect.gen(function* () {
      const ann = yield* Emulator.user("Ann")
      const dialog = yield* ann.start()
      const board = LiveMessage.dashboard("votes")
      const fibers = yield* Effect.forEach([1, 2, 3, 4], (vote) =>
        Effect.forkChild(board.show(dialog.chat_id, `${vote}`), { startImmediately: true })
      )
      yield* seconds(10)
      const ids = yield* Effect.forEach(fibers, Fiber.join)
      assert.lengthOf(new Set(ids), 1)
      assert.deepStrictEqual(yield* textsOfBot(dialog), ["4"])
    }).pipe(Effect.provide(layer))
  )

  it.effect("shows the newest of several contents that wait", () =>
    Effect.gen(function* () {
      const ann = yield* Emulator.user("Ann")
      const dialog = yield* ann.start()
      const board = LiveMessage.dashboard("votes")
      const first = yield* Effect.forkChild(board.show(dialog.chat_id, "0"))
      yield* seconds(3)
      yield* Fiber.join(first)
      yield* Messages.send({ chat_id: dialog.chat_id, text: "a" })
      yield* Messages.send({ chat_id: dialog.chat_id, text: "b" })
      const fibers = yield* Effect.forEach([1, 2, 3, 4], (vote) =>
        Effect.forkChild(board.show(dialog.chat_id, `${vote}`), { startImmediately: true })
      )
      yield* seconds(5)
      yield* Fiber.joinAll(fibers)
      assert.deepStrictEqual(yield* edits, ["4"])
      assert.deepStrictEqual(yield* textsOfBot(dialog), ["4", "a", "b"])
    }).pipe(Effect.provide(layer))
  )
})

describe("the priority of live messages", () => {
  it.effect("gives chats the same number of edits if the limit of the host does not suffice for all", () =>
    Effect.gen(function* () {
      const people = yield* Effect.forEach(
        Array.from({ length: 25 }, (_, index) => `Person ${index}`),
        Emulator.user
      )
      const dialogs = yield* Effect.forEach(people, (person) => person.start())
      yield* Effect.forEach(dialogs, ({ chat_id }) =>
        Effect.forkChild(LiveMessage.send({ chat_id }, ticking(words(800), 25)))
      )
      yield* seconds(20)
      const edited = (yield* Emulator.requests).filter(({ endpoint }) => endpoint === "Messages.edit")
      const counts = dialogs.map((dialog) => edited.filter(({ chat_id }) => chat_id === dialog.chat_id).length)
      assert.isAbove(edited.length, 500)
      assert.isAtMost(Math.max(...counts) - Math.min(...counts), 2, counts.join(", "))
    }).pipe(Effect.provide(layer))
  )

  it.effect("lets replies of other chats go first", () =>
    Effect.gen(function* () {
      const people = yield* Effect.forEach(
        Array.from({ length: 40 }, (_, index) => `Person ${index}`),
        Emulator.user
      )
      const dialogs = yield* Effect.forEach(people, (person) => person.start())
      yield* Effect.forEach(dialogs, ({ chat_id }) =>
        Effect.forkChild(LiveMessage.send({ chat_id }, ticking(words(400), 25)))
      )
      yield* seconds(5)
      const before = (yield* Emulator.requests).length
      yield* seconds(2)
      assert.isAbove((yield* Emulator.requests).length - before, 55)
      const bob = yield* Emulator.user("Bob")
      const dialog = yield* bob.start()
      yield* Effect.forkChild(
        Messages.send({ chat_id: dialog.chat_id, text: "Hello" }).pipe(RateLimiter.withPriority("reply"))
      )
      yield* TestClock.adjust(100)
      assert.deepStrictEqual(yield* textsOfBot(dialog), ["Hello"])
    }).pipe(Effect.provide(layer))
  )
})
