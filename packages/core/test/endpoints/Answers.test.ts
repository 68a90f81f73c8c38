import { Answers, Messages, RateLimiter } from "@colloquy/core"
import { Emulator, EmulatorOptions, Fixtures, TestBotApi } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Ref from "effect/Ref"
import * as TestClock from "effect/testing/TestClock"

const button = { type: "callback" as const, text: "Yes", payload: "yes" }

/** The callbacks of six clicks in one dialog, and the statuses of all answers to them. */
const sixCallbacks = Effect.gen(function* () {
  const statuses: Array<number> = []
  const emulator = yield* Emulator.Emulator
  yield* emulator.intercept((request, response) =>
    Effect.tap(response, ({ status }) =>
      Effect.sync(() => {
        if (request.path === "/answers") statuses.push(status)
      })
    )
  )
  const ann = yield* emulator.user("Ann")
  yield* ann.start()
  const question = yield* Messages.send({
    user_id: ann.user_id,
    text: "Sure?",
    attachments: [{ type: "inline_keyboard", payload: { buttons: [[button]] } }]
  })
  const callbacks = yield* Effect.forEach(Array.from({ length: 6 }), () => ann.press(question.body!.mid, "Yes"))
  return { callbacks: callbacks.map((id) => id!), question, statuses }
})

const concurrently = <A, E, R>(effects: ReadonlyArray<Effect.Effect<A, E, R>>) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(Effect.all(effects, { concurrency: "unbounded" }))
    yield* TestClock.adjust("1 minute")
    return yield* Fiber.join(fiber)
  })

const limited = Emulator.layerBot({ limits: EmulatorOptions.platformLimits, clientLimits: RateLimiter.defaults })

describe("Answers.answer", () => {
  it.effect("answers with the id of the callback, by a notification or a content", () =>
    Effect.gen(function* () {
      const answers = yield* Ref.make<ReadonlyArray<unknown>>([])
      const bot = TestBotApi.layer(
        TestBotApi.on(Answers.send, (request) => Ref.update(answers, (all) => [...all, request]))
      )
      yield* Effect.gen(function* () {
        yield* Answers.answer(Fixtures.messageCallback({ callback_id: "c" }), "Thanks")
        yield* Answers.answer(Fixtures.messageCallback({ callback_id: "d" }), { message: { text: "Done" } })
      }).pipe(Effect.provide(bot))
      assert.deepStrictEqual(yield* Ref.get(answers), [
        { callback_id: "c", notification: "Thanks" },
        { callback_id: "d", message: { text: "Done" } }
      ])
    })
  )

  it.effect("counts in the chat of the update, also outside of Bot.run", () =>
    Effect.gen(function* () {
      const { callbacks, question, statuses } = yield* sixCallbacks
      yield* concurrently(
        callbacks.map((callback_id) =>
          Answers.answer({ ...Fixtures.messageCallback({ callback_id }), message: question }, "Thanks")
        )
      )
      assert.deepStrictEqual(
        statuses,
        callbacks.map(() => 200)
      )
    }).pipe(Effect.provide(limited))
  )
})

describe("Answers.send", () => {
  it.effect("counts together with all answers whose chat is unknown", () =>
    Effect.gen(function* () {
      const { callbacks, statuses } = yield* sixCallbacks
      yield* concurrently(callbacks.map((callback_id) => Answers.send({ callback_id, notification: "Thanks" })))
      assert.deepStrictEqual(
        statuses,
        callbacks.map(() => 200)
      )
    }).pipe(Effect.provide(limited))
  )
})
