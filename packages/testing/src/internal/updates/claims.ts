import { InboxStore } from "@colloquy/core/InboxStore"
import * as Effect from "effect/Effect"
import { deepStrictEqual, strictEqual } from "node:assert"
import {
  type Case,
  claim,
  fingerprints,
  finish,
  lease,
  update,
  updatesOf,
  now,
  put,
  commit,
  stats,
  takeAll,
  test
} from "./support.ts"

const renew = (owner: string, leaseUntil: number) => InboxStore.use((store) => store.renew(owner, leaseUntil))

export const claims: ReadonlyArray<Case> = [
  test("an empty store gives nothing", function* () {
    deepStrictEqual(yield* claim("a"), [])
    deepStrictEqual(yield* stats, { queued: 0, oldestReceivedAt: undefined, deadLetters: 0 })
    yield* commit()
    yield* commit({ owner: "a", partitionKey: "none", completed: { id: "1" }, release: true })
    yield* renew("a", now)
  }),

  test("partitions come by their first update, the oldest first, with as many updates as asked for", function* () {
    yield* put([update("b1", { key: "b" }), update("a1", { key: "a" }), update("b2", { key: "b" })])
    yield* put([update("c1", { key: "c" }), update("a2", { key: "a" }), update("b3", { key: "b" })])
    const first = yield* claim("one", { partitions: 2, updates: 2 })
    deepStrictEqual(fingerprints(first), [
      ["b1", "b2"],
      ["a1", "a2"]
    ])
    deepStrictEqual(fingerprints(yield* claim("two")), [["c1"]])
    deepStrictEqual(yield* claim("three"), [])
  }),

  test("a partition that is given back comes with its next updates, by its next update's age", function* () {
    yield* put([...updatesOf("a", 3), ...updatesOf("b", 1)])
    const first = yield* claim("one", { updates: 2, partitions: 1 })
    yield* finish("one", first)
    deepStrictEqual(fingerprints(yield* claim("two")), [["a:2"], ["b:0"]])
  }),

  test("an update for a claimed partition waits until the partition is given back", function* () {
    yield* put([update("first")])
    const claimed = yield* claim("one")
    yield* put([update("second")])
    deepStrictEqual(yield* claim("two"), [])
    yield* finish("one", claimed)
    deepStrictEqual(fingerprints(yield* claim("two")), [["second"]])
  }),

  test("an update for a partition that is claimed and empty is not lost", function* () {
    yield* put([update("first")])
    const [{ key, updates }] = yield* claim("one")
    yield* commit({ owner: "one", partitionKey: key, completed: { id: updates[0].id }, release: false })
    yield* put([update("second")])
    deepStrictEqual(yield* claim("two"), [])
    yield* commit({ owner: "one", partitionKey: key, release: true })
    deepStrictEqual(fingerprints(yield* claim("two")), [["second"]])
  }),

  test("a partition that is given back with its updates comes again", function* () {
    yield* put(updatesOf("chat", 2))
    const [{ key }] = yield* claim("one")
    yield* commit({ owner: "one", partitionKey: key, release: true })
    deepStrictEqual(fingerprints(yield* claim("two")), [["chat:0", "chat:1"]])
  }),

  test("several commits of one partition at once count in their order", function* () {
    yield* put(updatesOf("chat", 4))
    const [{ key, updates }] = yield* claim("one")
    yield* commit(
      { owner: "one", partitionKey: key, completed: { id: updates[0].id }, release: false },
      { owner: "one", partitionKey: key, completed: { id: updates[1].id }, release: true },
      { owner: "one", partitionKey: key, completed: { id: updates[2].id }, release: true }
    )
    deepStrictEqual(fingerprints(yield* claim("two")), [["chat:2", "chat:3"]])
  }),

  test("commits of many owners at once each count", function* () {
    yield* put(["a", "b", "c"].flatMap((key) => updatesOf(key, 2)))
    const owners = ["one", "two", "three"]
    const claimed = yield* Effect.forEach(owners, (owner) => claim(owner, { partitions: 1, updates: 1 }))
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

  test("a lease that is over is no lease: another owner gets the updates again, in their order", function* () {
    yield* put(updatesOf("chat", 2))
    yield* claim("one")
    deepStrictEqual(yield* claim("two", { at: now + lease - 1 }), [])
    deepStrictEqual(fingerprints(yield* claim("two", { at: now + lease })), [["chat:0", "chat:1"]])
    deepStrictEqual(yield* claim("one", { at: now + lease }), [])
  }),

  test("what a former owner settles is passed over", function* () {
    yield* put(updatesOf("chat", 2))
    const before = yield* claim("one")
    yield* claim("two", { at: now + lease })
    yield* finish("one", before)
    yield* commit({ owner: "nobody", partitionKey: "chat", completed: { id: before[0].updates[0].id }, release: true })
    deepStrictEqual(yield* claim("three", { at: now + lease }), [])
    strictEqual((yield* stats).queued, 2)
    deepStrictEqual(fingerprints(yield* claim("three", { at: now + 2 * lease })), [["chat:0", "chat:1"]])
  }),

  test("a completed update is completed once: a second word on it changes nothing", function* () {
    yield* put(updatesOf("chat", 3))
    const [{ key, updates }] = yield* claim("one")
    const handled = { owner: "one", partitionKey: key, completed: { id: updates[0].id }, release: false }
    yield* commit(handled, handled)
    yield* commit(handled)
    strictEqual((yield* stats).queued, 2)
  }),

  test("an owner prolongs what it holds, and only that", function* () {
    yield* put([update("a", { key: "a" }), update("b", { key: "b" })])
    yield* claim("one", { partitions: 1 })
    yield* claim("two", { partitions: 1 })
    yield* renew("one", now + 2 * lease)
    deepStrictEqual(fingerprints(yield* claim("three", { at: now + lease })), [["b"]])
    deepStrictEqual(fingerprints(yield* claim("three", { at: now + 2 * lease })), [["a"], ["b"]])
  }),

  test("an owner gives all back by a lease in the past", function* () {
    yield* put([update("a", { key: "a" }), update("b", { key: "b" })])
    yield* claim("one")
    yield* renew("one", now - 1)
    deepStrictEqual(fingerprints(yield* claim("two")), [["a"], ["b"]])
  }),

  test("the stats say how many updates wait, claimed ones too, and since when", function* () {
    yield* put([update("a", { key: "a", receivedAt: now - 2 }), update("b", { key: "b", receivedAt: now - 1 })])
    deepStrictEqual(yield* stats, { queued: 2, oldestReceivedAt: now - 2, deadLetters: 0 })
    const claimed = yield* claim("one", { partitions: 1 })
    deepStrictEqual(yield* stats, { queued: 2, oldestReceivedAt: now - 2, deadLetters: 0 })
    yield* finish("one", claimed)
    deepStrictEqual(yield* stats, { queued: 1, oldestReceivedAt: now - 1, deadLetters: 0 })
  }),

  test("claimers at the same time never share a partition, and all is handled once, in order", function* () {
    const keys = Array.from({ length: 20 }, (_, index) => `key ${index}`)
    yield* Effect.forEach(keys, (key) => put(updatesOf(key, 5)), { concurrency: 4, discard: true })
    const holders = new Map<string, string>()
    const handled: Array<string> = []
    const work = Effect.fnUntraced(function* (owner: string) {
      for (;;) {
        const partitions = yield* claim(owner, { partitions: 3, updates: 2 })
        if (partitions.length === 0) return
        for (const { key, updates } of partitions) {
          strictEqual(holders.get(key), undefined)
          holders.set(key, owner)
          handled.push(...updates.map(({ update }) => update.fingerprint))
        }
        yield* Effect.yieldNow
        for (const { key } of partitions) holders.delete(key)
        yield* finish(owner, partitions)
      }
    })
    yield* Effect.forEach(["one", "two", "three", "four"], work, { concurrency: "unbounded", discard: true })
    handled.push(...(yield* takeAll()))
    strictEqual(handled.length, 100)
    for (const key of keys) {
      deepStrictEqual(
        handled.filter((fingerprint) => fingerprint.startsWith(`${key}:`)),
        updatesOf(key, 5).map(({ fingerprint }) => fingerprint)
      )
    }
  }),

  test("updates that come while others of their key are completed are never left behind", function* () {
    const handled: Array<string> = []
    const total = 200
    const work = Effect.fnUntraced(function* (owner: string) {
      while (handled.length < total) {
        const partitions = yield* claim(owner, { updates: 1 })
        yield* finish(owner, partitions)
        handled.push(...fingerprints(partitions).flat())
        yield* Effect.yieldNow
      }
    })
    const bring = Effect.forEach(
      Array.from({ length: total }, (_, index) => index),
      (index) => put([update(`${index}`, { key: `key ${index % 2}` })]),
      { concurrency: 4, discard: true }
    )
    yield* Effect.all([bring, work("one"), work("two")], { concurrency: "unbounded", discard: true })
    strictEqual(new Set(handled).size, total)
    deepStrictEqual(yield* stats, { queued: 0, oldestReceivedAt: undefined, deadLetters: 0 })
  })
]
