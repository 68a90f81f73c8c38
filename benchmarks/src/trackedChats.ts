/**
 * Prints how many updates per second `ChatStore` tracks in a SQLite file with durable writes: as a stream in pages of
 * 100, and by a handler with a concurrency of 100.
 */
import { ChatStore } from "@colloquy/core"
import { ChatId } from "@colloquy/core/Chat"
import { NodeSqlite, SqlChatStore } from "@colloquy/node"
import { Fixtures } from "@colloquy/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { printCosts } from "./child.ts"

const rounds = 3
const updates = 20_000
const chats = 1_000

const incoming = Stream.range(0, updates - 1).pipe(
  Stream.rechunk(100),
  Stream.map((index) => ({
    ...Fixtures.messageCreated({
      recipient: { chat_id: ChatId.make((index * 7919) % chats), chat_type: "dialog", user_id: Fixtures.botId }
    }),
    timestamp: Fixtures.timestamp + index
  }))
)

const handle = ChatStore.track(() => Effect.void)

const ways = {
  stream: incoming.pipe(ChatStore.track, Stream.runDrain),
  handler: incoming.pipe(Stream.mapEffect(handle, { concurrency: 100 }), Stream.runDrain)
}

const folder = mkdtempSync(join(tmpdir(), "chats-"))

const rate = async (way: keyof typeof ways, round: number) => {
  const filename = join(folder, `${way}${round}.sqlite`)
  const Chats = SqlChatStore.layer().pipe(Layer.provide(NodeSqlite.layer({ filename })))
  const began = performance.now()
  await Effect.runPromise(Effect.provide(ways[way], Chats))
  return (updates / (performance.now() - began)) * 1000
}

const rates = { stream: new Array<number>(), handler: new Array<number>() }
for (let round = -1; round < rounds; round++) {
  for (const way of ["stream", "handler"] as const) {
    const measured = await rate(way, round)
    if (round >= 0) rates[way].push(measured)
  }
}
rmSync(folder, { recursive: true })
printCosts(rates)
