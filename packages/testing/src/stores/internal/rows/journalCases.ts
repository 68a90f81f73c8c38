import { InboxStore, type RowWrite } from "@colloquy/core/inbox/InboxStore"
import type { StoreError } from "@colloquy/core/base/StoreError"
import * as Effect from "effect/Effect"
import { deepStrictEqual, strictEqual } from "node:assert"
import { drop, failAll, listDeadLetters, replay } from "../inbox/deadLetters.ts"
import { claim, claimChat, commit, enqueue, release } from "../inbox/operations.ts"
import { change, now, updatesOf } from "../inbox/updates.ts"
import { pages, put, read, texts, write } from "./operations.ts"
import { test } from "../test.ts"

const record = (owner: string, partitionKey: string, id: string, ...rows: ReadonlyArray<RowWrite>) =>
  InboxStore.use((store) => store.write([{ rows, journal: { owner, partitionKey, id } }]))

/** The journals of the claimed updates, with their texts by key. */
const claimJournals = (owner: string): Effect.Effect<unknown, StoreError, InboxStore> =>
  Effect.map(claim(owner), (partitions) =>
    partitions.flatMap(({ updates }) =>
      updates.map(({ journal }) => journal && Object.fromEntries(journal.map(({ key, text }) => [key, text])))
    )
  )

