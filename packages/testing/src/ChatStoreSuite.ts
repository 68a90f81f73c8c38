/**
 * What every `ChatStore` must do, as cases for any test runner.
 *
 * @since 0.1.0
 */
import * as ApiError from "@colloquy/core/ApiError"
import { ChatId } from "@colloquy/core/Chat"
import * as ChatData from "@colloquy/core/ChatData"
import * as KnownChat from "@colloquy/core/KnownChat"
import * as Chats from "@colloquy/core/Chats"
import * as ChatStore from "@colloquy/core/ChatStore"
import type * as Update from "@colloquy/core/Update"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as assert from "node:assert/strict"
import * as Fixtures from "./Fixtures.ts"
import * as TestBotApi from "./TestBotApi.ts"

/**
 * A case: a sentence, and an effect that fails or dies where the sentence is not true. It wants a store that is empty.
 *
 * @category models
 * @since 0.1.0
 */
export interface Case {
  readonly name: string
  readonly effect: Effect.Effect<void, unknown, ChatStore.ChatStore>
}

const permutations = <A>(values: ReadonlyArray<A>): ReadonlyArray<ReadonlyArray<A>> =>
  values.length < 2
    ? [values]
    : values.flatMap((value, at) =>
        permutations([...values.slice(0, at), ...values.slice(at + 1)]).map((rest) => [value, ...rest])
      )

const at = (seconds: number) => Fixtures.timestamp + seconds * 1000

const chat_id = Fixtures.groupId

const { user_id, first_name, is_bot } = Fixtures.user()

const person = { user_id, first_name, is_bot }

const added = (seconds: number, id = chat_id): Update.Update => ({
  update_type: "bot_added",
  timestamp: at(seconds),
  chat_id: id,
  user: Fixtures.user(),
  is_channel: false
})

const removed = (seconds: number, id = chat_id): Update.Update => ({
  update_type: "bot_removed",
  timestamp: at(seconds),
  chat_id: id,
  user: Fixtures.user(),
  is_channel: false
})

const titled = (seconds: number, title: string, id = chat_id): Update.Update => ({
  update_type: "chat_title_changed",
  timestamp: at(seconds),
  chat_id: id,
  user: Fixtures.user(),
  title
})

const appointed = (seconds: number, permissions: ReadonlyArray<string>, id = chat_id): Update.Update => ({
  update_type: "bot_admin_permissions_changed",
  timestamp: at(seconds),
  chat_id: id,
  user_id,
  bot_id: Fixtures.botId,
  is_channel: false,
  is_admin: true,
  permissions
})

const inDialog = (
  update_type: "bot_started" | "bot_stopped" | "dialog_removed" | "dialog_cleared" | "dialog_muted" | "dialog_unmuted",
  seconds: number,
  id = Fixtures.dialogId
): Update.Update => ({ update_type, timestamp: at(seconds), chat_id: id, user: Fixtures.user() })

const idOf = (index: number): ChatId => ChatId.make(index)

const ids = (filter?: KnownChat.Filter) =>
  Stream.runCollect(Stream.map(ChatStore.stream(filter), ({ chat_id }) => chat_id))

const entryOf = (id: ChatId) =>
  Effect.map(ChatStore.get(id), Option.match({ onNone: () => undefined, onSome: (chat): KnownChat.KnownChat => chat }))

const upsert = (...updates: ReadonlyArray<Update.Update>) => ChatStore.upsert(updates)

const equals: <A>(actual: A, expected: A) => void = (actual, expected) => assert.deepEqual(actual, expected)

const Visits = ChatData.make("visits", Schema.Struct({ count: Schema.Int }))

