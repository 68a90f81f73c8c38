import type * as InboxStore from "@colloquy/core/inbox/InboxStore"
import { assert, describe, it } from "@effect/vitest"
import { randomUUID } from "node:crypto"
import * as Effect from "effect/Effect"
import { acknowledge, claim, enqueue, update } from "../support/inboxRequests.ts"
import { startProcess } from "../support/inboxProcesses.ts"
import { databases } from "../support/sharedStores.ts"

type Store = InboxStore.InboxStore["Service"]

/** One update of one partition, whose attempt begins. */
const one = { maxPartitions: 1, maxUpdates: 1, begin: 1 }

const person = "state/counter/user:1"

const write = (key: string, value: number, expected: string | undefined): InboxStore.RowWrite => ({
  key,
  row: { text: String(value) },
  expected: expected ?? null,
  revision: randomUUID()
})

describe("the state of a store that processes share", () => {
  for (const { isMissing, kind, opened } of databases) {
    describe.skipIf(isMissing)(`in ${kind}`, () => {
      it.live("counts exactly the updates that are acknowledged, also if processes are killed while they commit", () =>
        Effect.gen(function* () {
          const { at, store } = yield* opened
          const count = 30
          yield* enqueue(store, ...Array.from({ length: count }, (_, index) => update("a", index)))
          for (let kill = 0; kill < 3; kill++) {
            const process = yield* startProcess(kind, at)
            for (let step = 0; step < 4; step++) {
              const polled = process.execute({ name: "claim", claim: claim("killed", { ...one, leaseDuration: 0 }) })
              const [partition] = yield* Effect.repeat(polled, { until: ({ length }) => length > 0 })
              const [value] = yield* process.execute({ name: "read", keys: [person] })
              const next = write(person, Number(value?.text ?? 0) + 1, value?.revision)
              const commits = [acknowledge("killed", partition, { rows: [next] })]
              if (step < 3) yield* process.execute({ name: "commit", commits })
              else yield* process.send({ name: "commit", commits })
            }
            yield* Effect.sleep(`${kill * 2} millis`)
            yield* process.signal("SIGKILL")
          }
          const [value] = yield* store.read([person])
          assert.strictEqual(Number(value?.text), count - (yield* store.stats).queued)
          assert.isAtLeast(Number(value?.text), 9)
        }).pipe(Effect.scoped)
      )

      it.live("loses no write when several stores write state of several keys, in commits and outside of them", () =>
        Effect.gen(function* () {
          const { another } = yield* opened
          const stores = yield* Effect.forEach([0, 1, 2], () => another, { concurrency: "unbounded" })
          const keys = ["user:1", "user:2", "chat:1/user:1", "bot"].map((scope) => `state/counter/${scope}`)
          const perWorker = 15
          /** Increments two values, which exist or not, in an order that differs between the workers. */
          const increment = (
            store: Store,
            index: number,
            commit: (rows: ReadonlyArray<InboxStore.RowWrite>) => Effect.Effect<boolean, unknown>
          ) =>
            Effect.gen(function* () {
              const chosen = [keys[index % 4], keys[(index * 3 + 1) % 4]].filter(
                (key, place, all) => all.indexOf(key) === place
              )
              const before = yield* store.read(chosen)
              return yield* commit(
                chosen.map((key, place) => write(key, Number(before[place]?.text ?? 0) + 1, before[place]?.revision))
              )
            }).pipe(Effect.repeat({ until: (isApplied) => isApplied }))
          let written = 0
          const worker = Effect.fnUntraced(function* (store: Store, number: number) {
            const { key, updates } = held[number]
            for (const [index, { id }] of updates.entries()) {
              const place = number * 7 + index
              written += new Set([place % 4, (place * 3 + 1) % 4]).size
              yield* increment(store, place, (rows) =>
                index % 2 === 0
                  ? Effect.map(store.write([{ rows }]), ([result]) => result === "applied")
                  : Effect.map(
                      store.commit([{ ...acknowledge(key, { key, updates: [{ id }] }, { rows }), release: false }]),
                      ([result]) => {
                        assert.notStrictEqual(result, "leaseLost")
                        return result === "applied"
                      }
                    )
              )
            }
          })
          const held = yield* Effect.forEach(stores, (store, number) =>
            Effect.gen(function* () {
              const key = `worker ${number}`
              yield* enqueue(store, ...Array.from({ length: perWorker }, (_, index) => update(key, index)))
              const [partition] = yield* store.claim(claim(key, { ...one, maxUpdates: perWorker }))
              return partition
            })
          )
          yield* Effect.forEach(stores, worker, { concurrency: "unbounded" })
          const values = yield* stores[0].read(keys)
          assert.strictEqual(
            values.reduce((sum, value) => sum + Number(value?.text), 0),
            written
          )
        }).pipe(Effect.scoped)
      )
    })
  }
})
