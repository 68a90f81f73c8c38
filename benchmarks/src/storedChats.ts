/**
 * 200,000 chats in a store: `node storedChats.ts fill|stream|drop STORE PLACE`. Streaming prints the resident memory in megabytes after a warm-up, and its maximum while streaming.
 */
import { ChatStore } from "@colloquy/core"
import * as ChatRecord from "@colloquy/core/bot/ChatRecord"
import { ChatId } from "@colloquy/core/model/Chat"
import { NodeSqlite, RedisChatStore, SqlChatStore } from "@colloquy/node"
import { Fixtures } from "@colloquy/testing"
import * as NodeRedis from "@effect/platform-node/NodeRedis"
import * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redis from "effect/persistence/Redis"
import * as SqlClient from "effect/sql/SqlClient"
import * as Stream from "effect/Stream"
import { rmSync } from "node:fs"
import { printCosts } from "./child.ts"

const chats = 200_000

const [action = "", store = "", place = ""] = process.argv.slice(2)

const Postgres = PgClient.layer({ host: "127.0.0.1", username: "postgres", database: "test" })
const RedisClient = NodeRedis.layer({ url: "redis://127.0.0.1:6379" })

const stores: Readonly<Record<string, Layer.Layer<ChatStore.ChatStore, unknown>>> = {
  SQLite: SqlChatStore.layer().pipe(Layer.provide(NodeSqlite.layer({ filename: place }))),
  PostgreSQL: SqlChatStore.layer({ prefix: place }).pipe(Layer.provide(Postgres)),
  Redis: RedisChatStore.layer({ prefix: place }).pipe(Layer.provide(RedisClient))
}

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
  printCosts({ before: [before], most: [most] })
})

const drop: Readonly<Record<string, Effect.Effect<unknown, unknown>>> = {
  SQLite: Effect.sync(() => rmSync(place, { force: true })),
  PostgreSQL: SqlClient.SqlClient.use((sql) =>
    Effect.andThen(
      sql`DROP TABLE IF EXISTS ${sql(`${place}_chats`)}`,
      sql`DROP TABLE IF EXISTS ${sql(`${place}_chats_migrations`)}`
    )
  ).pipe(Effect.provide(Postgres)),
  Redis: Redis.Redis.use((redis) =>
    Effect.flatMap(redis.send<ReadonlyArray<string>>("KEYS", `{${place}:*`), (keys) =>
      Effect.forEach(
        Array.from({ length: Math.ceil(keys.length / 1000) }, (_, page) => keys.slice(page * 1000, (page + 1) * 1000)),
        (some) => redis.send("UNLINK", ...some)
      )
    )
  ).pipe(Effect.provide(RedisClient))
}

const actions: Readonly<Record<string, Effect.Effect<unknown, unknown>>> = {
  fill: Effect.provide(fill, stores[store]!),
  stream: Effect.provide(stream, stores[store]!),
  drop: drop[store]!
}

await Effect.runPromise(actions[action]!)
