import { QueuedUpdate } from "@colloquy/core"
import type * as InboxStore from "@colloquy/core/inbox/InboxStore"
import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { shifted } from "../support/clocks.ts"
import { change, enqueue } from "../support/inboxRequests.ts"
import { startProcess } from "../support/inboxProcesses.ts"
import { databases } from "../support/sharedStores.ts"

const claim = (owner: string, leaseDuration: number): InboxStore.Claim => ({
  owner,
  leaseDuration,
  maxPartitions: 10,
  maxUpdates: 10,
  begin: 1
})

const update = (fingerprint: string, partitionKey: string) =>
  QueuedUpdate.fromStored({ fingerprint, partitionKey, receivedAt: 0, text: "{}" })

/** Claims until partitions are returned. */
const claimed = (store: InboxStore.InboxStore["Service"], options: InboxStore.Claim) =>
  Effect.repeat(store.claim(options), {
    until: (partitions) => partitions.length > 0,
    schedule: Schedule.spaced("10 millis")
  })

const tenMinutes = 600_000

const hour = 3_600_000

describe("a store of the inbox that processes share", () => {
  for (const { isMissing, kind, opened } of databases) {
    describe.skipIf(isMissing)(`in ${kind}`, () => {
      it.live("applies nothing that a process commits after it was frozen for longer than its lease", () =>
        Effect.gen(function* () {
          const { at, store } = yield* opened
          const frozen = yield* startProcess(kind, at)
          yield* enqueue(store, update("1", "a"), update("2", "a"), update("3", "a"))
          const [{ updates }] = yield* frozen.execute({ name: "claim", claim: claim("frozen", 500) })
          yield* frozen.signal("SIGSTOP")
          const [first, second] = updates.map(({ id }) => id)
          const failure = { error: "late", attempts: 1, failedAt: 0 }
          yield* frozen.send({
            name: "commit",
            commits: [
              change("frozen", "a", { completed: [{ id: first }], begun: [second] }),
              change("frozen", "a", { completed: [{ id: second, failure }], release: true })
            ]
          })
          const [partition] = yield* claimed(store, claim("next", hour))
          assert.deepStrictEqual(
            partition.updates.map(({ attempts, crashes }) => [attempts, crashes]),
            [
              [1, 1],
              [0, 0],
              [0, 0]
            ]
          )
          yield* frozen.signal("SIGCONT")
          assert.deepStrictEqual(yield* frozen.result, ["leaseLost", "leaseLost"])
          assert.deepStrictEqual(yield* frozen.execute({ name: "renew", owner: "frozen", leaseDuration: hour }), [])
          assert.deepInclude(yield* store.stats, { queued: 3, deadLetters: 0 })
          assert.deepStrictEqual(yield* store.renew("next", hour), ["a"])
          yield* store.renew("next", 0)
          const [again] = yield* claimed(store, claim("last", hour))
          assert.deepStrictEqual(
            again.updates.map(({ attempts, crashes }) => [attempts, crashes]),
            [
              [1, 1],
              [0, 0],
              [0, 0]
            ]
          )
        }).pipe(Effect.scoped)
      )

      it.live(
        "counts a crash of what a killed process had begun, for each process that is killed, and of nothing else",
        () =>
          Effect.gen(function* () {
            const { at, store } = yield* opened
            yield* enqueue(store, update("1", "a"), update("2", "a"), update("3", "a"), update("4", "b"))
            for (let crashes = 0; crashes < 3; crashes++) {
              const killed = yield* startProcess(kind, at)
              const polled = killed.execute({ name: "claim", claim: { ...claim("killed", 0), begin: 0 } })
              const [a, b] = yield* Effect.repeat(polled, { until: (partitions) => partitions.length === 2 })
              assert.deepStrictEqual([b.updates[0].attempts, b.updates[0].crashes], [0, 0])
              assert.deepStrictEqual([a.updates[0].attempts, a.updates[0].crashes], [crashes, crashes])
              const begun = [a.updates[0].id]
              yield* killed.execute({
                name: "commit",
                commits: [change("killed", "a", { begun }), change("killed", "b", { release: true })]
              })
              yield* killed.signal("SIGKILL")
            }
            const [a, b] = yield* store.claim(claim("next", 0))
            assert.deepStrictEqual(
              [a, b].map(({ updates }) => updates.map(({ attempts, crashes }) => [attempts, crashes])),
              [
                [
                  [3, 3],
                  [0, 0],
                  [0, 0]
                ],
                [[0, 0]]
              ]
            )
          }).pipe(Effect.scoped)
      )

      it.live("wakes a process that listens when another one makes a partition claimable, and only then", () =>
        Effect.gen(function* () {
          const { at, store } = yield* opened
          const other = yield* startProcess(kind, at)
          let woken = yield* Deferred.make<void>()
          let count = 0
          yield* store.listen!(() => {
            count++
            Deferred.doneUnsafe(woken, Effect.void)
          })
          const wakesUp = Effect.gen(function* () {
            yield* Deferred.await(woken)
            woken = yield* Deferred.make<void>()
          })
          yield* other.execute({ name: "enqueue", keys: ["a", "a"] })
          yield* wakesUp
          const [{ updates }] = yield* other.execute({ name: "claim", claim: claim("other", hour) })
          const commits = [change("other", "a", { completed: [{ id: updates[0].id }], release: true })]
          yield* other.execute({ name: "commit", commits })
          yield* wakesUp
          yield* other.execute({ name: "claim", claim: claim("other", hour) })
          const before = count
          yield* other.execute({ name: "enqueue", keys: ["a", "a"] })
          yield* enqueue(store, update("own", "b"))
          assert.lengthOf(yield* store.claim(claim("own", hour)), 1)
          yield* other.execute({ name: "renew", owner: "other", leaseDuration: 0 })
          yield* wakesUp
          assert.strictEqual(count, before + 1)
        }).pipe(Effect.scoped)
      )

      it.live.skipIf(kind === "SQLite")("counts leases by its own clock, whatever the clocks of the processes", () =>
        Effect.gen(function* () {
          const { store } = yield* opened
          const slow = Effect.provideService(Clock.Clock, shifted(-tenMinutes))
          const fast = Effect.provideService(Clock.Clock, shifted(tenMinutes))
          yield* enqueue(store, update("1", "a"))
          assert.lengthOf(yield* slow(store.claim(claim("slow", hour))), 1)
          assert.lengthOf(yield* fast(store.claim(claim("fast", hour))), 0)
          const start = performance.now()
          assert.deepStrictEqual(yield* slow(store.renew("slow", 300)), ["a"])
          assert.lengthOf(yield* fast(claimed(store, claim("fast", hour))), 1)
          assert.isAtLeast(performance.now() - start, 200)
          assert.lengthOf(yield* slow(store.claim(claim("slow", hour))), 0)
        }).pipe(Effect.scoped)
      )
    })
  }
})
