import * as Redis from "effect/persistence/Redis"
import * as Migrator from "effect/sql/Migrator"
import { isSqlError } from "effect/sql/SqlError"

/** What every error of a store says of the failure beneath it. */
export interface Problem {
  readonly problem: string
  readonly isRetryable: boolean
  readonly cause: unknown
}

const textOf = (cause: unknown): string => {
  if (!(cause instanceof Error)) return String(cause)
  return cause instanceof Migrator.MigrationError && cause.cause !== undefined
    ? `${cause.message}: ${textOf(cause.cause)}`
    : cause.message
}

export const ofSql = (cause: unknown): Problem => ({
  problem: textOf(cause),
  isRetryable: isSqlError(cause) && cause.isRetryable,
  cause
})

// An error reply begins with its code in capitals; these codes pass by themselves. All else is the connection.
const refusal = /^(?!LOADING|BUSY|READONLY|TRYAGAIN|CLUSTERDOWN|MASTERDOWN)[A-Z]{2,} /

export const ofRedis = (error: unknown): Problem => {
  const cause = error instanceof Redis.RedisError ? error.cause : error
  const problem = textOf(cause)
  return { problem, isRetryable: error instanceof Redis.RedisError && !refusal.test(problem), cause }
}
