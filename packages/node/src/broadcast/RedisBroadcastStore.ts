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
import { withStoreErrors } from "../base/internal/stores/operations.ts"
import { keyPrefix, membersOf, redisToStoreError } from "../base/internal/stores/redis.ts"

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

    const summaryOf = (name: string, values: Effect.Effect<ReadonlyArray<string | null>, Redis.RedisError>) =>
      Effect.flatMap(values, (values) => {
        const row = scripts.toRow(name, values)
        return row === undefined ? Effect.succeedNone : Effect.asSome(toSummary(row))
      })

    const isChanged = (count: Effect.Effect<number, Redis.RedisError>) => Effect.map(count, (count) => count > 0)

    const summary = (name: string) => summaryOf(name, redis.send("HMGET", keysOf(name).broadcast, ...scripts.fields))

    const get = (name: string, field: string) => redis.send<string | null>("HGET", keysOf(name).broadcast, field)

    return withStoreErrors<BroadcastStore.BroadcastStore["Service"]>(redisToStoreError("broadcasts"), {
      acquireLease: acquireFromGone(
        ({ create, leaseDuration, name, owner }) =>
          summaryOf(name, acquireLease(keysOf(name), name, owner, leaseDuration, create)),
        (name) => get(name, "owner")
      ),
      summary,
      list: (limit) =>
        membersOf(redis, scripts.namesKey(prefix), ["+inf", "-inf"], limit, "REV").pipe(
          // A broadcast may be removed between the two reads.
          Effect.flatMap(Effect.forEach(summary)),
          Effect.map(Arr.getSomes)
        ),
      update: (name, { status, total }) => isChanged(update(keysOf(name), status, total)),
      pending: (name, chats) =>
        chats.length === 0
          ? Effect.succeed([])
          : Effect.forEach(Arr.chunksOf(chats, chunkSize), (chunk) =>
              Effect.map(countRecords(keysOf(name), chunk), (counts) => chunk.filter((_, index) => counts[index] === 0))
            ).pipe(Effect.map(Arr.flatten)),
      begin: ({ name, owner, recipients }) => Effect.asVoid(begin(keysOf(name), ownerIn(owner), fromBegun(recipients))),
      begun: (name) => Effect.flatMap(get(name, "begun"), toBegun),
      addRecords: (name, records) => Effect.asVoid(addRecords(keysOf(name), records)),
      records: (name, { after, limit }) => {
        const start = after === undefined ? "-inf" : `(${after}`
        return Effect.flatMap(membersOf(redis, keysOf(name).records, [start, "+inf"], limit), Effect.forEach(fromJson))
      },
      remove: (name) => isChanged(remove(keysOf(name), name))
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