export const journalCases = [
  test("returns the journal of an update to the next claim", function* () {
    const { updates } = yield* claimChat(2, { begin: 1 })
    const text = JSON.stringify({ text: '"\\\u0000 \n é 🙂', id: "9007199254740993" })
    const { id } = updates[0]
    const [a, b, c] = [put("a", "0"), put("b é", text), put("c", "0")]
    deepStrictEqual(yield* record("one", "chat", id, a, b, c), ["applied"])
    const changes = [put("a", text), put("c", undefined), put("d", undefined)]
    deepStrictEqual(yield* record("one", "chat", id, ...changes), ["applied"])
    yield* commit(change("one", "chat", { failed: [id], release: true }))
    const [{ updates: again }] = yield* claim("two")
    deepStrictEqual(again[0].journal?.find(({ key }) => key === "b é")?.revision, b.revision)
    yield* release("two")
    deepStrictEqual(yield* claimJournals("three"), [{ a: text, "b é": text }, undefined])
  }),

  test("returns the journal of an update whose process died, and of one that was released while its attempt ran", function* () {
    yield* enqueue([...updatesOf("dead", 1), ...updatesOf("released", 1)])
    for (const { key, updates } of yield* claim("one", { begin: 1, leaseDuration: 0, maxPartitions: 1 })) {
      yield* record("one", key, updates[0].id, put("a", "1"))
    }
    for (const { key, updates } of yield* claim("two", { begin: 1, maxPartitions: 1 })) {
      strictEqual(updates[0].journal?.map(({ text }) => text).join(), "1")
      yield* record("two", key, updates[0].id, put("a", "2"))
      yield* release("two")
    }
    deepStrictEqual(yield* claimJournals("three"), [{ a: "2" }, undefined])
  }),

  test("keeps the rows of each journal apart from all other rows", function* () {
    const { updates } = yield* claimChat(2)
    yield* write(put("a", "0"))
    yield* record("one", "chat", updates[0].id, put("a", "1", { expected: null }))
    yield* record("one", "chat", updates[1].id, put("a", "2", { expected: null }), put("b", "2"))
    deepStrictEqual(yield* read("b"), [undefined])
    deepStrictEqual(yield* texts("a"), ["0"])
    const [row, ...others] = yield* pages("", "key", 10)
    deepStrictEqual([row?.text, others], ["0", []])
    yield* write(put("a", undefined))
    yield* release("one")
    deepStrictEqual(yield* claimJournals("two"), [{ a: "1" }, { a: "2", b: "2" }])
  }),

  test("writes nothing for an owner that has lost the partition, or for an update that is not queued", function* () {
    yield* enqueue([...updatesOf("chat", 2), ...updatesOf("other", 1)])
    const [{ updates }, other] = yield* claim("one", { leaseDuration: 0 })
    const [first, second] = updates
    yield* claim("two")
    deepStrictEqual(yield* record("one", "chat", first.id, put("a", "1")), ["leaseLost"])
    yield* commit(change("two", "chat", { completed: [{ id: first.id }] }))
    deepStrictEqual(yield* record("two", "chat", first.id, put("a", "1")), ["leaseLost"])
    deepStrictEqual(yield* record("two", "chat", other.updates[0].id, put("a", "1")), ["leaseLost"])
    deepStrictEqual(yield* record("two", "chat", second.id, put("a", "1")), ["applied"])
    yield* release("two")
    deepStrictEqual(yield* claimJournals("three"), [{ a: "1" }, undefined])
  }),

  test("returns a result for each write of a journal", function* () {
    yield* enqueue([...updatesOf("chat", 1), ...updatesOf("other", 1)])
    const [chat, other] = yield* claim("one")
    const ofChat = { owner: "one", partitionKey: "chat", id: chat.updates[0].id }
    const writes = [
      { rows: [put("a", "1")], journal: ofChat },
      { rows: [put("a", "2")], journal: { ...ofChat, owner: "two" } },
      { rows: [put("b", "1")], journal: { owner: "one", partitionKey: "other", id: other.updates[0].id } },
      { rows: [put("c", "1"), put("a", "2", { expected: null })], journal: ofChat },
      { rows: [put("a", "3"), put("d", "3", { expected: "another", otherwise: "skip" as const })], journal: ofChat },
      { rows: [put("e", "1")] }
    ]
    const results = yield* InboxStore.use((store) => store.write(writes))
    deepStrictEqual(results, ["applied", "leaseLost", "applied", "conflict", "applied", "applied"])
    yield* release("one")
    deepStrictEqual(yield* claimJournals("two"), [{ a: "3" }, { b: "1" }])
    deepStrictEqual(yield* texts("e"), ["1"])
  }),

  test("deletes the journal of an acknowledged update, and keeps that of a dead letter until it is replayed", function* () {
    yield* enqueue([...updatesOf("chat", 1), ...updatesOf("failing", 1)])
    const [chat, failing] = yield* claim("one")
    yield* record("one", "chat", chat.updates[0].id, put("a", "1"))
    yield* record("one", "failing", failing.updates[0].id, put("b", "1"))
    yield* commit(change("one", "chat", { completed: [{ id: chat.updates[0].id }], release: true }))
    yield* failAll("one", failing, "broken")
    const [{ id }] = yield* listDeadLetters()
    yield* enqueue(updatesOf("failing", 2).slice(1))
    yield* replay(id)
    deepStrictEqual(yield* claimJournals("two"), [undefined, { b: "1" }])
  }),

  test("keeps the journal of a dead letter that is acknowledged afterwards", function* () {
    const { key, updates } = yield* claimChat(2)
    const [first, second] = updates
    yield* record("one", key, first.id, put("a", "1"))
    yield* failAll("one", { key, updates: [first] }, "broken")
    yield* enqueue(updatesOf("chat", 3).slice(2))
    yield* claim("two")
    yield* commit(change("two", key, { completed: [{ id: first.id }, { id: second.id }], release: true }))
    yield* replay(first.id)
    deepStrictEqual(yield* claimJournals("three"), [undefined, { a: "1" }])
  }),

  test("forgets the journal of a dead letter that was dropped or is too old", function* () {
    const { key, updates } = yield* claimChat(2)
    for (const { id } of updates) yield* record("one", key, id, put("a", "1"))
    yield* failAll("one", { key, updates }, "broken")
    yield* drop(updates[0].id)
    yield* InboxStore.use(({ cleanup }) =>
      cleanup({ fingerprintsBefore: 0, deadLettersBefore: now + 1, rowsBefore: 0 })
    )
    deepStrictEqual(yield* listDeadLetters(), [])
    yield* enqueue(updatesOf("new", 1))
    deepStrictEqual(yield* claimJournals("two"), [undefined])
  })
]
