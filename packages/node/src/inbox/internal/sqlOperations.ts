import { StoreError } from "@colloquy/core/base/StoreError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import { type Dialect, retryConflicts, withTransaction } from "../../base/internal/stores/sql.ts"
import { withTimeLimit } from "../../base/internal/stores/timeLimit.ts"

const cleanupChunk = 1000

interface Options {
  readonly sql: SqlClient.SqlClient
  readonly dialect: Dialect
  readonly operationTimeout: Duration.Duration
  readonly toStoreError: (operation: string) => (error: unknown) => StoreError
  /** Creates the tables. */
  readonly migrate: Effect.Effect<void, unknown>
  /** Runs once, after the tables exist. */
  readonly prepare: Effect.Effect<unknown, SqlError>
}

/** Runs an effect in a transaction. */
export const inTransaction =
  (sql: SqlClient.SqlClient, dialect: Dialect) =>
  <A>(effect: Effect.Effect<A, SqlError>, begin = dialect.beginTransaction): Effect.Effect<A, SqlError> =>
    Effect.provideService(withTransaction(sql)(effect), SqlClient.BeginTransaction, begin)

/** Runs the operations of the inbox: after the tables exist, within a time limit, and again after conflicts. */
export const make = Effect.fnUntraced(function* ({
  dialect,
  migrate,
  operationTimeout,
  prepare,
  sql,
  toStoreError
}: Options) {
  const isPg = dialect.name === "pg"
  const transact = inTransaction(sql, dialect)
  const migrationLock = yield* Semaphore.make(1)
  let isMigrated = false
  const migrateOnce = migrationLock
    .withPermit(
      Effect.suspend(() =>
        isMigrated
          ? Effect.void
          : Effect.map(Effect.andThen(migrate, prepare), () => {
              isMigrated = true
            })
      )
    )
    .pipe(Effect.withTracerEnabled(false))

  /** Does not run an effect before the tables exist. */
  const migrated = <A, E>(effect: Effect.Effect<A, E>) =>
    Effect.suspend(() =>
      isMigrated ? effect : Effect.andThen(Effect.mapError(migrateOnce, toStoreError("migrate")), effect)
    )

  const operation = (name: string) => {
    const reason = `the database did not answer within ${Duration.format(operationTimeout)}`
    const limited = withTimeLimit(
      operationTimeout,
      () => new StoreError({ store: "inbox", operation: name, reason, isRetryable: true })
    )
    return <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, StoreError> =>
      migrated(limited(effect)).pipe(
        Effect.mapError(toStoreError(name)),
        // Most operations belong to no handler, and an idle inbox would fill the traces of a bot.
        Effect.withTracerEnabled(false)
      )
  }

  const transaction =
    (name: string, begin = dialect.beginTransaction) =>
    <A>(effect: Effect.Effect<A, SqlError>): Effect.Effect<A, StoreError> =>
      operation(name)(retryConflicts(transact(effect, begin)))

  /** PostgreSQL executes the operations of the engine as one statement. */
  const statement =
    (name: string, begin = dialect.beginTransaction) =>
    <A>(effect: Effect.Effect<A, SqlError>): Effect.Effect<A, StoreError> =>
      isPg ? operation(name)(retryConflicts(effect)) : transaction(name, begin)(effect)

  /** Deletes rows in several transactions, so that none of them holds its locks for long. */
  const inChunks = (name: string, deleteAtMost: (max: number) => Effect.Effect<number, SqlError>) =>
    Effect.asVoid(
      Effect.repeat(Effect.tap(transaction(name)(deleteAtMost(cleanupChunk)), Effect.yieldNow), {
        while: (deleted) => deleted === cleanupChunk
      })
    )

  return { migrated, operation, transaction, statement, inChunks }
})

export type Operations = Effect.Success<ReturnType<typeof make>>
