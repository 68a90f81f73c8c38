/**
 * Who has been served by which broadcast, in Redis.
 *
 * @since 0.1.0
 */
import * as BroadcastStore from "@colloquy/core/BroadcastStore"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redis from "effect/persistence/Redis"
import * as Scripts from "./internal/broadcast/redis.ts"
import { ofRedis } from "./internal/stores/failure.ts"

/**
 * What {@link layer} accepts: `prefix` begins the name of every key, `{colloquy:broadcasts}:` by default. A part in braces
 * keeps all keys on one node of a cluster.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly prefix?: string | undefined
}

const failure = ofRedis("broadcasts")

const failing = (operation: string) => Effect.mapError(failure(operation))

const atOnce = 500

const makeStore = Effect.fnUntraced(function* (prefix: string) {
  const redis = yield* Redis.Redis
  const keysOf = (name: string) => Scripts.keysOf(prefix, name)
  const acquire = redis.eval(Scripts.acquire)
  const change = redis.eval(Scripts.change)
  const served = redis.eval(Scripts.served)
  const record = redis.eval(Scripts.record)
  const forget = redis.eval(Scripts.forget)

  const toStanding = (name: string) => (values: ReadonlyArray<string | null>) => Scripts.toStanding(name, values)

  return BroadcastStore.BroadcastStore.of({
    acquireLease: ({ create, leaseUntil, name, now, owner }) =>
      acquire(keysOf(name), owner, now, leaseUntil, create).pipe(Effect.map(toStanding(name)), failing("acquireLease")),
    summary: (name) =>
      redis
        .send<ReadonlyArray<string | null>>("HMGET", keysOf(name).broadcast, ...Scripts.fields)
        .pipe(Effect.map(toStanding(name)), failing("summary")),
    update: (name, { status, total }) =>
      change(keysOf(name), status, total).pipe(
        Effect.map((count) => count > 0),
        failing("update")
      ),
    pending: (name, chats) =>
      chats.length === 0
        ? Effect.succeed([])
        : Effect.forEach(Arr.chunksOf(chats, atOnce), (some) =>
            Effect.map(served(keysOf(name), some), (counts) => some.filter((_, at) => counts[at] === 0))
          ).pipe(Effect.map(Arr.flatten), failing("pending")),
    addRecords: (name, records) => record(keysOf(name), records).pipe(Effect.asVoid, failing("addRecords")),
    records: (name, { after, limit }) =>
      redis
        .send<ReadonlyArray<string>>(
          "ZRANGE",
          keysOf(name).records,
          after === undefined ? "-inf" : `(${after}`,
          "+inf",
          "BYSCORE",
          "LIMIT",
          "0",
          `${limit}`
        )
        .pipe(
          failing("records"),
          Effect.flatMap((texts) => Effect.try({ try: () => texts.map(Scripts.toRecord), catch: failure("records") }))
        ),
    remove: (name) =>
      forget(keysOf(name)).pipe(
        Effect.map((count) => count > 0),
        failing("remove")
      )
  })
})

/**
 * Keeps broadcasts in the Redis that is provided, such as by `NodeRedis.layer` of `@effect/platform-node`. Several
 * processes and several bots can share one Redis; give each bot a prefix of its own. A broadcast takes about 200 bytes
 * for each recipient until it is forgotten.
 *
 * Who has been served is as durable as the Redis is set to be: by default it may lose the last minutes when it is killed,
 * and those recipients get the message again. `appendonly yes` with `appendfsync always` keeps all.
 *
 * **Example** (A bot of several processes)
 *
 * ```ts
 * import { RedisBroadcastStore } from "@colloquy/node"
 * import * as NodeRedis from "@effect/platform-node/NodeRedis"
 * import * as Layer from "effect/Layer"
 *
 * export const Broadcasts = RedisBroadcastStore.layer({ prefix: "{shop-bot}:broadcasts:" }).pipe(
 *   Layer.provide(NodeRedis.layer({ url: "redis://127.0.0.1:6379" }))
 * )
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: Options = {}): Layer.Layer<BroadcastStore.BroadcastStore, never, Redis.Redis> =>
  Layer.effect(BroadcastStore.BroadcastStore, makeStore(options.prefix ?? "{colloquy:broadcasts}:"))
