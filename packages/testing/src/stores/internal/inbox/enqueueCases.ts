import * as Effect from "effect/Effect"
import { deepStrictEqual, strictEqual } from "node:assert"
import { listDeadLetters } from "./deadLetters.ts"
import { acknowledgeAll, claim, drain, enqueue, stats } from "./operations.ts"
import { day, malformedUpdate, namesOf, now, update, updatesOf } from "./updates.ts"
import { test } from "../test.ts"
import { put, read } from "../rows/operations.ts"

const strange = [
  "a line\nof \"quotes\" \\ and 'apostrophes'",
  "🙂 ё 漢字 \u202e\u0000\u0001\uffff",
  "\u0001 first",
  "half a pair \ud83d and \ude42",
  "",
  " ",
  "{{prefix}} $1 ? :name %s",
  "1.0",
  "null",
  "[1]"
]

export const enqueueCases = [
  test("returns an enqueued update, with all its values, to the next claim", function* () {
    const text = '{ "kept" : "as it came", "id": 9007199254740993 }'
    strictEqual(yield* enqueue([update("one", { key: "42", receivedAt: now - 5, text })]), 1)
    const [partition, ...others] = yield* claim("a")
    deepStrictEqual(others, [])
    strictEqual(partition.key, "42")
    strictEqual(partition.updates.length, 1)
    const { fingerprint, partitionKey, receivedAt, text: kept } = partition.updates[0].update
    deepStrictEqual([fingerprint, partitionKey, receivedAt, kept], ["one", "42", now - 5, text])
  }),

  test("keeps any text unchanged as text, as partition key and as fingerprint", function* () {
    const updates = strange.map((text) => update(`of ${text}`, { key: text, text }))
    strictEqual(yield* enqueue(updates), strange.length)
    strictEqual(yield* enqueue(updates), 0)
    const partitions = yield* claim("a")
    deepStrictEqual(
      partitions.map(({ key, updates }) => [key, updates[0].update.fingerprint, updates[0].update.text]),
      strange.map((text) => [text, `of ${text}`, text])
    )
    yield* acknowledgeAll("a", partitions)
    strictEqual((yield* stats).queued, 0)
  }),

  test("keeps a text of a megabyte", function* () {
    const text = JSON.stringify({ text: 'ё🙂"\\'.repeat(120_000) })
    yield* enqueue([update("big", { text })])
    const [partition] = yield* claim("a")
    strictEqual(partition.updates[0].update.text === text, true)
  }),

  test("distinguishes long partition keys and fingerprints that differ only at their end", function* () {
    const long = "k".repeat(5000)
    strictEqual(yield* enqueue([update(`${long}1`, { key: `${long}1` }), update(`${long}2`, { key: `${long}2` })]), 2)
    strictEqual(yield* enqueue([update(`${long}1`)]), 0)
    const partitions = yield* claim("a")
    strictEqual(partitions.length, 2)
    yield* acknowledgeAll("a", partitions)
    deepStrictEqual(yield* stats, { queued: 0, oldestReceivedAt: undefined, deadLetters: 0 })
  }),

  test("leaves out a duplicate in the same batch, and of an update that is queued or was acknowledged", function* () {
    strictEqual(yield* enqueue([update("one"), update("two"), update("one")]), 2)
    strictEqual(yield* enqueue([update("two"), update("three")]), 1)
    deepStrictEqual(yield* drain(), ["one", "two", "three"])
    strictEqual(yield* enqueue([update("one")]), 0)
    deepStrictEqual(yield* drain(), [])
  }),

  test("adds an update again after the deduplication window, which begins a new window", function* () {
    yield* enqueue([update("one")])
    strictEqual(yield* enqueue([update("one")], { now: now + day }), 0)
    strictEqual(yield* enqueue([update("one")], { now: now + day + 1 }), 1)
    strictEqual(yield* enqueue([update("one")], { now: now + 2 * day }), 0)
    deepStrictEqual(yield* drain(), ["one", "one"])
  }),

  test("adds duplicates without a deduplication window", function* () {
    const duplicatesSince = Number.MAX_SAFE_INTEGER
    strictEqual(yield* enqueue([update("one"), update("one")], { duplicatesSince }), 2)
    strictEqual(yield* enqueue([update("one")], { duplicatesSince }), 1)
    deepStrictEqual(yield* drain(), ["one", "one", "one"])
  }),

  test("stores dead letters of a batch, and leaves out their duplicates", function* () {
    const malformed = malformedUpdate("broken", "not { json", "is no JSON")
    strictEqual(yield* enqueue([update("one")], { deadLetters: [malformed, malformed] }), 2)
    strictEqual(yield* enqueue([], { deadLetters: [malformed] }), 0)
    const [{ update: kept, error, attempts, failedAt }, ...others] = yield* listDeadLetters()
    deepStrictEqual(others, [])
    deepStrictEqual([kept.text, error, attempts, failedAt], ["not { json", "is no JSON", 0, now])
    deepStrictEqual(yield* stats, { queued: 1, oldestReceivedAt: now, deadLetters: 1 })
    deepStrictEqual(yield* drain(), ["one"])
  }),

  test("stores nothing of a batch that fails", function* () {
    const broken = {
      ...update("broken"),
      get text(): string {
        throw new Error("no text")
      }
    }
    const batch = enqueue([update("one"), broken, update("two")], { rows: [put("marker", "1")] })
    const exit = yield* Effect.exit(batch)
    if (exit._tag === "Success") return
    deepStrictEqual(yield* stats, { queued: 0, oldestReceivedAt: undefined, deadLetters: 0 })
    deepStrictEqual(yield* read("marker"), [undefined])
    strictEqual(yield* enqueue([update("one"), update("two")]), 2)
  }),

  test("stores concurrent batches once and completely", function* () {
    const batches = Array.from({ length: 50 }, (_, index) => [
      update(`own:${index}`, { key: `${index % 7}` }),
      update(`shared:${index % 10}`, { key: `${index % 7}` })
    ])
    const counts = yield* Effect.forEach(batches, (updates) => enqueue(updates), { concurrency: "unbounded" })
    strictEqual(
      counts.reduce((sum, count) => sum + count, 0),
      60
    )
    strictEqual((yield* stats).queued, 60)
    strictEqual(new Set(yield* drain()).size, 60)
  }),

  test("stores a batch with thousands of partitions", function* () {
    const names = Array.from({ length: 3000 }, (_, index) => String(index))
    strictEqual(yield* enqueue(names.map((name) => update(name, { key: `key ${name}` }))), 3000)
    deepStrictEqual(yield* drain(), names)
  }),

  test("keeps updates in the order of their batches", function* () {
    yield* Effect.forEach([0, 1, 2], (part) => enqueue(updatesOf("chat", 30).slice(part * 10, part * 10 + 10)))
    deepStrictEqual(yield* drain(), namesOf("chat", 30))
  })
]
