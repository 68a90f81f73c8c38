import * as Effect from "effect/Effect"
import type * as SqlClient from "effect/sql/SqlClient"
import { createRecord } from "./journal/pgJournals.ts"
import { createJournal } from "./journal/sqlJournals.ts"
import { createStates } from "./state/sqlStates.ts"
import { type Dialect, indexName } from "../../base/internal/stores/sql.ts"
import { createOccurrences, createTimers } from "./timers/sqlTimers.ts"
import { createFunctions, functionNames } from "./pgFunctions.ts"
import { renewIds } from "./pgIds.ts"
import { functionSettings } from "./pgPlans.ts"
import { countSlots, tableNames } from "./sqlTables.ts"

const create = (sql: SqlClient.SqlClient, table: string, { clustered, integer, text, identity }: Dialect) =>
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
    yield* sql`
      CREATE TABLE ${sql(fingerprints)} (fingerprint ${text} PRIMARY KEY, seen_at ${integer} NOT NULL) ${clustered}`
    yield* sql`CREATE INDEX ${index(fingerprints, "seen_at")} ON ${sql(fingerprints)} (seen_at)`
    yield* sql`CREATE TABLE ${sql(markers)} (source ${text} PRIMARY KEY, value ${text} NOT NULL)`
  })

const countCrashes = (sql: SqlClient.SqlClient, table: string, { integer, text }: Dialect) =>
  Effect.gen(function* () {
    const { partitions, updates } = tableNames(table)
    yield* sql`ALTER TABLE ${sql(updates)} ADD COLUMN crashes ${integer} NOT NULL DEFAULT 0`
    yield* sql`ALTER TABLE ${sql(partitions)} ADD COLUMN begun ${text} NOT NULL DEFAULT ''`
  })

/** An index has the schema of its table, which has to be named when the index is dropped. */
const schemaOf = (table: string) => table.slice(0, table.lastIndexOf(".") + 1)

/** Claims do not read partitions with an owner, and statistics do not read all updates. */
const separateHeld = (sql: SqlClient.SqlClient, table: string, { integer, name }: Dialect) =>
  Effect.gen(function* () {
    const { counts, partitions } = tableNames(table)
    const index = (purpose: string) => sql(indexName(partitions, purpose))
    yield* sql`DROP INDEX ${sql(schemaOf(partitions) + indexName(partitions, "head"))}`
    yield* sql`CREATE INDEX ${index("free")} ON ${sql(partitions)} (head_id) WHERE owner IS NULL`
    yield* sql`CREATE INDEX ${index("held")} ON ${sql(partitions)} (lease_until) WHERE owner IS NOT NULL`
    yield* sql`CREATE TABLE ${sql(counts)} (
      slot ${integer} PRIMARY KEY,
      queued ${integer} NOT NULL DEFAULT 0,
      dead_letters ${integer} NOT NULL DEFAULT 0
    )`
    for (let slot = 0; slot < (name === "pg" ? countSlots : 1); slot++) {
      yield* sql`INSERT INTO ${sql(counts)} (slot) VALUES (${slot})`
    }
  })

const keepStateAndTimers = (sql: SqlClient.SqlClient, table: string, dialect: Dialect) =>
  Effect.gen(function* () {
    yield* createStates(sql, table, dialect)
    yield* createTimers(sql, table, dialect)
  })

/** Databases that have older versions of the functions get the newest. */
const createNewestFunctions = (sql: SqlClient.SqlClient, table: string, { name }: Dialect) =>
  name === "pg"
    ? Effect.andThen(
        createRecord(sql, table, functionNames(table).record, functionSettings(sql)),
        createFunctions(sql, table)
      )
    : Effect.void

export const migrations = (sql: SqlClient.SqlClient, table: string, dialect: Dialect) => ({
  "1_create": create(sql, table, dialect),
  "2_count_crashes": countCrashes(sql, table, dialect),
  "3_separate_held": separateHeld(sql, table, dialect),
  "4_keep_journals": createJournal(sql, table, dialect),
  "5_keep_state_and_timers": keepStateAndTimers(sql, table, dialect),
  "6_remember_occurrences": createOccurrences(sql, table, dialect),
  "12_commit_with_fewer_locks": createNewestFunctions(sql, table, dialect),
  "13_renew_ids": dialect.name === "pg" ? renewIds(sql, table) : Effect.void
})
