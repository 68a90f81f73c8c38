/**
 * Inbox letters in Redis.
 *
 * @since 0.1.0
 */
import { InboxStore, withWriteBatching } from "@colloquy/core/InboxStore"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Redis from "effect/persistence/Redis"
import * as RedisInbox from "./internal/updates/redisInbox.ts"

/**
 * Where the keys are: each begins with `prefix` in braces, `colloquy_inbox` unless told, so that all of them are in one
 * hash slot of a cluster.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly prefix?: string | undefined
}

/**
 * A store in the Redis of the program, such as `NodeRedis` of `@effect/platform-node`. Each operation is one script, so
 * it is done as a whole or not at all. Several processes may share it; the clocks of their machines have to agree to
 * well within the lease.
 *
 * What is stored is as durable as the server's settings make it:
 *
 * | setting | what the loss of the server costs |
 * |---|---|
 * | `appendonly yes`, `appendfsync always` | nothing: this is the one for updates that must not be lost |
 * | `appendonly yes`, `appendfsync everysec` | nothing when the process is killed, up to two seconds when the power is lost |
 * | `appendonly no` | all since the last snapshot |
 *
 * A replica that takes over may lack the latest writes. `maxmemory-policy` has to be `noeviction`: any other lets Redis
 * throw letters away. Where the server says that its settings are others, a warning is logged.
 *
 * A key or a fingerprint of more than 400 characters is kept by its beginning and its hash.
 *
 * **Example**
 *
 * ```ts
 * import { Inbox } from "@colloquy/core"
 * import { RedisInboxStore } from "@colloquy/node"
 * import * as NodeRedis from "@effect/platform-node/NodeRedis"
 * import { Layer } from "effect"
 *
 * const inbox = Inbox.layer().pipe(
 *   Layer.provide(RedisInboxStore.layer({ prefix: "bot" })),
 *   Layer.provide(NodeRedis.layer({ url: "redis://localhost" }))
 * )
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = ({ prefix = "colloquy_inbox" }: Options = {}): Layer.Layer<InboxStore, never, Redis.Redis> =>
  Layer.effect(
    InboxStore,
    Effect.gen(function* () {
      for (const risk of yield* RedisInbox.findRisks())
        yield* Effect.logWarning(`The inbox in Redis can lose updates: ${risk}.`)
      return yield* withWriteBatching(yield* RedisInbox.make(`{${prefix}}`))
    })
  )
