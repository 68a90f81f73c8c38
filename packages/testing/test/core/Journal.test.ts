import { Deliveries, Inbox, Journal, LongPolling, Messages, Updates } from "@colloquy/core"
import { Emulator } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"

const layer = LongPolling.layer().pipe(Layer.provideMerge(Emulator.layerBot()))

const noRetry = { retry: Schedule.recurs(0) }

/** Runs a bot for a time. */
const runFor = <E, R>(bot: Effect.Effect<void, E, R>, duration: "1 second" | "2 minutes") =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(bot, { startImmediately: true })
    yield* TestClock.adjust(duration)
    yield* Fiber.interrupt(fiber)
  })

const textsOfBot = Effect.fnUntraced(function* (chat_id: number) {
  const messages = yield* Emulator.messages({ chat_id } as Parameters<typeof Emulator.messages>[0])
  return messages.filter(({ sender }) => sender?.is_bot === true).map(({ body }) => body?.text)
})

const visitor = Effect.gen(function* () {
  const ann = yield* Emulator.user("Ann")
  const { recipient } = yield* ann.send("Hi")
  return { ann, chat_id: recipient.chat_id! }
})

describe("the journal of Updates.run", () => {
  it.effect("sends a message once if the handler fails five times after it", () =>
    Effect.gen(function* () {
      const { chat_id } = yield* visitor
      let attempts = 0
      const order = Updates.on("message_created", (update) =>
        Effect.gen(function* () {
          yield* Messages.reply(update, "Order accepted")
          if (++attempts <= 5) return yield* Effect.fail("not yet")
          yield* Messages.reply(update, "Order done")
        })
      )
      yield* runFor(Updates.run(order), "2 minutes")
      assert.strictEqual(attempts, 6)
      assert.deepStrictEqual(yield* textsOfBot(chat_id), ["Order accepted", "Order done"])
    }).pipe(Effect.provide(layer))
  )

  it.effect("carries out calls of fibers that outlive an update whose handler has called nothing", () =>
    Effect.gen(function* () {
      const { chat_id } = yield* visitor
      const later = Updates.on("message_created", (update) =>
        Effect.forkDetach(Effect.delay(Messages.reply(update, "Later"), "1 minute"))
      )
      yield* runFor(Updates.run(later), "2 minutes")
      assert.deepStrictEqual(yield* textsOfBot(chat_id), ["Later"])
    }).pipe(Effect.provide(layer))
  )

  it.effect("continues a dead letter that is replayed where its handler stopped", () =>
    Effect.gen(function* () {
      const { chat_id } = yield* visitor
      let runs = 0
      let isBroken = true
      const order = Updates.on("message_created", (update) =>
        Effect.gen(function* () {
          yield* Messages.reply(update, "Order accepted")
          const receipt = yield* Journal.step(
            "charge",
            Schema.Int,
            Effect.sync(() => ++runs)
          )
          if (isBroken) return yield* Effect.fail("broken")
          yield* Messages.reply(update, `Receipt ${receipt}`)
        })
      )
      yield* runFor(Updates.run(order, noRetry), "1 second")
      isBroken = false
      const [{ id }] = yield* Stream.runCollect(Inbox.deadLetters)
      yield* Inbox.replay(id)
      yield* runFor(Updates.run(order, noRetry), "1 second")
      assert.deepStrictEqual(yield* textsOfBot(chat_id), ["Order accepted", "Receipt 1"])
      assert.deepStrictEqual(yield* Stream.runCollect(Inbox.deadLetters), [])
    }).pipe(Effect.provide(layer))
  )

  it.effect("continues an update that was interrupted when the bot stopped", () =>
    Effect.gen(function* () {
      const { chat_id } = yield* visitor
      const order = (rest: Effect.Effect<void>) =>
        Updates.on("message_created", (update) => Effect.andThen(Messages.reply(update, "Order accepted"), rest))
      yield* runFor(Updates.run(order(Effect.never)), "1 second")
      yield* runFor(Updates.run(order(Effect.void)), "1 second")
      assert.deepStrictEqual(yield* textsOfBot(chat_id), ["Order accepted"])
      assert.strictEqual((yield* Inbox.Inbox.use(({ stats }) => stats)).queued, 0)
    }).pipe(Effect.provide(layer))
  )

  it.effect("sends equal messages of different updates", () =>
    Effect.gen(function* () {
      const { ann, chat_id } = yield* visitor
      yield* ann.send("Hi")
      yield* runFor(Updates.run(Updates.on("message_created", (update) => Messages.reply(update, "Hello"))), "1 second")
      assert.deepStrictEqual(yield* textsOfBot(chat_id), ["Hello", "Hello"])
    }).pipe(Effect.provide(layer))
  )

  it.effect("sends once what onDeadLetter sends, also if the dead letter is replayed and fails again", () =>
    Effect.gen(function* () {
      const { chat_id } = yield* visitor
      const bot = Updates.run(
        Updates.on("message_created", () => Effect.fail("broken")),
        { ...noRetry, onDeadLetter: () => Messages.send({ chat_id, text: "Sorry" }) }
      )
      yield* runFor(bot, "1 second")
      const [{ id }] = yield* Stream.runCollect(Inbox.deadLetters)
      yield* Inbox.replay(id)
      yield* runFor(bot, "1 second")
      assert.deepStrictEqual(yield* textsOfBot(chat_id), ["Sorry"])
    }).pipe(Effect.provide(layer))
  )
})

describe("the journal of deliveries", () => {
  it.effect("covers Deliveries.mapEffect", () =>
    Effect.gen(function* () {
      const { chat_id } = yield* visitor
      let failures = 2
      const bot = Updates.deliveries().pipe(
        Deliveries.on("message_created"),
        Deliveries.mapEffect((update) =>
          Effect.andThen(
            Messages.reply(update, "Order accepted"),
            Effect.suspend(() => (failures-- > 0 ? Effect.fail("not yet") : Effect.void))
          )
        ),
        Deliveries.runForEach(() => Effect.void)
      )
      yield* runFor(bot, "2 minutes")
      assert.deepStrictEqual(yield* textsOfBot(chat_id), ["Order accepted"])
    }).pipe(Effect.provide(layer))
  )
})
