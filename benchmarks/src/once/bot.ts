/**
 * A bot that its parent kills: `bot.ts STORE NAME LOG RUN URL`. For each press it counts in the state, sets a timer and sends
 * three messages, and for each timer it counts and sends one. Before a request leaves, it appends to the file LOG how many
 * calls of unknown outcome it has repeated until now.
 */
import { Bot, Handler, Messages } from "@colloquy/core"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import { openSync, writeSync } from "node:fs"
import * as places from "../inbox/places.ts"
import { layerBot } from "../inbox/traffic.ts"
import { endWithParent } from "../processes.ts"
import * as client from "./client.ts"
import { concurrency, lease, maxCrashes } from "./options.ts"
import { indexOf } from "./presses.ts"
import { InChat, OfUser, Ring, Rung } from "./kept.ts"

const [store, name, file, run, url] = process.argv.slice(2)
const place = places.fromArguments([store, name])

const log = openSync(file, "a")
let logged = 0
const repeated = Metric.snapshot.pipe(
  Effect.map((metrics) => {
    const found = metrics.find(
      ({ attributes, id }) => id === "colloquy_journal_uncertain_total" && attributes?.["outcome"] === "repeated"
    )
    const count = found?.type === "Counter" ? Number(found.state.count) : 0
    if (count > logged) writeSync(log, `${run} ${count}\n`)
    logged = count
  })
)

const increment = (value: number) => value + 1

const handler = Handler.first(
  Handler.on("message_callback", (update) =>
    Effect.gen(function* () {
      const index = indexOf(update)
      yield* InChat.update(increment)
      yield* Ring.in("300 millis", index, { key: String(index) })
      yield* Messages.reply(update, `${index} first`)
      yield* OfUser.update(increment)
      yield* Messages.reply(update, `${index} again`)
      yield* Messages.reply(update, `${index} again`)
    })
  ),
  Ring.on((index, update) =>
    Effect.gen(function* () {
      yield* Rung.update(increment)
      if (update.chat_id !== undefined) yield* Messages.send({ chat_id: update.chat_id, text: `${index} timer` })
    })
  )
)

endWithParent()

await Effect.runPromise(
  Bot.run(handler, { concurrency, maxCrashes }).pipe(
    Effect.provide([layerBot(place, { leaseDuration: lease }), client.layer(url, repeated)])
  )
)
