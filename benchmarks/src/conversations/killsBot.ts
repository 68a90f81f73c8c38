/** A bot with a conversation that its parent kills: `killsBot.ts STORE NAME URL`. */
import { Inbox, Updates } from "@colloquy/core"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as places from "../inbox/places.ts"
import { endWithParent } from "../inbox/processes.ts"
import { layerSource } from "../inbox/traffic.ts"
import * as client from "../once/client.ts"
import { concurrency, lease, maxCrashes } from "../once/options.ts"
import { bot } from "./interview.ts"

const [store = "", name = "", url = ""] = process.argv.slice(2)

endWithParent()

await Effect.runPromise(
  Updates.run(bot, { concurrency, maxCrashes }).pipe(
    Effect.provide([
      layerSource(() => Effect.never).pipe(
        Layer.provideMerge(Inbox.layer({ leaseDuration: lease })),
        Layer.provide(places.layer(places.fromArguments([store, name])))
      ),
      client.layer(url),
      Logger.layer([])
    ])
  )
)
