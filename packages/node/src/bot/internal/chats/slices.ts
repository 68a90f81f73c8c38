import * as Effect from "effect/Effect"
import type * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"

/** SQLite reads this many rows in some milliseconds, in which the event loop stands still. */
export const maxRows = 20_000

/**
 * Divides the chats after an id into ranges of at most `maxRows` rows, and calls `visit` with the condition of each
 * range, in order, until `visit` returns `false`. The first range has `rows` rows, and each further range four times as
 * many. Other fibers run between the ranges.
 */
export const visitSlices = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  table: string,
  from: { readonly after: number | undefined; readonly rows: number },
  visit: (range: Fragment) => Effect.Effect<boolean, SqlError>
) {
  const chats = sql(table)
  let rows = Math.min(from.rows, maxRows)
  let after: number | undefined = from.after
  for (;;) {
    const start: Fragment = after === undefined ? sql`true` : sql`chat_id > ${after}`
    const [last] = yield* sql<{ readonly chat_id: number }>`
      SELECT chat_id FROM ${chats} WHERE ${start} ORDER BY chat_id LIMIT 1 OFFSET ${rows - 1}`
    const range = last === undefined ? start : sql.and([start, sql`chat_id <= ${last.chat_id}`])
    if (!(yield* visit(range)) || last === undefined) return
    yield* Effect.yieldNow
    after = last.chat_id
    rows = Math.min(4 * rows, maxRows)
  }
})
