import { ChatId } from "@colloquy/core/model/Chat"
import { Emulator, Fixtures } from "@colloquy/testing"
import * as ChatStoreSuite from "@colloquy/testing/stores/ChatStoreSuite"
import { assert, describe, expectTypeOf, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import * as Scene from "../../../testing/test/support/scene.ts"
import * as ChatRecord from "../../src/bot/ChatRecord.ts"
import { ChatStore, LongPolling, Members, StoreError, type Update } from "../../src/index.ts"
import { emitted } from "../support/deliveries.ts"

const { groupId: chat_id, timestamp, user } = Fixtures

const added: Update.Update = { update_type: "bot_added", timestamp, chat_id, user: user() }

const removed: Update.Update = { update_type: "bot_removed", timestamp: timestamp + 1, chat_id, user: user() }

const broken = new StoreError.StoreError({
  store: "chats",
  operation: "cleanup",
  reason: "the disk is full",
  isRetryable: false
})

describe("ChatStore", () => {
  it.effect("remembers that the bot left a chat for tombstoneTimeToLive", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(timestamp)
      yield* Effect.gen(function* () {
        yield* ChatStore.upsert([removed])
        yield* TestClock.adjust("2 days")
        yield* ChatStore.upsert([added])
        assert.isFalse(yield* ChatStore.has(chat_id))
        yield* TestClock.adjust("1 hour")
        yield* ChatStore.upsert([added])
        assert.isTrue(yield* ChatStore.has(chat_id))
      }).pipe(Effect.provideServiceEffect(ChatStore.ChatStore, ChatStore.makeMemory({ tombstoneTimeToLive: "2 days" })))
    })
  )

  it.effect("logs a failed cleanup and continues", () =>
    Effect.gen(function* () {
      const logged: Array<unknown> = []
      let cleanups = 0
      const Store = Layer.effect(
        ChatStore.ChatStore,
        Effect.gen(function* () {
          const store = yield* ChatStore.ChatStore
          return yield* ChatStore.withCleanup({
            ...store,
            cleanup: () => Effect.suspend(() => (++cleanups === 1 ? Effect.fail(broken) : Effect.succeed(0)))
          })
        })
      ).pipe(Layer.provide(ChatStore.layerMemory))
      yield* Effect.gen(function* () {
        for (let hour = 0; hour < 4; hour++) {
          yield* ChatStore.upsert([added])
          yield* ChatStore.upsert([added])
          yield* TestClock.adjust("1 hour")
        }
      }).pipe(Effect.provide(Layer.merge(Store, Logger.layer([Logger.make(({ message }) => logged.push(message))]))))
      assert.strictEqual(cleanups, 4)
      assert.lengthOf(logged, 1)
      assert.include(String(logged[0]), broken.message)
      assert.include(broken.message, "the disk is full")
    })
  )

  it.effect("does not emit an update that could not be stored", () =>
    Effect.gen(function* () {
      const Store = Layer.effect(
        ChatStore.ChatStore,
        Effect.map(ChatStore.ChatStore, (store) => ({ ...store, upsert: () => Effect.fail(broken) }))
      ).pipe(Layer.provide(ChatStore.layerMemory))
      const handled: Array<Update.Update> = []
      const handle = ChatStore.track((update: Update.Update) => Effect.sync(() => handled.push(update)))
      assert.strictEqual(yield* Effect.flip(Effect.provide(handle(added), Store)), broken)
      const stream = Stream.runDrain(ChatStore.track(Stream.make(added)))
      assert.strictEqual(yield* Effect.flip(Effect.provide(stream, Store)), broken)
      assert.deepStrictEqual(handled, [])
    })
  )
})

