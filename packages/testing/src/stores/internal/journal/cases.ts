import { InboxStore, type JournalEntry } from "@colloquy/core/inbox/InboxStore"
import type { StoreError } from "@colloquy/core/base/StoreError"
import * as Effect from "effect/Effect"
import { deepStrictEqual } from "node:assert"
import {
  type Case,
  change,
  claim,
  commit,
  enqueue,
  failAll,
  listDeadLetters,
  now,
  release,
  test,
  updatesOf
} from "../inbox/operations.ts"

const started = (slot: string, text = "{}"): JournalEntry => ({ slot, state: "started", text })

const done = (slot: string, text = "{}"): JournalEntry => ({ slot, state: "done", text })

const removed = (slot: string): JournalEntry => ({ slot, state: "removed", text: "" })

const journal = InboxStore.use(({ journal }) => Effect.succeed(journal))

const record = (owner: string, partitionKey: string, id: string, ...entries: ReadonlyArray<JournalEntry>) =>
  Effect.flatMap(journal, ({ record }) => record([{ owner, partitionKey, id, entries }]))

/** The journals of the claimed updates, with their entries by slot. */
const claimJournals = (owner: string): Effect.Effect<unknown, StoreError, InboxStore> =>
  Effect.map(claim(owner), (partitions) =>
    partitions.flatMap(({ updates }) =>
      updates.map(({ journal }) =>
        journal === undefined
          ? undefined
          : journal.map(({ slot, state, text }) => [slot, state, text]).sort(([a], [b]) => (a! < b! ? -1 : 1))
      )
    )
  )

const replay = (id: string) => InboxStore.use((store) => store.replay([id]))

