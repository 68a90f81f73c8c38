import * as Effect from "effect/Effect"

/**
 * Returns an effect whose first run fails with `error`, and whose later runs are `self`. A caller that has already run
 * `self` passes the failure to `Effect.retry`, so that a success never pays for the retry.
 */
export const failedOnce = <A, E, R>(self: Effect.Effect<A, E, R>, error: E): Effect.Effect<A, E, R> => {
  let isFirst = true
  return Effect.suspend(() => {
    if (!isFirst) return self
    isFirst = false
    return Effect.fail(error)
  })
}