const learning: ReadonlyArray<Case> = [
  {
    name: "what the updates of a chat tell is known of it",
    effect: Effect.gen(function* () {
      yield* upsert(added(0))
      equals(yield* entryOf(chat_id), { chat_id, type: "chat", first_seen: at(0), last_seen: at(0), data: {} })
      yield* upsert(titled(1, "Reading club 📚"), appointed(2, ["write", "a_right_to_come"]))
      equals(yield* entryOf(chat_id), {
        chat_id,
        type: "chat",
        title: "Reading club 📚",
        rights: { is_admin: true, permissions: ["write", "a_right_to_come"] },
        first_seen: at(0),
        last_seen: at(2),
        data: {}
      })
    })
  },
  {
    name: "a dialog is known with its person, whoever wrote last",
    effect: Effect.gen(function* () {
      yield* upsert(Fixtures.messageCreated())
      const dialog = { chat_id: Fixtures.dialogId, type: "dialog", user: person, data: {} } as const
      equals(yield* entryOf(Fixtures.dialogId), { ...dialog, first_seen: at(0), last_seen: at(0) })
      yield* upsert({
        ...Fixtures.messageCallback(),
        timestamp: at(1),
        message: Fixtures.message({ sender: Fixtures.bot() })
      })
      equals(yield* entryOf(Fixtures.dialogId), { ...dialog, first_seen: at(0), last_seen: at(1) })
      yield* upsert({ ...Fixtures.messageCreated({ sender: Fixtures.bot() }), timestamp: at(2) })
      equals(yield* entryOf(Fixtures.dialogId), { ...dialog, first_seen: at(0), last_seen: at(2) })
    })
  },
  {
    name: "a chat of which only a removed message was seen is known, its type is not",
    effect: Effect.gen(function* () {
      const { messageId: message_id } = Fixtures
      yield* upsert({ update_type: "message_removed", timestamp: at(0), message_id, chat_id, user_id })
      equals(yield* entryOf(chat_id), { chat_id, first_seen: at(0), last_seen: at(0), data: {} })
      equals(yield* ChatStore.count({ type: "chat" }), 0)
      yield* upsert({ ...Fixtures.messageCreated({ recipient: { chat_id, chat_type: "chat" } }), timestamp: at(-5) })
      equals(yield* entryOf(chat_id), { chat_id, type: "chat", first_seen: at(-5), last_seen: at(0), data: {} })
    })
  },
  {
    name: "updates that name no chat, or that are not known, teach nothing",
    effect: Effect.gen(function* () {
      yield* upsert(
        { update_type: "unknown", raw: { update_type: "chat_sang", chat_id: 5 } },
        { update_type: "message_created", timestamp: at(0) },
        Fixtures.messageCreated({ recipient: { chat_type: "dialog", user_id } })
      )
      equals(yield* ChatStore.count(), 0)
    })
  },
  {
    name: "ids are exact to the last one that a number holds",
    effect: Effect.gen(function* () {
      const edges = [Number.MIN_SAFE_INTEGER, Number.MIN_SAFE_INTEGER + 1, -1, 1, Number.MAX_SAFE_INTEGER - 1]
      const chats = [...edges, Number.MAX_SAFE_INTEGER].map(idOf)
      yield* upsert(...chats.map((id) => added(0, id)))
      equals(yield* ids(), chats)
      for (const id of chats) equals((yield* entryOf(id))?.chat_id, id)
    })
  },
  {
    name: "an update that comes twice changes nothing",
    effect: Effect.gen(function* () {
      const updates = [added(0), titled(1, "Reading club"), appointed(2, ["write"])]
      yield* upsert(...updates)
      const once = yield* entryOf(chat_id)
      yield* upsert(...updates, ...updates)
      yield* upsert(...updates)
      equals(yield* entryOf(chat_id), once)
      equals(yield* ChatStore.count(), 1)
    })
  },
  {
    name: "the order in which updates come makes no difference, one by one or together",
    effect: Effect.gen(function* () {
      const story = (id: ChatId) => [
        added(0, id),
        titled(1, "Before", id),
        removed(2, id),
        added(3, id),
        appointed(4, ["write"], id)
      ]
      const orders = permutations([0, 1, 2, 3, 4])
      yield* Effect.forEach(
        orders,
        (order, index) => Effect.forEach(order, (step) => upsert(story(idOf(index + 1))[step]!), { discard: true }),
        { concurrency: 20, discard: true }
      )
      yield* Effect.forEach(
        orders,
        (order, index) => upsert(...order.map((step) => story(idOf(index + 1001))[step]!)),
        {
          concurrency: 20,
          discard: true
        }
      )
      const rights = { is_admin: true, permissions: ["write"] }
      const expected = { type: "chat", rights, first_seen: at(0), last_seen: at(4), data: {} }
      const found = yield* Stream.runCollect(Stream.map(ChatStore.stream(), ({ chat_id: _, ...rest }) => rest))
      equals(
        found,
        Array.from({ length: 2 * orders.length }, () => expected)
      )
    })
  },
  {
    name: "an older title or right does not replace a newer one",
    effect: Effect.gen(function* () {
      yield* upsert(titled(5, "New"), appointed(5, ["write", "edit"]))
      yield* upsert(titled(4, "Old"), appointed(4, ["write"]))
      const entry = yield* entryOf(chat_id)
      equals(entry?.title, "New")
      equals(entry?.rights?.permissions, ["write", "edit"])
      equals([entry?.first_seen, entry?.last_seen], [at(4), at(5)])
    })
  },
  {
    name: "many fibers that upsert of one chat at once leave what all of them told",
    effect: Effect.gen(function* () {
      yield* Effect.forEach(
        Array.from({ length: 200 }, (_, index) => index),
        (second) =>
          upsert(second % 2 === 0 ? titled(second, `Title ${second}`) : appointed(second, [`right_${second}`])),
        { concurrency: "unbounded", discard: true }
      )
      const entry = yield* entryOf(chat_id)
      equals(entry?.title, "Title 198")
      equals(entry?.rights?.permissions, ["right_199"])
      equals([entry?.first_seen, entry?.last_seen], [at(0), at(199)])
    })
  }
]

