import { Answers, Bot, Handler, Inbox, LongPolling, Messages, RetryPolicy, type Update } from "@colloquy/core"
import { Emulator } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import * as Scene from "../../../../testing/test/support/scene.ts"

describe("an answer", () => {
  const platform = LongPolling.layer().pipe(Layer.provideMerge(Emulator.layerBot()))

  const inTime = <A, E, R>(program: Effect.Effect<A, E, R>) =>
    Effect.raceFirst(program, Effect.forever(TestClock.adjust("1 second")))

  /** Handles callbacks until none is queued. Returns the errors of the dead letters. */
  const handling = <E, R>(handle: (update: Update.Of<"message_callback">) => Effect.Effect<unknown, E, R>) =>
    Effect.gen(function* () {
      const inbox = yield* Inbox.Inbox
      const untilEmpty = Effect.repeat(inbox.stats, {
        until: ({ queued }) => queued === 0,
        schedule: Schedule.spaced("1 second")
      })
      const bot = Bot.run(Handler.on("message_callback", handle))
      yield* inTime(Effect.raceFirst(bot, Effect.delay(untilEmpty, "1 second")))
      const deadLetters = yield* Stream.runCollect(Inbox.deadLetters)
      return deadLetters.map(({ error }) => error)
    })

  const notifications = Effect.map(
    Emulator.seen,
    (events) => events.filter(({ _tag }) => _tag === "Notification").length
  )

  it.effect("succeeds in an attempt after the attempt that has answered", () =>
    Effect.gen(function* () {
      const { asked, visitor } = yield* Scene.make
      yield* visitor.press(asked, "Yes")
      yield* Emulator.setFaults([{ endpoint: "Messages.send", nth: 1, status: 500 }])
      const seen: Array<number> = []
      const errors = yield* handling((update) =>
        Effect.gen(function* () {
          seen.push(yield* Handler.CurrentAttempt)
          yield* Answers.answer(update, "Thank you")
          yield* Messages.reply(update, "Done")
        }).pipe(RetryPolicy.override(RetryPolicy.none))
      )
      assert.deepStrictEqual(errors, [])
      assert.deepStrictEqual(seen, [1, 2])
      assert.strictEqual(yield* notifications, 1)
      const texts = (yield* Emulator.messages(asked.recipient.chat_id!)).map(({ body }) => body?.text)
      assert.lengthOf(
        texts.filter((text) => text === "Done"),
        1
      )
    }).pipe(Effect.provide(platform))
  )

  it.effect("succeeds in an attempt after one whose answer may have been sent, because its result was lost", () =>
    Effect.gen(function* () {
      const { asked, visitor } = yield* Scene.make
      yield* visitor.press(asked, "Yes")
      yield* Emulator.setFaults([{ endpoint: "Answers.send", nth: 1, reset: "after" }])
      assert.deepStrictEqual(yield* handling((update) => Answers.answer(update, "Thank you")), [])
      assert.strictEqual(yield* notifications, 1)
    }).pipe(Effect.provide(platform))
  )

  it.effect("succeeds after the replay of a dead letter whose handler has answered", () =>
    Effect.gen(function* () {
      const { asked, visitor } = yield* Scene.make
      yield* visitor.press(asked, "Yes")
      let isBroken = true
      const handle = (update: Update.Of<"message_callback">) =>
        Effect.andThen(
          Answers.answer(update, "Thank you"),
          Effect.suspend(() => (isBroken ? Effect.fail("broken") : Effect.void))
        )
      assert.lengthOf(yield* handling(handle), 1)
      isBroken = false
      const [{ id }] = yield* Stream.runCollect(Inbox.deadLetters)
      assert.isTrue(yield* Inbox.replay(id))
      assert.deepStrictEqual(yield* handling(handle), [])
      assert.strictEqual(yield* notifications, 1)
    }).pipe(Effect.provide(platform))
  )

  it.effect("succeeds after a restart when the shutdown interrupted the handler that has answered", () =>
    Effect.gen(function* () {
      const { asked, visitor } = yield* Scene.make
      yield* visitor.press(asked, "Yes")
      const answered = yield* Latch.make(false)
      const hanging = Bot.run(
        Handler.on("message_callback", (update) =>
          Answers.answer(update, "Thank you").pipe(Effect.andThen(answered.open), Effect.andThen(Effect.never))
        )
      )
      const fiber = yield* Effect.forkChild(hanging)
      yield* inTime(answered.await)
      yield* inTime(Fiber.interrupt(fiber))
      assert.deepStrictEqual(yield* handling((update) => Answers.answer(update, "Thank you")), [])
      assert.strictEqual(yield* notifications, 1)
    }).pipe(Effect.provide(platform))
  )

  it.effect("succeeds after the process that has answered was killed", () =>
    Effect.gen(function* () {
      const { asked, visitor } = yield* Scene.make
      const { receive, store } = yield* Inbox.Inbox
      yield* visitor.press(asked, "Yes")
      const update = (yield* Emulator.updates).find(({ update_type }) => update_type === "message_callback")!
      yield* receive([{ decoded: Result.succeed(update) }])
      yield* store.claim({ owner: "killed", leaseDuration: 0, maxPartitions: 1, maxUpdates: 1, begin: 1 })
      yield* Answers.answer(update as Update.Of<"message_callback">, "Thank you")
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(yield* handling((update) => Answers.answer(update, "Thank you")), [])
    }).pipe(Effect.provide(platform))
  )

  it.effect("fails with MethodNotAllowed if something else has answered, and if the same attempt answers twice", () =>
    Effect.gen(function* () {
      const { asked, visitor } = yield* Scene.make
      const callback_id = yield* visitor.press(asked, "Yes")
      yield* Answers.send({ callback_id: callback_id!, notification: "Thank you" })
      assert.include((yield* handling((update) => Answers.answer(update, "Again")))[0], "MethodNotAllowed")
      yield* visitor.press(asked, "Yes")
      const errors = yield* handling((update) =>
        Effect.andThen(Answers.answer(update, "Once"), Answers.answer(update, "Twice"))
      )
      assert.include(errors[1], "MethodNotAllowed")
    }).pipe(Effect.provide(platform))
  )
})
