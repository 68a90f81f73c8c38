import { Commit, Deliveries, Update, Updates } from "@colloquy/core"
import { type Array, Effect } from "effect"
import { SqlClient } from "effect/sql"

const toRow = (update: Update.Of<"message_created">) => ({
  sent_at: update.timestamp,
  chat_id: Update.chatOf(update) ?? null,
  text: Update.textOf(update) ?? null
})

const createTable = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`CREATE TABLE IF NOT EXISTS messages (sent_at bigint NOT NULL, chat_id bigint, text text)`
)

// The rows are written in the transaction that acknowledges the updates of the batch. After a crash, the updates of a
// batch that was not written are delivered again, so each message is one row.
const store = (rows: Array.NonEmptyReadonlyArray<ReturnType<typeof toRow>>) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => Commit.add(sql`INSERT INTO messages ${sql.insert(rows)}`))

const archive = Updates.deliveries({
  perChat: "unbounded",
  // All attempts to write an update have failed. The update is kept, and `npx colloquy dead replay` writes it later.
  onDeadLetter: ({ error, id }) => Effect.logFatal(`The update ${id} was not written: ${error}`)
}).pipe(
  Deliveries.on("message_created"),
  Deliveries.map(toRow),
  Deliveries.groupedWithin(500, "1 second"),
  Deliveries.runForEach(store)
)

export const bot = Effect.andThen(createTable, archive)
