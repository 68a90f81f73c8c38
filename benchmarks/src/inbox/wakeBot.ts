/** Handles updates as they arrive, and reports when it begins each: `wakeBot.ts STORE NAME`. */
import { Inbox, Updates } from "@colloquy/core"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as places from "./places.ts"
import { endWithParent, sharedTime, tellParent } from "./processes.ts"
import { indexOf, layerSource } from "./traffic.ts"

export interface Begun {
  readonly index: number
  readonly at: number
}

const place = places.fromArguments(process.argv.slice(2))

endWithParent()

await Effect.runPromise(
  Updates.run((update) =>
    Effect.sync(() => tellParent({ index: indexOf(update), at: sharedTime() } satisfies Begun))
  ).pipe(
    Effect.provide(
      layerSource(() => Effect.never).pipe(
        Layer.provide(Inbox.layer()),
        Layer.provide(places.layer(place)),
        Layer.provideMerge(Logger.layer([]))
      )
    )
  )
)
