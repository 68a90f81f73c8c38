import type * as InboxStore from "@colloquy/core/inbox/InboxStore"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { acknowledge, claim } from "../support/inboxRequests.ts"
import { databases } from "../support/sharedStores.ts"

const timer = (index: number, time: InboxStore.Due["time"] = { at: index }): InboxStore.RowWrite => ({
  key: `timer/reminder/${index}`,
  row: { text: "{}", due: { time, partitionKey: `chat ${index % 5}` } },
  revision: `${index}`
})

describe("the timers of a store that processes share", () => {
  for (const { isMissing, kind, opened } of databases) {
    describe.skipIf(isMissing)(`in ${kind}`, () => {
      it.live("become one update each when several stores claim them, handle their chats and set others", () =>
        Effect.gen(function* () {
          const { another } = yield* opened
          const stores = yield* Effect.forEach([0, 1, 2], () => another, { concurrency: "unbounded" })
          const first = Array.from({ length: 60 }, (_, index) => timer(index))
          yield* stores[0].write([{ rows: first }])
          const handled = new Map<string, number>()
          // Each of the first timers sets another one when it is handled.
          const total = first.length * 2
          const worker = Effect.fnUntraced(function* (store: InboxStore.InboxStore["Service"], number: number) {
            const owner = `store ${number}`
            while (handled.size < total) {
              for (const partition of yield* store.claim(claim(owner, { maxPartitions: 3, maxDue: 4 }))) {
                const fingerprints = partition.updates.map(({ update }) => update.fingerprint)
                const next = fingerprints.flatMap((fingerprint) =>
                  Number(fingerprint) < first.length ? [timer(Number(fingerprint) + first.length, { after: 0 })] : []
                )
                const commits = [acknowledge(owner, partition, { rows: next })]
                assert.deepStrictEqual(yield* store.commit(commits), ["applied"])
                // The result was lost, and the commit is repeated.
                assert.include(["applied", "leaseLost"], String((yield* store.commit(commits))[0]))
                for (const one of fingerprints) handled.set(one, (handled.get(one) ?? 0) + 1)
              }
              yield* Effect.sleep("1 millis")
            }
          })
          yield* Effect.forEach(stores, worker, { concurrency: "unbounded" }).pipe(
            Effect.timeoutOrElse({
              duration: "200 seconds",
              orElse: () => Effect.sync(() => assert.fail(`${handled.size} of ${total} timers were handled`))
            })
          )
          assert.isTrue([...handled.values()].every((times) => times === 1))
          assert.isUndefined(yield* stores[0].untilNext)
          assert.strictEqual((yield* stores[0].stats).queued, 0)
        }).pipe(Effect.scoped)
      )
    })
  }
})
