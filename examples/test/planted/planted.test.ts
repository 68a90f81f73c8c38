import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { importBot, importPlanted } from "./defect.ts"
import { defects } from "./defects.ts"
import { simulations } from "./simulations.ts"

/** The largest number of seeds that a defect may need. Most of them are found within 7 seeds. */
const maxSeeds = 100

describe("the simulation of a bot", () => {
  it("has at least ten planted defects with different names", () => {
    assert.isAtLeast(defects.length, 10)
    assert.lengthOf(new Set(defects.map(({ name }) => name)), defects.length)
  })

  it.live.each(defects)("finds $name, and nothing without it in the same seed", (defect) =>
    Effect.gen(function* () {
      const simulate = simulations[defect.bot]
      const planted = yield* Effect.promise(() => importPlanted(defect))
      const { message, seed } = yield* Effect.flip(simulate(planted, maxSeeds))
      assert.include(message, defect.rule)
      yield* simulate(yield* Effect.promise(() => importBot(defect.bot)), [seed])
    })
  )
})
