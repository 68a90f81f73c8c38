import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import type * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import type { Identifier, Statement } from "effect/sql/Statement"
import { type Dialect, indexName } from "../stores/sql.ts"

/**
 * `updates` holds queued updates and dead letters; `failed_at` is set for dead letters. `partitions` has a row for each key
 * that has a queued update or an owner: `head_id` is the first queued update, `owner` counts until `lease_until`, and
 * `begun` are the ids of the updates whose attempt is running, separated by commas.
 */
export const tableNames = (table: string) => ({
  updates: `${table}_updates`,
  partitions: `${table}_partitions`,
  fingerprints: `${table}_fingerprints`,
  markers: `${table}_markers`
})

const create = (sql: SqlClient.SqlClient, table: string, { integer, text, identity }: Dialect) =>
  Effect.gen(function* () {
    const { updates, partitions, fingerprints, markers } = tableNames(table)
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

const countCrashes = (sql: SqlClient.SqlClient, table: string, { integer, text }: Dialect) =>
  Effect.gen(function* () {
    const { partitions, updates } = tableNames(table)
    yield* sql`ALTER TABLE ${sql(updates)} ADD COLUMN crashes ${integer} NOT NULL DEFAULT 0`
    yield* sql`ALTER TABLE ${sql(partitions)} ADD COLUMN begun ${text} NOT NULL DEFAULT ''`
  })

export const migrations = (sql: SqlClient.SqlClient, table: string, dialect: Dialect) => ({
  "1_create": create(sql, table, dialect),
  "2_count_crashes": countCrashes(sql, table, dialect)
})

/** An update in the table. PostgreSQL returns integers as bigint. */
export interface UpdateRow {
  readonly id: number | bigint
  readonly partition_key: string
  readonly fingerprint: string
  readonly received_at: number | bigint
  readonly text: string
  /** `null` before the first attempt. */
  readonly attempts: number | bigint | null
}

/** A queued update in the table. */
export interface QueuedRow extends UpdateRow {
  readonly crashes: number | bigint
}

/** An update to insert: a dead letter if `failed_at` is set. */
export type NewUpdate = {
  readonly fingerprint: string
  readonly partition_key: string
  readonly received_at: number
  readonly text: string
  readonly error: string | null
  readonly attempts: number | null
  readonly failed_at: number | null
}

const newUpdateColumns: { readonly [K in keyof NewUpdate]: "text" | "bigint" } = {
  fingerprint: "text",
  partition_key: "text",
  received_at: "bigint",
  text: "text",
  error: "text",
  attempts: "bigint",
  failed_at: "bigint"
}

export const toKeyRows = (keys: ReadonlyArray<string>) => keys.map((partition_key) => ({ partition_key }))

/** The statements that SQLite and PostgreSQL write differently. */
interface InboxDialect extends Dialect {
  /** Inserts updates with ascending ids. */
  readonly insert: (updates: Identifier, values: ReadonlyArray<NewUpdate>) => Effect.Effect<unknown, SqlError>
  /** Selects the first queued updates of each partition. */
  readonly firstUpdates: (updates: Identifier, keys: ReadonlyArray<string>, limit: number) => Statement<QueuedRow>
}

const pg = (sql: SqlClient.SqlClient, dialect: Dialect): InboxDialect => ({
  ...dialect,
  insert: (updates, values) => {
    const columns = sql.literal(Object.keys(newUpdateColumns).join(", "))
    return sql`INSERT INTO ${updates} (${columns}) SELECT ${columns} FROM ${dialect.rows(newUpdateColumns, values)}`
  },
  firstUpdates: (updates, keys, limit) => sql<QueuedRow>`
    SELECT u.* FROM ${dialect.rows({ partition_key: "text" }, toKeyRows(keys))}
    CROSS JOIN LATERAL (
      SELECT id, partition_key, fingerprint, received_at, text, attempts, crashes FROM ${updates}
      WHERE partition_key = r.partition_key AND failed_at IS NULL ORDER BY id LIMIT ${limit}
    ) AS u
    ORDER BY u.id`
})

/** The number of rows of a statement is one of these, so that few statements have to be prepared. */
const insertSizes = [64, 8, 1]

const toInserts = <A>(values: ReadonlyArray<A>): ReadonlyArray<Arr.NonEmptyReadonlyArray<A>> => {
  const inserts: Array<Arr.NonEmptyReadonlyArray<A>> = []
  let rest = values
  for (const size of insertSizes) {
    for (; rest.length >= size; rest = rest.slice(size)) {
      const rows = rest.slice(0, size)
      if (Arr.isReadonlyArrayNonEmpty(rows)) inserts.push(rows)
    }
  }
  return inserts
}

const sqlite = (sql: SqlClient.SqlClient, dialect: Dialect): InboxDialect => ({
  ...dialect,
  // SQLite reads long texts from JSON many times slower than from parameters.
  insert: (updates, values) =>
    Effect.forEach(toInserts(values), (rows) => sql`INSERT INTO ${updates} ${sql.insert(rows)}`, { discard: true }),
  firstUpdates: (updates, keys, limit) => sql<QueuedRow>`
    SELECT u.id, u.partition_key, u.fingerprint, u.received_at, u.text, u.attempts, u.crashes
    FROM ${dialect.rows({ partition_key: "text" }, toKeyRows(keys))}
    JOIN ${updates} AS u ON u.id IN (
      SELECT id FROM ${updates} WHERE partition_key = r.partition_key AND failed_at IS NULL ORDER BY id LIMIT ${limit}
    )
    ORDER BY u.id`
})

export const makeDialect = (sql: SqlClient.SqlClient, dialect: Dialect): InboxDialect =>
  dialect.name === "pg" ? pg(sql, dialect) : sqlite(sql, dialect)
