/**
 * Prints the time per update in microseconds, of the main thread if the store is in memory and of the clock otherwise, for `Bot.run` and for streams of deliveries with `Stream.mapEffect` and with
 * `Deliveries.mapEffect`, all with a concurrency of 64 and updates that wait in the inbox: `streamRates.ts STORE NAME`.
 * Requires `--expose-gc`, which excludes the storing of the updates from the figure.
 */
import { Bot, Deliveries, type Update, Updates } from "@colloquy/core"
import * as Effect from "effect/Effect"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Record from "effect/Record"
import * as Stream from "effect/Stream"
import { printCosts } from "../child.ts"
import { takeTurns, threadTime } from "../rounds.ts"
import * as places from "./places.ts"
import { refill, layerFilled } from "./traffic.ts"

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
  "Bot.run": Bot.run(handle, { concurrency }),
  "Stream.mapEffect": Updates.deliveries().pipe(
    Stream.mapEffect(({ ack, value }) => Effect.andThen(handle(value), ack), { concurrency }),
    Stream.runDrain
  ),
  "Deliveries.mapEffect": Updates.deliveries().pipe(Deliveries.mapEffect(handle, { concurrency }), Deliveries.runDrain)
}

let filled = 0

const micros = () => (isWaiting ? performance.now() * 1000 : threadTime())

const cost = <E>(contender: Effect.Effect<void, E, Updates.Updates>) =>
  Effect.gen(function* () {
    yield* refill(filled, updates, chats)
    filled += updates
    handled = 0
    gc!()
    const start = micros()
    yield* Effect.provide(contender, layerFilled)
    const took = micros() - start
    if (handled !== updates) throw new Error(`${handled} of ${updates} updates were handled`)
    return took / updates
  })

const inbox = ManagedRuntime.make(places.layerInbox(place, { capacity: 10_000_000, deduplicationWindow: 0 }))
const measures = Record.map(contenders, (contender) => () => inbox.runPromise(cost(contender)))
printCosts(await takeTurns(measures, { rounds }))
await inbox.dispose()
