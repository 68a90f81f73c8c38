import { describe, it } from "@effect/vitest"
import * as Simulation from "../../src/simulation/Simulation.ts"
import { type Expected, findMistake, options, shop } from "../support/shop.ts"

describe("Simulation.run", () => {
  it.effect("finds nothing in 40 seeds of a bot without mistakes", () =>
    Simulation.run(shop(), { ...options, seeds: 40 })
  )

  it.effect.each<Expected>([
    ["a message without a journal", "noMessageTwice", /has sent "Paid, the receipt is \d+" twice/],
    ["an exception", "noDefects", /TypeError: no quotes, please/]
  ])("finds the mistake: %s", (expected) => findMistake(...expected))
})
