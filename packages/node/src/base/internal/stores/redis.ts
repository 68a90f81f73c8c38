import { reasonOf, StoreError, type StoreName } from "@colloquy/core/base/StoreError"
import * as Cause from "effect/Cause"
import * as Redis from "effect/persistence/Redis"

/** The first part of all keys of a store. Its hash tag keeps them on one node of a cluster. */
export const keyPrefix = (store: StoreName, prefix = "colloquy"): string => `{${prefix}:${store}}`

/** Returns at most `limit` members of a sorted set whose scores are in a range, by ascending scores or in reverse. */
export const membersOf = (
  redis: Redis.Redis["Service"],
  key: string,
  [from, to]: readonly [from: string, to: string],
  limit: number,
  ...order: ReadonlyArray<"REV">
) => redis.send<ReadonlyArray<string>>("ZRANGE", key, from, to, "BYSCORE", ...order, "LIMIT", "0", `${limit}`)

/** Lua: `read_clock` returns the time of the server's clock, in milliseconds. */
export const readingClock = `
local function read_clock()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
`

/**
 * Permanent error replies: another type of key, missing rights, an unsuitable server, and invalid commands. All other
 * error replies are temporary, for example if the server is full, loads its data or lost its replicas.
 */
const permanent =
  /^(?:WRONGTYPE|NOAUTH|WRONGPASS|NOPERM|DENIED|NOPROTO|CROSSSLOT|ERR (?:unknown|wrong|syntax|value|invalid|Error compiling|DB index|AUTH|Client sent AUTH|SELECT|This instance)) /i

/** Before version 7, Redis wraps the error reply of a command in a script. */
const scriptPrefix = /^ERR Error running script .*?@user_script: ?\d+: -?/

const isPermanent = (reason: string): boolean => permanent.test(`${reason.replace(scriptPrefix, "")} `)

/** Converts the error of a Redis operation. A `StoreError` is returned unchanged. */
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
