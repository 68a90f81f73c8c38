import { Deliveries, Update, Updates } from "@colloquy/core"
import * as Fingerprint from "@colloquy/core/model/Fingerprint"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** A message is counted in the statement that stores its fingerprint. If it is delivered again, nothing is counted. */
const count = Effect.fn(function* (messages: ReadonlyArray<object>) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    WITH counted AS (
      INSERT INTO counted_messages (fingerprint, chat_id, minute)
      SELECT fingerprint, chat_id, minute
      FROM json_to_recordset(${JSON.stringify(messages)}::json) AS r(fingerprint text, chat_id bigint, minute bigint)
      ON CONFLICT DO NOTHING
      RETURNING chat_id, minute
    )
    INSERT INTO messages_per_minute AS stored (chat_id, minute, messages)
    SELECT chat_id, minute, count(*) FROM counted GROUP BY chat_id, minute
    ON CONFLICT (chat_id, minute) DO UPDATE SET messages = stored.messages + excluded.messages`
})

export const countPerMinute = Updates.deliveries({ perChat: "unbounded" }).pipe(
  Deliveries.on("message_created"),
  Deliveries.map((update) => ({
    fingerprint: Fingerprint.of(update),
    chat_id: Update.chatOf(update) ?? 0,
    minute: Math.floor(update.timestamp / 60_000)
  })),
  Deliveries.groupedWithin(500, "1 second"),
  Deliveries.runForEach(count, { concurrency: 1 })
)
