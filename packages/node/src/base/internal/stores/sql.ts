import * as Backoff from "@colloquy/core/base/Backoff"
import { reasonOf, StoreError, type StoreName } from "@colloquy/core/base/StoreError"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schedule from "effect/Schedule"
import * as Migrator from "effect/sql/Migrator"
import * as SqlClient from "effect/sql/SqlClient"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"

type Columns = Readonly<Record<string, "text" | "bigint">>

/** The differences between the SQL of SQLite and PostgreSQL. */
export interface Dialect {
  readonly name: "sqlite" | "pg"
  readonly integer: Fragment
  /** The functions that return the least and the greatest of their arguments. */
  readonly least: string
  readonly greatest: string
  /** Values as the table `r`, in one parameter, so that one prepared statement serves any number of rows. */
  readonly rows: (columns: Columns, values: ReadonlyArray<object>) => Fragment
  /**
   * The current time in Unix milliseconds: by the clock of the server, or for a database without a server, the given
   * time.
   */
  readonly now: (clock: number) => Fragment
}

/**
 * Values as JSON whose members SQLite reads as the columns. SQLite parses each array of a list again for each column,
 * so one column is a list of values. `sqlite-over-bare` shows it.
 */
const toJson = (names: ReadonlyArray<string>, values: ReadonlyArray<object>) => {
  const member = (value: object, name: string): unknown => value[name as keyof typeof value]
  const [first = ""] = names
  if (names.length === 1) {
    return { members: `value AS "${first}"`, json: JSON.stringify(values.map((value) => member(value, first))) }
  }
  return {
    members: names.map((name, index) => `value ->> ${index} AS "${name}"`).join(", "),
    json: JSON.stringify(values.map((value) => names.map((name) => member(value, name))))
  }
}

const sqlite = (sql: SqlClient.SqlClient): Dialect => ({
  name: "sqlite",
  integer: sql.literal("INTEGER"),
  least: "MIN",
  greatest: "MAX",
  rows: (columns, values) => {
    const { json, members } = toJson(Object.keys(columns), values)
    return sql`(SELECT ${sql.literal(members)} FROM json_each(${json})) AS r`
  },
  now: (clock) => sql`${clock}`
})

const pg = (sql: SqlClient.SqlClient): Dialect => ({
  name: "pg",
  integer: sql.literal("bigint"),
  least: "LEAST",
  greatest: "GREATEST",
  rows: (columns, values) => {
    const types = Object.entries(columns).map(([name, type]) => `"${name}" ${type}`)
    return sql`json_to_recordset(${JSON.stringify(values)}::json) AS r(${sql.literal(types.join(", "))})`
  },
  now: () => sql.literal("(extract(epoch FROM clock_timestamp()) * 1000)::bigint")
})

const dialectOf = (sql: SqlClient.SqlClient): Dialect | undefined =>
  sql.onDialectOrElse<Dialect | undefined, Dialect, Dialect>({
    sqlite: () => sqlite(sql),
    pg: () => pg(sql),
    orElse: () => undefined
  })

const conflicts = new Set(["DeadlockError", "SerializationError", "LockTimeoutError"])

const isConflict = (error: unknown) => isSqlError(error) && conflicts.has(error.reason._tag)

const conflictBackoff = Backoff.make(Backoff.pauses.conflict).pipe(Schedule.upTo({ times: 8 }))

