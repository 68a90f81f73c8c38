import { ChatStore, StoreError, type Update } from "@colloquy/core"
import { Fixtures } from "@colloquy/testing"
import { assert, describe, expectTypeOf, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"

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
      }).pipe(Effect.provide(ChatStore.layerMemory({ tombstoneTimeToLive: "2 days" })))
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
      ).pipe(Layer.provide(ChatStore.layerMemory()))
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
      ).pipe(Layer.provide(ChatStore.layerMemory()))
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
})
