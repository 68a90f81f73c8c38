import { Bot, LongPolling, type Message } from "@colloquy/core"
import { Emulator } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as Payments from "../src/services/payments.ts"
import { parts } from "../src/shop.ts"

// The clock is the TestClock.
const platform = LongPolling.layer().pipe(Layer.provideMerge(Emulator.layerBot()))

const textOf = (message: Message.Message) => message.body?.text

/** A customer who has opened the shop, and the staff with its group. */
const setting = Effect.gen(function* () {
  const ann = yield* Emulator.user("Ann")
  const olga = yield* Emulator.user("Olga")
  const group = yield* Emulator.chat({ owner: olga, bot: { admin: true } })
  const config = ConfigProvider.fromUnknown({ STAFF_CHAT: String(group.chat_id) })
  const payments = new Map<string, number>()
  yield* Bot.run(parts).pipe(
    Effect.provideService(ConfigProvider.ConfigProvider, config),
    Effect.provideService(Payments.Payments, Payments.makeMemory(payments)),
    Effect.forkScoped
  )
  yield* ann.start()
  assert.strictEqual(textOf(yield* ann.reply), "Send /shop to open the shop.")
  yield* ann.send("/shop")
  const shop = yield* ann.reply
  assert.strictEqual(textOf(shop), "Your cart is empty.")
  const press = (message: Message.Message, button: string) =>
    Effect.map(Effect.andThen(ann.press(message, button), ann.next("Edited")), (edited) => edited.message)
  return { ann, olga, shop, press, payments }
})

describe("the shop", () => {
  it.effect("sells what is in the cart once, tells the staff, and reminds the customer of the order", () =>
    Effect.gen(function* () {
      const { ann, olga, payments, press, shop } = yield* setting
      yield* press(shop, "Tea 4 €")
      const cart = yield* press(shop, "Cake 5 €")
      assert.strictEqual(textOf(cart), "Your cart: Tea, Cake")
      yield* ann.press(cart, "Pay 9 €")
      yield* ann.press(cart, "Pay 9 €")
      assert.strictEqual(textOf((yield* ann.next("Edited")).message), "Thank you! Your order has the number 1001.")
      const order = yield* olga.reply
      assert.strictEqual(textOf(order), "Order 1001: Tea, Cake")
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual([...payments.values()], [9])
      assert.deepStrictEqual(
        (yield* ann.unread).map(({ _tag }) => _tag),
        ["Notification"]
      )
      yield* olga.press(order, "Ready")
      const ready = yield* ann.reply
      assert.strictEqual(textOf(ready), "Your order 1001 is ready.")
      yield* TestClock.adjust("30 minutes")
      assert.strictEqual(textOf(yield* ann.reply), "Your order 1001 is waiting for you.")
      yield* ann.press(ready, "I have it")
      assert.strictEqual(textOf((yield* ann.next("Edited")).message), "Thank you for your visit.")
    }).pipe(Effect.provide(platform))
  )

  it.effect("does not remind who has collected the order, and counts a second press of the staff as late", () =>
    Effect.gen(function* () {
      const { ann, olga, press, shop } = yield* setting
      yield* ann.press(yield* press(shop, "Mug 8 €"), "Pay 8 €")
      const order = yield* olga.reply
      yield* olga.press(order, "Ready")
      yield* olga.press(order, "Ready")
      yield* ann.press(yield* ann.reply, "I have it")
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* olga.notification, "This order is ready already.")
      yield* ann.unread
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(yield* ann.unread, [])
    }).pipe(Effect.provide(platform))
  )

  it.effect("keeps the cart if the payment is declined, and charges no other amount than the button says", () =>
    Effect.gen(function* () {
      const { ann, payments, press, shop } = yield* setting
      const one = yield* press(shop, "Mug 8 €")
      yield* press(one, "Mug 8 €")
      const three = yield* press(one, "Mug 8 €")
      yield* ann.press(three, "Pay 24 €")
      assert.strictEqual(yield* ann.notification, "Your payment was declined.")
      yield* ann.send("/shop")
      const again = yield* ann.reply
      assert.strictEqual(textOf(again), "Your cart: Mug, Mug, Mug")
      yield* press(again, "Empty")
      yield* press(again, "Tea 4 €")
      yield* ann.press(three, "Pay 24 €")
      assert.strictEqual(yield* ann.notification, "This menu was out of date and has been updated.")
      assert.strictEqual(payments.size, 0)
    }).pipe(Effect.provide(platform))
  )
})
