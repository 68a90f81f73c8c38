import * as Outage from "@colloquy/core/client/Outage"
import { StoreError } from "@colloquy/core/base/StoreError"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import { RedisError } from "effect/persistence/Redis"
import * as Scope from "effect/Scope"
import { redisToStoreError } from "./redis.ts"
import { sqlToStoreError } from "./sql.ts"

/** Whether the error of a database layer is temporary. */
const isTemporary = (error: unknown): boolean => {
  if (error instanceof StoreError) return error.isRetryable
  const convert = error instanceof RedisError ? redisToStoreError : sqlToStoreError
  return convert("database")("connect")(error).isRetryable
}

/**
 * Builds a layer again while its server is away. Each attempt has its own scope, so that a failed attempt leaves no
 * connection open.
 */
export const untilAvailable =
  (what: string) =>
  <A, E, R>(layer: Layer.Layer<A, E, R>): Layer.Layer<A, E | Outage.GaveUp, R> =>
    Layer.effectContext(
      Effect.flatMap(Effect.scope, (scope) => {
        const attempt = Effect.flatMap(Scope.fork(scope), (own) =>
          Effect.onExit(Layer.buildWithScope(Layer.fresh(layer), own), (exit) =>
            Exit.isFailure(exit) ? Scope.close(own, exit) : Effect.void
          )
        )
        return Outage.make(what).retry(attempt, isTemporary)
      })
    ) as Layer.Layer<A, E | Outage.GaveUp, R>
