/** Handles the updates that wait in an inbox: `raceInbox.ts STORE NAME`. */
import { Inbox, Updates } from "@colloquy/core"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import { contend } from "./contender.ts"
import * as places from "./places.ts"
import { concurrency } from "./race.ts"
import { indexOf, layerSource } from "./traffic.ts"

const place = places.fromArguments(process.argv.slice(2))

const runtime = ManagedRuntime.make(
  layerSource(() => Effect.never).pipe(
    Layer.provideMerge(Inbox.layer({ capacity: 10_000_000 })),
    Layer.provide(places.layer(place))
  )
)
await runtime.context()

contend((record) =>
  runtime.runFork(Updates.run((update) => Effect.sync(() => record(indexOf(update))), { concurrency }))
)
