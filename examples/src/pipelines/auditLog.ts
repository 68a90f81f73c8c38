import { Deliveries, Messages, QueuedUpdate, type Update, Updates } from "@colloquy/core"
import { Array, Effect } from "effect"
import { SqlClient } from "effect/sql"

const store = Effect.fn(function* (updates: Array.NonEmptyReadonlyArray<Update.Update>) {
  const sql = yield* SqlClient.SqlClient
  const rows = Array.map(updates, (update) => ({
    fingerprint: QueuedUpdate.fingerprintOf(update),
    update_type: update.update_type
  }))
  yield* sql`INSERT INTO audit_log ${sql.insert(rows)} ON CONFLICT (fingerprint) DO NOTHING`
})

/** Answers messages, and stores every update in a table. An update leaves the inbox when both have succeeded. */
export const answerAndLog = Updates.deliveries({ perChat: 16 }).pipe(
  Deliveries.tee((log) => log.pipe(Deliveries.groupedWithin(100, "1 second"), Deliveries.runForEach(store))),
  Deliveries.on("message_created"),
  Deliveries.runForEach((update) => Messages.reply(update, "Thank you"))
)
