import type { JournalEntry } from "@colloquy/core/HandlingStore"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { claim, enqueue, update } from "../support/inboxRequests.ts"
import { startProcess } from "../support/inboxProcesses.ts"
import { databases } from "../support/sharedStores.ts"

const entry = (slot: string, state: JournalEntry["state"]): JournalEntry => ({ slot, state, text: `"${slot}"` })

describe("the journals of a store that processes share", () => {
  for (const { isMissing, kind, opened } of databases) {
    describe.skipIf(isMissing)(`in ${kind}`, () => {
      const filled = Effect.tap(opened, ({ store }) => enqueue(store, update("a")))

      it.live("keep what processes have recorded that are killed before they commit", () =>
        Effect.gen(function* () {
          const { at, store } = yield* filled
          const owner = "killed"
          for (let round = 0; round < 3; round++) {
            const killed = yield* startProcess(kind, at)
            const polled = killed.execute({ name: "claim", claim: claim(owner, { begin: 1, leaseDuration: 0 }) })
            const [{ updates }] = yield* Effect.repeat(polled, { until: ({ length }) => length > 0 })
            const [{ id, journal = [] }] = updates
            const before = Array.from({ length: round }, (_, index) => [`${index}`, "done"])
            assert.deepStrictEqual(
              journal.map(({ slot, state }) => [slot, state]).toSorted(),
              round === 0 ? [] : [...before, [`${round}`, "started"]]
            )
            const record = (...entries: ReadonlyArray<JournalEntry>) =>
              killed.execute({ name: "record", records: [{ owner, partitionKey: "a", id, entries }] })
            assert.deepStrictEqual(yield* record(entry(`${round}`, "done"), entry(`${round + 1}`, "started")), [
              "applied"
            ])
            // It may be killed while it writes, before or after the commit of the transaction.
            if (round === 2) {
              const records = [{ owner, partitionKey: "a", id, entries: [entry("3", "done")] }]
              yield* killed.send({ name: "record", records })
            }
            yield* killed.signal("SIGKILL")
          }
          const [{ updates }] = yield* store.claim(claim("next", { begin: 1, leaseDuration: 0 }))
          const { attempts, crashes, journal = [] } = updates[0]
          assert.deepStrictEqual([attempts, crashes, journal.length], [3, 3, 4])
          assert.deepStrictEqual(
            journal.toSorted((a, b) => (a.slot < b.slot ? -1 : 1)).slice(0, 3),
            ["0", "1", "2"].map((slot) => entry(slot, "done"))
          )
        }).pipe(Effect.scoped)
      )

      it.live("take nothing of a process that was frozen for longer than its lease", () =>
        Effect.gen(function* () {
          const { at, store } = yield* filled
          const frozen = yield* startProcess(kind, at)
          const [{ updates }] = yield* frozen.execute({
            name: "claim",
            claim: claim("frozen", { begin: 1, leaseDuration: 500 })
          })
          const { id } = updates[0]
          const records = [{ owner: "frozen", partitionKey: "a", id, entries: [entry("late", "started")] }]
          yield* frozen.signal("SIGSTOP")
          yield* frozen.send({ name: "record", records })
          yield* Effect.repeat(store.claim(claim("next", { begin: 1 })), {
            until: ({ length }) => length > 0,
            schedule: Schedule.spaced("10 millis")
          })
          yield* frozen.signal("SIGCONT")
          assert.deepStrictEqual(yield* frozen.result, ["leaseLost"])
          yield* store.release("next")
          const [again] = yield* store.claim(claim("last", { begin: 1 }))
          assert.isUndefined(again.updates[0].journal)
        }).pipe(Effect.scoped)
      )
    })
  }
})
