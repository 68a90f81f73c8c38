import { Handler, Inbox, LongPolling, Messages, State, Updates } from "@colloquy/core"
import { Emulator } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"

const layer = LongPolling.layer().pipe(Layer.provideMerge(Emulator.layerBot()))

const Orders = State.make("orders", Schema.Int, { of: "user", initial: () => 0 })

const InChat = State.make("inChat", Schema.Int, { of: "userInChat", initial: () => 0 })

const increment = (count: number) => count + 1

/** Runs a bot while something happens, and for two more minutes. */
const during = <E, R, E2, R2>(bot: Effect.Effect<void, E, R>, what: Effect.Effect<unknown, E2, R2>) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(bot, { startImmediately: true })
    yield* TestClock.adjust("1 second")
    yield* what
    yield* TestClock.adjust("2 minutes")
    yield* Fiber.interrupt(fiber)
  })

const textsOfBot = Effect.fnUntraced(function* (chat: Parameters<typeof Emulator.messages>[0]) {
  const messages = yield* Emulator.messages(chat)
  return messages.filter(({ sender }) => sender?.is_bot === true).map(({ body }) => body?.text)
})

describe("the state of a bot on the emulator", () => {
  it.effect("is kept between updates, and needs nothing but the layer of the bot", () =>
    Effect.gen(function* () {
      const ann = yield* Emulator.user("Ann")
      const bob = yield* Emulator.user("Bob")
      const dialog = yield* ann.start()
      const other = yield* bob.start()
      const count = Updates.on("message_created", (update) =>
        Effect.flatMap(Orders.update(increment), (count) => Messages.reply(update, `Order ${count}`))
      )
      yield* during(
        Updates.run(count),
        Effect.gen(function* () {
          yield* ann.send("tea")
          yield* bob.send("milk")
          yield* ann.send("bread")
        })
      )
      assert.deepStrictEqual(yield* textsOfBot(dialog), ["Order 1", "Order 2"])
      assert.deepStrictEqual(yield* textsOfBot(other), ["Order 1"])
    }).pipe(Effect.provide(layer))
  )

  it.effect(
    "is not changed by attempts that fail, and a handler that runs again because of a conflict sends once",
    () =>
      Effect.gen(function* () {
        const ann = yield* Emulator.user("Ann")
        const dialog = yield* ann.start()
        const group = yield* Emulator.chat({ members: [ann] })
        let runs = 0
        const order = Updates.on("message_created", (update) =>
          Effect.gen(function* () {
            runs++
            const count = yield* Orders.get
            yield* Messages.reply(update, "Order accepted")
            yield* Effect.sleep("1 second")
            if ((yield* Handler.CurrentAttempt) === 1) return yield* Effect.fail("not yet")
            yield* Orders.set(count + 1)
            yield* InChat.update(increment)
          })
        )
        yield* during(Updates.run(order), Effect.all([ann.send("tea"), ann.send(group, "milk")], { concurrency: 2 }))
        const { user_id } = ann.user
        const values = yield* Effect.all([
          Orders.at({ user_id }).get,
          Effect.forEach([dialog, group], ({ chat_id }) => InChat.at({ chat_id, user_id }).get)
        ])
        assert.deepStrictEqual(values, [2, [1, 1]])
        assert.deepStrictEqual(
          [yield* textsOfBot(dialog), yield* textsOfBot(group)],
          [["Order accepted"], ["Order accepted"]]
        )
        // Two attempts of two updates, and one that ran again.
        assert.strictEqual(runs, 5)
        const { deadLetters } = yield* Inbox.Inbox.use(({ stats }) => stats)
        assert.strictEqual(deadLetters, 0)
      }).pipe(Effect.provide(layer))
  )
})
