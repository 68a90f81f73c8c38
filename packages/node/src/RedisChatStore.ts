/**
 * The chats that a bot knows, in Redis.
 *
 * @since 0.1.0
 */
import type { KnownChat } from "@colloquy/core/KnownChat"
import * as ChatRecord from "@colloquy/core/ChatRecord"
import * as ChatStore from "@colloquy/core/ChatStore"
import type { ChatId } from "@colloquy/core/Recipient"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redis from "effect/persistence/Redis"
import * as Scripts from "./internal/chats/redis.ts"
import { ofRedis } from "./internal/stores/failure.ts"

/**
 * What {@link layer} accepts, besides what every store accepts: `prefix` begins the name of every key,
 * `{colloquy:chats}:` by default. A part in braces keeps all keys on one node of a cluster.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options extends ChatStore.Options {
  readonly prefix?: string | undefined
}

const failure = ofRedis("chats")

const atOnce = 500

const matches =
  ({ type, activeSince }: ChatStore.Filter) =>
  (entry: KnownChat): boolean =>
    (type === undefined || entry.type === type) && (activeSince === undefined || entry.last_seen >= activeSince)

const makeStore = Effect.fnUntraced(function* (prefix: string) {
  const redis = yield* Redis.Redis
  const keys = Scripts.keysOf(prefix)
  const upsert = redis.eval(Scripts.upsert)
  const read = redis.eval(Scripts.read)
  const remove = redis.eval(Scripts.remove)
  const compareAndSetData = redis.eval(Scripts.compareAndSetData)
  const cleanup = redis.eval(Scripts.cleanup)

  const readChats = (operation: string, ids: ReadonlyArray<ChatId | string>) =>
    ids.length === 0
      ? Effect.succeed([])
      : read(keys, ids).pipe(
          Effect.mapError(failure(operation)),
          Effect.flatMap((found) => Effect.try({ try: () => found.map(Scripts.toEntry), catch: failure(operation) }))
        )

  const idsBetween = (key: string, from: string, to: string, limit: number) =>
    redis.send<ReadonlyArray<string>>("ZRANGE", key, from, to, "BYSCORE", "LIMIT", "0", `${limit}`)

  const readPage = (operation: string) =>
    Effect.fnUntraced(function* (filter: ChatStore.Filter, after: Option.Option<ChatId>, limit: number) {
      const start = Option.match(after, { onNone: () => "-inf", onSome: (id) => `(${id}` })
      const ids = yield* Effect.mapError(idsBetween(keys.known, start, "+inf", limit), failure(operation))
      const chats = (yield* readChats(operation, ids)).filter(matches(filter))
      const next = ids.length < limit ? Option.none() : Option.map(Arr.last(ids), (id) => Number(id) as ChatId)
      return { chats, next }
    })

  const countMatching = Effect.fnUntraced(function* (filter: ChatStore.Filter) {
    let total = 0
    let after = Option.none<ChatId>()
    do {
      const { chats, next } = yield* readPage("count")(filter, after, atOnce)
      total += chats.length
      after = next
    } while (Option.isSome(after))
    return total
  })

  const cleanupAll = Effect.fnUntraced(
    function* (before: number) {
      let total = 0
      while (true) {
        const ids = yield* idsBetween(keys.left, "-inf", `(${before}`, atOnce)
        const deleted = ids.length === 0 ? 0 : yield* cleanup(keys, ids, before)
        total += deleted
        if (ids.length < atOnce || deleted === 0) return total
      }
    },
    Effect.mapError(failure("cleanup"))
  )

  return ChatStore.ChatStore.of({
    upsert: (records) =>
      Effect.forEach(Arr.chunksOf(ChatRecord.combineAll(records), atOnce), (chunk) => upsert(keys, chunk), {
        discard: true
      }).pipe(Effect.mapError(failure("upsert"))),
    get: (chat_id) => Effect.map(readChats("get", [chat_id]), Arr.head),
    page: readPage("page"),
    count: (filter) =>
      filter.type === undefined && filter.activeSince === undefined
        ? Effect.mapBoth(redis.send("ZCARD", keys.known), { onFailure: failure("count"), onSuccess: Number })
        : countMatching(filter),
    remove: (chat_id) =>
      Effect.mapBoth(remove(keys, chat_id), { onFailure: failure("remove"), onSuccess: (count) => count > 0 }),
    compareAndSetData: (chat_id, expected, next) =>
      Effect.mapBoth(compareAndSetData(keys, chat_id, JSON.stringify(expected), JSON.stringify(next)), {
        onFailure: failure("compareAndSetData"),
        onSuccess: (count) => count > 0
      }),
    cleanup: cleanupAll
  })
})

/**
 * Keeps the chats in the Redis that is provided, such as by `NodeRedis.layer` of `@effect/platform-node`. Several
 * processes and several bots can share one Redis; give each bot a prefix of its own.
 *
 * What is learnt is as durable as the Redis is set to be: by default it may lose the last minutes when it is killed.
 * `appendonly yes` with `appendfsync always` keeps all.
 *
 * To count with a filter, Redis is asked for every chat.
 *
 * **Example** (A bot of several processes)
 *
 * ```ts
 * import { RedisChatStore } from "@colloquy/node"
 * import * as NodeRedis from "@effect/platform-node/NodeRedis"
 * import * as Layer from "effect/Layer"
 *
 * export const Chats = RedisChatStore.layer({ prefix: "{shop-bot}:chats:" }).pipe(
 *   Layer.provide(NodeRedis.layer({ url: "redis://127.0.0.1:6379" }))
 * )
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: Options = {}): Layer.Layer<ChatStore.ChatStore, never, Redis.Redis> =>
  Layer.effect(
    ChatStore.ChatStore,
    Effect.flatMap(makeStore(options.prefix ?? "{colloquy:chats}:"), (store) => ChatStore.make(store, options))
  )