const leaving: ReadonlyArray<Case> = [
  {
    name: "a chat is forgotten when the bot is removed, stopped, or the dialog is removed",
    effect: Effect.gen(function* () {
      const [stopped, deleted] = [idOf(71), idOf(72)]
      yield* upsert(added(0), inDialog("bot_started", 0, stopped), inDialog("bot_started", 0, deleted))
      equals(yield* ChatStore.count(), 3)
      yield* upsert(removed(1), inDialog("bot_stopped", 1, stopped), inDialog("dialog_removed", 1, deleted))
      equals(yield* ChatStore.count(), 0)
      equals(yield* ids(), [])
      for (const id of [chat_id, stopped, deleted]) {
        equals(yield* ChatStore.get(id), Option.none())
        equals(yield* ChatStore.has(id), false)
      }
    })
  },
  {
    name: "an older update does not bring a forgotten chat back, a newer one does, without what was known before",
    effect: Effect.gen(function* () {
      yield* upsert(added(0), titled(1, "Reading club"), appointed(1, ["write"]))
      yield* upsert(removed(5))
      yield* upsert(added(4), titled(4, "Late"), removed(3))
      equals(yield* ChatStore.has(chat_id), false)
      yield* upsert({ ...Fixtures.messageCreated({ recipient: { chat_id, chat_type: "chat" } }), timestamp: at(6) })
      equals(yield* entryOf(chat_id), { chat_id, type: "chat", first_seen: at(0), last_seen: at(6), data: {} })
    })
  },
  {
    name: "a removal that comes late does not forget a chat to which the bot came back",
    effect: Effect.gen(function* () {
      yield* upsert(added(0), titled(1, "Before"), added(7), titled(8, "After"))
      yield* upsert(removed(5))
      equals((yield* entryOf(chat_id))?.title, "After")
      yield* upsert(removed(9))
      equals(yield* ChatStore.has(chat_id), false)
    })
  },
  {
    name: "a removal that comes before all else keeps older updates out",
    effect: Effect.gen(function* () {
      yield* upsert(removed(5))
      yield* upsert(added(4))
      equals(yield* ChatStore.has(chat_id), false)
    })
  },
  {
    name: "what a person does in a dialog that they stopped does not bring it back",
    effect: Effect.gen(function* () {
      const { dialogId, messageId: message_id } = Fixtures
      const afterwards = [
        inDialog("dialog_cleared", 6),
        inDialog("dialog_muted", 6),
        inDialog("dialog_unmuted", 6),
        { update_type: "message_removed", timestamp: at(6), message_id, chat_id: dialogId, user_id },
        { update_type: "message_edited", timestamp: at(6), message: Fixtures.message() }
      ] as const
      yield* upsert(inDialog("bot_started", 0), inDialog("bot_stopped", 5), ...afterwards)
      equals(yield* ChatStore.has(dialogId), false)
      yield* upsert(inDialog("bot_started", 7))
      equals(yield* ChatStore.has(dialogId), true)
    })
  },
  {
    name: "a chat that the program forgets stays forgotten until something new is heard of it",
    effect: Effect.gen(function* () {
      equals(yield* ChatStore.remove(chat_id), false)
      yield* upsert(added(0), titled(3, "Reading club"))
      equals(yield* ChatStore.remove(chat_id), true)
      equals(yield* ChatStore.remove(chat_id), false)
      yield* upsert(added(0), titled(3, "Reading club"))
      equals(yield* ChatStore.has(chat_id), false)
      yield* upsert(appointed(4, []))
      equals((yield* entryOf(chat_id))?.title, undefined)
      equals(yield* ChatStore.count(), 1)
    })
  },
  {
    name: "that a chat was left long ago is no longer remembered after a sweep, and nothing else is touched",
    effect: Effect.gen(function* () {
      const store = yield* ChatStore.ChatStore
      const [long, lately] = [idOf(81), idOf(82)]
      yield* upsert(added(0), added(0, long), removed(1, long), added(0, lately), removed(9, lately))
      equals(yield* store.cleanup(at(5)), 1)
      equals(yield* store.cleanup(at(5)), 0)
      equals(yield* ids(), [chat_id])
      yield* upsert(added(0, long), added(0, lately))
      equals(
        yield* ids(),
        [chat_id, long].sort((a, b) => a - b)
      )
    })
  }
]

