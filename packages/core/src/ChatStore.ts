/**
 * The chats that a bot knows.
 *
 * The platform has no list of a bot's chats: a bot knows the chats that it remembered. A `ChatStore` learns them from
 * the updates, forgets those that the bot left, and hands them out again, a page at a time.
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
import type * as ApiError from "./ApiError.ts"
import type { BotApi } from "./BotApi.ts"
import * as KnownChat from "./KnownChat.ts"
import * as ChatRecord from "./ChatRecord.ts"
import * as Chats from "./Chats.ts"
import type * as Endpoint from "./Endpoint.ts"
import * as Handler from "./Handler.ts"
import { makeMemory } from "./internal/chats/memoryStore.ts"
import type { ChatId } from "./Recipient.ts"
import type { StoreError } from "./StoreError.ts"
import type { Update } from "./Update.ts"

/**
 * What a store does, each of it at once or not at all, whoever else writes meanwhile. Programs use the functions of this
 * module, which are the same for every store.
 *
 * @category services
 * @since 0.1.0
 */
export class ChatStore extends Context.Service<
  ChatStore,
  {
    /** Combines what is told with what is kept, chat by chat as `ChatRecord.combine`, and keeps it before it returns. */
    readonly upsert: (records: ReadonlyArray<ChatRecord.ChatRecord>) => Effect.Effect<void, StoreError>
    readonly get: (chat_id: ChatId) => Effect.Effect<Option.Option<KnownChat.KnownChat>, StoreError>
    /** At most `limit` chats whose ids are above `after`. A page may be short, and even empty, with another after it. */
    readonly page: (
      filter: KnownChat.Filter,
      after: Option.Option<ChatId>,
      limit: number
    ) => Effect.Effect<KnownChat.Page, StoreError>
    readonly count: (filter: KnownChat.Filter) => Effect.Effect<number, StoreError>
    /** As if the bot had left when the chat was last seen. Says whether it was known. */
    readonly remove: (chat_id: ChatId) => Effect.Effect<boolean, StoreError>
    /** Writes the data of a known chat if it still is what is expected. Says whether it did. */
    readonly compareAndSetData: (
      chat_id: ChatId,
      expected: KnownChat.KnownChat["data"],
      next: KnownChat.KnownChat["data"]
    ) => Effect.Effect<boolean, StoreError>
    /** Drops the records of chats that the bot left before a time. Says how many. */
    readonly cleanup: (before: number) => Effect.Effect<number, StoreError>
  }
>()("@colloquy/core/ChatStore") {}

/**
 * How a store is kept. `tombstoneTimeToLive` is how long it is remembered that the bot left a chat, 7 days by default: an older
 * update that arrives later than that would bring the chat back. The platform delivers updates for 24 hours at most.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly tombstoneTimeToLive?: Duration.Input | undefined
}

/** In milliseconds. */
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
 * Remembers chats until the process ends. For tests, and for bots that may forget.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerMemory = (options?: Options): Layer.Layer<ChatStore> =>
  Layer.effect(
    ChatStore,
    Effect.suspend(() => withCleanup(ChatStore.of(makeMemory()), options))
  )

/**
 * Learns what updates tell. Updates may come late, swapped and more than once: each fact counts by the `timestamp` of its
 * update. See `ChatRecord.fromUpdate` for what makes a chat known and what makes it forgotten.
 *
 * @category learning
 * @since 0.1.0
 */
export const upsert = (updates: Iterable<Update>): Effect.Effect<void, StoreError, ChatStore> => {
  const records = Array.from(updates).flatMap((update) => Option.toArray(ChatRecord.fromUpdate(update)))
  return records.length === 0 ? Effect.void : ChatStore.use((store) => store.upsert(records))
}

/**
 * What {@link track} takes: a stream of updates, or a handler of some or all kinds of updates.
 *
 * @category models
 * @since 0.1.0
 */
export type Trackable = Stream.Stream<Update, unknown, unknown> | Handling["handle"]

interface Handling {
  // A method: a handler of one kind of update is one too.
  handle(update: Update): Handler.Return
}

/**
 * The same with the store's error and requirement.
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

const trackHandler = (handle: Handling["handle"]) => (update: Update) =>
  Effect.andThen(
    upsert([update]),
    Effect.suspend(() => handle(update) ?? Handler.notHandled)
  )

/**
 * Remembers the chats of all updates that come by: around a stream of updates, or around a handler. An update goes on
 * when the store has learnt from it. A stream is learnt from in the chunks that it has, each written at once.
 *
 * **Example** (A stream and a handler)
 *
 * ```ts
 * import { ChatStore, type Update, Updates } from "@colloquy/core"
 * import * as Effect from "effect/Effect"
 * import * as Stream from "effect/Stream"
 *
 * export const updates = ChatStore.track(Updates.stream)
 *
 * export const handle = ChatStore.track((update: Update.Update) => Effect.log(update.update_type))
 *
 * export const program = Stream.runForEach(Updates.stream, handle).pipe(Effect.provide(ChatStore.layerMemory()))
 * ```
 *
 * @category learning
 * @since 0.1.0
 */
