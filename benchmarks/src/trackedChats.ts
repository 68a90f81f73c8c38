/**
 * Prints the time per update in microseconds that `ChatStore` takes to track updates in a SQLite file with durable writes, as a
 * stream in pages of 100 and by a handler with a concurrency of 100, and that node:sqlite takes for the same rows.
 */
import { ChatStore } from "@colloquy/core"
import { ChatId } from "@colloquy/core/model/Chat"
import { Fixtures } from "@colloquy/testing"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { DatabaseSync } from "node:sqlite"
import { printCosts } from "./child.ts"
import * as places from "./inbox/places.ts"
import { millisOf, takeTurns } from "./rounds.ts"

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

const page = 100

/** Stores the last time and the type of the chat of each update, in a transaction for each page. */
const bare = async (place: places.Place) => {
  const database = new DatabaseSync(places.fileOf(place, "bare.sqlite"))
  database.exec("PRAGMA journal_mode = WAL")
  database.exec("PRAGMA synchronous = FULL")
  database.exec(
    "CREATE TABLE chats (chat_id INTEGER PRIMARY KEY, type TEXT, first_seen INTEGER, last_seen INTEGER, dialog_user TEXT)"
  )
  const upsert = database.prepare(`
    INSERT INTO chats AS known VALUES (?, ?, ?, ?, ?) ON CONFLICT (chat_id) DO UPDATE SET type = excluded.type,
    last_seen = max(known.last_seen, excluded.last_seen), dialog_user = excluded.dialog_user`)
  await Effect.runPromise(
    incoming.pipe(
      Stream.grouped(page),
      Stream.runForEach((updates) =>
        Effect.sync(() => {
          database.exec("BEGIN IMMEDIATE")
          for (const { message, timestamp } of updates) {
            const { chat_id, chat_type } = message!.recipient
            upsert.run(Number(chat_id), chat_type, timestamp, timestamp, JSON.stringify(message!.sender ?? null))
          }
          database.exec("COMMIT")
        })
      )
    )
  )
  database.close()
}

const costOf = (run: (place: places.Place) => Promise<unknown>) => (): Promise<number> =>
  places.withPlace("sqlite", async (place) => ((await millisOf(() => run(place))) * 1000) / updates)

const tracked = (way: Effect.Effect<void, unknown, ChatStore.ChatStore>) =>
  costOf((place) => Effect.runPromise(Effect.provide(way, places.layerChats(place))))

const contenders = { stream: tracked(ways.stream), handler: tracked(ways.handler), bare: costOf(bare) }

printCosts(await takeTurns(contenders, { rounds: 3 }))
