import { assert, describe, it } from "@effect/vitest"
import * as Redis from "effect/persistence/Redis"
import { redisToStoreError } from "../../../src/base/internal/stores/redis.ts"

const isRetryable = (reply: string): boolean =>
  redisToStoreError("inbox")("commit")(new Redis.RedisError({ cause: new Error(reply) })).isRetryable

describe("redisToStoreError", () => {
  it.each([
    "OOM command not allowed when used memory > 'maxmemory'.",
    "OOM command not allowed when used memory > 'maxmemory'. script: 4ca5, on @user_script:12.",
    "ERR Error running script (call to f_4ca5): @user_script:12: @user_script: 12: -OOM command not allowed when used memory",
    "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk.",
    "NOREPLICAS Not enough good replicas to write.",
    "LOADING Redis is loading the dataset in memory",
    "BUSY Redis is busy running a script.",
    "READONLY You can't write against a read only replica.",
    "TRYAGAIN Multiple keys request during rehashing of slot",
    "CLUSTERDOWN The cluster is down",
    "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
    "EXECABORT Transaction discarded because of previous errors.",
    "ERR max number of clients reached",
    "The connection is closed."
  ])("makes an answer that can pass a retryable StoreError: %s", (reply) => {
    assert.isTrue(isRetryable(reply))
  })

  it.each([
    "WRONGTYPE Operation against a key holding the wrong kind of value",
    "ERR Error running script (call to f_4ca5): @user_script:3: -WRONGTYPE Operation against a key",
    "NOAUTH Authentication required.",
    "WRONGPASS invalid username-password pair or user is disabled.",
    "NOPERM User bot has no permissions to run the 'eval' command",
    "CROSSSLOT Keys in request don't hash to the same slot",
    "ERR unknown command 'EVAL'",
    "ERR syntax error",
    "ERR DB index is out of range"
  ])("does not make an answer retryable that does not pass by itself: %s", (reply) => {
    assert.isFalse(isRetryable(reply))
  })

  it("does not make a defect of the program retryable", () => {
    assert.isFalse(redisToStoreError("inbox")("marker")(new Error("not a number")).isRetryable)
  })
})
