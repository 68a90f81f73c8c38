import { ChatStore, LongPolling, Members, Updates } from "@colloquy/core"
import { Emulator } from "@colloquy/testing"
import * as ChatStoreSuite from "@colloquy/testing/ChatStoreSuite"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import * as Scene from "../support/scene.ts"

const layer = Layer.mergeAll(LongPolling.layer({ timeout: 1 }), ChatStore.layerMemory()).pipe(
  Layer.provideMerge(Emulator.layerBot())
)

/** Lets the updates of the users be polled and stored. */
const stored = TestClock.adjust("2 seconds")

const titles = Stream.runCollect(Stream.map(ChatStore.stream(), ({ title, type }) => [type, title]))

describe("ChatStore.layerMemory", () => {
  it.effect.each(ChatStoreSuite.cases)("$name", ({ effect }) => Effect.provide(effect, ChatStore.layerMemory()))
})

describe("a ChatStore of a bot on the emulator", () => {
  it.effect("stores the chats of updates, refreshes their titles, and removes those that the bot left", () =>
    Effect.gen(function* () {
      const { channel, dialog, group, owner, visitor } = yield* Scene.make
      yield* visitor.send("Hello")
      yield* Effect.forkChild(Stream.runDrain(ChatStore.track(Updates.stream)))
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
