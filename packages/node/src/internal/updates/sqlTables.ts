import * as Effect from "effect/Effect"
import type * as SqlClient from "effect/sql/SqlClient"
import { type Dialect, indexName } from "../stores/sql.ts"

/**
 * `updates` holds queued updates and dead letters; `failed_at` is set for dead letters. `partitions` has a row for each key
 * that has a queued update or an owner: `head_id` is the first queued update, and `owner` counts until `lease_until`.
 */
export const names = (table: string) => ({
  updates: `${table}_updates`,
  partitions: `${table}_partitions`,
  fingerprints: `${table}_fingerprints`,
  markers: `${table}_markers`
})

const create = (sql: SqlClient.SqlClient, table: string, { integer, text, identity }: Dialect) =>
  Effect.gen(function* () {
    const { updates, partitions, fingerprints, markers } = names(table)
    const index = (of: string, purpose: string) => sql(indexName(of, purpose))

    yield* sql`CREATE TABLE ${sql(updates)} (
      id ${identity},
      partition_key ${text} NOT NULL,
      fingerprint ${text} NOT NULL,
      received_at ${integer} NOT NULL,
      text ${text} NOT NULL,
      error ${text},
      attempts ${integer},
      failed_at ${integer}
    )`
    yield* sql`CREATE INDEX ${index(updates, "queued")} ON ${sql(updates)} (partition_key, id) WHERE failed_at IS NULL`
    yield* sql`CREATE INDEX ${index(updates, "dead_letters")} ON ${sql(updates)} (id) WHERE failed_at IS NOT NULL`
    yield* sql`CREATE INDEX ${index(updates, "failed_at")} ON ${sql(updates)} (failed_at) WHERE failed_at IS NOT NULL`
    yield* sql`CREATE TABLE ${sql(partitions)} (
      partition_key ${text} PRIMARY KEY,
      head_id ${integer},
      owner ${text},
      lease_until ${integer} NOT NULL DEFAULT 0
    )`
    yield* sql`CREATE INDEX ${index(partitions, "head")} ON ${sql(partitions)} (head_id) WHERE head_id IS NOT NULL`
    yield* sql`CREATE TABLE ${sql(fingerprints)} (fingerprint ${text} PRIMARY KEY, seen_at ${integer} NOT NULL)`
    yield* sql`CREATE INDEX ${index(fingerprints, "seen_at")} ON ${sql(fingerprints)} (seen_at)`
    yield* sql`CREATE TABLE ${sql(markers)} (source ${text} PRIMARY KEY, value ${text} NOT NULL)`
  })

export const migrations = (sql: SqlClient.SqlClient, table: string, dialect: Dialect) => ({
  "1_create": create(sql, table, dialect)
})
