/** Reports when it begins each update, and handles it in a time in milliseconds: `wakeBot.ts STORE NAME MILLIS`. */
import { Bot } from "@colloquy/core"
import * as Effect from "effect/Effect"
import { endWithParent, sharedTime, tellParent } from "../processes.ts"
import * as places from "./places.ts"
import { indexOf, layerBot } from "./traffic.ts"

export interface Begun {
  readonly index: number
  readonly at: number
}

const [store, name, millis] = process.argv.slice(2)

endWithParent()

await Effect.runPromise(
  Bot.run((update) =>
    Effect.suspend(() => {
      tellParent({ index: indexOf(update), at: sharedTime() } satisfies Begun)
      return Number(millis) === 0 ? Effect.void : Effect.sleep(Number(millis))
    })
  ).pipe(Effect.provide(layerBot(places.fromArguments([store!, name!]))))
)
