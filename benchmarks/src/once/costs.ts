/**
 * Prints the CPU time of an update in microseconds, with an inbox in SQLite: `costs.ts sends|silent`. `sends`: each handler
 * sends a message to a server in another process; `theirs` sends it without the journal. `silent`: the handler does nothing;
 * `theirs` has a store whose state and timers are never asked. Requires `--expose-gc`.
 */
import { type BotApi, Inbox, Messages, Updates } from "@colloquy/core"
import { ChatId } from "@colloquy/core/model/Chat"
import { InboxStore } from "@colloquy/core/inbox/InboxStore"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as ManagedRuntime from "effect/ManagedRuntime"
import { fork } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { printCosts } from "../child.ts"
import * as places from "../inbox/places.ts"
import { fill, layerFilled } from "../inbox/traffic.ts"
import * as client from "./client.ts"

const kinds = {
  sends: { updates: 1000, rounds: 11 },
  silent: { updates: 4000, rounds: 21 }
}

const kind = process.argv[2] as keyof typeof kinds
const { rounds, updates } = kinds[kind]

const chats = 200

const server = fork(fileURLToPath(new URL("../server.ts", import.meta.url)))
const [port] = (await once(server, "message")) as [number]
const bot = ManagedRuntime.make(client.layer(`http://127.0.0.1:${port}`))
const api = await bot.context()

const send = Messages.send({ chat_id: ChatId.make(1), text: "Your order was accepted" })

type Handle = () => Effect.Effect<unknown, unknown, BotApi.BotApi>

const sending: Record<"ours" | "theirs", Handle> = {
  ours: () => Effect.updateContext(send, (context: Context.Context<BotApi.BotApi>) => context),
  // The context of a program outside of handling, in which there is no journal.
  theirs: () => Effect.updateContext(send, () => api)
}

const silent = () => Effect.void

/** The store as it would be without journals, state and timers: none of them is asked. */
const withoutHandling = Layer.effect(
  InboxStore,
  InboxStore.use((store) => {
    const journal = { record: () => Effect.die("The handler does nothing.") }
    const state = { ...store.state, cleanup: () => Effect.void }
    const timers = { ...store.timers, untilNext: Effect.undefined }
    return Effect.succeed(InboxStore.of({ ...store, journal, state, timers }))
  })
)

const cpuOf = (who: "ours" | "theirs"): Promise<number> =>
  places.withPlace("sqlite", async (place) => {
    const store =
      kind === "silent" && who === "theirs" ? Layer.provide(withoutHandling, places.layer(place)) : places.layer(place)
    const inbox = ManagedRuntime.make(
      layerFilled.pipe(
        Layer.provideMerge(Inbox.layer({ capacity: 1_000_000 })),
        Layer.provide(store),
        Layer.provideMerge(Logger.layer([])),
        Layer.provideMerge(Layer.succeedContext(api))
      )
    )
    try {
      await inbox.runPromise(fill(0, updates, chats))
      gc!()
      const before = process.cpuUsage()
      await inbox.runPromise(Updates.run(kind === "sends" ? sending[who] : silent))
      const { system, user } = process.cpuUsage(before)
      return (user + system) / updates
    } finally {
      await inbox.dispose()
    }
  })

const costs = { ours: new Array<number>(), theirs: new Array<number>() }
for (let round = -2; round < rounds; round++) {
  // They take turns in being first.
  const order = round % 2 === 0 ? (["ours", "theirs"] as const) : (["theirs", "ours"] as const)
  for (const who of order) {
    const cost = await cpuOf(who)
    if (round >= 0) costs[who].push(cost)
  }
}
printCosts(costs)
await bot.dispose()
server.kill()
process.exit()
