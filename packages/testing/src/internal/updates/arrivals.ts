import { InboxStore } from "@colloquy/core/InboxStore"
import * as Effect from "effect/Effect"
import { deepStrictEqual, strictEqual } from "node:assert"
import {
  type Case,
  claim,
  day,
  dead,
  finish,
  update,
  updatesOf,
  now,
  put,
  stats,
  takeAll,
  test,
  unreadable
} from "./support.ts"

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

export const arrivals: ReadonlyArray<Case> = [
  test("what is put can be claimed, with all it had", function* () {
    const text = '{ "kept" : "as it came", "id": 9007199254740993 }'
    strictEqual(yield* put([update("one", { key: "42", receivedAt: now - 5, text })]), 1)
    const [partition, ...others] = yield* claim("a")
    deepStrictEqual(others, [])
    strictEqual(partition.key, "42")
    strictEqual(partition.updates.length, 1)
    const { fingerprint, partitionKey: key, receivedAt, text: kept } = partition.updates[0].update
    deepStrictEqual(
      { fingerprint, key, receivedAt, kept },
      { fingerprint: "one", key: "42", receivedAt: now - 5, kept: text }
    )
  }),

  test("any text is kept as it is, as text, as key and as fingerprint", function* () {
    const updates = strange.map((text) => update(`of ${text}`, { key: text, text }))
    strictEqual(yield* put(updates), strange.length)
    strictEqual(yield* put(updates), 0)
    const partitions = yield* claim("a")
    deepStrictEqual(
      partitions.map(({ key, updates }) => [key, updates[0].update.fingerprint, updates[0].update.text]),
      strange.map((text) => [text, `of ${text}`, text])
    )
    yield* finish("a", partitions)
    strictEqual((yield* stats).queued, 0)
  }),

  test("a text of a megabyte is kept", function* () {
    const text = JSON.stringify({ text: 'ё🙂"\\'.repeat(120_000) })
    yield* put([update("big", { text })])
    const [partition] = yield* claim("a")
    strictEqual(partition.updates[0].update.text === text, true)
  }),

  test("keys and fingerprints may be long, and differ at their end", function* () {
    const long = "k".repeat(5000)
    strictEqual(yield* put([update(`${long}1`, { key: `${long}1` }), update(`${long}2`, { key: `${long}2` })]), 2)
    strictEqual(yield* put([update(`${long}1`)]), 0)
    const partitions = yield* claim("a")
    strictEqual(partitions.length, 2)
    yield* finish("a", partitions)
    deepStrictEqual(yield* stats, { queued: 0, oldestReceivedAt: undefined, deadLetters: 0 })
  }),

  test("an batch that repeats itself is stored once", function* () {
    strictEqual(yield* put([update("one"), update("two"), update("one")]), 2)
    deepStrictEqual(yield* takeAll(), ["one", "two"])
  }),

  test("an update that came before is not stored again, whether it waits or was handled", function* () {
    yield* put([update("one"), update("two")])
    strictEqual(yield* put([update("two"), update("three")]), 1)
    deepStrictEqual(yield* takeAll(), ["one", "two", "three"])
    strictEqual(yield* put([update("one")]), 0)
    deepStrictEqual(yield* takeAll(), [])
  }),

  test("after the window it is no duplicate any more, and begins a new window", function* () {
    yield* put([update("one")])
    strictEqual(yield* put([update("one")], { now: now + day }), 0)
    strictEqual(yield* put([update("one")], { now: now + day + 1 }), 1)
    strictEqual(yield* put([update("one")], { now: now + 2 * day }), 0)
    deepStrictEqual(yield* takeAll(), ["one", "one"])
  }),

  test("without a window nothing is a duplicate", function* () {
    const duplicatesSince = Number.MAX_SAFE_INTEGER
    strictEqual(yield* put([update("one"), update("one")], { duplicatesSince }), 2)
    strictEqual(yield* put([update("one")], { duplicatesSince }), 1)
    deepStrictEqual(yield* takeAll(), ["one", "one", "one"])
  }),

  test("what could not be read is dead at once, and recognised too", function* () {
    const broken = unreadable("broken", "not { json", "is no JSON")
    strictEqual(yield* put([update("one")], { deadLetters: [broken, broken] }), 2)
    strictEqual(yield* put([], { deadLetters: [broken] }), 0)
    const [{ update: kept, error, attempts, failedAt }, ...others] = yield* dead()
    deepStrictEqual(others, [])
    deepStrictEqual([kept.text, error, attempts, failedAt], ["not { json", "is no JSON", 0, now])
    deepStrictEqual(yield* stats, { queued: 1, oldestReceivedAt: now, deadLetters: 1 })
    deepStrictEqual(yield* takeAll(), ["one"])
  }),

  test("an batch without updates keeps its marker", function* () {
    strictEqual(yield* put([], { marker: { source: "polling", value: 1n } }), 0)
    strictEqual(yield* InboxStore.use((store) => store.marker("polling")), 1n)
  }),

  test("markers are exact beyond 2^53, one for each source", function* () {
    const marker = (source: string) => InboxStore.use((store) => store.marker(source))
    strictEqual(yield* marker("polling"), undefined)
    yield* put([update("one")], { marker: { source: "polling", value: 2n ** 53n + 1n } })
    yield* put([update("one")], { marker: { source: "другой", value: -(2n ** 63n) } })
    strictEqual(yield* marker("polling"), 2n ** 53n + 1n)
    strictEqual(yield* marker("другой"), -(2n ** 63n))
    yield* put([], { marker: { source: "polling", value: 2n ** 63n - 1n } })
    strictEqual(yield* marker("polling"), 2n ** 63n - 1n)
  }),

  test("an batch that cannot be stored leaves nothing", function* () {
    const broken = {
      ...update("broken"),
      get text(): string {
        throw new Error("no text")
      }
    }
    const batch = put([update("one"), broken, update("two")], { marker: { source: "polling", value: 1n } })
    const exit = yield* Effect.exit(batch)
    if (exit._tag === "Success") return
    deepStrictEqual(yield* stats, { queued: 0, oldestReceivedAt: undefined, deadLetters: 0 })
    strictEqual(yield* InboxStore.use((store) => store.marker("polling")), undefined)
    strictEqual(yield* put([update("one"), update("two")]), 2)
  }),

  test("batches at the same time are each stored once, and as a whole", function* () {
    const batches = Array.from({ length: 50 }, (_, index) => [
      update(`own:${index}`, { key: `${index % 7}` }),
      update(`shared:${index % 10}`, { key: `${index % 7}` })
    ])
    const counts = yield* Effect.forEach(batches, (updates) => put(updates), { concurrency: "unbounded" })
    strictEqual(
      counts.reduce((sum, count) => sum + count, 0),
      60
    )
    strictEqual((yield* stats).queued, 60)
    strictEqual(new Set(yield* takeAll()).size, 60)
  }),

  test("thousands of keys in one batch are all stored", function* () {
    const updates = Array.from({ length: 3000 }, (_, index) => update(`${index}`, { key: `key ${index}` }))
    strictEqual(yield* put(updates), 3000)
    deepStrictEqual(
      yield* takeAll(),
      updates.map(({ fingerprint }) => fingerprint)
    )
  }),

  test("updates keep the order in which they came", function* () {
    yield* Effect.forEach([0, 1, 2], (part) => put(updatesOf("chat", 30).slice(part * 10, part * 10 + 10)))
    deepStrictEqual(
      yield* takeAll(),
      updatesOf("chat", 30).map(({ fingerprint }) => fingerprint)
    )
  })
]
