import { Commit, Deliveries, Update, Updates } from "@colloquy/core"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const count = Effect.fn(function* (messages: ReadonlyArray<object>) {
  const sql = yield* SqlClient.SqlClient
  yield* Commit.add(sql`
    INSERT INTO messages_per_minute AS stored (chat_id, minute, messages)
    SELECT chat_id, minute, count(*)
    FROM json_to_recordset(${JSON.stringify(messages)}::json) AS r(chat_id bigint, minute bigint)
    GROUP BY chat_id, minute
    ON CONFLICT (chat_id, minute) DO UPDATE SET messages = stored.messages + excluded.messages`)
})

/** Counts each message once: the counters change in the transaction that acknowledges the messages of a batch. */
export const countPerMinute = Updates.deliveries({ perChat: "unbounded" }).pipe(
  Deliveries.on("message_created"),
  Deliveries.map((update) => ({
    chat_id: Update.chatOf(update) ?? 0,
    minute: Math.floor(update.timestamp / 60_000)
  })),
  Deliveries.groupedWithin(500, "1 second"),
  Deliveries.runForEach(count, { concurrency: 1 })
)
