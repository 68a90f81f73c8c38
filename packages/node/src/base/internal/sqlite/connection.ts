import * as Backoff from "@colloquy/core/base/Backoff"
import * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Record from "effect/Record"
import * as Schedule from "effect/Schedule"
import type { Connection } from "effect/sql/SqlConnection"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import * as Stream from "effect/Stream"
import type { DatabaseSync, StatementSync } from "node:sqlite"
import * as Database from "./database.ts"
import { failure, isBusy } from "./failure.ts"
import * as Values from "./values.ts"

type Row = Record<string, unknown>
type TransformRows = (<A extends object>(row: ReadonlyArray<A>) => ReadonlyArray<A>) | undefined

/** A connection with its database, for synchronous use. */
export interface SqliteConnection extends Connection {
  readonly database: DatabaseSync
  readonly settings: Database.ConnectionOptions
  /** Executes a statement, and returns its rows. Throws a `SqlError`. */
  readonly all: (sql: string, params: ReadonlyArray<unknown>) => ReadonlyArray<unknown>
}

const rowsPerChunk = 256

const untilFree = Backoff.make(Backoff.pauses.lockedFile)

/**
 * Waits for a lock of another connection. The busy handler of SQLite would block the event loop, although the other
 * connection may be in this process. The pauses are in real time, because the lock is not released in virtual time.
 */
export const whenFree =
  (busyTimeout: Duration.Duration) =>
  <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    Backoff.retry(effect, {
      schedule: Schedule.upTo(untilFree, { duration: busyTimeout }),
      while: (error) => isSqlError(error) && isBusy(error),
      clock: Clock.Clock.defaultValue()
    })

const attempt = <A>(filename: string, operation: string, run: () => A) =>
  Effect.try({ try: run, catch: failure(filename, operation) })

type Values = ReadonlyArray<unknown>

const all = (statement: StatementSync, params: ReadonlyArray<unknown>): ReadonlyArray<Values> =>
  statement.all(...Values.toParameters(params)) as unknown as ReadonlyArray<Values>

const values = (statement: StatementSync, params: ReadonlyArray<unknown>): ReadonlyArray<Values> =>
  all(statement, params).map((row) => row.map(Values.fromSql))

const names = new WeakMap<StatementSync, ReadonlyArray<string>>()

/** The columns of a statement with `*` change with the tables, so these names are not cached. */
const namesOf = (statement: StatementSync): ReadonlyArray<string> => {
  const known = names.get(statement)
  if (known !== undefined) return known
  const read = statement.columns().map(({ name }) => name)
  if (!statement.sourceSQL.includes("*")) names.set(statement, read)
  return read
}

/** The objects that the driver creates are slow to create and to read (benchmark `sqlite-over-bare`). */
const rows = (statement: StatementSync, params: ReadonlyArray<unknown>): ReadonlyArray<Row> => {
  const found = all(statement, params)
  if (found.length === 0) return []
  const columns = namesOf(statement)
  return found.map((row) => Values.toRow(columns, row))
}

const raw = (statement: StatementSync, params: ReadonlyArray<unknown>): unknown =>
  statement.columns().length > 0
    ? rows(statement, params)
    : Record.map({ ...statement.run(...Values.toParameters(params)) }, Values.fromSql)

const take = (statement: StatementSync, iterator: Iterator<Values>): Array<Row> => {
  const chunk: Array<Row> = []
  let columns: ReadonlyArray<string> | undefined
  while (chunk.length < rowsPerChunk) {
    const next = iterator.next()
    if (next.done === true) break
    columns ??= namesOf(statement)
    chunk.push(Values.toRow(columns, next.value))
  }
  return chunk
}

/** The connection of an open database. Streams do not use cached statements, which may run again during the stream. */
export const make = (settings: Database.ConnectionOptions, database: DatabaseSync): SqliteConnection => {
  const cached = Database.makeCache(database, settings.cachedStatements)
  const uncached = (sql: string) => Database.prepare(database, sql)
  const wait = whenFree(settings.busyTimeout)

  const runNow =
    <A>(
      prepare: (sql: string) => StatementSync,
      execute: (statement: StatementSync, params: ReadonlyArray<unknown>) => A
    ) =>
    (sql: string, params: ReadonlyArray<unknown>): A => {
      let operation = "prepare"
      try {
        const statement = prepare(sql)
        operation = "execute"
        return execute(statement, params)
      } catch (cause) {
        throw failure(settings.filename, operation)(cause)
      }
    }

  const run = <A>(
    prepare: (sql: string) => StatementSync,
    execute: (statement: StatementSync, params: ReadonlyArray<unknown>) => A
  ) => {
    const now = runNow(prepare, execute)
    return (sql: string, params: ReadonlyArray<unknown>): Effect.Effect<A, SqlError> =>
      wait(Effect.try({ try: () => now(sql, params), catch: (error) => error as SqlError }))
  }

  const transformed =
    (execute: (sql: string, params: ReadonlyArray<unknown>) => Effect.Effect<ReadonlyArray<Row>, SqlError>) =>
    (sql: string, params: ReadonlyArray<unknown>, transformRows: TransformRows) =>
      transformRows === undefined ? execute(sql, params) : Effect.map(execute(sql, params), transformRows)

  return {
    database,
    settings,
    all: runNow(cached, all),
    execute: transformed(run(cached, rows)),
    executeUnprepared: transformed(run(uncached, rows)),
    executeValues: run(cached, values),
    executeValuesUnprepared: run(uncached, values),
    executeRaw: run(cached, raw),
    executeStream: (sql, params, transformRows) =>
      Stream.unwrap(
        Effect.gen(function* () {
          const statement = yield* attempt(settings.filename, "prepare", () => uncached(sql))
          const start = () =>
            statement.iterate(...Values.toParameters(params)) as unknown as ReturnType<
              Array<Values>[typeof Symbol.iterator]
            >
          let iterator: ReturnType<typeof start> | undefined
          yield* Effect.addFinalizer(() => Effect.sync(() => iterator?.return?.()))
          const first = attempt(settings.filename, "execute", () => take(statement, (iterator = start())))
          const next = attempt(settings.filename, "execute", () => take(statement, iterator!))
          const pull = Effect.flatMap(
            Effect.suspend(() => (iterator === undefined ? wait(first) : next)),
            (chunk) => {
              const rows = transformRows === undefined ? chunk : transformRows(chunk)
              return Arr.isReadonlyArrayNonEmpty(rows) ? Effect.succeed(rows) : Cause.done()
            }
          )
          return Stream.fromPull(Effect.succeed(pull))
        })
      )
  }
}
