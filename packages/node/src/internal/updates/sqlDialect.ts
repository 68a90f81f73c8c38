import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import type * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import type { Identifier, Statement } from "effect/sql/Statement"
import type { Dialect } from "../stores/sql.ts"

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

export interface InboxDialect extends Dialect {
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

const pg = (sql: SqlClient.SqlClient, dialect: Dialect): InboxDialect => ({
  ...dialect,
  insert: (updates, values) => {
    const columns = sql.literal(Object.keys(updateColumns).join(", "))
    return sql`INSERT INTO ${updates} (${columns}) SELECT ${columns} FROM ${dialect.rows(updateColumns, values)}`
  },
  firstUpdates: (updates, keys, limit) => sql<UpdateRow>`
    SELECT u.* FROM ${dialect.rows({ partition_key: "text" }, keyRows(keys))}
    CROSS JOIN LATERAL (
      SELECT id, partition_key, fingerprint, received_at, text FROM ${updates}
      WHERE partition_key = r.partition_key AND failed_at IS NULL ORDER BY id LIMIT ${limit}
    ) AS u
    ORDER BY u.id`
})

const sqlite = (sql: SqlClient.SqlClient, dialect: Dialect): InboxDialect => ({
  ...dialect,
  // SQLite reads long texts out of JSON many times slower than parameters.
  insert: (updates, values) =>
    Effect.forEach(inParts(values), (part) => sql`INSERT INTO ${updates} ${sql.insert(part)}`, { discard: true }),
  firstUpdates: (updates, keys, limit) => sql<UpdateRow>`
    SELECT u.id, u.partition_key, u.fingerprint, u.received_at, u.text
    FROM ${dialect.rows({ partition_key: "text" }, keyRows(keys))}
    JOIN ${updates} AS u ON u.id IN (
      SELECT id FROM ${updates} WHERE partition_key = r.partition_key AND failed_at IS NULL ORDER BY id LIMIT ${limit}
    )
    ORDER BY u.id`
})

export const make = (sql: SqlClient.SqlClient, dialect: Dialect): InboxDialect =>
  dialect.name === "pg" ? pg(sql, dialect) : sqlite(sql, dialect)
