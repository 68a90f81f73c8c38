import { InboxStore } from "@colloquy/core/inbox/InboxStore"
import { deepStrictEqual, strictEqual } from "node:assert"
import { drop, failAll, listDeadLetters, replay } from "./deadLetters.ts"
import { acknowledgeAll, claim, claimChat, commit, drain, enqueue, release, stats } from "./operations.ts"
import { change, counts, fingerprints, malformedUpdate, namesIn, namesOf, now, update } from "./updates.ts"
import { test } from "../test.ts"

const cleanup = (fingerprintsBefore: number, deadLettersBefore: number) =>
  InboxStore.use((store) => store.cleanup({ fingerprintsBefore, deadLettersBefore, rowsBefore: 0 }))

export const deadLetterCases = [
  test("makes a failed update a dead letter, and returns the next update to the next claim", function* () {
    const { key, updates } = yield* claimChat(2)
    const failure = { error: 'Error: "why"\0\n🙂 \ud83d', attempts: 6, failedAt: now + 5 }
    yield* commit(change("one", key, { completed: [{ id: updates[0].id, failure }], release: true }))
    const [{ id, update, error, attempts, failedAt }, ...others] = yield* listDeadLetters()
    deepStrictEqual(others, [])
    deepStrictEqual({ error, attempts, failedAt }, failure)
    deepStrictEqual(
      [id, update.fingerprint, update.partitionKey, update.receivedAt],
      [updates[0].id, "chat:0", "chat", now]
    )
    strictEqual(update.text, updates[0].update.text)
    deepStrictEqual(yield* stats, { queued: 1, oldestReceivedAt: now, deadLetters: 1 })
    deepStrictEqual(fingerprints(yield* claim("two")), [["chat:1"]])
  }),

  test("lists dead letters by pages, also when the dead letters of the last page were dropped", function* () {
    yield* failAll("one", yield* claimChat(5), "all of them")
    const listed: Array<string> = []
    let after: string | undefined
    for (;;) {
      const page = yield* listDeadLetters(2, after)
      if (page.length === 0) break
      listed.push(...namesIn(page))
      after = page.at(-1)!.id
      yield* drop(after)
    }
    deepStrictEqual(listed, namesOf("chat", 5))
    strictEqual((yield* stats).deadLetters, 2)
  }),

  test("replays a dead letter at the end of its partition, without deduplication", function* () {
    const { key, updates } = yield* claimChat(3)
    yield* failAll("one", { key, updates: [updates[0]] }, "failed")
    const [{ id }] = yield* listDeadLetters()
    strictEqual(yield* replay(id), 1)
    strictEqual(yield* replay(id), 0)
    deepStrictEqual(yield* stats, { queued: 3, oldestReceivedAt: now, deadLetters: 0 })
    const again = yield* claim("two")
    deepStrictEqual(fingerprints(again), [["chat:1", "chat:2", "chat:0"]])
    strictEqual(again[0].updates[2].update.text, updates[0].update.text)
    const ids = again[0].updates.map(({ id }) => BigInt(id))
    strictEqual(ids[0] < ids[1] && ids[1] < ids[2], true)
    yield* acknowledgeAll("two", again)
    deepStrictEqual(yield* stats, { queued: 0, oldestReceivedAt: undefined, deadLetters: 0 })
  }),

  test("keeps the attempts of a replayed dead letter, and resets its crashes", function* () {
    yield* enqueue([update("a", { key: "a" })], { deadLetters: [malformedUpdate("b", "not { json")] })
    yield* claim("killed", { leaseDuration: 0, begin: 1 })
    const claimed = yield* claim("one")
    deepStrictEqual(counts(claimed), { a: [1, 1] })
    for (const partition of claimed) yield* failAll("one", partition, "failed")
    yield* replay(...(yield* listDeadLetters()).map(({ id }) => id))
    deepStrictEqual(counts(yield* claim("two")), { a: [3, 0], b: [0, 0] })
  }),

  test("replays a dead letter to a new partition, and to a claimed partition", function* () {
    yield* enqueue([update("a", { key: "a" }), update("b", { key: "b" })])
    for (const partition of yield* claim("one")) yield* failAll("one", partition, "failed")
    yield* enqueue([update("b2", { key: "b" })])
    yield* claim("two")
    const ids = (yield* listDeadLetters()).map(({ id }) => id)
    strictEqual(yield* replay(...ids), 2)
    deepStrictEqual(fingerprints(yield* claim("three")), [["a"]])
  }),

  test("replays a dead letter that could not be decoded", function* () {
    yield* enqueue([], { deadLetters: [malformedUpdate("broken", "of a later version")] })
    strictEqual(yield* replay((yield* listDeadLetters())[0].id), 1)
    const [{ key, updates }] = yield* claim("one")
    deepStrictEqual([key, updates[0].update.text], ["", "of a later version"])
    yield* failAll("one", { key, updates }, "still")
    strictEqual((yield* listDeadLetters())[0].error, "still")
  }),

  test("drops dead letters, and no queued updates", function* () {
    yield* enqueue([update("a", { key: "a" }), update("b", { key: "b" })])
    const [a, b] = yield* claim("one")
    yield* failAll("one", a, "failed")
    strictEqual(yield* drop(b.updates[0].id, "no id", "999999999"), 0)
    strictEqual(yield* replay(b.updates[0].id, "no id", "999999999"), 0)
    strictEqual(yield* drop(...(yield* listDeadLetters()).map(({ id }) => id)), 1)
    deepStrictEqual(yield* stats, { queued: 1, oldestReceivedAt: now, deadLetters: 0 })
  }),

  test("cleans up old fingerprints and dead letters, and no queued updates", function* () {
    yield* enqueue(Array.from({ length: 2500 }, (_, index) => update(`old:${index}`, { key: "old" })))
    const [old] = yield* claim("one", { maxUpdates: 2500 })
    yield* failAll("one", { ...old, updates: old.updates.slice(0, 2400) }, "old", now)
    yield* enqueue([update("new", { key: "new" })], { now: now + 10 })
    const [fresh] = (yield* claim("one")).filter(({ key }) => key === "new")
    yield* failAll("one", fresh, "new", now + 10)
    yield* cleanup(now + 10, now + 10)
    deepStrictEqual(yield* stats, { queued: 100, oldestReceivedAt: now, deadLetters: 1 })
    const at = { now: now + 20 }
    strictEqual(yield* enqueue([update("old:0", { key: "old" }), update("new", { key: "new" })], at), 1)
    yield* release("one")
    strictEqual((yield* drain("two")).length, 101)
  })
]
