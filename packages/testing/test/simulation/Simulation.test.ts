import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Simulation from "../../src/simulation/Simulation.ts"
import { chargedOnce, type Mistake, payments, shop } from "../support/shop.ts"

const simulate = (mistake: Mistake | undefined, seeds: number) =>
  Simulation.run(shop(mistake), {
    seeds,
    days: 2,
    people: 4,
    faults: "harsh",
    services: { payments },
    atEnd: chargedOnce
  })

describe("Simulation.run", () => {
  it.effect("finds nothing in a bot without mistakes", () => simulate(undefined, 5))

  it.effect.each<readonly [Mistake, rule: string, sentence: RegExp]>([
    ["a charge outside of a step", "atEnd", /was charged \d times/],
    ["a second press", "atEnd", /was charged \d times/],
    ["a press without an answer", "everyPressIsAnswered", /has not answered the press of Pay by \w+/],
    ["a conversation without a timeout", "noDialogIsStuck", /"rate" waits for an answer without a timeout/],
    ["a message without a journal", "noMessageTwice", /has sent "Paid, the receipt is \d+" twice/],
    ["an exception", "noDefects", /TypeError: no quotes, please/],
    ["a silent command", "nobodyWaits", /has waited longer than 10m for a word about "\/buy/]
  ])("finds the mistake: %s", ([mistake, rule, sentence]) =>
    Effect.gen(function* () {
      const failed = yield* Effect.flip(simulate(mistake, 100))
      assert.strictEqual(failed.rule, rule)
      assert.match(failed.message, sentence)
    })
  )
})
