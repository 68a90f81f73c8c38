import { assert, describe, it } from "@effect/vitest"
import { Console, Effect } from "effect"
import { importBot, importPlanted } from "./defect.ts"
import { defects } from "./defects.ts"
import { type SimulatedBot, simulations } from "./simulations.ts"

/** The largest number of seeds that a defect may need. */
const maxSeeds = 20

const bots = Object.keys(simulations) as ReadonlyArray<SimulatedBot>

describe("the simulation of a bot, from the first seed on", () => {
  it.live.each(bots)("finds nothing in %s", (bot) =>
    Effect.flatMap(
      Effect.promise(() => importBot(bot)),
      (parts) => simulations[bot](parts, maxSeeds)
    )
  )

  it.live.each(defects)("finds $name", (defect) =>
    Effect.gen(function* () {
      const parts = yield* Effect.promise(() => importPlanted(defect))
      const { message, seed } = yield* Effect.flip(simulations[defect.bot](parts, maxSeeds))
      assert.include(message, defect.rule)
      yield* Console.log(`${defect.name}: seed ${seed}`)
    })
  )
})
