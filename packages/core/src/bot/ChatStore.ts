/**
 * Stores the chats that a bot knows.
 *
 * The platform has no endpoint that lists the chats of a bot. A `ChatStore` collects the chats from updates, removes
 * the chats that the bot left, and returns the chats in pages.
 *
 * `layerMemory` is for tests; `SqlChatStore` and `RedisChatStore` of `@colloquy/node` survive a restart.
 *
 * API: Events, Chats.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type * as ApiError from "../client/ApiError.ts"
import type { BotApi } from "../client/BotApi.ts"
import * as ChatRecord from "./ChatRecord.ts"
import * as Chats from "../endpoints/Chats.ts"
import type * as Endpoint from "../client/Endpoint.ts"
import * as Handler from "../inbox/Handler.ts"
import { makeGroup, partsOf } from "../inbox/internal/handlers/parts.ts"
import * as memoryStore from "./internal/chats/memoryStore.ts"
import { ChatId, ChatType } from "../model/Recipient.ts"
import type { StoreError } from "../base/StoreError.ts"
import type { Update } from "../model/Update.ts"
import { Millis } from "../base/internal/wire.ts"
import { Permission } from "../model/Member.ts"
import { User } from "../model/User.ts"

/**
 * The rights of the bot in a chat, according to the latest `bot_admin_permissions_changed`.
 *
 * @category models
 * @since 0.1.0
 */
export const Rights = Schema.Struct({ is_admin: Schema.Boolean, permissions: Schema.Array(Permission) })

/**
 * @category models
 * @since 0.1.0
 */
export interface Rights extends Schema.Schema.Type<typeof Rights> {}

/**
 * A chat that the bot knows. Facts that no update contained yet are absent, for example the title of a group whose
 * title never changed. `ChatStore.refresh` gets them from the platform.
 *
 * - `user` is the user of a dialog, without the times of their activity.
 * - `first_seen` and `last_seen` are the times of the first and the last update, in Unix milliseconds.
 *
 * @category models
 * @since 0.1.0
 */
export const KnownChat = Schema.Struct({
  chat_id: ChatId,
  type: Schema.optionalKey(ChatType),
  title: Schema.optionalKey(Schema.String),
  user: Schema.optionalKey(User),
  rights: Schema.optionalKey(Rights),
  first_seen: Millis,
  last_seen: Millis
})

/**
 * @category models
 * @since 0.1.0
 */
export interface KnownChat extends Schema.Schema.Type<typeof KnownChat> {}

/**
 * Selects chats. A chat matches if the chat fulfils every given condition.
 *
 * @category models
 * @since 0.1.0
 */
export interface Filter {
  /** The type of the chat. A chat whose type is not known yet does not match. Default: every type. */
  readonly type?: ChatType | undefined
  /** The time of the last update must not be earlier than this, in Unix milliseconds. Default: any time. */
  readonly activeSince?: number | undefined
}

/**
 * A page of chats.
 *
 * @category models
 * @since 0.1.0
 */
export interface Page {
  /** The chats in ascending order of their ids. */
  readonly chats: ReadonlyArray<KnownChat>
  /** The id after which the next page begins, or none if this is the last page. */
  readonly next: Option.Option<ChatId>
}

/**
 * The operations of a store, each of which is atomic. Programs use the functions of this module instead.
 * `ChatStoreSuite` of `@colloquy/testing` tests a store of your own against this contract.
 *
 * @category services
 * @since 0.1.0
 */
export class ChatStore extends Context.Service<
  ChatStore,
  {
    /**
     * Combines each record with the stored record of its chat, by `ChatRecord.combine`. The records are durable when
     * the effect succeeds.
     */
    readonly upsert: (records: ReadonlyArray<ChatRecord.ChatRecord>) => Effect.Effect<void, StoreError>
    /** Returns a chat, or none if the chat is not known. */
    readonly get: (chat_id: ChatId) => Effect.Effect<Option.Option<KnownChat>, StoreError>
    /** Returns up to `limit` chats with ids above `after`. A page may be short or empty although another one follows. */
    readonly page: (filter: Filter, after: Option.Option<ChatId>, limit: number) => Effect.Effect<Page, StoreError>
    /** Returns the number of chats. */
    readonly count: (filter: Filter) => Effect.Effect<number, StoreError>
    /** Replaces a chat by a tombstone with the time `last_seen`. Returns `true` if the chat was known. */
    readonly remove: (chat_id: ChatId) => Effect.Effect<boolean, StoreError>
    /** Deletes the tombstones of chats that the bot left before a time. Returns their number. */
    readonly cleanup: (before: number) => Effect.Effect<number, StoreError>
  }
