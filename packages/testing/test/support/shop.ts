/** A bot that sells cakes, and the same bot with mistakes that bots really have. */
import * as Bot from "@colloquy/core/bot/Bot"
import * as Command from "@colloquy/core/bot/Command"
import * as Payload from "@colloquy/core/bot/Payload"
import * as Conversation from "@colloquy/core/dialog/Conversation"
import * as Answers from "@colloquy/core/endpoints/Answers"
import * as Messages from "@colloquy/core/endpoints/Messages"
import * as Handler from "@colloquy/core/inbox/Handler"
import * as Journal from "@colloquy/core/inbox/Journal"
import * as Keyboard from "@colloquy/core/model/Keyboard"
import * as Update from "@colloquy/core/model/Update"
import { assert } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as Schema from "effect/Schema"
import * as Simulation from "../../src/simulation/Simulation.ts"

export class Unavailable extends Data.TaggedError("Unavailable")<{}> {}

/** Charges each key once. */
export class Payments extends Context.Service<
  Payments,
  { readonly charge: (order: string, key: string) => Effect.Effect<number, Unavailable> }
>()("Payments") {}

export const payments = Simulation.service(
  Payments,
  () => {
    const receipts = new Map<string, number>()
    return {
      charge: (_order, key) =>
        Effect.sync(() => {
          const receipt = receipts.get(key) ?? receipts.size + 1
          receipts.set(key, receipt)
          return receipt
        })
    }
  },
  { failure: () => new Unavailable() }
)

const Pay = Payload.make("pay", Schema.Struct({ order: Schema.String }))

export type Mistake =
  | "a charge outside of a step"
  | "a second press"
  | "a press without an answer"
  | "a conversation without a timeout"
  | "a message without a journal"
  | "an exception"
  | "a silent command"

const buy = (mistake: Mistake | undefined) =>
  Command.make("buy", { description: "Buys a cake" }).on((update) =>
    Effect.gen(function* () {
      if (mistake === "a silent command") return
      const button = yield* Pay.button("Pay", { order: yield* Journal.key })
      yield* Messages.reply(update, { text: "A cake for 10?", attachments: [Keyboard.make([button])] })
    })
  )

const charge = (mistake: Mistake | undefined, order: string) => {
  const charging = (key: string) => Payments.use((payments) => payments.charge(order, key))
  switch (mistake) {
    case "a charge outside of a step":
      return Effect.flatMap(Random.nextInt, (key) => charging(String(key)))
    case "a second press":
      return Journal.step("charge", Schema.Int, Effect.flatMap(Journal.key, charging))
    default:
      return Journal.step("charge", Schema.Int, charging(order))
  }
}

const pay = (mistake: Mistake | undefined) =>
  Pay.on((update, { order }) =>
    Effect.gen(function* () {
      const receipt = yield* charge(mistake, order)
      const thanks = Messages.reply(update, `Paid, the receipt is ${receipt}`)
      yield* mistake === "a message without a journal"
        ? Effect.provideService(thanks, Journal.CurrentPolicy, "repeat")
        : thanks
      if (mistake !== "a press without an answer" || receipt % 2 === 0) yield* Answers.answer(update, "Thank you")
    })
  )

const rateOf = (mistake: Mistake | undefined) =>
  Conversation.make(
    "rate",
    { of: "userInChat", timeout: mistake === "a conversation without a timeout" ? undefined : "10 minutes" },
    (talk) =>
      Effect.gen(function* () {
        const stars = yield* talk.choose("stars", { say: "How was the cake?", choices: { good: "Good", bad: "Bad" } })
        yield* talk.say(`You said ${stars}.`)
      })
  )

export const shop = (mistake?: Mistake) => {
  const rate = rateOf(mistake)
  return Bot.make(
    buy(mistake),
    pay(mistake),
    Command.make("rate", { description: "Rates a cake" }).on(rate.start),
    rate,
    Handler.on(["bot_started", "message_created"], (update) => {
      const text = Update.textOf(update) ?? ""
      if (mistake === "an exception" && text.startsWith("'")) throw new TypeError("no quotes, please")
      return Messages.reply(update, "Send /buy or /rate")
    })
  )
}

/** Each order was charged once. */
export const chargedOnce = (end: Simulation.End<{ readonly payments: typeof payments }>) => {
  const orders = new Map<string, Set<string>>()
  for (const call of end.payments.charge) {
    const [order, key] = call.args
    orders.set(order, (orders.get(order) ?? new Set()).add(key))
  }
  for (const [order, keys] of orders)
    if (keys.size > 1) throw new Error(`The order ${order} was charged ${keys.size} times`)
}

export const options = { days: 2, people: 4, faults: "harsh", services: { payments }, atEnd: chargedOnce } as const

/** A mistake, with the rule that finds the mistake, and what is said about the mistake. */
export type Expected = readonly [mistake: Mistake, rule: string, sentence: RegExp]

/** A simulation finds a mistake, and its case finds the mistake again. */
export const findMistake = (...[mistake, rule, sentence]: Expected) =>
  Effect.gen(function* () {
    const failed = yield* Effect.flip(Simulation.run(shop(mistake), { ...options, seeds: 100 }))
    assert.strictEqual(failed.rule, rule)
    assert.match(failed.message, sentence)
    assert.include(failed.message, `The option that repeats this: seeds: [{ seed: ${failed.seed}`)
    const again = yield* Effect.flip(Simulation.run(shop(mistake), { ...options, seeds: [failed.case] }))
    assert.strictEqual(again.rule, rule)
  })
