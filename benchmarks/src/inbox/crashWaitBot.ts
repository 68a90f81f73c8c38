/** Handles updates in 10 seconds each, and reports when it begins each: `crashWaitBot.ts STORE NAME`. */
import { Inbox, Updates } from "@colloquy/core"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import { handlerMillis } from "./crashWait.ts"
import * as places from "./places.ts"
import { endWithParent, sharedTime, tellParent } from "./processes.ts"
import { indexOf, layerSource } from "./traffic.ts"
import type { Begun } from "./wakeBot.ts"

endWithParent()

await Effect.runPromise(
  Updates.run((update) =>
    Effect.suspend(() => {
      tellParent({ index: indexOf(update), at: sharedTime() } satisfies Begun)
      return Effect.sleep(handlerMillis)
    })
  ).pipe(
    Effect.provide(
      layerSource(() => Effect.never).pipe(
        Layer.provide(Inbox.layer()),
        Layer.provide(places.layer(places.fromArguments(process.argv.slice(2)))),
        Layer.provideMerge(Logger.layer([]))
      )
    )
  )
)
