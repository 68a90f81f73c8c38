/**
 * Stores every message in PostgreSQL (`DATABASE_URL`), in batches. The rows of a batch are stored in the transaction that
 * acknowledges its updates: if the program is killed at any time, no message is missing and none is stored twice.
 */
import { Commit, Deliveries, Inbox, LongPolling, RateLimiter, Update, Updates } from "@colloquy/core"
import { NodeBot, NodeMain, SqlInboxStore } from "@colloquy/node"
import { PgClient } from "@effect/sql-pg"
import { type Array, Config, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"

const toRow = (update: Update.Of<"message_created">) => ({
  mid: update.message?.body?.mid ?? null,
  chat_id: Update.chatOf(update) ?? null,
  user_id: Update.userIdOf(update) ?? null,
  characters: Update.textOf(update)?.length ?? 0,
  sent_at: update.timestamp
})

const name = Config.String("BOT_NAME").pipe(Config.withDefault("my_bot"))

/** The pipeline, which creates its table if the table does not exist. */
export const bot = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const table = sql(`${yield* name}_messages`)
  yield* sql`
    CREATE TABLE IF NOT EXISTS ${table} (
      mid text,
      chat_id bigint,
      user_id bigint,
      characters integer NOT NULL,
      sent_at bigint NOT NULL
    )`

  const store = (rows: Array.NonEmptyReadonlyArray<ReturnType<typeof toRow>>) =>
    Commit.add(sql`INSERT INTO ${table} ${sql.insert(rows)}`)

  // The rows of a chat may be stored in any order, so many updates of a chat can be in one batch.
  yield* Updates.deliveries({ perChat: "unbounded" }).pipe(
    Deliveries.on("message_created"),
    Deliveries.map(toRow),
    Deliveries.groupedWithin(500, "1 second"),
    Deliveries.runForEach(store, { concurrency: 4 })
  )
})

// The inbox is in the database of the table, because one transaction writes both. Its leases are short, so that a program
// that was killed continues soon.
const inbox = Layer.unwrap(
  Effect.map(name, (prefix) =>
    Layer.provideMerge(Inbox.layer({ leaseDuration: "5 seconds" }), SqlInboxStore.layer({ prefix }))
  )
).pipe(
  Layer.provideMerge(PgClient.layerConfig({ url: Config.Redacted("DATABASE_URL") })),
  NodeBot.untilAvailable("PostgreSQL")
)

const client = NodeBot.layerClientConfig().pipe(Layer.provide(RateLimiter.layerMemory()))

const updates = LongPolling.layer().pipe(Layer.provideMerge(Layer.merge(client, inbox)))

if (import.meta.main) NodeMain.runMain(Effect.provide(bot, updates))
