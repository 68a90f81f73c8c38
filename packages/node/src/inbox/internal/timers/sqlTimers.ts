import type { StoredTimer, TimerChange, TimerStore } from "@colloquy/core/inbox/InboxStore"
import * as Effect from "effect/Effect"
import type * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import { type Dialect, indexName } from "../../../base/internal/stores/sql.ts"
import { decodeText, encodeIndexed, encodeText, isId } from "../../../base/internal/stores/values.ts"
import { tableNames } from "../sqlTables.ts"

/** A timer to set. Either `due_at` or `after` is given. */
export interface TimerRow {
  readonly name: string
  readonly timer_key: string
  readonly due_at: number | null
  readonly after: number | null
  readonly partition_key: string
  readonly fingerprint: string
  readonly text: string
  readonly user_scope: string | null
}

/** A change that ends the handling of an occurrence, with the next timer of a recurring timer. */
export interface EndRow {
  readonly update_id: string
  readonly next: TimerRow | undefined
}

export const identify = ({ key, name }: Pick<TimerChange, "key" | "name">): string => JSON.stringify([name, key])

const toTimerRow = ({ key, name, set }: TimerChange): TimerRow | undefined =>
  set === undefined
    ? undefined
    : {
        ...toTimerKey({ key, name }),
        due_at: "at" in set.due ? Math.floor(set.due.at) : null,
        after: "at" in set.due ? null : Math.ceil(set.due.after),
        partition_key: encodeIndexed(set.partitionKey),
        fingerprint: encodeIndexed(set.fingerprint),
        text: encodeText(set.text),
        user_scope: set.user === undefined ? null : encodeIndexed(set.user)
      }

const toTimerKey = ({ key, name }: Pick<TimerChange, "key" | "name">) => ({
  name: encodeIndexed(name),
  timer_key: encodeIndexed(key)
})

/**
 * Combines changes: the last change of each timer counts, and a change that ends an occurrence counts before the other
 * changes. New timers keep the order of the changes.
 */
export const combineTimers = (changes: ReadonlyArray<TimerChange>) => {
  const last = new Map<string, TimerChange>()
  const ended: Array<TimerChange & { readonly occurrence: string }> = []
  for (const change of changes) {
    const { occurrence } = change
    if (occurrence !== undefined) {
      if (isId(occurrence)) ended.push({ ...change, occurrence })
      continue
    }
    last.delete(identify(change))
    last.set(identify(change), change)
  }
  const all = [...last.values()]
  return {
    keys: all.map(toTimerKey),
    set: all.flatMap((change) => toTimerRow(change) ?? []),
    ends: ended.map((change): EndRow => ({
      update_id: change.occurrence,
      next: last.has(identify(change)) ? undefined : toTimerRow(change)
    }))
  }
}

export const createTimers = (
  sql: SqlClient.SqlClient,
  table: string,
  { identity, integer, text }: Dialect
): Effect.Effect<void, SqlError> =>
  Effect.gen(function* () {
    const { timers } = tableNames(table)
    yield* sql`CREATE TABLE ${sql(timers)} (
      id ${identity},
      name ${text} NOT NULL,
      timer_key ${text} NOT NULL,
      due_at ${integer} NOT NULL,
      partition_key ${text} NOT NULL,
      fingerprint ${text} NOT NULL,
      text ${text} NOT NULL,
      UNIQUE (name, timer_key)
    )`
    yield* sql`CREATE INDEX ${sql(indexName(timers, "due_at"))} ON ${sql(timers)} (due_at, id)`
  })

export const createOccurrences = (
  sql: SqlClient.SqlClient,
  table: string,
  { integer, text }: Dialect
): Effect.Effect<void, SqlError> =>
  Effect.gen(function* () {
    const { occurrences, timers } = tableNames(table)
    const ofUsers = (of: string) => sql`
      CREATE INDEX ${sql(indexName(of, "user"))} ON ${sql(of)} (user_scope) WHERE user_scope IS NOT NULL`
    yield* sql`ALTER TABLE ${sql(timers)} ADD COLUMN user_scope ${text}`
    yield* sql`CREATE TABLE ${sql(occurrences)} (
      update_id ${integer} PRIMARY KEY,
      name ${text} NOT NULL,
      timer_key ${text} NOT NULL,
      user_scope ${text},
      cancelled ${integer} NOT NULL DEFAULT 0
    )`
    yield* sql`CREATE INDEX ${sql(indexName(occurrences, "timer"))} ON ${sql(occurrences)} (name, timer_key)`
    yield* ofUsers(timers)
    yield* ofUsers(occurrences)
  })

interface StoredRow {
  readonly id: number | bigint
  readonly due_at: number | bigint
  readonly partition_key: string
  readonly text: string
}

/** The operations on timers that SQLite and PostgreSQL share. */
export const make = (sql: SqlClient.SqlClient, table: string, { lock, now }: Dialect) => {
  const names = tableNames(table)
  const timers = sql(names.timers)
  const occurrences = sql(names.occurrences)

  /** In how many milliseconds the next timer is due. */
  const untilNext = (clock: number): Effect.Effect<number | undefined, SqlError> =>
    Effect.map(
      sql<{ wait: number | bigint }>`
        SELECT due_at - ${now(clock)} AS wait FROM ${timers} ORDER BY due_at LIMIT 1`,
      ([next]) => (next === undefined ? undefined : Math.max(0, Number(next.wait)))
    )

  const isCancelled = (occurrence: string): Effect.Effect<boolean, SqlError> =>
    Effect.map(
      sql<{ cancelled: number | bigint }>`
        SELECT cancelled FROM ${occurrences} WHERE update_id = ${BigInt(isId(occurrence) ? occurrence : "0")}`,
      ([found]) => Number(found?.cancelled ?? 0) === 1
    )

  const page = ({ after, limit }: Parameters<TimerStore["page"]>[0]) => {
    const rest = after === undefined ? sql.literal("") : sql`WHERE (due_at, id) > (${after.dueAt}, ${BigInt(after.id)})`
    return Effect.map(
      sql<StoredRow>`
        SELECT id, due_at, partition_key, text FROM ${timers} ${rest} ORDER BY due_at, id LIMIT ${limit}`,
      (found): ReadonlyArray<StoredTimer> =>
        found.map(({ due_at, id, partition_key, text }) => ({
          id: String(id),
          dueAt: Number(due_at),
          partitionKey: decodeText(partition_key),
          text: decodeText(text)
        }))
    )
  }

  /** Returns the number of cancelled timers. */
  const forget = Effect.fnUntraced(function* (user: string) {
    const isOfUser = sql`user_scope IS NOT NULL AND user_scope = ${encodeIndexed(user)}`
    const deleted = yield* sql`
      WITH chosen AS MATERIALIZED (
        SELECT id FROM ${timers} WHERE ${isOfUser} ORDER BY name, timer_key ${lock}
      ) DELETE FROM ${timers} WHERE id IN (SELECT id FROM chosen) RETURNING id`
    const cancelled = yield* sql`
      WITH chosen AS MATERIALIZED (
        SELECT update_id FROM ${occurrences} WHERE ${isOfUser} AND cancelled = 0 ORDER BY update_id ${lock}
      ) UPDATE ${occurrences} SET cancelled = 1 WHERE update_id IN (SELECT update_id FROM chosen) RETURNING update_id`
    return deleted.length + cancelled.length
  })

  return { untilNext, isCancelled, page, forget }
}
