import { InboxStore, type Partition } from "@colloquy/core/InboxStore"
import * as Effect from "effect/Effect"
import { deepStrictEqual, strictEqual } from "node:assert"
import {
  type Case,
  claim,
  fingerprints,
  acknowledgeAll,
  lease,
  update,
  updatesOf,
  now,
  enqueue,
  commit,
  stats,
  drain,
  test
} from "./operations.ts"

const renew = (owner: string, leaseUntil: number) => InboxStore.use((store) => store.renew(owner, leaseUntil))

export const claimCases: ReadonlyArray<Case> = [
  test("returns nothing from an empty store", function* () {
    deepStrictEqual(yield* claim("a"), [])
    deepStrictEqual(yield* stats, { queued: 0, oldestReceivedAt: undefined, deadLetters: 0 })
    yield* commit()
    yield* commit({ owner: "a", partitionKey: "none", completed: { id: "1" }, release: true })
    yield* renew("a", now)
  }),

  test("claims the partitions with the oldest first update, with at most the given number of updates", function* () {
    yield* enqueue([update("b1", { key: "b" }), update("a1", { key: "a" }), update("b2", { key: "b" })])
    yield* enqueue([update("c1", { key: "c" }), update("a2", { key: "a" }), update("b3", { key: "b" })])
    const first = yield* claim("one", { maxPartitions: 2, maxUpdates: 2 })
    deepStrictEqual(fingerprints(first), [
      ["b1", "b2"],
      ["a1", "a2"]
    ])
    deepStrictEqual(fingerprints(yield* claim("two")), [["c1"]])
    deepStrictEqual(yield* claim("three"), [])
  }),

  test("returns a released partition with its next updates, ordered by the age of the first of them", function* () {
    yield* enqueue([...updatesOf("a", 3), ...updatesOf("b", 1)])
    const first = yield* claim("one", { maxUpdates: 2, maxPartitions: 1 })
    yield* acknowledgeAll("one", first)
    deepStrictEqual(fingerprints(yield* claim("two")), [["a:2"], ["b:0"]])
  }),

  test("returns an update of a claimed partition only after the partition is released", function* () {
    yield* enqueue([update("first")])
    const claimed = yield* claim("one")
    yield* enqueue([update("second")])
    deepStrictEqual(yield* claim("two"), [])
    yield* acknowledgeAll("one", claimed)
    deepStrictEqual(fingerprints(yield* claim("two")), [["second"]])
  }),

  test("keeps an update that is enqueued to a claimed partition without other updates", function* () {
    yield* enqueue([update("first")])
    const [{ key, updates }] = yield* claim("one")
    yield* commit({ owner: "one", partitionKey: key, completed: { id: updates[0].id }, release: false })
    yield* enqueue([update("second")])
    deepStrictEqual(yield* claim("two"), [])
    yield* commit({ owner: "one", partitionKey: key, release: true })
    deepStrictEqual(fingerprints(yield* claim("two")), [["second"]])
  }),

  test("returns a partition that was released without acknowledgements again", function* () {
    yield* enqueue(updatesOf("chat", 2))
    const [{ key }] = yield* claim("one")
    yield* commit({ owner: "one", partitionKey: key, release: true })
    deepStrictEqual(fingerprints(yield* claim("two")), [["chat:0", "chat:1"]])
  }),

  test("applies several commits of one partition in order", function* () {
    yield* enqueue(updatesOf("chat", 4))
    const [{ key, updates }] = yield* claim("one")
    yield* commit(
      { owner: "one", partitionKey: key, completed: { id: updates[0].id }, release: false },
      { owner: "one", partitionKey: key, completed: { id: updates[1].id }, release: true },
      { owner: "one", partitionKey: key, completed: { id: updates[2].id }, release: true }
    )
    deepStrictEqual(fingerprints(yield* claim("two")), [["chat:2", "chat:3"]])
  }),

  test("applies commits of several owners", function* () {
    yield* enqueue(["a", "b", "c"].flatMap((key) => updatesOf(key, 2)))
    const owners = ["one", "two", "three"]
    const claimed = yield* Effect.forEach(owners, (owner) => claim(owner, { maxPartitions: 1, maxUpdates: 1 }))
    yield* commit(
      ...claimed.flatMap((partitions, index) =>
        partitions.map(({ key, updates }) => ({
          owner: owners[index],
          partitionKey: key,
          completed: { id: updates[0].id },
          release: true
        }))
      )
    )
    deepStrictEqual(fingerprints(yield* claim("four")), [["a:1"], ["b:1"], ["c:1"]])
  }),

  test("returns a partition with an expired lease to the next claim", function* () {
    yield* enqueue(updatesOf("chat", 2))
    yield* claim("one")
    deepStrictEqual(yield* claim("two", { at: now + lease - 1 }), [])
    deepStrictEqual(fingerprints(yield* claim("two", { at: now + lease })), [["chat:0", "chat:1"]])
    deepStrictEqual(yield* claim("one", { at: now + lease }), [])
  }),

  test("marks the first update of a partition whose lease expired as redelivered, until it is completed", function* () {
    const flags = (partitions: ReadonlyArray<Partition>) =>
      partitions.map(({ updates }) => updates.map(({ isRedelivered }) => isRedelivered))
    yield* enqueue([...updatesOf("a", 2), ...updatesOf("b", 1)])
    const before = yield* claim("one")
    deepStrictEqual(flags(before), [[false, false], [false]])
    const [{ key, updates }, other] = before
    yield* commit({ owner: "one", partitionKey: key, completed: { id: updates[0].id }, release: false })
    yield* commit({ owner: "one", partitionKey: other.key, release: true })
    yield* enqueue(updatesOf("a", 4).slice(2))
    const after = yield* claim("two", { at: now + lease })
    deepStrictEqual(fingerprints(after), [["a:1", "a:2", "a:3"], ["b:0"]])
    deepStrictEqual(flags(after), [[true, false, false], [false]])
    const [{ updates: claimed }] = after
    yield* commit({ owner: "two", partitionKey: "a", completed: { id: claimed[0].id }, release: true })
    deepStrictEqual(flags(yield* claim("three", { at: now + lease })), [[false, false]])
  }),

  test("ignores commits of an owner that has lost the partition", function* () {
    yield* enqueue(updatesOf("chat", 2))
    const before = yield* claim("one")
    yield* claim("two", { at: now + lease })
    yield* acknowledgeAll("one", before)
    yield* commit({ owner: "nobody", partitionKey: "chat", completed: { id: before[0].updates[0].id }, release: true })
    deepStrictEqual(yield* claim("three", { at: now + lease }), [])
    strictEqual((yield* stats).queued, 2)
    deepStrictEqual(fingerprints(yield* claim("three", { at: now + 2 * lease })), [["chat:0", "chat:1"]])
  }),

  test("ignores a repeated acknowledgement", function* () {
    yield* enqueue(updatesOf("chat", 3))
    const [{ key, updates }] = yield* claim("one")
    const handled = { owner: "one", partitionKey: key, completed: { id: updates[0].id }, release: false }
    yield* commit(handled, handled)
    yield* commit(handled)
    strictEqual((yield* stats).queued, 2)
  }),

  test("renews the leases of an owner and of no other", function* () {
    yield* enqueue([update("a", { key: "a" }), update("b", { key: "b" })])
    yield* claim("one", { maxPartitions: 1 })
    yield* claim("two", { maxPartitions: 1 })
    yield* renew("one", now + 2 * lease)
    deepStrictEqual(fingerprints(yield* claim("three", { at: now + lease })), [["b"]])
    deepStrictEqual(fingerprints(yield* claim("three", { at: now + 2 * lease })), [["a"], ["b"]])
  }),

  test("releases all partitions of an owner when their leases are set to the past", function* () {
    yield* enqueue([update("a", { key: "a" }), update("b", { key: "b" })])
    yield* claim("one")
    yield* renew("one", now - 1)
    deepStrictEqual(fingerprints(yield* claim("two")), [["a"], ["b"]])
  }),

  test("counts queued updates, including claimed ones, and returns the age of the oldest", function* () {
    yield* enqueue([update("a", { key: "a", receivedAt: now - 2 }), update("b", { key: "b", receivedAt: now - 1 })])
    deepStrictEqual(yield* stats, { queued: 2, oldestReceivedAt: now - 2, deadLetters: 0 })
    const claimed = yield* claim("one", { maxPartitions: 1 })
    deepStrictEqual(yield* stats, { queued: 2, oldestReceivedAt: now - 2, deadLetters: 0 })
    yield* acknowledgeAll("one", claimed)
    deepStrictEqual(yield* stats, { queued: 1, oldestReceivedAt: now - 1, deadLetters: 0 })
  }),

  test("never returns a partition to two concurrent claims, and returns every update once, in order", function* () {
    const keys = Array.from({ length: 20 }, (_, index) => `key ${index}`)
    yield* Effect.forEach(keys, (key) => enqueue(updatesOf(key, 5)), { concurrency: 4, discard: true })
    const holders = new Map<string, string>()
    const handled: Array<string> = []
    const consume = Effect.fnUntraced(function* (owner: string) {
      for (;;) {
        const partitions = yield* claim(owner, { maxPartitions: 3, maxUpdates: 2 })
        if (partitions.length === 0) return
        for (const { key, updates } of partitions) {
          strictEqual(holders.get(key), undefined)
          holders.set(key, owner)
          handled.push(...updates.map(({ update }) => update.fingerprint))
        }
        yield* Effect.yieldNow
        for (const { key } of partitions) holders.delete(key)
        yield* acknowledgeAll(owner, partitions)
      }
    })
    yield* Effect.forEach(["one", "two", "three", "four"], consume, { concurrency: "unbounded", discard: true })
    handled.push(...(yield* drain()))
    strictEqual(handled.length, 100)
    for (const key of keys) {
      deepStrictEqual(
        handled.filter((fingerprint) => fingerprint.startsWith(`${key}:`)),
        updatesOf(key, 5).map(({ fingerprint }) => fingerprint)
      )
    }
  }),

  test("returns updates that are enqueued while other updates of the partition are acknowledged", function* () {
    const handled: Array<string> = []
    const total = 200
    const consume = Effect.fnUntraced(function* (owner: string) {
      while (handled.length < total) {
        const partitions = yield* claim(owner, { maxUpdates: 1 })
        yield* acknowledgeAll(owner, partitions)
        handled.push(...fingerprints(partitions).flat())
        yield* Effect.yieldNow
      }
    })
    const produce = Effect.forEach(
      Array.from({ length: total }, (_, index) => index),
      (index) => enqueue([update(`${index}`, { key: `key ${index % 2}` })]),
      { concurrency: 4, discard: true }
    )
    yield* Effect.all([produce, consume("one"), consume("two")], { concurrency: "unbounded", discard: true })
    strictEqual(new Set(handled).size, total)
    deepStrictEqual(yield* stats, { queued: 0, oldestReceivedAt: undefined, deadLetters: 0 })
  })
]