const total = 1_203

const reading: ReadonlyArray<Case> = [
  {
    name: "chats are told apart by type and by when they were last seen",
    effect: Effect.gen(function* () {
      const [quiet, channel] = [idOf(11), idOf(12)]
      yield* upsert(added(0), titled(10, "Reading club"), added(0, quiet), inDialog("bot_started", 5))
      yield* upsert({
        update_type: "bot_added",
        timestamp: at(10),
        chat_id: channel,
        user: Fixtures.user(),
        is_channel: true
      })
      const check = Effect.fnUntraced(function* (filter: KnownChat.Filter, expected: ReadonlyArray<ChatId>) {
        equals(yield* ids(filter), [...expected])
        equals(yield* ChatStore.count(filter), expected.length)
      })
      yield* check({}, [chat_id, quiet, channel, Fixtures.dialogId])
      yield* check({ type: "chat" }, [chat_id, quiet])
      yield* check({ type: "channel" }, [channel])
      yield* check({ type: "a type to come" }, [])
      yield* check({ activeSince: at(5) }, [chat_id, channel, Fixtures.dialogId])
      yield* check({ activeSince: at(10) }, [chat_id, channel])
      yield* check({ activeSince: at(10) + 1 }, [])
      yield* check({ type: "chat", activeSince: at(10) }, [chat_id])
    })
  },
  {
    name: "a stream of many pages brings every chat once, in the order of the ids",
    effect: Effect.gen(function* () {
      const all = Array.from({ length: total }, (_, index) => idOf((index - 600) * 7_000_000_001))
      yield* upsert(...all.toReversed().map((id) => added(id % 2 === 0 ? 0 : 1, id)))
      equals(yield* ids(), all)
      equals(
        yield* ids({ activeSince: at(1) }),
        all.filter((id) => id % 2 !== 0)
      )
      equals(yield* ChatStore.count(), total)
    })
  },
  {
    name: "pages are stable: chats that come and go meanwhile do not make others come twice or not at all",
    effect: Effect.gen(function* () {
      const all = Array.from({ length: total }, (_, index) => idOf((index + 1) * 10))
      yield* upsert(...all.map((id) => added(0, id)))
      const seen = yield* ChatStore.stream().pipe(
        Stream.map(({ chat_id }) => chat_id),
        Stream.tap((id) =>
          id % 100 === 0
            ? Effect.andThen(ChatStore.remove(idOf(id - 50)), upsert(added(5, idOf(id - 15)), titled(5, "Renamed", id)))
            : Effect.void
        ),
        Stream.filter((id) => id % 10 === 0),
        Stream.runCollect
      )
      equals(seen, all)
    })
  },
  {
    name: "an export is a line of JSON for each chat, with its exact id",
    effect: Effect.gen(function* () {
      const largest = idOf(Number.MAX_SAFE_INTEGER)
      yield* upsert(
        titled(0, 'A "quoted"\ntitle 👋', largest),
        inDialog("bot_started", 1, idOf(Number.MIN_SAFE_INTEGER))
      )
      yield* Visits.set(largest, { count: 3 })
      const text = (yield* Stream.runCollect(ChatStore.exportNdjson())).join("")
      const lines = text.split("\n")
      equals(lines.pop(), "")
      assert.match(lines[0]!, /"chat_id":-9007199254740991\b/)
      const read = Schema.decodeUnknownEffect(Schema.fromJsonString(KnownChat.KnownChat))
      equals(yield* Effect.forEach(lines, (line) => read(line)), yield* Stream.runCollect(ChatStore.stream()))
      equals((yield* entryOf(largest))?.data, { visits: { count: 3 } })
    })
  }
]