export const track = <T extends Trackable>(tracked: T): Tracked<T> =>
  (typeof tracked === "function" ? trackHandler(tracked) : trackStream(tracked)) as Tracked<T>

const pageSize = 500

/**
 * Remembers chats whose ids are known from elsewhere, and says how many ids there were. Of such a chat nothing but its
 * id is known until an update comes or it is refreshed; it counts as seen now. A chat that the bot is known to have left
 * stays left: an old list does not bring it back.
 *
 * **Example** (A list of another program, brought up to date)
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
 * @category learning
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
 * Brings what is known of a chat up to date with `GET /chats/{chatId}`, within the limits like every call, and answers
 * with it. A chat that the platform does not show to the bot, or in which the bot is no more, is forgotten: the answer
 * is none.
 *
 * **Example** (The titles of all groups, ten requests at a time)
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
 * @category learning
 * @since 0.1.0
 */
export const refresh: (
  chat_id: ChatId
) => Effect.Effect<
  Option.Option<KnownChat.KnownChat>,
  StoreError | Exclude<Endpoint.Errors<typeof Chats.get>, ApiError.Forbidden | ApiError.NotFound>,
  ChatStore | BotApi
> = Effect.fnUntraced(function* (chat_id) {
  const store = yield* ChatStore
  const before = yield* store.get(chat_id)
  const told = yield* Chats.get({ chat_id }).pipe(
    Effect.map((chat) => [ChatRecord.fromChat(chat)]),
    Effect.catchTag(["Forbidden", "NotFound"], () =>
      // Gone when it was last seen: what came in since then, while the platform was asked, counts more.
      Effect.succeed(
        Option.toArray(before).map(({ last_seen }) => ChatRecord.make(chat_id, last_seen, { left_at: last_seen }))
      )
    )
  )
  yield* store.upsert(told)
  return yield* store.get(chat_id)
})

/**
 * What is known of a chat.
 *
 * @category reading
 * @since 0.1.0
 */
export const get = (chat_id: ChatId): Effect.Effect<Option.Option<KnownChat.KnownChat>, StoreError, ChatStore> =>
  ChatStore.use((store) => store.get(chat_id))

/**
 * Whether the bot knows a chat.
 *
 * @category reading
 * @since 0.1.0
 */
export const has = (chat_id: ChatId): Effect.Effect<boolean, StoreError, ChatStore> =>
  Effect.map(get(chat_id), Option.isSome)

/**
 * How many chats the bot knows.
 *
 * @category reading
 * @since 0.1.0
 */
export const count = (filter: KnownChat.Filter = {}): Effect.Effect<number, StoreError, ChatStore> =>
  ChatStore.use((store) => store.count(filter))

/**
 * The chats that the bot knows, in ascending order of their ids, read in pages while they are consumed. A chat that is
 * known all the while comes exactly once; one that is learnt or forgotten meanwhile may come or not.
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
export const stream = (filter: KnownChat.Filter = {}): Stream.Stream<KnownChat.KnownChat, StoreError, ChatStore> =>
  Stream.unwrap(
    ChatStore.use((store) =>
      Effect.succeed(
        Stream.paginate(Option.none<ChatId>(), (after) =>
          Effect.map(
            store.page(filter, after, pageSize),
            ({ chats, next }) => [chats, Option.map(next, (id) => Option.some(id))] as const
          )
        )
      )
    )
  )

const toJson = Schema.encodeSync(Schema.fromJsonString(KnownChat.KnownChat))

/**
 * The chats that the bot knows as NDJSON: lines of text, each a `KnownChat` as JSON and a line feed. Ids are exact.
 *
 * **Example** (A backup to a file)
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
export const exportNdjson = (filter?: KnownChat.Filter): Stream.Stream<string, StoreError, ChatStore> =>
  Stream.map(stream(filter), (entry) => `${toJson(entry)}\n`)

/**
 * Forgets a chat with all that is kept of it, and says whether it was known. What was told up to now does not bring it
 * back; a new update does.
 *
 * @category learning
 * @since 0.1.0
 */
export const remove = (chat_id: ChatId): Effect.Effect<boolean, StoreError, ChatStore> =>
  ChatStore.use((store) => store.remove(chat_id))
