import { ChatStore } from "@colloquy/core"
import { ChatId } from "@colloquy/core/model/Chat"
import { Fixtures } from "@colloquy/testing"
import * as ChatStoreSuite from "@colloquy/testing/stores/ChatStoreSuite"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { stores } from "./chatStores.ts"
import * as Databases from "./databases.ts"

export const missing = await Databases.missing()

export const places = Databases.places("chats")

export const added = (chat_id: ChatId) =>
  ({ update_type: "bot_added", timestamp: Fixtures.timestamp, chat_id, user: Fixtures.user() }) as const

const suite = (store: Effect.Effect<Layer.Layer<ChatStore.ChatStore, unknown>, unknown, Scope.Scope>) =>
  it.effect.each(ChatStoreSuite.cases)("$name", ({ effect }) => Effect.provide(effect, Layer.unwrap(store)))

/** The tests that every store of a server or file must pass. */
export const describeStore = (name: keyof typeof stores) => {
  const makeStore = stores[name]!
  const place = places[name]!
  const writer = fileURLToPath(new URL("chatWriter.ts", import.meta.url))

  describe.skipIf(missing[name as keyof typeof missing])(`a ChatStore in ${name}`, () => {
    suite(Effect.map(place, makeStore))

    it.effect("is created once by processes that start at the same time", () =>
      Effect.gen(function* () {
        const at = yield* place
        const all = yield* Effect.all(
          Array.from({ length: 4 }, () => Layer.build(makeStore(at))),
          { concurrency: "unbounded" }
        )
        yield* Effect.forEach(all, (context, index) =>
          Effect.provide(ChatStore.upsert([added(ChatId.make(index + 1))]), context)
        )
        for (const context of all) assert.strictEqual(yield* Effect.provide(ChatStore.count(), context), 4)
      })
    )

    it.effect("returns the chats that an earlier process stored", () =>
      Effect.gen(function* () {
        const at = yield* place
        yield* Effect.provide(ChatStore.upsert([added(Fixtures.groupId)]), makeStore(at))
        assert.isTrue(yield* Effect.provide(ChatStore.has(Fixtures.groupId), makeStore(at)))
      })
    )

    it.effect("combines the concurrent writes of two processes", () =>
      Effect.gen(function* () {
        const at = yield* place
        const run = (first: string) =>
          Effect.promise(() =>
            promisify(execFile)(process.execPath, ["--conditions=source", writer, name, at, first, "400"])
          )
        yield* Effect.all([run("0"), run("1")], { concurrency: 2 })
        const chats = yield* Effect.provide(Stream.runCollect(ChatStore.stream()), makeStore(at))
        const { timestamp } = Fixtures
        assert.deepStrictEqual(
          chats,
          Array.from({ length: 20 }, (_, index) => ({
            chat_id: ChatId.make(index - 10),
            title: `Title ${380 + index}`,
            first_seen: timestamp + index,
            last_seen: timestamp + 380 + index
          }))
        )
      })
    )
  })
}
