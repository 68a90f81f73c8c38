import { Emulator } from "@colloquy/testing"
import { Effect } from "effect"
import * as Runner from "../runner/scenario.ts"

export const scenario: Runner.Scenario = Effect.gen(function* () {
  const ann = yield* Runner.user("Ann")
  const olga = yield* Runner.user("Olga")
  const group = yield* Emulator.chat({ owner: olga, bot: { admin: true } })
  const settings = { ...(yield* Runner.botSettings), STAFF_CHAT: String(group.chat_id) }
  const program = yield* Runner.start("shop", settings)
  yield* ann.opens
  yield* ann.sees
  yield* ann.says("/shop")
  const shop = yield* ann.sees
  if (shop._tag === "Message") yield* ann.does("(presses Tea 4 €)", ann.press(shop.message, "Tea 4 €"))
  const cart = yield* ann.sees
  if (cart._tag === "Edited") yield* ann.does("(presses Pay 4 €)", ann.press(cart.message, "Pay 4 €"))
  const order = yield* olga.sees
  yield* ann.sees
  if (order._tag === "Message") yield* olga.does("(presses Ready)", olga.press(order.message, "Ready"))
  const ready = yield* ann.sees
  yield* olga.sees
  if (ready._tag === "Message") yield* ann.does("(presses I have it)", ann.press(ready.message, "I have it"))
  yield* ann.sees
  yield* program.stop
})
