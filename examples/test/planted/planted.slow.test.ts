import { describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { importBot } from "./defect.ts"
import { type SimulatedBot, simulations } from "./simulations.ts"

const bots = Object.keys(simulations) as ReadonlyArray<SimulatedBot>

describe("the simulation of a bot without a defect", () => {
  it.live.each(bots)("finds nothing in %s", (bot) =>
    Effect.flatMap(
      Effect.promise(() => importBot(bot)),
      (parts) => simulations[bot](parts, 40)
    )
  )
})
