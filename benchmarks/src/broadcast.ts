/** Prints the wall time of a broadcast to 3,000 chats with a SQLite store, in milliseconds, and the number of 429 responses. */
import { Broadcasts, type Chat } from "@colloquy/core"
import { NodeBot, NodeSqlite, SqlBroadcastStore } from "@colloquy/node"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { fork } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { printCosts } from "./child.ts"

const [count = "3000"] = process.argv.slice(2)

const platform = fork(fileURLToPath(new URL("broadcastEmulator.ts", import.meta.url)), [count], {
  execArgv: ["--conditions=source"]
})
const nextMessage = async <A>(): Promise<A> => ((await once(platform, "message")) as [A])[0]

const { chats, url } = await nextMessage<{ readonly url: string; readonly chats: ReadonlyArray<Chat.ChatId> }>()
const folder = await mkdtemp(join(tmpdir(), "broadcast-"))

const broadcast = Effect.gen(function* () {
  const start = performance.now()
  const sent = yield* Broadcasts.run({
    name: "news",
    recipients: Stream.fromIterable(chats),
    message: { text: "News" }
  }).pipe(
    Stream.filter(({ _tag }) => _tag === "Sent"),
    Stream.runCount
  )
  if (sent !== chats.length) throw new Error(`${sent} of ${chats.length} were sent`)
  return performance.now() - start
}).pipe(
  Effect.provide(
    Layer.merge(
      NodeBot.layer({ token: "token", baseUrl: url }),
      SqlBroadcastStore.layer().pipe(Layer.provide(NodeSqlite.layer({ filename: join(folder, "bot.sqlite") })))
    )
  )
)

const millis = await Effect.runPromise(broadcast)
platform.send("counts")
const { refused } = await nextMessage<{ readonly refused: number }>()
platform.kill()
await rm(folder, { recursive: true })
printCosts({ millis: [millis], refused: [refused] })
