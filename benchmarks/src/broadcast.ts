/** Prints the wall time of a broadcast to 3,000 chats with a SQLite store, in milliseconds, and the number of 429 responses. */
import { Broadcasts } from "@colloquy/core"
import { NodeBot, NodeSqlite, SqlBroadcastStore } from "@colloquy/node"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { printCosts } from "./child.ts"
import { startEmulator } from "./emulator.ts"
import { fileOf, withPlace } from "./inbox/places.ts"
import { millisOf } from "./rounds.ts"

const count = 3000

const emulator = await startEmulator(count, {})

const broadcast = Broadcasts.run({
  name: "news",
  recipients: Stream.fromIterable(emulator.people.map(({ chat_id }) => chat_id)),
  message: { text: "News" }
}).pipe(
  Stream.filter(({ _tag }) => _tag === "Sent"),
  Stream.runCount,
  Effect.filterOrElse(
    (sent) => sent === count,
    (sent) => Effect.die(new Error(`${sent} of ${count} were sent`))
  )
)

await withPlace("sqlite", async (place) => {
  const bot = Layer.merge(
    NodeBot.layer({ token: "token", baseUrl: emulator.url }),
    Layer.provide(SqlBroadcastStore.layer(), NodeSqlite.layer({ filename: fileOf(place, "bot.sqlite") }))
  )
  const millis = await millisOf(() => Effect.runPromise(Effect.provide(broadcast, bot)))
  const { refused } = await emulator.usage()
  printCosts({ millis: [millis], refused: [refused] })
})
await emulator.kill()
