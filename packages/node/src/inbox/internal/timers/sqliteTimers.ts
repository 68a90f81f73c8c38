import type { TimerChange } from "@colloquy/core/inbox/InboxStore"
import * as Effect from "effect/Effect"
import type * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import type { Dialect } from "../../../base/internal/stores/sql.ts"
import { toInserts } from "../sqliteInserts.ts"
import { type NewUpdate, tableNames } from "../sqlTables.ts"
import { combineTimers, type EndRow } from "./sqlTimers.ts"

interface DueRow {
  readonly id: number
  readonly name: string
  readonly timer_key: string
  readonly user_scope: string | null
  readonly partition_key: string
  readonly fingerprint: string
  readonly due_at: number
  readonly text: string
}

/** The timers in SQLite. */
export const make = (sql: SqlClient.SqlClient, table: string, { rows }: Dialect) => {
  const names = tableNames(table)
  const timers = sql(names.timers)
  const occurrences = sql(names.occurrences)
  const keysOf = (keys: ReadonlyArray<{ readonly name: string; readonly timer_key: string }>) =>
    sql`SELECT r.name, r.timer_key FROM ${rows({ name: "text", timer_key: "text" }, keys)}`

  /** Deletes handled occurrences. Returns the next timers, without cancelled timers. */
  const end = Effect.fnUntraced(function* (ends: ReadonlyArray<EndRow>) {
    const ended = yield* sql<{ update_id: number; cancelled: number }>`
      DELETE FROM ${occurrences} WHERE update_id IN (
        SELECT r.id FROM ${rows(
          { id: "bigint" },
          ends.map(({ update_id }) => ({ id: update_id }))
        )}
      ) RETURNING update_id, cancelled`
    const going = new Set(ended.flatMap(({ cancelled, update_id }) => (cancelled === 0 ? [String(update_id)] : [])))
    return ends.flatMap(({ next, update_id }) => (next !== undefined && going.has(update_id) ? [next] : []))
  })

  const change = Effect.fnUntraced(function* (
    changes: ReadonlyArray<TimerChange>,
    now: number
  ): Effect.fn.Return<void, SqlError> {
    const { ends, keys, set } = combineTimers(changes)
    const next = ends.length === 0 ? [] : yield* end(ends)
    if (keys.length > 0) {
      yield* sql`UPDATE ${occurrences} SET cancelled = 1 WHERE (name, timer_key) IN (${keysOf(keys)})`
    }
    const replaced = [...keys, ...next]
    if (replaced.length === 0) return
    yield* sql`DELETE FROM ${timers} WHERE (name, timer_key) IN (${keysOf(replaced)})`
    const added = [...next, ...set].map(({ after, due_at, ...timer }) => ({
      ...timer,
      due_at: due_at ?? now + (after ?? 0)
    }))
    for (const values of toInserts(added)) yield* sql`INSERT INTO ${timers} ${sql.insert(values)}`
  })

  /** Deletes due timers, and stores their updates as occurrences, the earliest first. */
  const moveDue = Effect.fnUntraced(function* (
    now: number,
    limit: number,
    append: (updates: ReadonlyArray<NewUpdate>) => Effect.Effect<ReadonlyArray<number>, SqlError>
  ): Effect.fn.Return<void, SqlError> {
    const due = yield* sql<DueRow>`
      SELECT id, name, timer_key, user_scope, partition_key, fingerprint, due_at, text FROM ${timers}
      WHERE due_at <= ${now} ORDER BY due_at, id LIMIT ${limit}`
    if (due.length === 0) return
    yield* sql`DELETE FROM ${timers} WHERE id IN (SELECT r.id FROM ${rows(
      { id: "bigint" },
      due.map(({ id }) => ({ id }))
    )})`
    const ids = yield* append(
      due.map(({ due_at, fingerprint, partition_key, text }) => ({
        fingerprint,
        partition_key,
        received_at: due_at,
        text,
        error: null,
        attempts: null,
        failed_at: null
      }))
    )
    const added = due.map(({ name, timer_key, user_scope }, index) => ({
      update_id: ids[index],
      name,
      timer_key,
      user_scope
    }))
    for (const values of toInserts(added)) yield* sql`INSERT INTO ${occurrences} ${sql.insert(values)}`
  })

  return { change, moveDue }
}
