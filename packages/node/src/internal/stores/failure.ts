import { StoreError, type StoreName } from "@colloquy/core/StoreError"
import * as Cause from "effect/Cause"
import * as Redis from "effect/persistence/Redis"
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
          isRetryable: isSqlError(cause) && cause.isRetryable,
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
