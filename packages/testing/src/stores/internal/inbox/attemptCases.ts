import { deepStrictEqual } from "node:assert"
import { listDeadLetters } from "./deadLetters.ts"
import { acknowledgeAll, claim, claimChat, commit, enqueue, release, stats } from "./operations.ts"
import { change, counts, fingerprints, idsOf, now, update, updatesOf } from "./updates.ts"
import { test } from "../test.ts"

export const attemptCases = [
  test("marks only updates that the claim returns", function* () {
    yield* claimChat(3, { leaseDuration: 0, maxUpdates: 1, begin: 2 })
    deepStrictEqual(counts(yield* claim("two")), { "chat:0": [1, 1], "chat:1": [0, 0], "chat:2": [0, 0] })
  }),

  test("acknowledges updates of a partition in any order, and returns the others in order", function* () {
    const [first, second, third, fourth] = idsOf(yield* claimChat(6, { maxUpdates: 5 }))
    yield* commit(change("one", "chat", { completed: [{ id: fourth }, { id: second }] }))
    deepStrictEqual(yield* stats, { queued: 4, oldestReceivedAt: now, deadLetters: 0 })
    yield* commit(change("one", "chat", { completed: [{ id: first }], release: true }))
    const again = yield* claim("two", { maxUpdates: 2 })
    deepStrictEqual(fingerprints(again), [["chat:2", "chat:4"]])
    deepStrictEqual(again[0].updates[0].id, third)
    yield* acknowledgeAll("two", again)
    deepStrictEqual(fingerprints(yield* claim("three")), [["chat:5"]])
  }),

  test("orders partitions by their first update that is not completed", function* () {
    yield* enqueue([...updatesOf("a", 1), ...updatesOf("b", 1), update("a:1", { key: "a" })])
    const [{ updates }] = yield* claim("one", { maxPartitions: 1 })
    yield* commit(change("one", "a", { completed: [{ id: updates[0].id }], release: true }))
    deepStrictEqual(fingerprints(yield* claim("two")), [["b:0"], ["a:1"]])
  }),

  test("makes an update a dead letter while earlier updates of its partition are queued", function* () {
    const [, second] = idsOf(yield* claimChat(3))
    const failure = { error: "failed", attempts: 2, failedAt: now }
    yield* commit(change("one", "chat", { completed: [{ id: second, failure }], release: true }))
    const [{ attempts, id }, ...others] = yield* listDeadLetters()
    deepStrictEqual([id, attempts, others], [second, 2, []])
    deepStrictEqual(fingerprints(yield* claim("two")), [["chat:0", "chat:2"]])
  }),

  test("completes no update of another partition", function* () {
    yield* enqueue([...updatesOf("a", 1), ...updatesOf("b", 1)])
    const [, other] = (yield* claim("one", { begin: 1 })).flatMap(idsOf)
    const failure = { error: "not yours", attempts: 1, failedAt: now }
    yield* commit(
      change("one", "a", { completed: [{ id: other }] }),
      change("one", "a", { completed: [{ id: other, failure }, { id: "no id" }], failed: [other, "no id"] }),
      change("one", "a", { begun: [other, "no id"], release: true })
    )
    deepStrictEqual(yield* stats, { queued: 2, oldestReceivedAt: now, deadLetters: 0 })
    yield* release("one")
    deepStrictEqual(counts(yield* claim("two")), { "a:0": [0, 0], "b:0": [0, 0] })
  }),

  test("counts a crash of the updates that a claim has begun, when the lease has expired, and of no others", function* () {
    yield* enqueue([...updatesOf("a", 3), ...updatesOf("b", 1)])
    yield* claim("one", { leaseDuration: 0, begin: 2 })
    const once = { "a:0": [1, 1], "a:1": [1, 1], "a:2": [0, 0], "b:0": [1, 1] }
    deepStrictEqual(counts(yield* claim("two", { leaseDuration: 0 })), once)
    deepStrictEqual(counts(yield* claim("three", { leaseDuration: 0, begin: 1 })), once)
    deepStrictEqual(counts(yield* claim("four")), { ...once, "a:0": [2, 2], "b:0": [2, 2] })
  }),

  test("counts a crash of the updates that a commit has begun, and not of the updates that it has completed", function* () {
    const [first, second, third] = idsOf(yield* claimChat(4, { leaseDuration: 0, begin: 1 }))
    yield* commit(
      change("one", "chat", { completed: [{ id: first }], begun: [second] }),
      change("one", "chat", { completed: [{ id: second }], begun: [third] })
    )
    deepStrictEqual(counts(yield* claim("two", { leaseDuration: 0 })), { "chat:2": [1, 1], "chat:3": [0, 0] })
  }),

  test("counts a failed attempt, which is no crash, and a crash of the next attempt", function* () {
    const [first, second] = idsOf(yield* claimChat(2, { leaseDuration: 0, begin: 2 }))
    yield* commit(change("one", "chat", { failed: [first] }))
    yield* commit(change("one", "chat", { begun: [first], failed: [second] }))
    yield* commit(change("one", "chat", { failed: [first] }), change("one", "chat", { begun: [first] }))
    deepStrictEqual(counts(yield* claim("two")), { "chat:0": [3, 1], "chat:1": [1, 0] })
  }),

  test("counts neither an attempt nor a crash of updates that are begun when the lease is ended", function* () {
    yield* enqueue([...updatesOf("a", 2), ...updatesOf("b", 1)])
    const [first] = (yield* claim("one", { leaseDuration: 0, begin: 2 })).flatMap(idsOf)
    yield* commit(change("one", "a", { completed: [{ id: first }], release: true }))
    yield* release("one")
    deepStrictEqual(counts(yield* claim("two")), { "a:1": [0, 0], "b:0": [0, 0] })
    yield* release("two")
    deepStrictEqual(counts(yield* claim("three")), { "a:1": [0, 0], "b:0": [0, 0] })
  }),

  test("counts a failed attempt in the commit that ends the lease", function* () {
    const [id] = idsOf(yield* claimChat(1, { begin: 1 }))
    yield* commit(change("one", "chat", { failed: [id], release: true }))
    deepStrictEqual(counts(yield* claim("two")), { "chat:0": [1, 0] })
  })
]
