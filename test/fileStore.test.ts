import * as InboxStore from "@colloquy/core/inbox/InboxStore"
import * as QueuedUpdate from "@colloquy/core/inbox/QueuedUpdate"
import * as InboxSuite from "@colloquy/testing/stores/InboxSuite"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { compareWithMemory } from "../packages/node/test/support/inboxModel.ts"
import { make } from "./fileStore/FileInboxStore.ts"

type Store = InboxStore.InboxStore["Service"]

/** The path of a file that does not exist yet, in a folder of its own. */
const path = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "colloquy-file-store-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true }))
).pipe(Effect.map((folder) => join(folder, "inbox")))

const inFile = Layer.effect(InboxStore.InboxStore, Effect.flatMap(path, make))

/** A store that is opened for each operation, as if its process ended after each. */
const reopening = (path: string): Store => {
  const use = <A, E>(operate: (store: Store) => Effect.Effect<A, E>) =>
    Effect.scoped(Effect.flatMap(make(path), operate))
  return {
    isShared: true,
    executesStatements: false,
    enqueue: (batch) => use((store) => store.enqueue(batch)),
    claim: (claim) => use((store) => store.claim(claim)),
    commit: (commits) => use((store) => store.commit(commits)),
    renew: (owner, leaseDuration) => use((store) => store.renew(owner, leaseDuration)),
    write: (writes) => use((store) => store.write(writes)),
    read: (keys) => use((store) => store.read(keys)),
    rows: (page) => use((store) => store.rows(page)),
    forget: (rows) => use((store) => store.forget(rows)),
    updates: (page) => use((store) => store.updates(page)),
    takeDeadLetters: (letters) => use((store) => store.takeDeadLetters(letters)),
    stats: use(({ stats }) => stats),
    cleanup: (limits) => use((store) => store.cleanup(limits)),
    untilNext: use(({ untilNext }) => untilNext)
  }
}

const reopened = Layer.effect(InboxStore.InboxStore, Effect.map(path, reopening))

describe("a store that is written from the page of the protocol", () => {
  for (const { effect, name } of InboxSuite.cases) it.effect(name, () => Effect.provide(effect, inFile))

  for (const { effect, name } of InboxSuite.handling({
    withStore: (effect) => Effect.provide(effect, Layer.fresh(inFile)),
    runs: 5,
    everyPoint: false
  })) {
    it.effect(name, () => effect)
  }

  for (const seed of [1, 2, 3, 4]) {
    it.effect(`returns the results of the store in memory in random operations (${seed})`, () =>
      Effect.provide(
        InboxStore.InboxStore.use((store) => compareWithMemory(store, seed, 400)),
        inFile
      )
    )
    it.effect(`returns the same results if its process ends after each operation (${seed})`, () =>
      Effect.provide(
        InboxStore.InboxStore.use((store) => compareWithMemory(store, seed, 400)),
        reopened
      )
    )
  }

  it.effect("has the operations before the last whole line if the file ends anywhere", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const file = yield* path
        const sizes = [0]
        for (let index = 0; index < 5; index++) {
          const text = `${index} 🙂`
          const update = QueuedUpdate.fromStored({ fingerprint: text, partitionKey: "a", receivedAt: index, text })
          const batch = { updates: [update], deadLetters: [], now: index, duplicatesSince: 0 }
          yield* Effect.scoped(Effect.flatMap(make(file), (store) => store.enqueue(batch)))
          sizes.push(readFileSync(file).length)
        }
        const whole = readFileSync(file)
        for (let size = 0; size <= whole.length; size++) {
          writeFileSync(file, whole.subarray(0, size))
          const read = Effect.flatMap(make(file), (store) => store.stats)
          const { queued } = yield* Effect.scoped(read)
          assert.strictEqual(
            queued,
            sizes.findLastIndex((at) => at <= size)
          )
        }
      })
    )
  )

  it.effect("fails with an error if the file is another one, and changes nothing", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const file = yield* path
        appendFileSync(file, "something else\n")
        const error = yield* Effect.flip(make(file))
        assert.deepInclude(error, { _tag: "StoreError", operation: "open", isRetryable: false })
        assert.strictEqual(readFileSync(file, "utf8"), "something else\n")
      })
    )
  )
})
