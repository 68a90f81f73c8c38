/**
 * Stores the progress of broadcasts in Redis.
 *
 * @since 0.1.0
 */
import * as BroadcastStore from "@colloquy/core/broadcast/BroadcastStore"
import * as Settings from "@colloquy/core/client/Settings"
import * as Arr from "effect/Array"
import type * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redis from "effect/persistence/Redis"
import { acquireFromGone, ownerIn } from "./internal/owner.ts"
import * as scripts from "./internal/redisScripts.ts"
import { fromBegun, fromJson, toBegun, toSummary } from "./internal/row.ts"
import { keyPrefix, redisToStoreError } from "../base/internal/stores/redis.ts"

/**
 * Options of {@link layer}.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /**
   * The prefix of all keys, which begin with `{<prefix>:broadcasts}:` (one hash slot of a cluster). Use a different
   * prefix for each bot. Default: `"colloquy"`.
   */
  readonly prefix?: string | undefined
}

const toStoreError = redisToStoreError("broadcasts")

/** Maximum number of recipients that one script looks up, so that the script does not block the server for long. */
const chunkSize = 500

/**
 * Creates the store. See {@link layer}.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make: (options?: Options) => Effect.Effect<BroadcastStore.BroadcastStore["Service"], never, Redis.Redis> =
  Effect.fnUntraced(function* (options: Options = {}) {
    const redis = yield* Redis.Redis
    const prefix = keyPrefix("broadcasts", options.prefix)
    const keysOf = (name: string) => scripts.keysOf(prefix, name)
    const acquireLease = redis.eval(scripts.acquireLease)
    const update = redis.eval(scripts.update)
    const begin = redis.eval(scripts.begin)
    const countRecords = redis.eval(scripts.countRecords)
    const addRecords = redis.eval(scripts.addRecords)
    const remove = redis.eval(scripts.remove)

    const summaryOf = (
      operation: string,
      name: string,
      values: Effect.Effect<ReadonlyArray<string | null>, Redis.RedisError>
    ) =>
      values.pipe(
        Effect.flatMap((values) => {
          const row = scripts.toRow(name, values)
          return row === undefined ? Effect.succeedNone : Effect.asSome(toSummary(row))
        }),
        Effect.mapError(toStoreError(operation))
      )

    const isChanged = (operation: string, count: Effect.Effect<number, Redis.RedisError>) =>
      Effect.mapBoth(count, { onFailure: toStoreError(operation), onSuccess: (count) => count > 0 })

    const summary = (name: string, operation: string) =>
      summaryOf(operation, name, redis.send("HMGET", keysOf(name).broadcast, ...scripts.fields))

    return BroadcastStore.BroadcastStore.of({
      acquireLease: acquireFromGone(
        ({ create, leaseDuration, name, owner }) =>
          summaryOf("acquireLease", name, acquireLease(keysOf(name), name, owner, leaseDuration, create)),
        (name) =>
          redis
            .send<string | null>("HGET", keysOf(name).broadcast, "owner")
            .pipe(Effect.mapError(toStoreError("acquireLease")))
      ),
      summary: (name) => summary(name, "summary"),
      list: (limit) =>
        redis
          .send<ReadonlyArray<string>>(
            "ZRANGE",
            scripts.namesKey(prefix),
            "+inf",
            "-inf",
            "BYSCORE",
            "REV",
            "LIMIT",
            "0",
            `${limit}`
          )
          .pipe(
            Effect.mapError(toStoreError("list")),
            // A broadcast may be removed between the two reads.
            Effect.flatMap(Effect.forEach((name) => summary(name, "list"))),
            Effect.map(Arr.getSomes)
          ),
      update: (name, { status, total }) => isChanged("update", update(keysOf(name), status, total)),
      pending: (name, chats) =>
        chats.length === 0
          ? Effect.succeed([])
          : Effect.forEach(Arr.chunksOf(chats, chunkSize), (chunk) =>
              Effect.map(countRecords(keysOf(name), chunk), (counts) => chunk.filter((_, index) => counts[index] === 0))
            ).pipe(Effect.mapBoth({ onFailure: toStoreError("pending"), onSuccess: Arr.flatten })),
      begin: ({ name, owner, recipients }) =>
        begin(keysOf(name), ownerIn(owner), fromBegun(recipients)).pipe(
          Effect.asVoid,
          Effect.mapError(toStoreError("begin"))
        ),
      begun: (name) =>
        redis
          .send<string | null>("HGET", keysOf(name).broadcast, "begun")
          .pipe(Effect.flatMap(toBegun), Effect.mapError(toStoreError("begun"))),
      addRecords: (name, records) =>
        addRecords(keysOf(name), records).pipe(Effect.asVoid, Effect.mapError(toStoreError("addRecords"))),
      records: (name, { after, limit }) => {
        const start = after === undefined ? "-inf" : `(${after}`
        return redis
          .send<ReadonlyArray<string>>(
            "ZRANGE",
            keysOf(name).records,
            start,
            "+inf",
            "BYSCORE",
            "LIMIT",
            "0",
            `${limit}`
          )
          .pipe(Effect.flatMap(Effect.forEach(fromJson)), Effect.mapError(toStoreError("records")))
      },
      remove: (name) => isChanged("remove", remove(keysOf(name), name))
    })
  })

/**
 * Provides a `BroadcastStore` on the `Redis` of the program, such as `NodeRedis.layer` of `@effect/platform-node`. A
 * broadcast takes about 200 bytes for each recipient until it is removed.
 *
 * The result of a recipient is as durable as the settings of the server make it. With the default settings, Redis may
 * lose the last minutes if the server is killed, and these recipients receive the message again; with `appendonly yes`
 * and `appendfsync always`, no results are lost.
 *
 * **Example** (Broadcasts in Redis)
 *
 * ```ts
 * import { RedisBroadcastStore } from "@colloquy/node"
 * import * as NodeRedis from "@effect/platform-node/NodeRedis"
 * import * as Layer from "effect/Layer"
 *
 * export const Broadcasts = RedisBroadcastStore.layer({ prefix: "shop-bot" }).pipe(
 *   Layer.provide(NodeRedis.layer({ url: "redis://127.0.0.1:6379" }))
 * )
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options?: Options): Layer.Layer<BroadcastStore.BroadcastStore, never, Redis.Redis> =>
  Layer.effect(BroadcastStore.BroadcastStore, make(options))

/**
 * Like {@link layer}, with options from the configuration.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerConfig = (
  options: Config.Wrap<Options> = {}
): Layer.Layer<BroadcastStore.BroadcastStore, Settings.InvalidSettings, Redis.Redis> =>
  Layer.effect(BroadcastStore.BroadcastStore, Effect.flatMap(Settings.unwrap<Options>(options), make))