>()("@colloquy/core/ChatStore") {}

/**
 * Options of every store.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /**
   * How long the store remembers that the bot left a chat. An older update that arrives later would bring the chat back.
   * The platform delivers an update for at most 24 hours. Default: 7 days.
   */
  readonly tombstoneTimeToLive?: Duration.Input | undefined
}

const cleanupInterval = 3_600_000

/**
 * Adds the cleanup of tombstones to the operations of a store: `upsert` runs `cleanup` first, at most once an hour. A
 * cleanup that fails is logged and does not fail the upsert. For authors of stores.
 *
 * @category constructors
 * @since 0.1.0
 */
export const withCleanup = (store: ChatStore["Service"], options: Options = {}): Effect.Effect<ChatStore["Service"]> =>
  Effect.map(Clock.Clock, (clock) => {
    const timeToLive = Duration.toMillis(Duration.fromInputUnsafe(options.tombstoneTimeToLive ?? "7 days"))
    let cleanedAt = -Infinity

    const cleanup = Effect.suspend(() => {
      const now = clock.currentTimeMillisUnsafe()
      if (now - cleanedAt < cleanupInterval) return Effect.void
      cleanedAt = now
      return Effect.catch(Effect.asVoid(store.cleanup(now - timeToLive)), (error) =>
        Effect.logWarning(`Old chats were not cleaned up; the next attempt is in an hour. ${error.message}`)
      )
    })

    return ChatStore.of({ ...store, upsert: (records) => Effect.andThen(cleanup, store.upsert(records)) })
  })

/**
 * Creates a store in memory. See {@link layerMemory}.
 *
 * @category constructors
 * @since 0.1.0
 */
export const makeMemory = (options?: Options): Effect.Effect<ChatStore["Service"]> =>
  Effect.suspend(() => withCleanup(ChatStore.of(memoryStore.make()), options))

/**
 * Provides a store in memory, which loses its chats when the process ends. Each program has a store of its own, and
 * `Layer.fresh` makes a further store in one program.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerMemory: Layer.Layer<ChatStore> = Layer.effect(ChatStore, makeMemory())

/**
 * Stores the chats of updates. Updates may arrive late, out of order and repeatedly: each fact has the `timestamp` of its
 * update, and the latest one applies. `bot_removed`, `bot_stopped` and `dialog_removed` remove a chat.
 *
 * @category storing
 * @since 0.1.0
 */
export const upsert = (updates: Iterable<Update>): Effect.Effect<void, StoreError, ChatStore> => {
  const records = Array.from(updates).flatMap((update) => ChatRecord.fromUpdate(update) ?? [])
  return records.length === 0 ? Effect.void : ChatStore.use((store) => store.upsert(records))
}

/**
 * The argument of {@link track}: a stream of updates, or a handler of some or all types of updates.
 *
 * @category models
 * @since 0.1.0
 */
export type Trackable = Stream.Stream<Update, unknown, unknown> | Handling["handle"]

interface Handling {
  // A method, because a handler of one type of updates is also accepted.
  handle(update: Update): Handler.Return
}

/**
 * A tracked stream or handler, with the error and the requirement of the store.
 *
 * @category models
 * @since 0.1.0
 */
export type Tracked<T> =
  T extends Stream.Stream<infer U, infer E, infer R>
    ? Stream.Stream<U, E | StoreError, R | ChatStore>
    : T extends (update: infer U) => infer O
      ? (
          update: U
        ) => Effect.Effect<
          Effect.Success<O>,
          Effect.Error<O> | (undefined extends O ? Handler.NotHandled : never) | StoreError,
          Effect.Services<O> | ChatStore
        >
      : never

