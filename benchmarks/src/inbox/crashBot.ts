/**
 * Handles the updates that wait in an inbox, and ends when all are handled: `crashBot.ts STORE NAME LOG FATAL`. The
 * handlers of the updates FATAL abort the process.
 */
import { Bot } from "@colloquy/core"
import * as Effect from "effect/Effect"
import { openSync, writeSync } from "node:fs"
import { lease } from "./crashes.ts"
import * as places from "./places.ts"
import { indexOf, layerBot, untilEmpty } from "./traffic.ts"

const [store, name, file, indices] = process.argv.slice(2)
const fatal = indices!.split(",").map(Number)
const place = places.fromArguments([store!, name!])

const log = openSync(file!, "a")
const write = (what: "begin" | "end", index: number) => Effect.sync(() => writeSync(log, `${what} ${index}\n`))

await Effect.runPromise(
  Bot.run((update) =>
    Effect.gen(function* () {
      const index = indexOf(update)
      yield* write("begin", index)
      yield* Effect.sleep(1 + (index % 10))
      if (fatal.includes(index)) process.abort()
      yield* write("end", index)
    })
  ).pipe(Effect.provide(layerBot(place, { leaseDuration: lease }, untilEmpty)))
)
process.exit(0)
