/**
 * A bot that its parent freezes: `frozenBot.ts STORE NAME LOG ID URL`. Its handlers append to the file LOG when they begin
 * and end, and send a message in the middle.
 */
import { BotApi, Inbox, Messages, RateLimiter, RetryPolicy, Updates } from "@colloquy/core"
import { NodeBotHttpClient } from "@colloquy/node"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Redacted from "effect/Redacted"
import { openSync, writeSync } from "node:fs"
import { chatOf, type Line, lease } from "./frozen.ts"
import * as places from "./places.ts"
import { endWithParent, sharedTime, tellParent } from "./processes.ts"
import { indexOf, layerSource } from "./traffic.ts"

const [store, name, file, id, baseUrl] = process.argv.slice(2)
const place = places.fromArguments([store!, name!])

endWithParent()

const log = openSync(file!, "a")
const write = (what: Line["what"], index: number) =>
  Effect.sync(() =>
    writeSync(log, `${JSON.stringify({ bot: Number(id), what, index, at: sharedTime() } satisfies Line)}\n`)
  )

const bot = BotApi.layer({ token: Redacted.make("token"), baseUrl: baseUrl! }).pipe(
  Layer.provide([NodeBotHttpClient.layer(), RateLimiter.layerMemory(RateLimiter.unlimited)])
)

await Effect.runPromise(
  Updates.run(
    (update) => {
      const index = indexOf(update)
      const send = Messages.send({ chat_id: chatOf(index), text: `${id} ${index}` })
      return write("begin", index).pipe(
        Effect.andThen(Effect.sleep(2 + (index % 7) * 4)),
        Effect.andThen(RetryPolicy.override(send, RetryPolicy.none)),
        Effect.andThen(Effect.sleep(2 + (index % 5) * 3)),
        Effect.onExit(() => write("end", index))
      )
    },
    { concurrency: 16 }
  ).pipe(
    Effect.provide(
      layerSource(() => Effect.sync(() => tellParent({ isReady: true })).pipe(Effect.andThen(Effect.never))).pipe(
        Layer.provide(Inbox.layer({ leaseDuration: lease })),
        Layer.provide(places.layer(place)),
        Layer.merge(bot),
        Layer.provideMerge(Logger.layer([]))
      )
    )
  )
)
