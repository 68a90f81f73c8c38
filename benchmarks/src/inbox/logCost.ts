/**
 * Prints the CPU time of an update in microseconds with the log of handled updates, and without: `logCost.ts STORE`. An inbox has as many
 * updates as its log has entries, so that each of them is written. The time includes receiving, handling, and closing the inbox,
 * which writes the log. Requires `--expose-gc`.
 */
import { Bot } from "@colloquy/core"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import { printCosts } from "../child.ts"
import { cpuOf, takeTurns } from "../rounds.ts"
import * as places from "./places.ts"
import { fill, layerFilled } from "./traffic.ts"

const updates = 1000

const [store] = process.argv.slice(2)

const costOf = (logSize: number) => (): Promise<number> =>
  places.withPlace(store as places.Store, async (place) => {
    const bot = ManagedRuntime.make(Layer.provideMerge(layerFilled, places.layerInbox(place, { logSize })))
    await bot.runPromise(Effect.void)
    gc!()
    const took = await cpuOf(async () => {
      await bot.runPromise(fill(0, updates, 100, 50))
      await bot.runPromise(Bot.run(() => Effect.void))
      await bot.dispose()
    })
    return took / updates
  })

printCosts(await takeTurns({ "with the log": costOf(updates), without: costOf(0) }, { rounds: 21, warmUps: 3 }))
process.exit()
