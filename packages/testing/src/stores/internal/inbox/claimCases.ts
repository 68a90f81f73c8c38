import * as Effect from "effect/Effect"
import { deepStrictEqual, strictEqual } from "node:assert"
import { acknowledgeAll, claim, claimChat, commit, drain, enqueue, queue, release, renew, stats } from "./operations.ts"
import { change, counts, fingerprints, lease, namesIn, namesOf, now, update, updatesOf } from "./updates.ts"
import { test } from "../test.ts"
import { put, texts } from "../rows/operations.ts"

export const claimCases = [
  test("returns nothing from an empty store", function* () {
    deepStrictEqual(yield* claim("a"), [])
    deepStrictEqual(yield* stats, { queued: 0, oldestReceivedAt: undefined, deadLetters: 0 })
    deepStrictEqual(yield* commit(), [])
    deepStrictEqual(yield* commit(change("a", "none", { completed: [{ id: "1" }], release: true })), ["leaseLost"])
    deepStrictEqual(yield* renew("a", lease), [])
    yield* release("a")
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

  test("returns an update of a claimed partition, with or without other updates, only after the partition is released", function* () {
    yield* enqueue([update("first")])
    const first = yield* claim("one")
    yield* enqueue([update("second")])
    deepStrictEqual(yield* claim("two"), [])
    yield* acknowledgeAll("one", first)
    const second = yield* claim("two")
    deepStrictEqual(fingerprints(second), [["second"]])
    yield* commit(change("two", "chat", { completed: [{ id: second[0].updates[0].id }] }))
    yield* enqueue([update("third")])
    deepStrictEqual(yield* claim("three"), [])
    yield* commit(change("two", "chat", { release: true }))
    deepStrictEqual(fingerprints(yield* claim("three")), [["third"]])
  }),

  test("applies several commits of one partition in order", function* () {
    const { key, updates } = yield* claimChat(4)
    const results = yield* commit(
      change("one", key, { completed: [{ id: updates[0].id }] }),
      change("one", key, { completed: [{ id: updates[1].id }], release: true }),
      change("one", key, { completed: [{ id: updates[2].id }], release: true })
    )
    deepStrictEqual(results, ["applied", "applied", "leaseLost"])
    deepStrictEqual(fingerprints(yield* claim("two")), [["chat:2", "chat:3"]])
  }),

  test("applies commits of several owners", function* () {
    yield* enqueue(["a", "b", "c"].flatMap((key) => updatesOf(key, 2)))
    const owners = ["one", "two", "three"]
    const claimed = yield* Effect.forEach(owners, (owner) => claim(owner, { maxPartitions: 1, maxUpdates: 1 }))
    yield* commit(
      ...claimed.flatMap((partitions, index) =>
        partitions.map(({ key, updates }) =>
          change(owners[index], key, { completed: [{ id: updates[0].id }], release: true })
        )
      )
    )
    deepStrictEqual(fingerprints(yield* claim("four")), [["a:1"], ["b:1"], ["c:1"]])
  }),

  test("returns a partition with an expired lease to the next claim, and no other", function* () {
    yield* enqueue([...updatesOf("a", 2), ...updatesOf("b", 1)])
    yield* claim("one", { maxPartitions: 1 })
    yield* claim("one", { leaseDuration: 0 })
    deepStrictEqual(fingerprints(yield* claim("two")), [["b:0"]])
    deepStrictEqual(yield* claim("one"), [])
  }),

  test("ignores a commit of an owner that has lost the partition, and says so", function* () {
    yield* enqueue(updatesOf("a", 2))
    const [before] = yield* claim("one", { leaseDuration: 0 })
    const [after] = yield* claim("two")
    const failure = { error: "too late", attempts: 1, failedAt: now }
    const [first, second] = before.updates.map(({ id }) => id)
    const results = yield* commit(
      change("one", "a", { completed: [{ id: first, failure }], failed: [second], begun: [second], release: true }),
      change("one", "a", { rows: [put("a", "1")] }),
      change("nobody", "a", { completed: [{ id: first }], release: true }),
      change("two", "a", { completed: [{ id: first }] })
    )
    deepStrictEqual(results, ["leaseLost", "leaseLost", "leaseLost", "applied"])
    deepStrictEqual(yield* texts("a"), [undefined])
    deepStrictEqual(yield* stats, { queued: 1, oldestReceivedAt: now, deadLetters: 0 })
    deepStrictEqual(yield* claim("three"), [])
    deepStrictEqual(after, before)
    yield* commit(change("two", "a", { release: true }))
    const again = yield* claim("three")
    deepStrictEqual(counts(again), { "a:1": [0, 0] })
  }),

  test("applies a commit after the lease has expired if nothing was claimed since", function* () {
    const { updates } = yield* claimChat(2, { leaseDuration: 0, begin: 1 })
    deepStrictEqual(yield* commit(change("one", "chat", { completed: [{ id: updates[0].id }] })), ["applied"])
    deepStrictEqual(counts(yield* claim("two")), { "chat:1": [0, 0] })
  }),

  test("ignores a repeated acknowledgement", function* () {
    const { key, updates } = yield* claimChat(3)
    const handled = change("one", key, { completed: [{ id: updates[0].id }] })
    yield* commit(handled, handled)
    yield* commit(handled)
    strictEqual((yield* stats).queued, 2)
  }),

  test("renews the leases of an owner and of no other, and returns the partitions that it holds", function* () {
    yield* enqueue(["a", "b", "c"].map((key) => update(key, { key })))
    yield* claim("one", { maxPartitions: 1, leaseDuration: 0 })
    deepStrictEqual(yield* renew("one", lease), ["a"])
    yield* claim("two", { maxPartitions: 1 })
    yield* claim("one", { maxPartitions: 1 })
    deepStrictEqual([...(yield* renew("one", lease))].sort(), ["a", "c"])
    deepStrictEqual([...(yield* renew("one", 0))].sort(), ["a", "c"])
    deepStrictEqual(fingerprints(yield* claim("three")), [["a"], ["c"]])
    deepStrictEqual(yield* renew("one", lease), [])
    deepStrictEqual([...(yield* renew("three", lease))].sort(), ["a", "c"])
    deepStrictEqual(yield* claim("four"), [])
  }),

  test("renews a lease that has expired if nothing was claimed since", function* () {
    yield* claimChat(2, { leaseDuration: 0, begin: 1 })
    deepStrictEqual(yield* renew("one", lease), ["chat"])
    deepStrictEqual(yield* claim("two"), [])
    yield* release("one")
    deepStrictEqual(counts(yield* claim("two")), { "chat:0": [0, 0], "chat:1": [0, 0] })
  }),

  test("releases all partitions of an owner and of no other, also those without updates", function* () {
    yield* enqueue(["a", "b", "c"].map((key) => update(key, { key })))
    const [{ updates }] = yield* claim("one", { maxPartitions: 2 })
    yield* claim("two")
    yield* commit(change("one", "a", { completed: [{ id: updates[0].id }] }))
    yield* release("one")
    deepStrictEqual(fingerprints(yield* claim("three")), [["b"]])
    deepStrictEqual(yield* renew("one", lease), [])
    yield* enqueue([update("a2", { key: "a" })])
    deepStrictEqual(fingerprints(yield* claim("three")), [["a2"]])
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
          handled.push(...namesIn(updates))
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
      const own = handled.filter((fingerprint) => fingerprint.startsWith(`${key}:`))
      deepStrictEqual(own, namesOf(key, 5))
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
  }),

  test("lists the updates that are queued behind an update of a claimed partition, without the updates that are completed", function* () {
    const behind = (after: string, limit?: number) => Effect.map(queue({ partitionKey: "a", after, limit }), namesIn)
    yield* enqueue([...updatesOf("a", 4), ...updatesOf("b", 2)])
    const partitions = yield* claim("one", { maxUpdates: 4 })
    const claimed = partitions.find(({ key }) => key === "a")!
    const [first, second, third] = claimed.updates.map(({ id }) => id)
    yield* enqueue([update("a:4", { key: "a" })])
    deepStrictEqual(yield* behind(first!), ["a:1", "a:2", "a:3", "a:4"])
    strictEqual((yield* queue({ partitionKey: "a", after: first! }))[0]?.update.partitionKey, "a")
    yield* commit(change("one", "a", { completed: [{ id: third! }] }))
    deepStrictEqual(yield* behind(first!, 2), ["a:1", "a:3"])
    deepStrictEqual(yield* behind(second!), ["a:3", "a:4"])
    yield* acknowledgeAll("one", partitions)
    deepStrictEqual(yield* behind(first!), ["a:4"])
    deepStrictEqual(yield* queue({ partitionKey: "none", limit: 1 }), [])
  }),

  test("lists the queued updates of all partitions in order, in pages, without completed updates", function* () {
    const listed = (after?: string, limit?: number) => Effect.map(queue({ after, limit }), namesIn)
    deepStrictEqual(yield* listed(), [])
    yield* enqueue([update("a:0", { key: "a" }), update("b:0", { key: "b" }), update("a:1", { key: "a" })])
    const [claimed] = yield* claim("one", { maxPartitions: 1, maxUpdates: 1 })
    yield* enqueue([update("c:0", { key: "c" }), update("a:2", { key: "a" })])
    const all = yield* queue()
    deepStrictEqual(namesIn(all), ["a:0", "b:0", "a:1", "c:0", "a:2"])
    for (const { update } of all) strictEqual(update.partitionKey, update.fingerprint[0])
    deepStrictEqual(yield* listed(undefined, 2), ["a:0", "b:0"])
    deepStrictEqual(yield* listed(all[1]!.id, 2), ["a:1", "c:0"])
    deepStrictEqual(yield* listed(all[4]!.id), [])
    yield* commit(change("one", "a", { completed: [{ id: claimed!.updates[0]!.id }] }))
    deepStrictEqual(yield* listed(), ["b:0", "a:1", "c:0", "a:2"])
  }),

  test("lists the queued updates of more partitions than a page has updates", function* () {
    const keys = Array.from({ length: 350 }, (_, index) => `p${index}`)
    yield* enqueue(keys.map((key) => update(`${key}:0`, { key })))
    yield* enqueue([update("p0:1", { key: "p0" })])
    const seen: Array<string> = []
    let after: string | undefined
    for (let page = 0; page < 5; page++) {
      const entries = yield* queue({ after })
      seen.push(...namesIn(entries))
      after = entries.at(-1)?.id ?? after
    }
    deepStrictEqual(seen, [...keys.map((key) => `${key}:0`), "p0:1"])
  })
]
