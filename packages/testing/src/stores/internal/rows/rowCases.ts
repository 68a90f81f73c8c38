import { InboxStore, type Partition } from "@colloquy/core/inbox/InboxStore"
import * as Effect from "effect/Effect"
import { deepStrictEqual, notStrictEqual, strictEqual } from "node:assert"
import { claim, claimChat, commit, enqueue, stats } from "../inbox/operations.ts"
import { change, now, updatesOf } from "../inbox/updates.ts"
import { keysIn, pages, put, read, revisionOf, texts, write } from "./operations.ts"
import { test } from "../test.ts"

const done = ({ updates }: Partition) => updates.map(({ id }) => ({ id }))

export const rowCases = [
  test("returns rows by their keys, with the revision of the last write", function* () {
    const text = JSON.stringify({ text: '"\\\u0000 \n é 🙂' })
    const key = "a/'\"\\%_ é 🙂"
    deepStrictEqual(yield* read(key, "b"), [undefined, undefined])
    const first = put(key, text, { expiresAt: now })
    strictEqual(yield* write(first, put("c", "2")), "applied")
    const [stored, nothing, other] = yield* read(key, "b", "c")
    deepStrictEqual([stored?.key, stored?.text, stored?.expiresAt], [key, text, now])
    strictEqual(stored?.revision, first.revision)
    strictEqual(nothing, undefined)
    deepStrictEqual([other?.text, other?.expiresAt, other?.dueAt], ["2", undefined, undefined])
    const second = put(key, text)
    strictEqual(yield* write(second), "applied")
    const [again] = yield* read(key)
    deepStrictEqual([again?.revision, again?.expiresAt], [second.revision, undefined])
    strictEqual(yield* write(put(key, undefined), put("none", undefined)), "applied")
    deepStrictEqual(yield* read(key), [undefined])
    deepStrictEqual(yield* read(), [])
  }),

  test("writes all rows, or none if a condition does not hold", function* () {
    yield* write(put("a", "1"), put("b", "1"))
    const [a, b] = [yield* revisionOf("a"), yield* revisionOf("b")]
    strictEqual(yield* write(put("a", "2", { expected: a }), put("b", "2", { expected: "another" })), "conflict")
    strictEqual(yield* write(put("a", "2", { expected: a }), put("b", "2", { expected: null })), "conflict")
    strictEqual(yield* write(put("a", "2", { expected: a }), put("c", "2", { expected: "another" })), "conflict")
    strictEqual(yield* write(put("a", "2"), put("b", undefined, { expected: null })), "conflict")
    deepStrictEqual(yield* texts("a", "b", "c"), ["1", "1", undefined])
    const deleted = put("b", undefined, { expected: b })
    strictEqual(yield* write(put("a", "2", { expected: a }), deleted, put("c", "2", { expected: null })), "applied")
    deepStrictEqual(yield* texts("a", "b", "c"), ["2", undefined, "2"])
    strictEqual(yield* write(put("b", "3", { expected: b })), "conflict")
    strictEqual(yield* write(put("a", undefined, { expected: a })), "conflict")
    strictEqual(yield* write(put("b", undefined, { expected: null })), "applied")
    yield* write(put("b", "1", { expected: null }))
    notStrictEqual(yield* revisionOf("b"), b)
  }),

  test("leaves out rows whose condition does not hold, if a write says so", function* () {
    yield* write(put("a", "1"), put("b", "1"))
    const otherwise = "skip"
    const skipped = [
      put("a", "2", { expected: "another", otherwise }),
      put("b", undefined, { expected: null, otherwise }),
      put("c", "2", { expected: "another", otherwise })
    ]
    strictEqual(yield* write(...skipped, put("d", "2", { expected: null, otherwise })), "applied")
    deepStrictEqual(yield* texts("a", "b", "c", "d"), ["1", "1", undefined, "2"])
    strictEqual(
      yield* write(put("d", "3", { expected: null, otherwise }), put("a", "3", { expected: null })),
      "conflict"
    )
    strictEqual(yield* write(put("a", "4", { expected: yield* revisionOf("a"), otherwise })), "applied")
    deepStrictEqual(yield* texts("a", "d"), ["4", "2"])
  }),

  test("applies several writes one after the other, and returns a result for each of them", function* () {
    const store = yield* InboxStore
    const first = put("a", "1", { expected: null })
    const second = put("a", "2", { expected: first.revision })
    const conflict = [put("a", "3", { expected: first.revision }), put("b", "3")]
    const writes = [[first], [second], conflict, [put("a", "4", { expected: second.revision }), put("c", "4")]]
    deepStrictEqual(yield* store.write(writes.map((rows) => ({ rows }))), ["applied", "applied", "conflict", "applied"])
    deepStrictEqual(yield* texts("a", "b", "c"), ["4", undefined, "4"])
    deepStrictEqual(yield* store.write([]), [])
  }),

  test("lets one of many concurrent writes win", function* () {
    yield* write(put("a", "0"))
    for (let round = 0; round < 5; round++) {
      const expected = round === 0 ? null : yield* revisionOf("a")
      if (expected === null) yield* write(put("a", undefined))
      const results = yield* Effect.forEach([1, 2, 3, 4], (value) => write(put("a", `${value}`, { expected })), {
        concurrency: "unbounded"
      })
      deepStrictEqual(results.toSorted(), ["applied", "conflict", "conflict", "conflict"])
    }
  }),

  test("stores the rows of a batch, also without updates", function* () {
    strictEqual(yield* enqueue([], { rows: [put("marker/a", "1")] }), 0)
    strictEqual(yield* enqueue(updatesOf("chat", 1), { rows: [put("marker/a", "2"), put("marker/é", "3")] }), 1)
    deepStrictEqual(yield* texts("marker/a", "marker/é"), ["2", "3"])
    strictEqual(yield* enqueue(updatesOf("chat", 1), { rows: [put("marker/a", "4")] }), 0)
    deepStrictEqual(yield* texts("marker/a"), ["4"])
  }),

  test("writes the rows of a commit with its acknowledgements, once if the commit is repeated", function* () {
    const { updates } = yield* claimChat(3)
    const [first, second, third] = updates.map(({ id }) => ({ id }))
    yield* write(put("b", "1"))
    const rows = [put("a", "1", { expected: null }), put("b", "2", { expected: yield* revisionOf("b") })]
    const repeated = change("one", "chat", { completed: [first], rows })
    const next = change("one", "chat", { completed: [second], rows: [put("c", "1")] })
    deepStrictEqual(yield* commit(repeated, next), ["applied", "applied"])
    deepStrictEqual(yield* texts("a", "b", "c"), ["1", "2", "1"])
    yield* write(put("a", undefined))
    deepStrictEqual(yield* commit(repeated), ["applied"])
    deepStrictEqual(yield* commit({ ...repeated, completed: [first, third] }), ["applied"])
    deepStrictEqual(yield* texts("a", "b"), [undefined, "2"])
    strictEqual((yield* stats).queued, 0)
  }),

  test("applies nothing of a commit with a conflict, and all of the others", function* () {
    yield* enqueue(["a", "b", "c"].flatMap((key) => updatesOf(key, 1)))
    const [a, b, c] = yield* claim("one")
    yield* write(put("user", "1"))
    const expected = yield* revisionOf("user")
    const changeOf = (partition: Partition, ...rows: ReadonlyArray<ReturnType<typeof put>>) =>
      change("one", partition.key, { completed: done(partition), rows, release: true })
    deepStrictEqual(
      yield* commit(
        changeOf(a, put("chat", "2"), put("user", "2", { expected: null })),
        changeOf(b, put("bot", "2"), put("user", "3", { expected })),
        changeOf(c, put("user", "4", { expected }))
      ),
      ["conflict", "applied", "conflict"]
    )
    deepStrictEqual(yield* texts("chat", "user", "bot"), [undefined, "3", "2"])
    strictEqual((yield* stats).queued, 2)
    deepStrictEqual(yield* claim("two"), [])
    const again = put("user", "5", { expected: yield* revisionOf("user") })
    const skipped = put("bot", "5", { expected, otherwise: "skip" })
    deepStrictEqual(yield* commit(changeOf(a, again, skipped)), ["applied"])
    deepStrictEqual(yield* texts("user", "bot"), ["5", "2"])
    strictEqual((yield* stats).queued, 1)
  }),

  test("returns the rows with a prefix by pages", function* () {
    const scopes = ["bot", "chat:-1", "chat:1", "chat:10", "chat:1/user:2", "chat:2", "user:1", "é%_🙂"]
    const keys = scopes.map((scope) => `state/a_%\\c/${scope}`)
    yield* write(...keys.map((key) => put(key, JSON.stringify(key), { expiresAt: now })))
    yield* write(
      ...["state/aBCDc/", "state/A_%\\c/", "state/a_%\\c", "state/a_%\\d/"].map((key) => put(`${key}bot`, "0"))
    )
    const found = yield* pages("state/a_%\\c/", "key", 3)
    for (const { expiresAt, key, revision, text } of found) {
      deepStrictEqual([text, expiresAt], [JSON.stringify(key), now])
      strictEqual(revision, yield* revisionOf(key))
    }
    const foundKeys = found.map(({ key }) => key)
    deepStrictEqual(foundKeys.toSorted(), keys.toSorted())
    deepStrictEqual(yield* keysIn("state/a_%\\c/", "key", 100), foundKeys)
    strictEqual((yield* pages("", "key", 100)).length, keys.length + 4)
  }),

  test("returns the keys that differ in ASCII characters in the order of these characters", function* () {
    const ends = ["-", "0", "0/🙂", "00", "05", "1", "9", "A/é", "a", "a0/🙂", "af/a", "b", `f/${"x".repeat(900)}`, "~"]
    const keys = ends.map((end) => `order%é/${end}`)
    yield* write(...keys.toReversed().map((key) => put(key, "")))
    deepStrictEqual(yield* keysIn("order%é/", "key", 5), keys)
  }),

  test("forgets the rows of a user with a prefix", function* () {
    const users = ["user:2", "user:2", "user:22", undefined]
    const rowsOf = (prefix: string) => users.map((user, index) => put(`${prefix}${index}`, "1", { user }))
    yield* write(...rowsOf("a_/"), ...rowsOf("b/"), put("aa/", "1", { user: "user:2" }))
    yield* write(put("a_/1", "2", { user: "user:22" }), put("a_/4", "2", { user: "user:2" }))
    const store = yield* InboxStore
    strictEqual(yield* store.forget({ user: "user:2", prefix: "a_/" }), 2)
    strictEqual(yield* store.forget({ user: "user:2", prefix: "a_/" }), 0)
    deepStrictEqual(yield* texts("a_/0", "a_/1", "a_/2", "a_/3", "a_/4"), [undefined, "2", "1", "1", undefined])
    deepStrictEqual(yield* texts("b/0", "b/1", "b/2", "b/3", "aa/"), ["1", "1", "1", "1", "1"])
  }),

  test("returns expired rows until they are cleaned up", function* () {
    yield* write(put("a", "1", { expiresAt: now - 1 }), put("b", "1", { expiresAt: now }), put("c", "1"))
    yield* write(put("d", "1", { expiresAt: now - 1 }))
    yield* write(put("d", "2"))
    deepStrictEqual(yield* texts("a", "b", "c"), ["1", "1", "1"])
    yield* InboxStore.use(({ cleanup }) => cleanup({ fingerprintsBefore: 0, deadLettersBefore: 0, rowsBefore: now }))
    deepStrictEqual(yield* texts("a", "b", "c", "d"), [undefined, "1", "1", "2"])
  })
]
