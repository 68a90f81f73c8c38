import * as BroadcastStore from "@colloquy/core/broadcast/BroadcastStore"
import { ChatId } from "@colloquy/core/model/Chat"
import * as BroadcastSuite from "@colloquy/testing/stores/BroadcastSuite"
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { stores } from "./broadcastStores.ts"
import * as Databases from "./databases.ts"

export const missing = await Databases.missing()

export const places = Databases.places("broadcasts")

const suite = (store: Effect.Effect<Layer.Layer<BroadcastStore.BroadcastStore, unknown>, unknown, Scope.Scope>) =>
  it.effect.each(BroadcastSuite.cases)("$name", ({ effect }) => Effect.provide(effect, Layer.unwrap(store)))

export const request = { name: "news", owner: "one", leaseDuration: 1, create: true }

export const sent = (chat_id: number) => ({ chat_id: ChatId.make(chat_id), status: "Sent", at: 0 }) as const

const countOf = (store: BroadcastStore.BroadcastStore["Service"]) =>
  Effect.map(store.summary("news"), (summary) => Option.getOrThrow(summary).counts.Sent)

/** The tests that every store of a server or file must pass. */
export const describeStore = (name: keyof typeof stores) => {
  const makeStore = stores[name]!
  const place = places[name]!
  const writer = fileURLToPath(new URL("broadcastWriter.ts", import.meta.url))
  const storeAt = (at: string) => Effect.map(Layer.build(makeStore(at)), Context.get(BroadcastStore.BroadcastStore))

  describe.skipIf(missing[name as keyof typeof missing])(`a BroadcastStore in ${name}`, () => {
    suite(Effect.map(place, makeStore))

    it.effect("is created once by processes that start at the same time", () =>
      Effect.gen(function* () {
        const at = yield* place
        const all = yield* Effect.all(
          Array.from({ length: 4 }, () => storeAt(at)),
          { concurrency: "unbounded" }
        )
        yield* all[0]!.acquireLease(request)
        yield* Effect.forEach(all, (store, index) => store.addRecords("news", [sent(index)]), {
          concurrency: "unbounded"
        })
        for (const store of all) assert.strictEqual(yield* countOf(store), 4)
      })
    )

    it.effect("returns the broadcasts that an earlier process stored", () =>
      Effect.gen(function* () {
        const at = yield* place
        yield* Effect.scoped(
          Effect.flatMap(storeAt(at), (store) =>
            Effect.andThen(store.acquireLease(request), store.addRecords("news", [sent(1)]))
          )
        )
        const store = yield* storeAt(at)
        assert.strictEqual(yield* countOf(store), 1)
        assert.deepStrictEqual(yield* store.pending("news", [ChatId.make(1), ChatId.make(2)]), [ChatId.make(2)])
      })
    )

    it.effect("counts each recipient once if two processes write concurrently", () =>
      Effect.gen(function* () {
        const at = yield* place
        const store = yield* storeAt(at)
        yield* store.acquireLease(request)
        const run = Effect.promise(() =>
          promisify(execFile)(process.execPath, ["--conditions=source", writer, name, at, "200"])
        )
        yield* Effect.all([run, run], { concurrency: 2 })
        assert.strictEqual(yield* countOf(store), 201)
        assert.lengthOf(yield* store.records("news", { limit: 1000 }), 201)
      })
    )

    it.effect("removes a broadcast to which two writers add records", () =>
      Effect.gen(function* () {
        const at = yield* place
        const [one, two] = [yield* storeAt(at), yield* storeAt(at)]
        for (let round = 0; round < 10; round++) {
          yield* one.acquireLease(request)
          const recording = [one, two].map((store, first) =>
            Effect.forEach([0, 2, 4, 6], (id) => store.addRecords("news", [sent(first + id)]))
          )
          yield* Effect.all([...recording, two.remove("news")], { concurrency: "unbounded", discard: true })
          assert.deepStrictEqual(yield* one.records("news", { limit: 10 }), [])
        }
      })
    )
  })
}
