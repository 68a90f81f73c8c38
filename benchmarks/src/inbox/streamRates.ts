/**
 * Prints the time per update in microseconds, of the main thread if the store is in memory and of the clock otherwise, for `Updates.run` and for streams of deliveries with `Stream.mapEffect` and with
 * `Deliveries.mapEffect`, all with a concurrency of 64 and updates that wait in the inbox: `streamRates.ts STORE NAME`.
 * Requires `--expose-gc`, which excludes the storing of the updates from the figure.
 */
import { Deliveries, Inbox, type Update, Updates } from "@colloquy/core"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Stream from "effect/Stream"
import { printCosts } from "../child.ts"
import * as places from "./places.ts"
import { fill, layerFilled } from "./traffic.ts"

const place = places.fromArguments(process.argv.slice(2))

const chats = 1000

const updates = { memory: 100_000, sqlite: 5000, postgres: 5000, redis: 10_000 }[place.store]

// Nothing waits for a store in memory, and other programs affect the time of the thread less than that of the clock.
const isWaiting = place.store !== "memory"

const rounds = isWaiting ? 5 : 9

const concurrency = 64

let handled = 0

const handle = (_: Update.Update) =>
  Effect.sync(() => {
    handled++
  })

const contenders: Readonly<Record<string, Effect.Effect<void, unknown, Updates.Updates>>> = {
  "Updates.run": Updates.run(handle, { concurrency }),
  "Stream.mapEffect": Updates.deliveries().pipe(
    Stream.mapEffect(({ ack, value }) => Effect.andThen(handle(value), ack), { concurrency }),
    Stream.runDrain
  ),
  "Deliveries.mapEffect": Updates.deliveries().pipe(Deliveries.mapEffect(handle, { concurrency }), Deliveries.runDrain)
}

let filled = 0

const now = (): number => {
  if (isWaiting) return performance.now()
  const { system, user } = process.threadCpuUsage()
  return (user + system) / 1000
}

const cost = <E>(contender: Effect.Effect<void, E, Updates.Updates>) =>
  Effect.gen(function* () {
    yield* Inbox.Inbox.use(({ open }) => open)
    yield* fill(filled, updates, chats)
    filled += updates
    handled = 0
    gc!()
    const start = now()
    yield* Effect.provide(contender, layerFilled)
    const millis = now() - start
    if (handled !== updates) throw new Error(`${handled} of ${updates} updates were handled`)
    return (millis * 1000) / updates
  })

const program = Effect.gen(function* () {
  const costs: Record<string, Array<number>> = {}
  for (let round = -1; round < rounds; round++) {
    for (const [name, contender] of Object.entries(contenders)) {
      const measured = yield* cost(contender)
      if (round >= 0) (costs[name] ??= []).push(measured)
    }
  }
  printCosts(costs)
})

await Effect.runPromise(
  Effect.provide(
    program,
    Inbox.layer({ capacity: 10_000_000, deduplicationWindow: 0 }).pipe(
      Layer.provide(places.layer(place)),
      Layer.provideMerge(Logger.layer([]))
    )
  )
)
