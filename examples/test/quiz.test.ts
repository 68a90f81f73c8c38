import { LongPolling } from "@colloquy/core"
import { Emulator } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { bot } from "../src/quiz.ts"

// The clock is the TestClock.
const platform = LongPolling.layer().pipe(Layer.provideMerge(Emulator.layerBot()))

/** A group of Ann and Ben in which Ann has started a quiz, and its first question. */
const setting = Effect.gen(function* () {
  const ann = yield* Emulator.user("Ann")
  const ben = yield* Emulator.user("Ben")
  const group = yield* Emulator.chat({ owner: ann, members: [ben], bot: { admin: true } })
  yield* Effect.forkScoped(bot)
  yield* ann.send(group, "/quiz")
  const first = yield* ann.reply
  assert.strictEqual(first.body?.text, "What is the capital of Australia?")
  return { ann, ben, group, first }
})

describe("the quiz bot", () => {
  it.effect("gives a point to the first who is right, and one chance to each member", () =>
    Effect.gen(function* () {
      const { ann, ben, first, group } = yield* setting
      yield* ben.press(first, "Perth")
      assert.strictEqual(yield* ben.notification, "That is wrong.")
      yield* ben.press(first, "Canberra")
      assert.strictEqual(yield* ben.notification, "You have had your chance.")
      yield* ann.press(first, "Canberra")
      const { message } = yield* ben.next("Edited")
      assert.strictEqual(message.body?.text, "What is the capital of Australia?\nAnn is right: Canberra.")
      const second = yield* ann.reply
      yield* ben.press(second, "Eight")
      yield* ben.press(second, "Eight")
      assert.strictEqual(yield* ben.notification, "This question is over.")
      const third = yield* ann.reply
      yield* ben.press(third, "Mercury")
      yield* ann.press(third, "Mercury")
      assert.strictEqual(yield* ann.notification, "This question is over.")
      yield* ann.send(group, "/best")
      assert.strictEqual((yield* ann.reply).body?.text, "Ben: 2\nAnn: 1")
    }).pipe(Effect.provide(platform))
  )

  it.effect("asks the next question after 30 seconds, and ends after the last one", () =>
    Effect.gen(function* () {
      const { ann, ben, first, group } = yield* setting
      yield* TestClock.adjust("20 seconds")
      yield* ben.press(first, "Perth")
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual((yield* ann.reply).body?.text, "Nobody was right: Canberra.")
      assert.strictEqual((yield* ann.reply).body?.text, "How many legs does a spider have?")
      yield* TestClock.adjust("30 seconds")
      assert.strictEqual((yield* ann.reply).body?.text, "Nobody was right: Eight.")
      const third = yield* ann.reply
      yield* TestClock.adjust("30 seconds")
      assert.strictEqual((yield* ann.reply).body?.text, "Nobody was right: Mercury.")
      yield* TestClock.adjust("1 minute")
      yield* ann.press(third, "Mercury")
      assert.strictEqual(yield* ann.notification, "This question is over.")
      yield* ann.send(group, "/best")
      assert.strictEqual((yield* ann.reply).body?.text, "Nobody has points yet.")
    }).pipe(Effect.provide(platform))
  )

  it.effect("begins again with /quiz, and then the buttons of the first quiz do not count", () =>
    Effect.gen(function* () {
      const { ann, first, group } = yield* setting
      yield* ann.send(group, "/quiz")
      assert.strictEqual((yield* ann.reply).body?.text, "What is the capital of Australia?")
      yield* ann.press(first, "Canberra")
      assert.strictEqual(yield* ann.notification, "This question is over.")
    }).pipe(Effect.provide(platform))
  )
})
