import { Inbox, LongPolling } from "@colloquy/core"
import { Emulator } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { bot } from "../src/desk.ts"

// The clock is the TestClock.
const platform = LongPolling.layer().pipe(Layer.provideMerge(Emulator.layerBot()))

/** A customer, the staff with its group, and the bot. */
const setting = Effect.gen(function* () {
  const ann = yield* Emulator.user("Ann")
  const olga = yield* Emulator.user("Olga")
  const group = yield* Emulator.chat({ owner: olga, bot: { admin: true } })
  const config = ConfigProvider.fromUnknown({ STAFF_CHAT: String(group.chat_id) })
  yield* Effect.forkScoped(Effect.provideService(bot, ConfigProvider.ConfigProvider, config))
  return { ann, olga, group }
})

describe("the desk bot", () => {
  it.effect("forwards a question with its files to the staff, and sends the answer to the customer", () =>
    Effect.gen(function* () {
      const { ann, group, olga } = yield* setting
      yield* ann.send("Where is my **order**?", { format: "markdown", attachments: [{ type: "image" }] })
      assert.strictEqual((yield* ann.reply).body?.text, "Thank you. We will answer soon.")
      const question = yield* olga.reply
      assert.deepInclude(question.link, { type: "forward" })
      assert.strictEqual(question.link?.message?.text, "Where is my order?")
      const link = { type: "reply", mid: question.body!.mid } as const
      yield* olga.send(group, "It arrives _today_.", { format: "markdown", link })
      const answer = yield* ann.reply
      assert.deepInclude(answer.body, {
        text: "It arrives today.",
        markup: [{ type: "emphasized", from: 11, length: 5 }]
      })
      assert.isUndefined(answer.link)
      assert.strictEqual((yield* olga.reply).body?.text, "Sent.")
      yield* olga.send(group, "Who else?")
      assert.strictEqual((yield* olga.reply).body?.text, "Reply to a question to answer it.")
    }).pipe(Effect.provide(platform))
  )

  it.effect("lists who waits, the longest first, and thanks a customer once until the answer", () =>
    Effect.gen(function* () {
      const { ann, group, olga } = yield* setting
      const ben = yield* Emulator.user("Ben")
      const waiting = Effect.gen(function* () {
        yield* olga.send(group, "/waiting")
        return (yield* olga.reply).body?.text
      })
      assert.strictEqual(yield* waiting, "Nobody waits.")
      yield* ben.send("Are you open?")
      const question = yield* olga.reply
      yield* ben.reply
      yield* TestClock.adjust("1 minute")
      yield* ann.send("Hello")
      yield* olga.reply
      yield* ann.reply
      yield* ann.send("Is anybody there?")
      yield* olga.reply
      assert.strictEqual(yield* waiting, "Ben\nAnn")
      yield* olga.send(group, "Yes", { link: { type: "reply", mid: question.body!.mid } })
      yield* olga.reply
      assert.strictEqual(yield* waiting, "Ann")
      assert.deepStrictEqual(yield* ann.unread, [])
    }).pipe(Effect.provide(platform))
  )

  it.effect("says that a customer has stopped the bot, and does not list the customers to others", () =>
    Effect.gen(function* () {
      const { ann, group, olga } = yield* setting
      yield* ann.send("Where is my order?")
      const question = yield* olga.reply
      yield* ann.reply
      yield* ann.send("/waiting")
      const command = yield* olga.reply
      assert.strictEqual(command.link?.message?.text, "/waiting")
      yield* ann.stop
      yield* olga.send(group, "It arrives today.", { link: { type: "reply", mid: question.body!.mid } })
      assert.strictEqual((yield* olga.reply).body?.text, "The customer has stopped the bot.")
      yield* TestClock.adjust("1 second")
      const { deadLetters, queued } = yield* Inbox.Inbox.use(({ stats }) => stats)
      assert.deepStrictEqual([deadLetters, queued], [0, 0])
    }).pipe(Effect.provide(platform))
  )
})
