/**
 * Stores every message in PostgreSQL (`DATABASE_URL`), in batches. An update leaves the inbox when its batch is stored, and
 * its row has its fingerprint as key: if the program is killed at any time, no message is missing and none is stored twice.
 */
import { Deliveries, LongPolling, Update, Updates } from "@colloquy/core"
import * as Fingerprint from "@colloquy/core/model/Fingerprint"
import { NodeBot, NodeMain } from "@colloquy/node"
import { PgClient } from "@effect/sql-pg"
import { type Array, Config, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"

const toRow = (update: Update.Of<"message_created">) => ({
  fingerprint: Fingerprint.of(update),
  chat_id: Update.chatOf(update) ?? null,
  user_id: Update.userIdOf(update) ?? null,
  characters: Update.textOf(update)?.length ?? 0,
  sent_at: new Date(update.timestamp)
})

/** The pipeline. It creates its table if the table does not exist. */
export const analytics = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const name = yield* Config.String("BOT_NAME").pipe(Config.withDefault("my_bot"))
  const table = sql(`${name}_messages`)
  yield* sql`
    CREATE TABLE IF NOT EXISTS ${table} (
      fingerprint text PRIMARY KEY,
      chat_id bigint,
      user_id bigint,
      characters integer NOT NULL,
      sent_at timestamptz NOT NULL
    )`

  const store = (rows: Array.NonEmptyReadonlyArray<ReturnType<typeof toRow>>) =>
    sql`INSERT INTO ${table} ${sql.insert(rows)} ON CONFLICT (fingerprint) DO NOTHING`

  // The rows of a chat may be stored in any order, so many updates of a chat can be in one batch.
  yield* Updates.deliveries({ perChat: "unbounded" }).pipe(
    Deliveries.on("message_created"),
    Deliveries.map(toRow),
    Deliveries.groupedWithin(500, "1 second"),
    Deliveries.runForEach(store, { concurrency: 4 })
  )
})

if (import.meta.main) {
  const updates = LongPolling.layer().pipe(Layer.provideMerge(NodeBot.layerConfig()))
  const database = PgClient.layerConfig({ url: Config.Redacted("DATABASE_URL") })
  NodeMain.runMain(Effect.provide(analytics, Layer.merge(updates, database)))
}
