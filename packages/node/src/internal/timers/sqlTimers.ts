import type { TimerChange } from "@colloquy/core/HandlingStore"
import * as Effect from "effect/Effect"
import type * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import { type Dialect, indexName } from "../stores/sql.ts"
import { encodeIndexed, encodeText } from "../stores/values.ts"
import { tableNames } from "../updates/sqlTables.ts"

/** A timer to set. Either `due_at` or `after` is given. */
export interface TimerRow {
  readonly name: string
  readonly timer_key: string
  readonly due_at: number | null
  readonly after: number | null
  readonly partition_key: string
  readonly fingerprint: string
  readonly text: string
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
        text: encodeText(set.text)
      }

const toTimerKey = ({ key, name }: Pick<TimerChange, "key" | "name">) => ({
  name: encodeIndexed(name),
  timer_key: encodeIndexed(key)
})

/** Combines changes: the last one of each timer counts. Timers that are set keep the order of the changes. */
export const combineTimers = (changes: ReadonlyArray<TimerChange>) => {
  const last = new Map<string, TimerChange>()
  for (const change of changes) {
    last.delete(identify(change))
    last.set(identify(change), change)
  }
  const all = [...last.values()]
  return { keys: all.map(toTimerKey), set: all.flatMap((change) => toTimerRow(change) ?? []) }
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

/** In how many milliseconds the next timer is due. */
export const untilNext = (sql: SqlClient.SqlClient, table: string, { now }: Dialect) => {
  const timers = sql(tableNames(table).timers)
  return (clock: number): Effect.Effect<number | undefined, SqlError> =>
    Effect.map(
      sql<{ wait: number | bigint }>`
        SELECT due_at - ${now(clock)} AS wait FROM ${timers} ORDER BY due_at LIMIT 1`,
      ([next]) => (next === undefined ? undefined : Math.max(0, Number(next.wait)))
    )
}
