import { Bot, Conversation, Inbox, LongPolling, type Message } from "@colloquy/core"
import { Emulator, type Person } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Stream } from "effect"
import { TestClock } from "effect/testing"
import { bot, parts, Pizza } from "../src/pizza.ts"
import * as Payments from "../src/services/payments.ts"

// The clock is the TestClock.
const environment = LongPolling.layer().pipe(Layer.provideMerge(Emulator.layerBot()))

const textOf = (message: Message.Message) => message.body?.text

const buttonsOf = (message: Message.Message) =>
  (message.body?.attachments ?? []).flatMap((attachment) =>
    attachment.type === "inline_keyboard"
      ? attachment.payload.buttons.flat().map((button) => (button.type === "callback" ? button.text : button.type))
      : []
  )

const edited = (person: Person.Person) => Effect.map(person.next("Edited"), ({ message }) => message)

const start = Effect.fnUntraced(function* (name: string) {
  const person = yield* Emulator.user(name)
  yield* person.start()
  assert.strictEqual(textOf(yield* person.reply), "Send /order to order a pizza.")
  yield* person.send("/order")
  return { person, size: yield* person.reply }
})

/** The number of orders that are not finished, after everything is handled. */
const running = TestClock.adjust("1 second").pipe(
  Effect.andThen(Stream.runCollect(Conversation.stream(Pizza))),
  Effect.map((all) => all.length)
)

describe("the pizza bot", () => {
  it.effect("takes an order by buttons and texts, and edits the keyboard while toppings are chosen", () =>
    Effect.gen(function* () {
      yield* Effect.forkScoped(bot)
      const { person: ann, size } = yield* start("Ann")
      assert.deepStrictEqual([textOf(size), buttonsOf(size)], ["Which size?", ["Small", "Medium", "Large"]])
      yield* ann.press(size, "Medium")
      const closed = yield* edited(ann)
      assert.deepStrictEqual([textOf(closed), buttonsOf(closed)], ["Which size?\n✓ Medium", []])
      const toppings = yield* ann.reply
      assert.deepStrictEqual(buttonsOf(toppings), ["Extra cheese", "Ham", "Mushrooms", "Olives", "Done", "Back"])
      yield* ann.press(toppings, "Ham")
      const chosen = yield* edited(ann)
      assert.deepStrictEqual(buttonsOf(chosen), ["Extra cheese", "✓ Ham", "Mushrooms", "Olives", "Done", "Back"])
      yield* ann.press(chosen, "Olives")
      yield* ann.press(yield* edited(ann), "Done")
      assert.deepStrictEqual(buttonsOf(yield* edited(ann)), [])
      assert.strictEqual(textOf(yield* ann.reply), "Where to?")
      yield* ann.send("home")
      assert.include(textOf(yield* ann.reply), "it needs a street and a number")
      yield* ann.send("Long Lane 7")
      const summary = yield* ann.reply
      assert.strictEqual(textOf(summary), "A medium pizza with ham, olives to Long Lane 7 for 16 euros. Is that right?")
      yield* ann.press(summary, "Yes")
      assert.strictEqual(textOf(yield* ann.reply), "Thank you! Your order has the number 1001.")
      assert.strictEqual(yield* running, 0)
    }).pipe(Effect.provide(environment))
  )

  it.effect("serves two people at once, begins again if the order is not right, and can be cancelled at any time", () =>
    Effect.gen(function* () {
      yield* Effect.forkScoped(bot)
      const { person: ann, size: annSize } = yield* start("Ann")
      const { person: bob, size: bobSize } = yield* start("Bob")
      yield* ann.press(annSize, "Small")
      yield* bob.press(bobSize, "Large")
      yield* ann.press(yield* ann.reply, "Done")
      yield* bob.send("/cancel")
      yield* ann.reply
      yield* ann.send("Hill Road 1")
      const summary = yield* ann.reply
      assert.strictEqual(textOf(summary), "A small pizza with nothing on it to Hill Road 1 for 9 euros. Is that right?")
      yield* ann.press(summary, "No")
      assert.strictEqual(textOf(yield* ann.reply), "Which size?")
      yield* bob.reply
      assert.strictEqual(textOf(yield* bob.reply), "The order is cancelled.")
      assert.strictEqual(yield* running, 1)
    }).pipe(Effect.provide(environment))
  )

  it.effect("charges once although the first answer of the platform is lost, and again after a declined payment", () =>
    Effect.gen(function* () {
      const payments = new Map<string, number>()
      yield* Effect.forkScoped(Effect.provideService(Bot.run(parts), Payments.Payments, Payments.makeMemory(payments)))
      const { person: ann, size } = yield* start("Ann")
      yield* ann.press(size, "Large")
      yield* edited(ann)
      let toppings = yield* ann.reply
      for (const topping of ["Ham", "Olives", "Mushrooms"]) {
        yield* ann.press(toppings, topping)
        toppings = yield* edited(ann)
      }
      yield* ann.press(toppings, "Done")
      yield* ann.reply
      yield* ann.send("Hill Road 1")
      yield* ann.press(yield* ann.reply, "Yes")
      assert.strictEqual(textOf(yield* ann.reply), "Your payment was declined.")
      assert.strictEqual(payments.size, 0)
      yield* ann.press(yield* ann.reply, "Large")
      yield* ann.press(yield* ann.reply, "Done")
      yield* ann.reply
      yield* ann.send("Hill Road 1")
      const summary = yield* ann.reply
      yield* Emulator.setFaults([{ endpoint: "Messages.send", status: 500, times: 1 }])
      yield* ann.press(summary, "Yes")
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(textOf(yield* ann.reply), "Thank you! Your order has the number 1001.")
      assert.deepStrictEqual([...payments.values()], [15])
    }).pipe(Effect.provide(environment))
  )

  it.effect(
    "ends after ten minutes of silence, and not a minute earlier, although the process was stopped meanwhile",
    () =>
      Effect.gen(function* () {
        const first = yield* Effect.forkScoped(bot)
        const { person: ann, size } = yield* start("Ann")
        yield* TestClock.adjust("1 second")
        yield* Fiber.interrupt(first)
        yield* TestClock.adjust("5 minutes")
        yield* Effect.forkScoped(bot)
        yield* ann.press(size, "Small")
        const toppings = yield* ann.reply
        yield* TestClock.adjust("9 minutes")
        assert.strictEqual(yield* running, 1)
        yield* TestClock.adjust("1 minute")
        assert.strictEqual(textOf(yield* ann.reply), "I have not heard from you, so I forget the order.")
        const messages = yield* Emulator.messages(yield* ann.dialog)
        assert.deepStrictEqual(messages.flatMap(buttonsOf), [])
        assert.include(
          messages.map(({ body }) => body?.mid),
          toppings.body?.mid
        )
        const { deadLetters, queued } = yield* Inbox.Inbox.use(({ stats }) => stats)
        assert.deepStrictEqual([yield* running, deadLetters, queued], [0, 0, 0])
      }).pipe(Effect.provide(environment))
  )
})
