/**
 * Stores the chats of a bot in Redis.
 *
 * @since 0.1.0
 */
import * as ChatRecord from "@colloquy/core/bot/ChatRecord"
import * as ChatStore from "@colloquy/core/bot/ChatStore"
import type { ChatId } from "@colloquy/core/model/Recipient"
import * as Settings from "@colloquy/core/client/Settings"
import * as Arr from "effect/Array"
import type * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redis from "effect/persistence/Redis"
import * as scripts from "./internal/chats/redisScripts.ts"
import { toKnownChats } from "./internal/chats/row.ts"
import { withStoreErrors } from "../base/internal/stores/operations.ts"
import { keyPrefix, membersOf, redisToStoreError } from "../base/internal/stores/redis.ts"
import { encodeText } from "../base/internal/stores/values.ts"

/**
 * Options of {@link layer}.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options extends ChatStore.Options {
  /**
   * The prefix of all keys, which begin with `{<prefix>:chats}:` (one hash slot of a cluster). Use a different prefix
   * for each bot. Default: `"colloquy"`.
   */
  readonly prefix?: string | undefined
}

/** Maximum number of chats that one script writes, so that the script does not block the server for long. */
const chunkSize = 200

/** Maximum number of chats that one script reads. */
const maxRead = 250

/** Maximum number of chats whose times one script compares for a page. */
const maxCompared = 1000

/**
 * Creates the store. See {@link layer}.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make: (options?: Options) => Effect.Effect<ChatStore.ChatStore["Service"], never, Redis.Redis> =
  Effect.fnUntraced(function* (options: Options = {}) {
    const redis = yield* Redis.Redis
    const keys = scripts.keysOf(keyPrefix("chats", options.prefix))
    const upsert = redis.eval(scripts.upsert)
    const read = redis.eval(scripts.read)
    const countActive = redis.eval(scripts.countActive)
    const readPage = redis.eval(scripts.page)
    const readActivePage = redis.eval(scripts.activePage)
    const remove = redis.eval(scripts.remove)
    const cleanup = redis.eval(scripts.cleanup)

    const decode = (rows: ReadonlyArray<ReadonlyArray<string>>) => toKnownChats(rows.map(scripts.toRow))

    // Chats of an unknown type are in the index of the empty type, which no filter selects.
    const toIndexed = (type: string | undefined) => (type === "" ? "\u0001" : type && encodeText(type))

    const knownOf = (type: string | undefined) => (type === undefined ? keys.known : `${keys.known}:${toIndexed(type)}`)

    const page = Effect.fnUntraced(function* (
      { activeSince, type }: ChatStore.Filter,
      after: Option.Option<ChatId>,
      limit: number
    ) {
      const start = Option.match(after, { onNone: () => "-inf", onSome: (id) => `(${id}` })
      const size = Math.min(limit, maxRead)
      const [next, rows] = yield* activeSince === undefined
        ? readPage(keys, knownOf(type), start, size)
        : readActivePage(keys, toIndexed(type), activeSince, start, size, maxCompared)
      return { chats: yield* decode(rows), next: next === "" ? Option.none() : Option.some(Number(next) as ChatId) }
    })

    const cleanupAll = Effect.fnUntraced(function* (before: number) {
      let total = 0
      while (true) {
        const ids = yield* membersOf(redis, keys.left, ["-inf", `(${before}`], chunkSize)
        const deleted = ids.length === 0 ? 0 : yield* cleanup(keys, ids, before)
        total += deleted
        if (ids.length < chunkSize || deleted === 0) return total
      }
    })

    return yield* ChatStore.withCleanup(
      withStoreErrors<ChatStore.ChatStore["Service"]>(redisToStoreError("chats"), {
        upsert: (records) =>
          Effect.forEach(Arr.chunksOf(ChatRecord.combineAll(records), chunkSize), (chunk) => upsert(keys, chunk), {
            discard: true
          }),
        get: (chat_id) => Effect.map(Effect.flatMap(read(keys, chat_id), decode), Arr.head),
        page,
        count: ({ activeSince, type }) =>
          activeSince === undefined
            ? Effect.map(redis.send("ZCARD", knownOf(type)), Number)
            : Effect.map(countActive(keys, toIndexed(type), activeSince), Number),
        remove: (chat_id) => Effect.map(remove(keys, chat_id), (count) => count > 0),
        cleanup: cleanupAll
      }),
      options
    )
  })

/**
 * Provides a `ChatStore` on the `Redis` of the program, such as `NodeRedis.layer` of `@effect/platform-node`.
 *
 * A chat is as durable as the settings of the server make it. With the default settings, Redis may lose the last
 * minutes if the server is killed; with `appendonly yes` and `appendfsync always`, no writes are lost.
 *
 * The chats of each type are indexed by their ids and by `last_seen`, so that a count reads no chats. A page with
 * `activeSince` compares the times of at most 1000 chats, so a page may be short or empty although more pages follow.
 * Requires Redis 6.2 or later.
 *
 * **Example** (Chats in Redis)
 *
 * ```ts
 * import { RedisChatStore } from "@colloquy/node"
 * import * as NodeRedis from "@effect/platform-node/NodeRedis"
 * import * as Layer from "effect/Layer"
 *
 * export const Chats = RedisChatStore.layer({ prefix: "shop-bot" }).pipe(
 *   Layer.provide(NodeRedis.layer({ url: "redis://127.0.0.1:6379" }))
 * )
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options?: Options): Layer.Layer<ChatStore.ChatStore, never, Redis.Redis> =>
  Layer.effect(ChatStore.ChatStore, make(options))

/**
 * Like {@link layer}, with options from the configuration.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerConfig = (
  options: Config.Wrap<Options> = {}
): Layer.Layer<ChatStore.ChatStore, Settings.InvalidSettings, Redis.Redis> =>
  Layer.effect(ChatStore.ChatStore, Effect.flatMap(Settings.unwrap<Options>(options), make))
