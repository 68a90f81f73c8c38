/**
 * One limit for several processes, kept in Redis.
 *
 * @since 0.1.0
 */
import * as RateLimiter from "@colloquy/core/RateLimiter"
import * as SharedRateLimiter from "@colloquy/core/SharedRateLimiter"
import type { StoreError } from "@colloquy/core/StoreError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redis from "effect/persistence/Redis"
import { randomUUID } from "node:crypto"
import * as scripts from "./internal/rateLimiter/redisScripts.ts"
import { ofRedis } from "./internal/stores/failure.ts"

/**
 * The settings of `RateLimiter`, and:
 *
 * - `prefix` of all keys: processes with the same one share the limits, so have one for each token.
 * - `whenAway`: whether calls wait while Redis is away, or go by a share of the limits; `"wait"` unless told.
 * - `timeout`: when Redis counts as away because it does not answer, 1 second unless told.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options extends Partial<RateLimiter.Options> {
  readonly prefix: string
  readonly whenAway?: SharedRateLimiter.WhenAway | undefined
  readonly timeout?: Duration.Input | undefined
}

const failure = ofRedis("rateLimiter")

/** A process that waits asks again when it was told to, or at the latest so many milliseconds after. */
const grace = 250

const makeStore = Effect.fnUntraced(function* (prefix: string, timeout: Duration.Duration) {
  const redis = yield* Redis.Redis
  const keys = scripts.keysOf(prefix)
  const me = randomUUID()

  const asking = <A, E>(operation: string, effect: Effect.Effect<A, E>): Effect.Effect<A, StoreError> =>
    Effect.timeout(effect, timeout).pipe(
      Effect.mapError(failure(operation)),
      // What cannot be read in Redis must not end the limiter.
      Effect.catchDefect((cause) => Effect.fail(failure(operation)(cause)))
    )

  const take = redis.eval(scripts.take)
  const learn = redis.eval(scripts.learn)
  const pause = redis.eval(scripts.pause)
  const merge = redis.eval(scripts.merge)
  const postpone = redis.eval(scripts.postpone)

  const changing = (change: Parameters<SharedRateLimiter.Store["learn"]>[0]): Effect.Effect<void, Redis.RedisError> =>
    Effect.gen(function* () {
      const [now, seen] = yield* learn(keys, "", "", 0)
      const lessons = seen === "" ? undefined : (JSON.parse(seen) as SharedRateLimiter.Lessons)
      const next = change(lessons, Number(now))
      if (next === lessons) return
      const [, , isChanged] = yield* learn(keys, seen, JSON.stringify(next), next.level)
      if (isChanged === 0) yield* changing(change)
    })

  const store: SharedRateLimiter.Store = {
    take: (wishes, host, late) =>
      asking(
        "take",
        Effect.map(take({ keys, host, me, grace, late, wishes }), ([level, ...outcomes]) => ({
          level: Number(level),
          outcomes: outcomes.map(scripts.outcomeOf)
        }))
      ),
    learn: (change) => asking("learn", changing(change)),
    pause: (millis) => asking("pause", pause(keys, millis)),
    merge: (from, to) => asking("merge", merge(keys, from, to)),
    postpone: (line, from, to) => asking("postpone", postpone(keys, line, from, to))
  }
  return store
})

/**
 * A limiter for all processes that have the same `prefix` at one Redis. Departures are counted by the server's clock, in
 * one atomic script; calls go by their lanes within a process, and processes take turns. What a 429 taught one of them
 * holds for all. Keys expire when nothing happens any more.
 *
 * **Example**
 *
 * ```ts
 * import { RedisRateLimiter } from "@colloquy/node"
 * import { NodeRedis } from "@effect/platform-node"
 * import { Layer } from "effect"
 *
 * const limiter = RedisRateLimiter.layer({ prefix: "my-bot", whenAway: { share: 0.25 } }).pipe(
 *   Layer.provide(NodeRedis.layer({ url: "redis://127.0.0.1:6379" }))
 * )
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = ({
  prefix,
  timeout = "1 second",
  whenAway = "wait",
  ...settings
}: Options): Layer.Layer<RateLimiter.RateLimiter, never, Redis.Redis> =>
  Layer.effect(
    RateLimiter.RateLimiter,
    Effect.flatMap(makeStore(prefix, Duration.fromInputUnsafe(timeout)), (store) =>
      SharedRateLimiter.make(store, { settings: { ...RateLimiter.defaults, ...settings }, whenAway })
    )
  )