export const journalCases: ReadonlyArray<Case> = [
  test("returns the journal of an update to the next claim", function* () {
    yield* enqueue(updatesOf("chat", 2))
    const [{ updates }] = yield* claim("one", { begin: 1 })
    const text = JSON.stringify({ text: '"\\\u0000 \n é 🙂', id: "9007199254740993" })
    deepStrictEqual(yield* record("one", "chat", updates[0].id, started("a", text), started("b")), ["applied"])
    deepStrictEqual(yield* record("one", "chat", updates[0].id, done("a", text)), ["applied"])
    yield* commit(change("one", "chat", { failed: [updates[0].id], release: true }))
    deepStrictEqual(yield* claimJournals("two"), [
      [
        ["a", "done", text],
        ["b", "started", "{}"]
      ],
      undefined
    ])
  }),

  test("returns the journal of an update whose process died, and of one that was released while its attempt ran", function* () {
    yield* enqueue([...updatesOf("dead", 1), ...updatesOf("released", 1)])
    for (const { key, updates } of yield* claim("one", { begin: 1, leaseDuration: 0, maxPartitions: 1 })) {
      yield* record("one", key, updates[0].id, started("a"))
    }
    for (const { key, updates } of yield* claim("two", { begin: 1, maxPartitions: 1 })) {
      deepStrictEqual(updates[0].journal, [started("a")])
      yield* record("two", key, updates[0].id, done("a"))
      yield* release("two")
    }
    deepStrictEqual(yield* claimJournals("three"), [[["a", "done", "{}"]], undefined])
  }),

  test("deletes an entry, and does not replace an answer by a start", function* () {
    yield* enqueue(updatesOf("chat", 1))
    const [{ updates }] = yield* claim("one")
    const [{ id }] = updates
    yield* record("one", "chat", id, started("a"), done("b", "1"), done("c", "1"))
    yield* record("one", "chat", id, removed("a"), started("b", "2"), done("c", "2"), removed("d"))
    yield* release("one")
    deepStrictEqual(yield* claimJournals("two"), [
      [
        ["b", "done", "1"],
        ["c", "done", "2"]
      ]
    ])
  }),

  test("writes nothing for an owner that has lost the partition, or for an update that is not queued", function* () {
    yield* enqueue([...updatesOf("chat", 2), ...updatesOf("other", 1)])
    const [{ updates }, other] = yield* claim("one", { leaseDuration: 0 })
    const [first, second] = updates
    yield* claim("two")
    deepStrictEqual(yield* record("one", "chat", first.id, done("a")), ["leaseLost"])
    yield* commit(change("two", "chat", { completed: [{ id: first.id }] }))
    deepStrictEqual(yield* record("two", "chat", first.id, done("a")), ["leaseLost"])
    deepStrictEqual(yield* record("two", "chat", other.updates[0].id, done("a")), ["leaseLost"])
    deepStrictEqual(yield* record("two", "chat", second.id, done("a")), ["applied"])
    yield* release("two")
    deepStrictEqual(yield* claimJournals("three"), [[["a", "done", "{}"]], undefined])
  }),

  test("returns a result for each record", function* () {
    yield* enqueue([...updatesOf("chat", 1), ...updatesOf("other", 1)])
    const [chat, other] = yield* claim("one")
    const { record } = yield* journal
    const records = [
      { owner: "one", partitionKey: "chat", id: chat.updates[0].id, entries: [started("a")] },
      { owner: "two", partitionKey: "chat", id: chat.updates[0].id, entries: [done("a")] },
      { owner: "one", partitionKey: "other", id: other.updates[0].id, entries: [done("b")] },
      { owner: "one", partitionKey: "chat", id: chat.updates[0].id, entries: [done("a", "2")] }
    ]
    deepStrictEqual(yield* record(records), ["applied", "leaseLost", "applied", "applied"])
    deepStrictEqual(yield* record([]), [])
    yield* release("one")
    deepStrictEqual(yield* claimJournals("two"), [[["a", "done", "2"]], [["b", "done", "{}"]]])
  }),

  test("deletes the journal of an acknowledged update, and keeps that of a dead letter until it is replayed", function* () {
    yield* enqueue([...updatesOf("chat", 1), ...updatesOf("failing", 1)])
    const [chat, failing] = yield* claim("one")
    yield* record("one", "chat", chat.updates[0].id, done("a"))
    yield* record("one", "failing", failing.updates[0].id, done("b"))
    yield* commit(change("one", "chat", { completed: [{ id: chat.updates[0].id }], release: true }))
    yield* failAll("one", failing, "broken")
    const [{ id }] = yield* listDeadLetters()
    yield* enqueue(updatesOf("failing", 2).slice(1))
    yield* replay(id)
    deepStrictEqual(yield* claimJournals("two"), [undefined, [["b", "done", "{}"]]])
  }),

  test("keeps the journal of a dead letter that is acknowledged afterwards", function* () {
    yield* enqueue(updatesOf("chat", 2))
    const [{ key, updates }] = yield* claim("one")
    const [first, second] = updates
    yield* record("one", key, first.id, done("a"))
    yield* failAll("one", { key, updates: [first] }, "broken")
    yield* enqueue(updatesOf("chat", 3).slice(2))
    yield* claim("two")
    yield* commit(change("two", key, { completed: [{ id: first.id }, { id: second.id }], release: true }))
    yield* replay(first.id)
    deepStrictEqual(yield* claimJournals("three"), [undefined, [["a", "done", "{}"]]])
  }),

  test("forgets the journal of a dead letter that was dropped or is too old", function* () {
    yield* enqueue(updatesOf("chat", 2))
    const [{ key, updates }] = yield* claim("one")
    for (const { id } of updates) yield* record("one", key, id, done("a"))
    yield* failAll("one", { key, updates }, "broken")
    yield* InboxStore.use((store) => store.drop([updates[0].id]))
    yield* InboxStore.use((store) => store.cleanup({ fingerprintsBefore: 0, deadLettersBefore: now + 1 }))
    deepStrictEqual(yield* listDeadLetters(), [])
    yield* enqueue(updatesOf("new", 1))
    deepStrictEqual(yield* claimJournals("two"), [undefined])
  })
]
