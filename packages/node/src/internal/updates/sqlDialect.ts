import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import type * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment, Identifier, Statement } from "effect/sql/Statement"

/** A letter as the table has it. PostgreSQL gives its integers as bigint. */
export interface LetterRow {
  readonly id: number | bigint
  readonly key: string
  readonly fingerprint: string
  readonly received_at: number | bigint
  readonly text: string
}

/** A letter as it is inserted. */
export type NewLetter = {
  readonly fingerprint: string
  readonly key: string
  readonly received_at: number
  readonly text: string
  readonly problem: string | null
  readonly attempts: number | null
  readonly died_at: number | null
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
  /** Inserts letters, with ids in their order. */
  readonly insert: (letters: Identifier, values: ReadonlyArray<NewLetter>) => Effect.Effect<unknown, SqlError>
  /** The first waiting letters of each of `keys`. */
  readonly firstLetters: (letters: Identifier, keys: ReadonlyArray<string>, limit: number) => Statement<LetterRow>
}

const letterColumns: { readonly [K in keyof NewLetter]: "text" | "bigint" } = {
  fingerprint: "text",
  key: "text",
  received_at: "bigint",
  text: "text",
  problem: "text",
  attempts: "bigint",
  died_at: "bigint"
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

const keyRows = (keys: ReadonlyArray<string>) => keys.map((key) => ({ key }))

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
    insert: (letters, values) => {
      const columns = sql.literal(Object.keys(letterColumns).join(", "))
      return sql`INSERT INTO ${letters} (${columns}) SELECT ${columns} FROM ${rows(letterColumns, values)}`
    },
    firstLetters: (letters, keys, limit) => sql<LetterRow>`
      SELECT l.* FROM ${rows({ key: "text" }, keyRows(keys))}
      CROSS JOIN LATERAL (
        SELECT id, key, fingerprint, received_at, text FROM ${letters}
        WHERE key = r.key AND died_at IS NULL ORDER BY id LIMIT ${limit}
      ) AS l
      ORDER BY l.id`
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
    insert: (letters, values) =>
      Effect.forEach(inParts(values), (part) => sql`INSERT INTO ${letters} ${sql.insert(part)}`, { discard: true }),
    firstLetters: (letters, keys, limit) => sql<LetterRow>`
      SELECT l.id, l.key, l.fingerprint, l.received_at, l.text
      FROM ${rows({ key: "text" }, keyRows(keys))}
      JOIN ${letters} AS l ON l.id IN (
        SELECT id FROM ${letters} WHERE key = r.key AND died_at IS NULL ORDER BY id LIMIT ${limit}
      )
      ORDER BY l.id`
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
