/**
 * Prints the CPU time of an update in microseconds whose handler adds a statement to the commit, and of an update whose handler
 * does not: `rowsCost.ts STORE`. Requires `--expose-gc`.
 */
import { Bot, Commit } from "@colloquy/core"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import { SqlClient } from "effect/sql/SqlClient"
import { printCosts } from "../child.ts"
import { cpuOf, takeTurns } from "../rounds.ts"
import * as places from "./places.ts"
import { fill, indexOf, layerFilled } from "./traffic.ts"

const updates = 25_000

const chats = 1000

const [store] = process.argv.slice(2)

const costOf = (hasStatement: boolean) => (): Promise<number> =>
  places.withPlace(store as places.Store, async (place) => {
    const bot = ManagedRuntime.make(Layer.provideMerge(layerFilled, places.layerRows(place, { capacity: 1_000_000 })))
    const run = Effect.flatMap(SqlClient, (sql) =>
      Bot.run((update) =>
        hasStatement
          ? Commit.add(
              sql`INSERT INTO handled (chat_id, number) VALUES (${indexOf(update) % chats}, ${indexOf(update)})`
            )
          : Effect.void
      )
    )
    try {
      await bot.runPromise(SqlClient.use((sql) => sql`CREATE TABLE handled (chat_id integer, number integer)`))
      await bot.runPromise(fill(0, updates, chats))
      gc!()
      return (await cpuOf(() => bot.runPromise(run))) / updates
    } finally {
      await bot.dispose()
    }
  })

printCosts(await takeTurns({ "with a statement": costOf(true), without: costOf(false) }, { rounds: 5, warmUps: 2 }))
process.exit()
