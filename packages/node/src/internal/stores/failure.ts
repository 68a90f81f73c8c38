import { StoreError, type StoreName } from "@colloquy/core/StoreError"
import * as Cause from "effect/Cause"
import * as Redis from "effect/persistence/Redis"
import * as Predicate from "effect/Predicate"
import * as Migrator from "effect/sql/Migrator"
import { isSqlError } from "effect/sql/SqlError"

/** Makes the error of an operation from what it failed with. An error that already is a `StoreError` stays as it is. */
export type ToStoreError = (operation: string) => (cause: unknown) => StoreError

const textOf = (cause: unknown): string => {
  if (!(cause instanceof Error)) return String(cause)
  return cause instanceof Migrator.MigrationError && cause.cause !== undefined
    ? `${cause.message}: ${textOf(cause.cause)}`
    : cause.message
}

/**
 * Problems of PostgreSQL that pass: insufficient resources (class 53), the server stops, starts or ends the connection
 * (57P), errors of input or output (58), a server that became read-only, idle transactions that were ended, and a commit
 * whose result is unknown. The client has no reason for them.
 */
const passingStates = /^(?:08...|53...|57P0[1235]|58...|25006|25P03|40...)$/

/** The disk of SQLite is full or fails, or no memory is left. */
const passingResults: ReadonlyArray<number> = [7, 10, 13]

const isPassing = (cause: unknown): boolean => {
  if (Predicate.hasProperty(cause, "errcode") && typeof cause.errcode === "number") {
    return passingResults.includes(cause.errcode & 0xff)
  }
  return Predicate.hasProperty(cause, "code") && typeof cause.code === "string" && passingStates.test(cause.code)
}

const isRetryableSql = (cause: unknown): boolean => {
  if (cause instanceof Migrator.MigrationError) return isRetryableSql(cause.cause)
  return isSqlError(cause) && (cause.isRetryable || isPassing(cause.reason.cause))
}

export const ofSql =
  (store: StoreName): ToStoreError =>
  (operation) =>
  (cause) =>
    cause instanceof StoreError
      ? cause
      : new StoreError({
          store,
          operation,
          reason: textOf(cause),
          isRetryable: isRetryableSql(cause),
          cause
        })

// An error reply of Redis begins with its code in capitals. These codes are temporary, and so is the loss of a connection.
const isPermanent = (reason: string): boolean =>
  /^(?!LOADING|BUSY|READONLY|TRYAGAIN|CLUSTERDOWN|MASTERDOWN)[A-Z]{2,} /.test(reason)

export const ofRedis =
  (store: StoreName): ToStoreError =>
  (operation) =>
  (error) => {
    if (error instanceof StoreError) return error
    if (Cause.isTimeoutError(error)) {
      const reason = "Redis did not answer in time"
      return new StoreError({ store, operation, reason, isRetryable: true, cause: error })
    }
    const cause = error instanceof Redis.RedisError ? (error.cause ?? error) : error
    const reason = textOf(cause)
    const isRetryable = error instanceof Redis.RedisError && !isPermanent(reason)
    return new StoreError({ store, operation, reason, isRetryable, cause })
  }