const trackStream = (updates: Stream.Stream<Update, unknown, unknown>) =>
  Stream.mapArrayEffect(updates, (chunk) => Effect.as(upsert(chunk), chunk))

const trackHandler = (handle: Handling["handle"]) => {
  /** The updates whose chats are stored, because an update can be for several parts. */
  const tracked = new WeakSet<Update>()
  const trackOnce = (update: Update) =>
    Effect.suspend(() => (tracked.has(update) ? Effect.void : Effect.map(upsert([update]), () => tracked.add(update))))
  const parts = partsOf(handle).map((part): Handler.Part => ({
    ...part,
    handle: (update) =>
      Effect.andThen(
        trackOnce(update),
        Effect.suspend(() => part.handle(update) ?? Handler.notHandled)
      )
  }))
  return makeGroup(
    parts.length === 1
      ? parts
      : [
          ...parts,
          { kind: "handler", name: "track", handle: (update) => Effect.andThen(trackOnce(update), Handler.notHandled) }
        ]
  )
}

/**
 * Wraps a handler or a stream of updates, and stores the chat of each update before the update is handled or emitted. The
 * chats of a chunk of a stream are stored together.
 *
 * **Example** (A handler)
 *
 * ```ts
 * import { Bot, ChatStore, type Update } from "@colloquy/core"
 * import * as Effect from "effect/Effect"
 *
 * export const handle = ChatStore.track((update: Update.Update) => Effect.log(update.update_type))
 *
 * export const program = Bot.run(handle).pipe(Effect.provide(ChatStore.layerMemory))
 * ```
 *
 * @category storing
 * @since 0.1.0
 */
export const track = <T extends Trackable>(tracked: T): Tracked<T> =>
  (typeof tracked === "function" ? trackHandler(tracked) : trackStream(tracked)) as Tracked<T>

const pageSize = 500

/**
 * Stores chats of which only the id is known, for example from another program, and returns the number of ids. The
 * chats count as seen now; {@link refresh} and later updates add the other facts. A chat that has a tombstone stays
 * removed.
 *
 * **Example** (Take over the chats of another program)
 *
 * ```ts
 * import { ChatStore, Recipient } from "@colloquy/core"
 * import * as Effect from "effect/Effect"
 * import * as Stream from "effect/Stream"
 *
 * export const program = Effect.gen(function* () {
 *   yield* ChatStore.seed([-70_000_000_000_001, 500_000_000_001].map((id) => Recipient.ChatId.make(id)))
 *   yield* Stream.runForEach(ChatStore.stream(), ({ chat_id }) => ChatStore.refresh(chat_id))
 * })
 * ```
 *
 * @category storing
 * @since 0.1.0
 */
export const seed = <E = never, R = never>(
  ids: Iterable<ChatId> | Stream.Stream<ChatId, E, R>
): Effect.Effect<number, E | StoreError, R | ChatStore> =>
  Effect.gen(function* () {
    const store = yield* ChatStore
    const now = yield* Clock.currentTimeMillis
    return yield* (Stream.isStream(ids) ? ids : Stream.fromIterable(ids)).pipe(
      Stream.grouped(pageSize),
      Stream.mapEffect((group) => Effect.as(store.upsert(group.map((id) => ChatRecord.make(id, now))), group.length)),
      Stream.runSum
    )
  })

/**
 * Updates a chat from `GET /chats/{chatId}`, within the rate limits, and returns the chat. Facts of newer updates are
 * kept. If the bot cannot see the chat or has left the chat, the chat is removed, and the result is none.
 *
 * **Example** (The titles of all groups, with ten concurrent requests)
 *
 * ```ts
 * import { ChatStore } from "@colloquy/core"
 * import * as Option from "effect/Option"
 * import * as Stream from "effect/Stream"
 *
 * export const titles = ChatStore.stream({ type: "chat" }).pipe(
 *   Stream.mapEffect(({ chat_id }) => ChatStore.refresh(chat_id), { concurrency: 10 }),
 *   Stream.map((chat) => Option.getOrUndefined(chat)?.title)
 * )
 * ```
 *
 * @category storing
 * @since 0.1.0
 */
