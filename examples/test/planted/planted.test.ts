import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { importBot, importPlanted } from "./defect.ts"
import { defects } from "./defects.ts"
import { simulations } from "./simulations.ts"

describe("the simulation of a bot", () => {
  it("has at least ten planted defects with different names", () => {
    assert.isAtLeast(defects.length, 10)
    assert.lengthOf(new Set(defects.map(({ name }) => name)), defects.length)
  })

  it.live.each(defects)("finds $name, and nothing without it in the same seed", (defect) =>
    Effect.gen(function* () {
      const { bot, rule, seed } = defect
      const simulate = simulations[bot]
      yield* simulate(yield* Effect.promise(() => importBot(bot)), [seed])
      const planted = yield* Effect.promise(() => importPlanted(defect))
      const { message } = yield* Effect.flip(simulate(planted, [seed]))
      assert.include(message, rule)
    })
  )
})
