/**
 * 200,000 chats in a store: `node storedChats.ts fill|stream STORE NAME`. Streaming prints how
 * much the resident memory grows while streaming, in megabytes, after a warm-up.
 */
import { ChatStore } from "@colloquy/core"
import * as ChatRecord from "@colloquy/core/bot/ChatRecord"
import { ChatId } from "@colloquy/core/model/Chat"
import { Fixtures } from "@colloquy/testing"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { printCosts } from "./child.ts"
import * as places from "./inbox/places.ts"

const chats = 200_000

const [action, ...args] = process.argv.slice(2)

const recordOf = (index: number) => {
  const at = Fixtures.timestamp + index
  return ChatRecord.make(ChatId.make(index * 45_000_000 - 2 ** 42), at, {
    member_at: at,
    type: index % 2 === 0 ? "chat" : "dialog",
    title: { at, value: `Reading club number ${index} of the town library` },
    user: { at, value: Fixtures.user() }
  })
}

const fill = Effect.gen(function* () {
  const { upsert } = yield* ChatStore.ChatStore
  yield* Stream.range(0, chats - 1).pipe(Stream.map(recordOf), Stream.grouped(1000), Stream.runForEach(upsert))
  printCosts({})
})

const resident = () => process.memoryUsage.rss() / 2 ** 20

const stream = Effect.gen(function* () {
  // V8 grows the young generation to its full size in the first seconds of any work, which is not part of the figure.
  yield* Stream.runDrain(Stream.take(ChatStore.stream(), chats / 10))
  const before = resident()
  let most = before
  let seen = 0
  yield* Stream.runForEach(ChatStore.stream(), () =>
    Effect.sync(() => {
      if (++seen % 100 === 0) most = Math.max(most, resident())
    })
  )
  if (seen !== chats) return yield* Effect.die(new Error(`${seen} chats came, of ${chats}`))
  printCosts({ growth: [most - before] })
})

const program = action === "fill" ? fill : stream
await Effect.runPromise(Effect.provide(program, places.layerChats(places.fromArguments(args))))