export const refresh: (
  chat_id: ChatId
) => Effect.Effect<
  Option.Option<KnownChat>,
  StoreError | Exclude<Endpoint.Errors<typeof Chats.get>, ApiError.Forbidden | ApiError.NotFound>,
  ChatStore | BotApi
> = Effect.fnUntraced(function* (chat_id) {
  const store = yield* ChatStore
  const before = yield* store.get(chat_id)
  const records = yield* Chats.get({ chat_id }).pipe(
    Effect.map((chat) => [ChatRecord.fromChat(chat)]),
    Effect.catchTag(["Forbidden", "NotFound"], () =>
      // The tombstone has the time `last_seen`, so that updates which arrived during the request win.
      Effect.succeed(
        Option.toArray(before).map(({ last_seen }) => ChatRecord.make(chat_id, last_seen, { left_at: last_seen }))
      )
    )
  )
  yield* store.upsert(records)
  return yield* store.get(chat_id)
})

/**
 * Returns a chat, or none if the bot does not know the chat.
 *
 * @category reading
 * @since 0.1.0
 */
export const get = (chat_id: ChatId): Effect.Effect<Option.Option<KnownChat>, StoreError, ChatStore> =>
  ChatStore.use((store) => store.get(chat_id))

/**
 * Returns whether the bot knows a chat.
 *
 * @category reading
 * @since 0.1.0
 */
export const has = (chat_id: ChatId): Effect.Effect<boolean, StoreError, ChatStore> =>
  Effect.map(get(chat_id), Option.isSome)

/**
 * Returns the number of chats that the bot knows.
 *
 * @category reading
 * @since 0.1.0
 */
export const count = (filter: Filter = {}): Effect.Effect<number, StoreError, ChatStore> =>
  ChatStore.use((store) => store.count(filter))

/**
 * Emits the chats that the bot knows, in ascending order of their ids. Pages are read when they are needed. A chat that
 * is known during the whole iteration is emitted exactly once; a chat that is added or removed meanwhile is emitted at
 * most once.
 *
 * **Example** (The dialogs of this month)
 *
 * ```ts
 * import { ChatStore } from "@colloquy/core"
 * import * as Console from "effect/Console"
 * import * as Stream from "effect/Stream"
 *
 * export const program = ChatStore.stream({ type: "dialog", activeSince: Date.UTC(2026, 10, 1) }).pipe(
 *   Stream.runForEach((chat) => Console.log(chat.chat_id, chat.user?.first_name))
 * )
 * ```
 *
 * @category reading
 * @since 0.1.0
 */
export const stream = (filter: Filter = {}): Stream.Stream<KnownChat, StoreError, ChatStore> =>
  Stream.unwrap(
    ChatStore.useSync((store) =>
      Stream.paginate(Option.none<ChatId>(), (after) =>
        Effect.map(
          store.page(filter, after, pageSize),
          ({ chats, next }) => [chats, Option.map(next, Option.some)] as const
        )
      )
    )
  )

const toJson = Schema.encodeSync(Schema.fromJsonString(KnownChat))

/**
 * Emits the chats that the bot knows as NDJSON: each element is a `KnownChat` as JSON, with exact ids, and a line feed.
 *
 * **Example** (Write a backup to a file)
 *
 * ```ts
 * import { ChatStore } from "@colloquy/core"
 * import * as FileSystem from "effect/FileSystem"
 * import * as Stream from "effect/Stream"
 *
 * export const program = FileSystem.FileSystem.use((files) =>
 *   ChatStore.exportNdjson().pipe(Stream.encodeText, Stream.run(files.sink("chats.ndjson")))
 * )
 * ```
 *
 * @category reading
 * @since 0.1.0
 */
export const exportNdjson = (filter?: Filter): Stream.Stream<string, StoreError, ChatStore> =>
  Stream.map(stream(filter), (entry) => `${toJson(entry)}\n`)

/**
 * Removes a chat, and returns `true` if the chat was known. Updates that are older than `last_seen` do not bring the
 * chat back, newer updates do.
 *
 * @category storing
 * @since 0.1.0
 */
export const remove = (chat_id: ChatId): Effect.Effect<boolean, StoreError, ChatStore> =>
  ChatStore.use((store) => store.remove(chat_id))
