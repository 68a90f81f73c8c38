import * as ApiError from "@colloquy/core/client/ApiError"
import * as Chats from "@colloquy/core/endpoints/Chats"
import * as ChatStore from "@colloquy/core/bot/ChatStore"
import type { Chat } from "@colloquy/core/model/Chat"
import type * as Update from "@colloquy/core/model/Update"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Fixtures from "../../../bot/Fixtures.ts"
import * as TestBotApi from "../../../bot/TestBotApi.ts"
import { test } from "../test.ts"
import { equals, ids, knownChatOf, upsert } from "./operations.ts"
import { added, at, chat_id, idOf, removed, titled, total } from "./updates.ts"

/** Refreshes the chat. `answer` is the answer of the platform. */
const refreshed = (answer: Effect.Effect<Chat, ApiError.NotFound>) =>
  Effect.provide(ChatStore.refresh(chat_id), TestBotApi.layer(TestBotApi.on(Chats.get, () => answer)))

export const programCases = [
  test("stores the chats of a tracked stream", function* () {
    const updates = [added(0), added(0, idOf(5)), removed(1)]
    const passed = yield* Stream.fromIterable(updates).pipe(ChatStore.track, Stream.runCollect)
    equals(passed, updates)
    equals(yield* ids(), [idOf(5)])
  }),

  test("stores the chat of an update before its tracked handler runs", function* () {
    const handle = ChatStore.track((update: Update.Of<"message_created">) =>
      Effect.map(ChatStore.has(update.message!.recipient.chat_id!), (isKnown) => ({ isKnown }))
    )
    equals(yield* handle(Fixtures.messageCreated()), { isKnown: true })
  }),

  test("seeds chats by their ids, without bringing back a removed chat", function* () {
    const [left, listed, streamed] = [idOf(21), idOf(22), idOf(23)]
    yield* upsert(removed(0, left))
    equals(yield* ChatStore.seed([left, listed, listed]), 3)
    equals(yield* ChatStore.seed(Stream.make(streamed)), 1)
    equals(yield* ids(), [listed, streamed])
    equals((yield* knownChatOf(listed))?.type, undefined)
    yield* upsert(titled(4, "Reading club", listed))
    equals((yield* knownChatOf(listed))?.title, "Reading club")
    yield* upsert(removed(5, listed))
    equals(yield* ids(), [streamed])
  }),

  test("seeds a long list of ids", function* () {
    const all = Array.from({ length: total }, (_, index) => idOf(index - 600))
    equals(yield* ChatStore.seed(Stream.fromIterable(all)), total)
    equals(yield* ids(), all)
  }),

  test("refreshes the title and the user, without replacing newer facts", function* () {
    yield* upsert(added(0), titled(1, "At first"))
    const refresh = (seconds: number, title: string) =>
      refreshed(Effect.succeed(Fixtures.chat({ title, last_event_time: at(seconds) })))
    equals(Option.getOrThrow(yield* refresh(2, "Refreshed")).title, "Refreshed")
    yield* upsert(titled(5, "Renamed since"))
    equals(Option.getOrThrow(yield* refresh(3, "Refreshed late")).title, "Renamed since")
    yield* upsert(removed(6))
    equals(yield* refresh(6, "Gone"), Option.none())
    equals((yield* refresh(7, "Back again")).pipe(Option.map(({ title }) => title)), Option.some("Back again"))
  }),

  test("removes a chat that the bot cannot see at a refresh, unless an update arrived meanwhile", function* () {
    const answer = { endpoint: "Chats.get", status: 404, body: "{}" }
    const refresh = (meanwhile: Effect.Effect<void, never> = Effect.void) =>
      refreshed(Effect.andThen(meanwhile, Effect.fail(new ApiError.NotFound(answer))))
    equals(yield* refresh(), Option.none())
    yield* upsert(added(0))
    const store = yield* ChatStore.ChatStore
    const addedAgain = Effect.orDie(Effect.provideService(upsert(added(1)), ChatStore.ChatStore, store))
    equals(Option.isSome(yield* refresh(addedAgain)), true)
    equals(yield* refresh(), Option.none())
    equals(yield* ChatStore.count(), 0)
  }),

  test("removes a chat in which the bot no longer is at a refresh", function* () {
    yield* upsert(added(0))
    const chat = Fixtures.chat({ status: "left", last_event_time: at(1) })
    equals(yield* refreshed(Effect.succeed(chat)), Option.none())
  })
]