const using: ReadonlyArray<Case> = [
  {
    name: "a stream of updates is tracked as it passes",
    effect: Effect.gen(function* () {
      const updates = [added(0), added(0, idOf(5)), removed(1)]
      const passed = yield* Stream.fromIterable(updates).pipe(ChatStore.track, Stream.runCollect)
      equals(passed, updates)
      equals(yield* ids(), [idOf(5)])
    })
  },
  {
    name: "a handler finds the chat of its update known",
    effect: Effect.gen(function* () {
      const handle = ChatStore.track((update: Update.Of<"message_created">) =>
        Effect.map(ChatStore.has(update.message!.recipient.chat_id!), (isKnown) => ({ isKnown }))
      )
      equals(yield* handle(Fixtures.messageCreated()), { isKnown: true })
    })
  },
  {
    name: "ids from a list are known until there is more to know, and do not bring back a chat that was left",
    effect: Effect.gen(function* () {
      const [left, listed, streamed] = [idOf(21), idOf(22), idOf(23)]
      yield* upsert(removed(0, left))
      equals(yield* ChatStore.seed([left, listed, listed]), 3)
      equals(yield* ChatStore.seed(Stream.make(streamed)), 1)
      equals(yield* ids(), [listed, streamed])
      equals((yield* entryOf(listed))?.type, undefined)
      yield* upsert(titled(4, "Reading club", listed))
      equals((yield* entryOf(listed))?.title, "Reading club")
      yield* upsert(removed(5, listed))
      equals(yield* ids(), [streamed])
    })
  },
  {
    name: "a long list of ids is known as a whole",
    effect: Effect.gen(function* () {
      const all = Array.from({ length: total }, (_, index) => idOf(index - 600))
      equals(yield* ChatStore.seed(Stream.fromIterable(all)), total)
      equals(yield* ids(), all)
    })
  },
  {
    name: "a refresh brings the title and the person, but nothing older than what was told since",
    effect: Effect.gen(function* () {
      yield* upsert(added(0), titled(1, "At first"))
      const refresh = (seconds: number, title: string) =>
        Effect.provide(
          ChatStore.refresh(chat_id),
          TestBotApi.layer(
            TestBotApi.on(Chats.get, () => Effect.succeed(Fixtures.chat({ title, last_event_time: at(seconds) })))
          )
        )
      equals(Option.getOrThrow(yield* refresh(2, "Refreshed")).title, "Refreshed")
      yield* upsert(titled(5, "Renamed since"))
      equals(Option.getOrThrow(yield* refresh(3, "Refreshed late")).title, "Renamed since")
      yield* upsert(removed(6))
      equals(yield* refresh(6, "Gone"), Option.none())
      equals((yield* refresh(7, "Back again")).pipe(Option.map(({ title }) => title)), Option.some("Back again"))
    })
  },
  {
    name: "a refresh forgets what the platform does not show, unless something was heard of it meanwhile",
    effect: Effect.gen(function* () {
      const answer = { endpoint: "Chats.get", status: 404, body: "{}" }
      const refresh = (meanwhile: Effect.Effect<void, never> = Effect.void) =>
        Effect.provide(
          ChatStore.refresh(chat_id),
          TestBotApi.layer(
            TestBotApi.on(Chats.get, () => Effect.andThen(meanwhile, Effect.fail(new ApiError.NotFound(answer))))
          )
        )
      equals(yield* refresh(), Option.none())
      yield* upsert(added(0))
      const store = yield* ChatStore.ChatStore
      const addedAgain = Effect.orDie(Effect.provideService(upsert(added(1)), ChatStore.ChatStore, store))
      equals(Option.isSome(yield* refresh(addedAgain)), true)
      equals(yield* refresh(), Option.none())
      equals(yield* ChatStore.count(), 0)
    })
  },
  {
    name: "a refresh forgets a chat in which the bot is no more",
    effect: Effect.gen(function* () {
      yield* upsert(added(0))
      const chat = Fixtures.chat({ status: "left", last_event_time: at(1) })
      const Api = TestBotApi.layer(TestBotApi.on(Chats.get, () => Effect.succeed(chat)))
      equals(yield* Effect.provide(ChatStore.refresh(chat_id), Api), Option.none())
    })
  },
  {
    name: "data of the program is kept with a known chat and removed with it",
    effect: Effect.gen(function* () {
      const unknown = yield* Effect.flip(Visits.set(chat_id, { count: 1 }))
      equals(unknown._tag, "UnknownChat")
      equals(yield* Visits.get(chat_id), Option.none())
      yield* upsert(added(0))
      equals(yield* Visits.get(chat_id), Option.none())
      yield* Visits.set(chat_id, { count: 1 })
      yield* upsert(titled(1, "Reading club"))
      equals(yield* Visits.get(chat_id), Option.some({ count: 1 }))
      yield* upsert(removed(2), added(3))
      equals(yield* Visits.get(chat_id), Option.none())
    })
  },
  {
    name: "data of several kinds is kept side by side, and each can be removed",
    effect: Effect.gen(function* () {
      const Note = ChatData.make("note", Schema.String)
      yield* upsert(added(0))
      yield* Visits.set(chat_id, { count: 1 })
      yield* Note.set(chat_id, "asked for the price 👋\0")
      equals((yield* entryOf(chat_id))?.data, { visits: { count: 1 }, note: "asked for the price 👋\0" })
      yield* Visits.remove(chat_id)
      equals(yield* Visits.get(chat_id), Option.none())
      equals(yield* Note.get(chat_id), Option.some("asked for the price 👋\0"))
      yield* Note.remove(idOf(5))
    })
  },
  {
    name: "data that many fibers update at once misses none of the updates",
    effect: Effect.gen(function* () {
      yield* upsert(added(0))
      const visit = Visits.update(
        chat_id,
        Option.match({ onNone: () => ({ count: 1 }), onSome: ({ count }) => ({ count: count + 1 }) })
      )
      yield* Effect.all(
        Array.from({ length: 30 }, () => visit),
        { concurrency: 10, discard: true }
      )
      equals(yield* Visits.get(chat_id), Option.some({ count: 30 }))
    })
  },
  {
    name: "data that does not fit its schema any more is an error that keeps it",
    effect: Effect.gen(function* () {
      yield* upsert(added(0))
      yield* ChatData.make("visits", Schema.String).set(chat_id, "many")
      const error = yield* Effect.flip(Visits.get(chat_id))
      assert.ok(error._tag === "InvalidChatData")
      equals(error.raw, "many")
      yield* Visits.set(chat_id, { count: 1 })
      equals(yield* Visits.get(chat_id), Option.some({ count: 1 }))
    })
  }
]

/**
 * The cases. Each wants a `ChatStore` of its own that is empty, and runs on any clock.
 *
 * **Example** (With vitest)
 *
 * ```ts
 * import { ChatStore } from "@colloquy/core"
 * import * as ChatStoreSuite from "@colloquy/testing/ChatStoreSuite"
 * import * as Effect from "effect/Effect"
 *
 * export const run = (it: (name: string, test: () => Promise<void>) => void) => {
 *   for (const { name, effect } of ChatStoreSuite.cases) {
 *     it(name, () => Effect.runPromise(Effect.provide(effect, ChatStore.layerMemory())))
 *   }
 * }
 * ```
 *
 * @category values
 * @since 0.1.0
 */
export const cases: ReadonlyArray<Case> = [...learning, ...leaving, ...reading, ...using]
