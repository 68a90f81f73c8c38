/**
 * A bot that its parent freezes: `frozenBot.ts STORE NAME LOG ID URL`. Its handlers append to the file LOG when they begin
 * and end, and send a message in the middle.
 */
import { Bot, Messages, RetryPolicy } from "@colloquy/core"
import * as Effect from "effect/Effect"
import { openSync, writeSync } from "node:fs"
import * as client from "../once/client.ts"
import { endWithParent, sharedTime, tellParent } from "../processes.ts"
import { chatOf, type Line, lease } from "./frozen.ts"
import * as places from "./places.ts"
import { indexOf, layerBot } from "./traffic.ts"

const [store, name, file, id, baseUrl] = process.argv.slice(2)
const place = places.fromArguments([store!, name!])

endWithParent()

const log = openSync(file!, "a")
const write = (what: Line["what"], index: number) =>
  Effect.sync(() =>
    writeSync(log, `${JSON.stringify({ bot: Number(id), what, index, at: sharedTime() } satisfies Line)}\n`)
  )

const ready = Effect.sync(() => tellParent({ isReady: true }))

await Effect.runPromise(
  Bot.run(
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
    Effect.provide([
      layerBot(place, { leaseDuration: lease }, () => Effect.andThen(ready, Effect.never)),
      client.layer(baseUrl!)
    ])
  )
)
