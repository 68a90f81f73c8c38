import { InboxStore } from "@colloquy/core/InboxStore"
import * as Effect from "effect/Effect"
import { deepStrictEqual, strictEqual } from "node:assert"
import {
  type Case,
  claim,
  day,
  dead,
  finish,
  letter,
  lettersOf,
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
    strictEqual(yield* put([letter("one", { key: "42", receivedAt: now - 5, text })]), 1)
    const [mailbox, ...others] = yield* claim("a")
    deepStrictEqual(others, [])
    strictEqual(mailbox.key, "42")
    strictEqual(mailbox.letters.length, 1)
    const { fingerprint, key, receivedAt, text: kept } = mailbox.letters[0].letter
    deepStrictEqual(
      { fingerprint, key, receivedAt, kept },
      { fingerprint: "one", key: "42", receivedAt: now - 5, kept: text }
    )
  }),

  test("any text is kept as it is, as text, as key and as fingerprint", function* () {
    const letters = strange.map((text) => letter(`of ${text}`, { key: text, text }))
    strictEqual(yield* put(letters), strange.length)
    strictEqual(yield* put(letters), 0)
    const mailboxes = yield* claim("a")
    deepStrictEqual(
      mailboxes.map(({ key, letters }) => [key, letters[0].letter.fingerprint, letters[0].letter.text]),
      strange.map((text) => [text, `of ${text}`, text])
    )
    yield* finish("a", mailboxes)
    strictEqual((yield* stats).waiting, 0)
  }),

  test("a text of a megabyte is kept", function* () {
    const text = JSON.stringify({ text: 'ё🙂"\\'.repeat(120_000) })
    yield* put([letter("big", { text })])
    const [mailbox] = yield* claim("a")
    strictEqual(mailbox.letters[0].letter.text === text, true)
  }),

  test("keys and fingerprints may be long, and differ at their end", function* () {
    const long = "k".repeat(5000)
    strictEqual(yield* put([letter(`${long}1`, { key: `${long}1` }), letter(`${long}2`, { key: `${long}2` })]), 2)
    strictEqual(yield* put([letter(`${long}1`)]), 0)
    const mailboxes = yield* claim("a")
    strictEqual(mailboxes.length, 2)
    yield* finish("a", mailboxes)
    deepStrictEqual(yield* stats, { waiting: 0, oldest: undefined, dead: 0 })
  }),

  test("an arrival that repeats itself is stored once", function* () {
    strictEqual(yield* put([letter("one"), letter("two"), letter("one")]), 2)
    deepStrictEqual(yield* takeAll(), ["one", "two"])
  }),

  test("a letter that came before is not stored again, whether it waits or was handled", function* () {
    yield* put([letter("one"), letter("two")])
    strictEqual(yield* put([letter("two"), letter("three")]), 1)
    deepStrictEqual(yield* takeAll(), ["one", "two", "three"])
    strictEqual(yield* put([letter("one")]), 0)
    deepStrictEqual(yield* takeAll(), [])
  }),

  test("after the window it is no duplicate any more, and begins a new window", function* () {
    yield* put([letter("one")])
    strictEqual(yield* put([letter("one")], { now: now + day }), 0)
    strictEqual(yield* put([letter("one")], { now: now + day + 1 }), 1)
    strictEqual(yield* put([letter("one")], { now: now + 2 * day }), 0)
    deepStrictEqual(yield* takeAll(), ["one", "one"])
  }),

  test("without a window nothing is a duplicate", function* () {
    const duplicatesSince = Number.MAX_SAFE_INTEGER
    strictEqual(yield* put([letter("one"), letter("one")], { duplicatesSince }), 2)
    strictEqual(yield* put([letter("one")], { duplicatesSince }), 1)
    deepStrictEqual(yield* takeAll(), ["one", "one", "one"])
  }),

  test("what could not be read is dead at once, and recognised too", function* () {
    const broken = unreadable("broken", "not { json", "is no JSON")
    strictEqual(yield* put([letter("one")], { unreadable: [broken, broken] }), 2)
    strictEqual(yield* put([], { unreadable: [broken] }), 0)
    const [{ letter: kept, problem, attempts, diedAt }, ...others] = yield* dead()
    deepStrictEqual(others, [])
    deepStrictEqual([kept.text, problem, attempts, diedAt], ["not { json", "is no JSON", 0, now])
    deepStrictEqual(yield* stats, { waiting: 1, oldest: now, dead: 1 })
    deepStrictEqual(yield* takeAll(), ["one"])
  }),

  test("an arrival without letters keeps its marker", function* () {
    strictEqual(yield* put([], { marker: { source: "polling", value: 1n } }), 0)
    strictEqual(yield* InboxStore.use((store) => store.marker("polling")), 1n)
  }),

  test("markers are exact beyond 2^53, one for each source", function* () {
    const marker = (source: string) => InboxStore.use((store) => store.marker(source))
    strictEqual(yield* marker("polling"), undefined)
    yield* put([letter("one")], { marker: { source: "polling", value: 2n ** 53n + 1n } })
    yield* put([letter("one")], { marker: { source: "другой", value: -(2n ** 63n) } })
    strictEqual(yield* marker("polling"), 2n ** 53n + 1n)
    strictEqual(yield* marker("другой"), -(2n ** 63n))
    yield* put([], { marker: { source: "polling", value: 2n ** 63n - 1n } })
    strictEqual(yield* marker("polling"), 2n ** 63n - 1n)
  }),

  test("an arrival that cannot be stored leaves nothing", function* () {
    const broken = {
      ...letter("broken"),
      get text(): string {
        throw new Error("no text")
      }
    }
    const arrival = put([letter("one"), broken, letter("two")], { marker: { source: "polling", value: 1n } })
    const exit = yield* Effect.exit(arrival)
    if (exit._tag === "Success") return
    deepStrictEqual(yield* stats, { waiting: 0, oldest: undefined, dead: 0 })
    strictEqual(yield* InboxStore.use((store) => store.marker("polling")), undefined)
    strictEqual(yield* put([letter("one"), letter("two")]), 2)
  }),

  test("arrivals at the same time are each stored once, and as a whole", function* () {
    const arrivals = Array.from({ length: 50 }, (_, index) => [
      letter(`own:${index}`, { key: `${index % 7}` }),
      letter(`shared:${index % 10}`, { key: `${index % 7}` })
    ])
    const counts = yield* Effect.forEach(arrivals, (letters) => put(letters), { concurrency: "unbounded" })
    strictEqual(
      counts.reduce((sum, count) => sum + count, 0),
      60
    )
    strictEqual((yield* stats).waiting, 60)
    strictEqual(new Set(yield* takeAll()).size, 60)
  }),

  test("thousands of keys in one arrival are all stored", function* () {
    const letters = Array.from({ length: 3000 }, (_, index) => letter(`${index}`, { key: `key ${index}` }))
    strictEqual(yield* put(letters), 3000)
    deepStrictEqual(
      yield* takeAll(),
      letters.map(({ fingerprint }) => fingerprint)
    )
  }),

  test("letters keep the order in which they came", function* () {
    yield* Effect.forEach([0, 1, 2], (part) => put(lettersOf("chat", 30).slice(part * 10, part * 10 + 10)))
    deepStrictEqual(
      yield* takeAll(),
      lettersOf("chat", 30).map(({ fingerprint }) => fingerprint)
    )
  })
]
