/**
 * Stores an inbox in Redis: its queued updates, and the journals, state and timers of their handling.
 *
 * @since 0.1.0
 */
import { InboxStore, withWriteBatching } from "@colloquy/core/inbox/InboxStore"
import * as Settings from "@colloquy/core/client/Settings"
import type * as Config from "effect/Config"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Redis from "effect/persistence/Redis"
import type * as Scope from "effect/Scope"
import { keyPrefix } from "../base/internal/stores/redis.ts"
import * as RedisInbox from "./internal/redis/inbox.ts"

/**
 * Options of {@link layer}.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /**
   * The prefix of all keys, which begin with `{<prefix>:inbox}:` (one hash slot of a cluster). Use a different prefix
   * for each bot. Default: `"colloquy"`.
   */
  readonly prefix?: string | undefined
  /**
   * Maximum duration of an operation, in real time. A longer operation fails with a retryable `StoreError`, and may
   * still be executed, because the client keeps commands while it is disconnected. Default: 10 seconds.
   */
  readonly operationTimeout?: Duration.Input | undefined
}

/**
 * Creates the store. See {@link layer}.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = ({ operationTimeout = "10 seconds", prefix }: Options = {}): Effect.Effect<
  InboxStore["Service"],
  never,
  Redis.Redis | Scope.Scope
> =>
  Effect.gen(function* () {
    for (const risk of yield* RedisInbox.findRisks())
      yield* Effect.logWarning(`The inbox in Redis can lose updates: ${risk}.`)
    return yield* withWriteBatching(yield* RedisInbox.make(keyPrefix("inbox", prefix), operationTimeout))
  })

/**
 * Provides an `InboxStore` on the `Redis` of the program, such as `NodeRedis.layer` of `@effect/platform-node`. Every
 * operation is one atomic script. Requires Redis 6.2 or later.
 *
 * Several processes can share the store. Redis counts leases by its own clock, so the clocks of the processes may
 * differ. A process that handles updates has a second connection, which subscribes to the channel
 * `{<prefix>:inbox}:wake`: other processes announce new updates there. A user of Redis with an access control list
 * needs the right to this channel; without the right, a process finds the updates of other processes by polling.
 *
 * The durability of an update depends on the settings of the server:
 *
 * | setting | possible loss after a failure of the server |
 * |---|---|
 * | `appendonly yes`, `appendfsync always` | nothing; use this for updates that must not be lost |
 * | `appendonly yes`, `appendfsync everysec` | nothing if the process is killed, up to two seconds if the power fails |
 * | `appendonly no` | everything since the last snapshot |
 *
 * A replica that takes over may lack the latest writes. `maxmemory-policy` must be `noeviction`, because any other policy
 * lets Redis delete updates. If the server reports less durable settings, the layer logs a warning.
 *
 * State and timers are written by the script that acknowledges the update. Redis counts timers by its own clock. Scripts
 * that read or delete many rows, such as those of a user, handle 500 rows each, so that Redis serves other clients between
 * them.
 *
 * A partition key or a fingerprint of more than 400 characters is stored as its beginning and its hash. The age of the
 * oldest update in `stats` considers at most 4000 of the claimed partitions.
 *
 * **Example** (An inbox in Redis)
 *
 * ```ts
 * import { Inbox } from "@colloquy/core"
 * import { RedisInboxStore } from "@colloquy/node"
 * import * as NodeRedis from "@effect/platform-node/NodeRedis"
 * import { Layer } from "effect"
 *
 * const inbox = Inbox.layer().pipe(
 *   Layer.provide(RedisInboxStore.layer({ prefix: "shop-bot" })),
 *   Layer.provide(NodeRedis.layer({ url: "redis://localhost" }))
 * )
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options?: Options): Layer.Layer<InboxStore, never, Redis.Redis> =>
  Layer.effect(InboxStore, make(options))

/**
 * Like {@link layer}, with options from the configuration.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerConfig = (
  options: Config.Wrap<Options> = {}
): Layer.Layer<InboxStore, Settings.InvalidSettings, Redis.Redis> =>
  Layer.effect(InboxStore, Effect.flatMap(Settings.unwrap<Options>(options), make))
