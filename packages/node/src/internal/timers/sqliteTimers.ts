import type { TimerChange } from "@colloquy/core/HandlingStore"
import * as Effect from "effect/Effect"
import type * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import type { Dialect } from "../stores/sql.ts"
import { toInserts } from "../updates/sqliteInserts.ts"
import { type NewUpdate, tableNames } from "../updates/sqlTables.ts"
import { combineTimers } from "./sqlTimers.ts"

interface DueRow {
  readonly id: number
  readonly partition_key: string
  readonly fingerprint: string
  readonly due_at: number
  readonly text: string
}

/** The timers in SQLite. */
export const make = (sql: SqlClient.SqlClient, table: string, { rows }: Dialect) => {
  const timers = sql(tableNames(table).timers)

  const change = Effect.fnUntraced(function* (
    changes: ReadonlyArray<TimerChange>,
    now: number
  ): Effect.fn.Return<void, SqlError> {
    const { keys, set } = combineTimers(changes)
    if (keys.length === 0) return
    yield* sql`
      DELETE FROM ${timers} WHERE (name, timer_key) IN (
        SELECT r.name, r.timer_key FROM ${rows({ name: "text", timer_key: "text" }, keys)}
      )`
    const added = set.map(({ after, due_at, ...timer }) => ({ ...timer, due_at: due_at ?? now + (after ?? 0) }))
    for (const values of toInserts(added)) yield* sql`INSERT INTO ${timers} ${sql.insert(values)}`
  })

  /** Deletes timers that are due, the earliest first. Returns their updates. */
  const takeDue = Effect.fnUntraced(function* (
    now: number,
    limit: number
  ): Effect.fn.Return<ReadonlyArray<NewUpdate>, SqlError> {
    const due = yield* sql<DueRow>`
      SELECT id, partition_key, fingerprint, due_at, text FROM ${timers}
      WHERE due_at <= ${now} ORDER BY due_at, id LIMIT ${limit}`
    if (due.length === 0) return []
    yield* sql`DELETE FROM ${timers} WHERE id IN (SELECT r.id FROM ${rows(
      { id: "bigint" },
      due.map(({ id }) => ({ id }))
    )})`
    return due.map(({ due_at, fingerprint, partition_key, text }) => ({
      fingerprint,
      partition_key,
      received_at: due_at,
      text,
      error: null,
      attempts: null,
      failed_at: null
    }))
  })

  return { change, takeDue }
}