/** Repeats a transaction that the database rolled back because of a concurrent transaction. */
export const retryConflicts = <A, E, R>(transaction: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  // A database is outside of the program: its locks are not released in virtual time.
  Backoff.retry(transaction, { schedule: conflictBackoff, while: isConflict, clock: Clock.Clock.defaultValue() })

/** If the connection of a transaction is lost, its rollback fails as well, and the client makes this a defect. */
const failOnLostConnection = <A, E, R>(transaction: Effect.Effect<A, E, R>): Effect.Effect<A, E | SqlError, R> =>
  Effect.catchDefect(transaction, (defect) => (isSqlError(defect) ? Effect.fail(defect) : Effect.die(defect)))

/** Runs a transaction. Fails, and does not die, when its connection is lost. */
export const withTransaction =
  (sql: SqlClient.SqlClient) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | SqlError, R> =>
    failOnLostConnection(sql.withTransaction(effect))

/**
 * Calls one of two functions: the first in a transaction of the caller, on its connection. A batch of several callers runs on
 * another connection, and would wait for the transaction.
 */
export const byTransaction =
  <I, A, E, R>(sql: SqlClient.SqlClient, inside: (input: I) => Effect.Effect<A, E, R>, outside: typeof inside) =>
  (input: I): Effect.Effect<A, E, R> =>
    Effect.contextWith((context: Context.Context<never>) =>
      Option.isSome(Context.getOption(context, sql.transactionService)) ? inside(input) : outside(input)
    )

/** An index is named without the schema of its table. */
export const indexName = (table: string, purpose: string) => `${table.slice(table.lastIndexOf(".") + 1)}_${purpose}`

/**
 * Permanent errors of PostgreSQL: unsupported features (class 0A), rejected values (21, 22, 23, 44, 54), missing rights
 * (28), databases (3D) and schemas (3F), invalid statements (26, 34, 42), errors that a trigger raises (38, 39, P0),
 * and damaged data (XX). All other errors are temporary, for example if the server is full, stops or is read-only.
 */
export const permanentStates = /^(?:0A|2[12368]|34|3[89DF]|4[24]|54|P0|XX)/

/**
 * Permanent errors of SQLite: invalid statements (1), missing rights (3, 8, 23), damaged files (11, 26), missing
 * operations (12), rejected values (18, 19, 20, 25), and misuse (21). All other errors are temporary, such as a full
 * disk.
 */
const permanentResults: ReadonlyArray<number> = [1, 3, 8, 11, 12, 18, 19, 20, 21, 23, 25, 26]

const isTemporary = (cause: unknown): boolean => {
  if (Predicate.hasProperty(cause, "errcode") && typeof cause.errcode === "number") {
    return !permanentResults.includes(cause.errcode & 0xff)
  }
  return Predicate.hasProperty(cause, "code") && isState(cause.code) && !permanentStates.test(cause.code)
}

/** The codes of PostgreSQL have five characters. The codes of Node are longer. */
const isState = (code: unknown): code is string => typeof code === "string" && /^[0-9A-Z]{5}$/.test(code)

/** Whether a statement may succeed later. */
export const isRetryableSql = (cause: unknown): boolean => {
  if (cause instanceof Migrator.MigrationError) return isRetryableSql(cause.cause)
  return isSqlError(cause) && (cause.isRetryable || isTemporary(cause.reason.cause))
}

/** Converts the error of a database operation. A `StoreError` is returned unchanged. */
export const sqlToStoreError =
  (store: StoreName) =>
  (operation: string) =>
  (cause: unknown): StoreError =>
    cause instanceof StoreError
      ? cause
      : new StoreError({
          store,
          operation,
          reason: reasonOf(cause),
          isRetryable: isRetryableSql(cause),
          cause
        })

export interface Options {
  readonly store: StoreName
  readonly prefix: string | undefined
  /** The migrations by name, `1_create` first. */
  readonly migrations: (
    sql: SqlClient.SqlClient,
    table: string,
    dialect: Dialect
  ) => Readonly<Record<string, Effect.Effect<unknown, unknown, SqlClient.SqlClient>>>
}

/**
 * Makes the database of a store. The names of its further tables begin with `table`. Does not touch the database before `migrate`,
 * which several processes may run at once.
 */
export const makeStore = Effect.fnUntraced(function* ({ migrations, prefix = "colloquy", store }: Options) {
  const sql = (yield* SqlClient.SqlClient).withoutTransforms()
  const toStoreError = sqlToStoreError(store)
  const table = `${prefix}_${store}`
  const dialect = dialectOf(sql)
  if (dialect === undefined) {
    const reason = "the SqlClient is not one of SQLite or PostgreSQL, which are the supported databases"
    return yield* toStoreError("migrate")(new Error(reason))
  }
  const run = Migrator.make({})({
    table: `${table}_migrations`,
    loader: Migrator.fromRecord(migrations(sql, table, dialect))
  })
  const migrate = retryConflicts(failOnLostConnection(run)).pipe(
    Effect.provideService(SqlClient.SqlClient, sql),
    Effect.asVoid,
    Effect.mapError(toStoreError("migrate"))
  )
  return { sql, dialect, table, toStoreError, migrate }
})
