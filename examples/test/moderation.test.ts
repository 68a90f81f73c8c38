import { Inbox, LongPolling } from "@colloquy/core"
import { Emulator } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { bot } from "../src/moderation.ts"

// The clock is the TestClock.
const platform = LongPolling.layer().pipe(Layer.provideMerge(Emulator.layerBot()))

/** A group chat of Olga with the bot as an administrator, and a person who can join it. */
const setting = Effect.gen(function* () {
  const olga = yield* Emulator.user("Olga")
  const ben = yield* Emulator.user("Ben")
  const group = yield* Emulator.chat({ owner: olga, bot: { admin: true } })
  yield* Effect.forkScoped(bot)
  return { olga, ben, group }
})

const wait = TestClock.adjust("3 seconds")

describe("the moderation bot", () => {
  it.effect("removes a newcomer who does not press the button within a minute, and the messages until then", () =>
    Effect.gen(function* () {
      const { ben, group, olga } = yield* setting
      yield* ben.join(group)
      assert.strictEqual((yield* olga.reply).body?.text, "Welcome, Ben! Please press the button within 1m.")
      yield* ben.send(group, "Buy my tea")
      yield* olga.next("Removed")
      yield* TestClock.adjust("50 seconds")
      yield* ben.send(group, "Buy it now")
      yield* olga.next("Removed")
      yield* TestClock.adjust("20 seconds")
      assert.strictEqual((yield* olga.reply).body?.text, "Ben did not press the button in time.")
      assert.include((yield* Effect.flip(ben.send(group, "hello"))).reason, "they are not in chat")
      yield* ben.join(group)
      assert.include((yield* olga.reply).body?.text, "Welcome, Ben!")
    }).pipe(Effect.provide(platform))
  )

  it.effect("keeps a newcomer who presses the button, which no other member can press", () =>
    Effect.gen(function* () {
      const { ben, group, olga } = yield* setting
      yield* ben.join(group)
      const welcome = yield* olga.reply
      yield* olga.press(welcome, "I am a person")
      assert.strictEqual(yield* olga.notification, "This question is for somebody else.")
      yield* ben.press(welcome, "I am a person")
      assert.strictEqual((yield* olga.reply).body?.text, "Welcome! Please be kind.")
      yield* TestClock.adjust("5 minutes")
      yield* ben.send(group, "hello")
      yield* wait
      assert.strictEqual((yield* Emulator.messages(group)).at(-1)?.body?.text, "hello")
    }).pipe(Effect.provide(platform))
  )

  it.effect("forgets a newcomer who leaves", () =>
    Effect.gen(function* () {
      const { ben, group, olga } = yield* setting
      yield* ben.join(group)
      yield* olga.reply
      yield* ben.leave(group)
      // The button is removed.
      yield* olga.next("Edited")
      yield* TestClock.adjust("5 minutes")
      assert.deepStrictEqual(yield* olga.unread, [])
    }).pipe(Effect.provide(platform))
  )

  it.effect("removes a member after three warnings of an administrator, and ignores warnings of others", () =>
    Effect.gen(function* () {
      const { ben, group, olga } = yield* setting
      yield* ben.join(group)
      yield* ben.press(yield* olga.reply, "I am a person")
      yield* olga.next("Edited")
      assert.strictEqual((yield* olga.reply).body?.text, "Welcome! Please be kind.")
      const { body } = yield* ben.send(group, "Buy my tea")
      const link = { type: "reply", mid: body!.mid } as const
      const warn = olga.send(group, "/warn", { link })
      yield* ben.send(group, "/warn", { link })
      yield* wait
      assert.deepStrictEqual(yield* olga.unread, [])
      yield* olga.send(group, "/warn")
      assert.strictEqual((yield* olga.reply).body?.text, "Reply to a message with /warn.")
      const answers = yield* Effect.forEach([1, 2, 3, 4], () => Effect.andThen(warn, olga.reply))
      assert.deepStrictEqual(
        answers.map(({ body }) => body?.text),
        [
          "Ben, this is warning 1 of 3.",
          "Ben, this is warning 2 of 3.",
          "Ben was removed after 3 warnings.",
          "Ben, this is warning 1 of 3."
        ]
      )
      assert.include((yield* Effect.flip(ben.send(group, "hello"))).reason, "they are not in chat")
      const lists = (yield* Emulator.requests).filter(({ path }) => path.endsWith("/members/admins"))
      assert.strictEqual(lists.length, 1)
    }).pipe(Effect.provide(platform))
  )

  it.effect("goes on in a chat in which it is no administrator", () =>
    Effect.gen(function* () {
      const { ben, olga } = yield* setting
      const group = yield* Emulator.chat({ owner: olga, bot: { admin: false } })
      yield* ben.join(group)
      yield* olga.reply
      yield* ben.send(group, "Buy my tea")
      yield* TestClock.adjust("2 minutes")
      yield* ben.send(group, "Still here")
      yield* wait
      assert.strictEqual((yield* Emulator.messages(group)).at(-1)?.body?.text, "Still here")
      // The newcomer is no longer waited for.
      const removals = (yield* Emulator.requests).filter(({ endpoint }) => endpoint === "Messages.remove")
      assert.strictEqual(removals.length, 1)
      const { deadLetters, queued } = yield* Inbox.Inbox.use(({ stats }) => stats)
      assert.deepStrictEqual([deadLetters, queued], [0, 0])
    }).pipe(Effect.provide(platform))
  )
})
