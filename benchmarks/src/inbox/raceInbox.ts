/** Handles the updates that wait in an inbox: `raceInbox.ts STORE NAME`. */
import { Bot } from "@colloquy/core"
import * as Effect from "effect/Effect"
import * as ManagedRuntime from "effect/ManagedRuntime"
import { contend } from "./contender.ts"
import * as places from "./places.ts"
import { concurrency } from "./race.ts"
import { indexOf, layerBot } from "./traffic.ts"

const place = places.fromArguments(process.argv.slice(2))

const runtime = ManagedRuntime.make(layerBot(place, { capacity: 10_000_000 }))
await runtime.context()

contend((record) => runtime.runFork(Bot.run((update) => Effect.sync(() => record(indexOf(update))), { concurrency })))
