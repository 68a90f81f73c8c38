/**
 * Connects to a Redis that fails over: to a primary and its replicas with Redis Sentinel, or to a Redis Cluster. All stores
 * of this package use the `Redis` that the layers provide, as they use `NodeRedis.layer` of `@effect/platform-node` for a
 * single server.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redis from "effect/persistence/Redis"
import type * as RedisPackage from "redis"

type Send = Redis.Redis["Service"]["send"]

/** The part of a client of `redis` that this module uses. */
interface Client {
  readonly connect: () => Promise<unknown>
  readonly destroy: () => unknown
  readonly on: (event: "error", listener: (cause: unknown) => void) => unknown
  readonly subscribe: (channel: string, listener: (message: string, channel: string) => void) => Promise<unknown>
}

const fails = <A>(run: () => Promise<A>): Effect.Effect<A, Redis.RedisError> =>
  Effect.tryPromise({ try: run, catch: (cause) => new Redis.RedisError({ cause }) })

/** The package `redis` is loaded only by the programs that use this module. */
const load = fails(() =>
  import("redis").catch((cause: unknown) => {
    const problem = "The package `redis` cannot be loaded. Install the package with `npm install redis@6`."
    throw new Error(problem, { cause })
  })
)

/** Connects a client. The client reconnects by itself, so its errors are only logged, until the scope closes. */
const connected = Effect.fnUntraced(function* <C extends Client>(make: () => C) {
  const log = Effect.runForkWith(yield* Effect.context<never>())
  const client = yield* Effect.acquireRelease(Effect.sync(make), (client) =>
    Effect.ignoreCause(Effect.promise(async () => client.destroy()))
  )
  client.on("error", (cause) => void log(Effect.logDebug("The connection to Redis has failed.", cause)))
  yield* fails(() => client.connect())
  return client
})

const layer = <C extends Client>(make: (redis: typeof RedisPackage) => C, sendBy: (client: C) => Send) =>
  Layer.effect(
    Redis.Redis,
    Effect.gen(function* () {
      const redis = yield* load
      const create = () => make(redis)
      return yield* Redis.make({
        send: sendBy(yield* connected(create)),
        // A reserved connection has a client of its own.
        connect: Effect.gen(function* () {
          const client = create()
          client.on("error", () => {})
          yield* fails(() => client.connect())
          return { send: sendBy(client), close: Effect.promise(async () => void client.destroy()) }
        }),
        // The client subscribes again after each failure, so the subscription lasts until the scope closes.
        subscribe: (channel, onMessage) =>
          connected(create).pipe(
            Effect.flatMap((client) =>
              fails(() => client.subscribe(channel, (message, channel) => onMessage({ channel, message })))
            ),
            Effect.as(Effect.never)
          )
      })
    })
  )

/**
 * Connects to the primary of a group that Redis Sentinel watches, and to the replica that takes its place. The options are
 * those of `createSentinel` of the package `redis`. Fails with a `RedisError` if no sentinel answers.
 *
 * A replica may lack the writes of the last moments before the failover. See `docs/stores.md` for the updates that this
 * concerns.
 *
 * **Example** (An inbox in Redis with Sentinel)
 *
 * ```ts
 * import { Inbox } from "@colloquy/core"
 * import { RedisConnection, RedisInboxStore } from "@colloquy/node"
 * import { Layer } from "effect"
 *
 * const redis = RedisConnection.layerSentinel({
 *   name: "mymaster",
 *   sentinelRootNodes: [{ host: "10.0.0.1", port: 26379 }, { host: "10.0.0.2", port: 26379 }]
 * })
 * const inbox = Inbox.layer().pipe(Layer.provide(RedisInboxStore.layer()), Layer.provide(redis))
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layerSentinel = (options: RedisPackage.RedisSentinelOptions): Layer.Layer<Redis.Redis, Redis.RedisError> =>
  layer(
    ({ createSentinel }) => createSentinel(options),
    (client) =>
      (command, ...args) =>
        fails(() => client.sendCommand(false, [command, ...args]))
  )

/** Commands that concern no key, and are for any node. */
const withoutKey = new Set(["CONFIG", "INFO", "PING", "PUBLISH", "TIME"])

/** The key that decides which node executes a command. Scripts name their keys after their number. */
const keyOf = (command: string, args: ReadonlyArray<string>): string | undefined => {
  if (command === "EVAL" || command === "EVALSHA") return args[1] === "0" ? undefined : args[2]
  return withoutKey.has(command) ? undefined : args[0]
}

/**
 * Connects to a Redis Cluster. The options are those of `createCluster` of the package `redis`. The keys of a store are in
 * one slot, so a store is on one primary of the cluster, and is unavailable while this primary is replaced. Fails with a
 * `RedisError` if no node answers.
 *
 * **Example** (An inbox in a Redis Cluster)
 *
 * ```ts
 * import { Inbox } from "@colloquy/core"
 * import { RedisConnection, RedisInboxStore } from "@colloquy/node"
 * import { Layer } from "effect"
 *
 * const redis = RedisConnection.layerCluster({ rootNodes: [{ url: "redis://10.0.0.1:6379" }, { url: "redis://10.0.0.2:6379" }] })
 * const inbox = Inbox.layer().pipe(Layer.provide(RedisInboxStore.layer({ prefix: "shop-bot" })), Layer.provide(redis))
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layerCluster = (options: RedisPackage.RedisClusterOptions): Layer.Layer<Redis.Redis, Redis.RedisError> =>
  layer(
    ({ createCluster }) => createCluster(options),
    (client) => {
      const toAll = async (args: Array<string>): Promise<unknown> => {
        const replies = await Promise.all(
          client.masters.map(async (node) => (await client.nodeClient(node)).sendCommand(args))
        )
        return replies[0]
      }
      return <A>(command: string, ...args: ReadonlyArray<string>) =>
        fails(
          () =>
            // Any primary can be asked to execute a script, so all of them have to know the script.
            (command === "SCRIPT"
              ? toAll([command, ...args])
              : client.sendCommand(keyOf(command, args), false, [command, ...args])) as Promise<A>
        )
    }
  )