describe("ChatStore.track", () => {
  class Refused extends Data.TaggedError("Refused")<{}> {}

  class Shop extends Context.Service<Shop, { readonly isOpen: boolean }>()("test/Shop") {}

  it("keeps the update types, the errors and the requirements of the handler or stream", () => {
    const greet = (_: Update.Of<"bot_started">): Effect.Effect<number, Refused, Shop> => Effect.succeed(1)
    expectTypeOf(ChatStore.track(greet)).toEqualTypeOf<
      (
        update: Update.Of<"bot_started">
      ) => Effect.Effect<number, Refused | StoreError.StoreError, Shop | ChatStore.ChatStore>
    >()
    const started: Stream.Stream<Update.Of<"bot_started">, Refused, Shop> = Stream.empty
    expectTypeOf(started.pipe(ChatStore.track)).toEqualTypeOf<
      Stream.Stream<Update.Of<"bot_started">, Refused | StoreError.StoreError, Shop | ChatStore.ChatStore>
    >()
    expectTypeOf(ChatStore.track((update) => Effect.succeed(update.update_type)))
      .parameter(0)
      .toEqualTypeOf<Update.Update>()
    // @ts-expect-error a handler of updates takes updates
    ChatStore.track((update: { readonly text: string }) => Effect.succeed(update.text))
  })

  it.effect("in memory pages through thousands of chats in the order of their ids, while chats come and go", () =>
    Effect.gen(function* () {
      const store = yield* ChatStore.ChatStore
      const member = (id: number) => ChatRecord.make(ChatId.make(id), id, { member_at: 1, type: "chat" })
      // 7919 is prime, so that each id occurs once, in no order.
      const idsOf = (from: number) => Array.from({ length: 5000 }, (_, index) => from + ((index * 7919) % 5000))
      yield* store.upsert(idsOf(1).map(member))
      const page = (after: Option.Option<ChatId>) => store.page({ type: "chat" }, after, 700)
      const seen: Array<number> = []
      let next: Option.Option<ChatId> = Option.none()
      do {
        const { chats, next: last } = yield* page(next)
        seen.push(...chats.map(({ chat_id }) => chat_id))
        // Chats that are added behind the page are not seen, and those before it are.
        if (seen.length === 1400) {
          yield* store.upsert([member(-1), member(6000)])
          yield* store.remove(ChatId.make(3000))
        }
        next = last
      } while (Option.isSome(next))
      const expected = [...Array.from({ length: 5000 }, (_, index) => 1 + index).filter((id) => id !== 3000), 6000]
      assert.deepStrictEqual(seen, expected)
      assert.strictEqual(yield* store.count({}), 5001)
    }).pipe(Effect.provide(ChatStore.layerMemory))
  )

  it.effect("in memory lets other fibers run while it looks at thousands of chats", () =>
    Effect.gen(function* () {
      const store = yield* ChatStore.ChatStore
      const ids = Array.from({ length: 20_000 }, (_, index) => 1 + index)
      yield* store.upsert(ids.map((id) => ChatRecord.make(ChatId.make(id), id, { member_at: 1, type: "chat" })))
      let turns = 0
      yield* Effect.forkChild(Effect.forever(Effect.andThen(Effect.yieldNow, () => Effect.sync(() => turns++))))
      for (const call of [
        store.page({ type: "channel" }, Option.none(), 100),
        store.count({ type: "channel" }),
        store.cleanup(1)
      ]) {
        turns = 0
        yield* call
        assert.isAtLeast(turns, 10)
      }
    }).pipe(Effect.provide(ChatStore.layerMemory))
  )
})

const layer = Layer.mergeAll(LongPolling.layer({ timeout: 1 }), ChatStore.layerMemory).pipe(
  Layer.provideMerge(Emulator.layerBot())
)

/** Lets the updates of the users be polled and stored. */
const stored = TestClock.adjust("2 seconds")

const titles = Stream.runCollect(Stream.map(ChatStore.stream(), ({ title, type }) => [type, title]))

describe("ChatStore.layerMemory", () => {
  it.effect.each(ChatStoreSuite.cases)("$name", ({ effect }) => Effect.provide(effect, ChatStore.layerMemory))
})

describe("a ChatStore of a bot on the emulator", () => {
  it.effect("stores the chats of updates, refreshes their titles, and removes the chats that the bot left", () =>
    Effect.gen(function* () {
      const { channel, dialog, group, owner, visitor } = yield* Scene.make
      yield* visitor.send("Hello")
      yield* Effect.forkChild(Stream.runDrain(ChatStore.track(emitted)))
      yield* stored
      assert.deepStrictEqual(yield* titles, [
        ["channel", undefined],
        ["chat", undefined],
        ["dialog", undefined]
      ])
      assert.strictEqual(Option.getOrThrow(yield* ChatStore.get(dialog.chat_id)).user?.first_name, "Victor")

      const refreshed = Option.getOrThrow(yield* ChatStore.refresh(group.chat_id))
      assert.strictEqual(refreshed.title, "Reading club")
      yield* owner.rename(group, "Writing club")
      yield* stored
      assert.strictEqual(Option.getOrThrow(yield* ChatStore.get(group.chat_id)).title, "Writing club")

      yield* owner.removeBot(group)
      yield* visitor.stop
      yield* Members.leave({ chat_id: channel.chat_id })
      yield* stored
      assert.isFalse(yield* ChatStore.has(group.chat_id))
      assert.isFalse(yield* ChatStore.has(dialog.chat_id))
      assert.deepStrictEqual(yield* ChatStore.refresh(channel.chat_id), Option.none())
      assert.strictEqual(yield* ChatStore.count(), 0)

      yield* visitor.start()
      yield* stored
      assert.deepStrictEqual(yield* titles, [["dialog", undefined]])
    }).pipe(Effect.provide(layer))
  )
})
