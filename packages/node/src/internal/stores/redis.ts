import { reasonOf, StoreError, type StoreName } from "@colloquy/core/StoreError"
import * as Cause from "effect/Cause"
import * as Redis from "effect/persistence/Redis"

/** The first part of all keys of a store. Its hash tag keeps them on one node of a cluster. */
export const keyPrefix = (store: StoreName, prefix = "colloquy"): string => `{${prefix}:${store}}`

// An error reply of Redis begins with its code in capitals. These codes are temporary, and so is the loss of a connection.
const isPermanent = (reason: string): boolean =>
  /^(?!LOADING|BUSY|READONLY|TRYAGAIN|CLUSTERDOWN|MASTERDOWN)[A-Z]{2,} /.test(reason)

/** Converts what an operation of Redis failed with. A `StoreError` is returned as it is. */
export const redisToStoreError =
  (store: StoreName) =>
  (operation: string) =>
  (error: unknown): StoreError => {
    if (error instanceof StoreError) return error
    if (Cause.isTimeoutError(error)) {
      const reason = "Redis did not answer in time"
      return new StoreError({ store, operation, reason, isRetryable: true, cause: error })
    }
    const cause = error instanceof Redis.RedisError ? (error.cause ?? error) : error
    const reason = reasonOf(cause)
    const isRetryable = error instanceof Redis.RedisError && !isPermanent(reason)
    return new StoreError({ store, operation, reason, isRetryable, cause })
  }
