import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import type * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment, Identifier, Statement } from "effect/sql/Statement"

/** An update as the table has it. PostgreSQL gives its integers as bigint. */
export interface UpdateRow {
  readonly id: number | bigint
  readonly partition_key: string
  readonly fingerprint: string
  readonly received_at: number | bigint
  readonly text: string
}

/** An update as it is inserted. */
export type NewUpdate = {
  readonly fingerprint: string
  readonly partition_key: string
  readonly received_at: number
  readonly text: string
  readonly error: string | null
  readonly attempts: number | null
  readonly failed_at: number | null
}

type Columns = Readonly<Record<string, "text" | "bigint">>

/** What the two databases say differently. */
export interface Dialect {
  /** Rows under the name `r`, in one parameter however many they are. */
  readonly rows: (columns: Columns, values: ReadonlyArray<object>) => Fragment
  /** Keeps other transactions from the rows that a query gives, in their order. */
  readonly lock: Fragment
  /** The same, and leaves out what others keep. */
  readonly lockFree: Fragment
  readonly isolation: string | undefined
  readonly text: Fragment
  readonly integer: Fragment
  readonly identity: Fragment
  /** Inserts updates, with ids in their order. */
  readonly insert: (updates: Identifier, values: ReadonlyArray<NewUpdate>) => Effect.Effect<unknown, SqlError>
  /** The first waiting updates of each of `keys`. */
  readonly firstUpdates: (updates: Identifier, keys: ReadonlyArray<string>, limit: number) => Statement<UpdateRow>
}

const updateColumns: { readonly [K in keyof NewUpdate]: "text" | "bigint" } = {
  fingerprint: "text",
  partition_key: "text",
  received_at: "bigint",
  text: "text",
  error: "text",
  attempts: "bigint",
  failed_at: "bigint"
}

/** Few sizes, so that few statements are prepared. */
const partSizes = [64, 8, 1]

const inParts = <A>(values: ReadonlyArray<A>): ReadonlyArray<Arr.NonEmptyReadonlyArray<A>> => {
  const parts: Array<Arr.NonEmptyReadonlyArray<A>> = []
  let rest = values
  for (const size of partSizes) {
    for (; rest.length >= size; rest = rest.slice(size)) {
      const part = rest.slice(0, size)
      if (Arr.isReadonlyArrayNonEmpty(part)) parts.push(part)
    }
  }
  return parts
}

const keyRows = (keys: ReadonlyArray<string>) => keys.map((partition_key) => ({ partition_key }))

const pg = (sql: SqlClient.SqlClient): Dialect => {
  const rows: Dialect["rows"] = (columns, values) => {
    const types = Object.entries(columns).map(([name, type]) => `"${name}" ${type}`)
    return sql`json_to_recordset(${JSON.stringify(values)}::json) AS r(${sql.literal(types.join(", "))})`
  }
  return {
    rows,
    lock: sql.literal("FOR UPDATE"),
    lockFree: sql.literal("FOR UPDATE SKIP LOCKED"),
    // Each statement sees what was committed before it, so what is read after a lock is what the lock guards.
    isolation: "BEGIN ISOLATION LEVEL READ COMMITTED",
    text: sql.literal("text"),
    integer: sql.literal("bigint"),
    identity: sql.literal("bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY"),
    insert: (updates, values) => {
      const columns = sql.literal(Object.keys(updateColumns).join(", "))
      return sql`INSERT INTO ${updates} (${columns}) SELECT ${columns} FROM ${rows(updateColumns, values)}`
    },
    firstUpdates: (updates, keys, limit) => sql<UpdateRow>`
      SELECT u.* FROM ${rows({ partition_key: "text" }, keyRows(keys))}
      CROSS JOIN LATERAL (
        SELECT id, partition_key, fingerprint, received_at, text FROM ${updates}
        WHERE partition_key = r.partition_key AND failed_at IS NULL ORDER BY id LIMIT ${limit}
      ) AS u
      ORDER BY u.id`
  }
}

const sqlite = (sql: SqlClient.SqlClient): Dialect => {
  const rows: Dialect["rows"] = (columns, values) => {
    const names = Object.keys(columns)
    const members = names.map((name, index) => `value ->> ${index} AS "${name}"`)
    const tuples = JSON.stringify(values.map((value) => names.map((name) => value[name as keyof typeof value])))
    return sql`(SELECT ${sql.literal(members.join(", "))} FROM json_each(${tuples})) AS r`
  }
  const nothing = sql.literal("")
  return {
    rows,
    lock: nothing,
    lockFree: nothing,
    isolation: undefined,
    text: sql.literal("TEXT"),
    integer: sql.literal("INTEGER"),
    identity: sql.literal("INTEGER PRIMARY KEY AUTOINCREMENT"),
    // SQLite reads long texts out of JSON many times slower than parameters.
    insert: (updates, values) =>
      Effect.forEach(inParts(values), (part) => sql`INSERT INTO ${updates} ${sql.insert(part)}`, { discard: true }),
    firstUpdates: (updates, keys, limit) => sql<UpdateRow>`
      SELECT u.id, u.partition_key, u.fingerprint, u.received_at, u.text
      FROM ${rows({ partition_key: "text" }, keyRows(keys))}
      JOIN ${updates} AS u ON u.id IN (
        SELECT id FROM ${updates} WHERE partition_key = r.partition_key AND failed_at IS NULL ORDER BY id LIMIT ${limit}
      )
      ORDER BY u.id`
  }
}

export const make = (sql: SqlClient.SqlClient): Dialect =>
  sql.onDialectOrElse({
    pg: () => pg(sql),
    sqlite: () => sqlite(sql),
    orElse: () => {
      throw new Error("An inbox needs a SqlClient of SQLite or PostgreSQL.")
    }
  })
