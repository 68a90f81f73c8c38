import * as Effect from "effect/Effect"
import type * as SqlClient from "effect/sql/SqlClient"
import type { Dialect } from "../../base/internal/stores/sql.ts"

export const recordColumns = {
  chat_id: "bigint",
  status: "text",
  message_id: "text",
  problem: "text",
  at: "bigint"
} as const

export const migrations = (sql: SqlClient.SqlClient, table: string, { integer }: Dialect) => ({
  "1_create": Effect.andThen(
    sql`CREATE TABLE ${sql(table)} (
      name TEXT NOT NULL PRIMARY KEY,
      status TEXT NOT NULL,
      started_at ${integer} NOT NULL,
      total ${integer},
      sent ${integer} NOT NULL DEFAULT 0,
      forbidden ${integer} NOT NULL DEFAULT 0,
      not_found ${integer} NOT NULL DEFAULT 0,
      failed ${integer} NOT NULL DEFAULT 0,
      owner TEXT NOT NULL,
      lease_until ${integer} NOT NULL
    )`,
    sql`CREATE TABLE ${sql(`${table}_records`)} (
      name TEXT NOT NULL,
      chat_id ${integer} NOT NULL,
      status TEXT NOT NULL,
      message_id TEXT,
      problem TEXT,
      at ${integer} NOT NULL,
      PRIMARY KEY (name, chat_id)
    )`
  ),
  "2_begun": sql`ALTER TABLE ${sql(table)} ADD COLUMN begun TEXT`
})
