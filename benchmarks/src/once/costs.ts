/**
 * Prints the CPU time of an update in microseconds, with an inbox in SQLite, whose handler sends a message to a server in another
 * process: with the journal, and without. Requires `--expose-gc`.
 */
import { Bot, type BotApi, Messages } from "@colloquy/core"
import { ChatId } from "@colloquy/core/model/Chat"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import { printCosts } from "../child.ts"
import * as places from "../inbox/places.ts"
import { fill, layerFilled } from "../inbox/traffic.ts"
import { startServer } from "../processes.ts"
import { cpuOf, takeTurns } from "../rounds.ts"
import * as client from "./client.ts"

const updates = 1000

const chats = 200

const server = await startServer("server.ts")
const bot = ManagedRuntime.make(client.layer(server.url))
const api = await bot.context()

const send = Messages.send({ chat_id: ChatId.make(1), text: "Your order was accepted" })

type Handle = () => Effect.Effect<unknown, unknown, BotApi.BotApi>

const costOf = (handle: Handle) => (): Promise<number> =>
  places.withPlace("sqlite", async (place) => {
    const inbox = ManagedRuntime.make(
      layerFilled.pipe(
        Layer.provideMerge(places.layerInbox(place, { capacity: 1_000_000 })),
        Layer.provideMerge(Layer.succeedContext(api))
      )
    )
    try {
      await inbox.runPromise(fill(0, updates, chats))
      gc!()
      return (await cpuOf(() => inbox.runPromise(Bot.run(handle)))) / updates
    } finally {
      await inbox.dispose()
    }
  })

const contenders = {
  "with the journal": costOf(() => Effect.updateContext(send, (context: Context.Context<BotApi.BotApi>) => context)),
  // The context of a program outside of handling, in which there is no journal.
  without: costOf(() => Effect.updateContext(send, () => api))
}

printCosts(await takeTurns(contenders, { rounds: 11, warmUps: 2 }))
await bot.dispose()
await server.kill()
process.exit()
