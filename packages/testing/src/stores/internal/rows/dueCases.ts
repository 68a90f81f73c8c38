import { type Due, InboxStore, type RowWrite } from "@colloquy/core/inbox/InboxStore"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { deepStrictEqual, ok, strictEqual } from "node:assert"
import { listDeadLetters, replay } from "../inbox/deadLetters.ts"
import { acknowledgeAll, claim, claimChat, commit, enqueue, stats } from "../inbox/operations.ts"
import { change, lease, update, updatesOf } from "../inbox/updates.ts"
import { keysIn, pages, put, read, revisionOf, texts, write } from "./operations.ts"
import { test } from "../test.ts"

const untilNext = InboxStore.use((store) => store.untilNext)

const hour = 3_600_000

// A test clock begins at 0.
const past = { at: -9 }

/** Returns a write of a row that is due. */
const set = (
  key: string,
  time: Due["time"],
  { partitionKey = "chat", ...options }: Parameters<typeof put>[2] & { readonly partitionKey?: string } = {}
): RowWrite => put(key, JSON.stringify(`${key} "\\ é 🙂`), { ...options, due: { time, partitionKey } })

/** Claims with due rows, and returns the texts of the updates. */
const claimDue = (owner: string, maxDue = 10) =>
  Effect.map(claim(owner, { maxDue }), (partitions) =>
    partitions.map(({ updates }) => updates.map(({ update }) => update.text.split('"')[1]?.trim().replace(" \\", "")))
  )

/** The keys of the rows with a due time, the earliest first. */
const dueKeys = keysIn("", "due", 10)

/** Claims the update of the only row that is due. */
const claimOne = Effect.map(claim("one", { maxDue: 10 }), ([{ updates }]) => updates.at(-1)!)

const acknowledge = (id: string, ...rows: ReadonlyArray<RowWrite>) =>
  commit(change("one", "chat", { completed: [{ id }], rows, release: true }))

export const dueCases = [
  test("appends rows that are due to their partitions as updates, the earliest first, and keeps the rows", function* () {
    yield* enqueue(updatesOf("chat", 1))
    const first = set("first", past, { user: "user:1" })
    yield* write(set("second", { at: -8 }), first, set("other", { at: -7 }, { partitionKey: "new é" }))
    const [chat, other] = yield* claim("one", { maxDue: 10 })
    deepStrictEqual([chat.key, other.key], ["chat", "new é"])
    deepStrictEqual(
      chat.updates.map(({ attempts, crashes, update }) =>
        [attempts, crashes, update.text, update.receivedAt].slice(0, 3)
      ),
      [[0, 0, updatesOf("chat", 1)[0].text], ...["first", "second"].map((key) => [0, 0, set(key, past).row?.text])]
    )
    const { fingerprint, partitionKey, receivedAt } = chat.updates[1].update
    deepStrictEqual([fingerprint, partitionKey, receivedAt], [first.revision, "chat", -9])
    const [row] = yield* read("first")
    deepStrictEqual([row?.text, row?.revision, row?.dueAt], [first.row?.text, first.revision, undefined])
    yield* acknowledgeAll("one", [chat, other])
    deepStrictEqual(yield* claim("one", { maxDue: 10 }), [])
    deepStrictEqual(yield* dueKeys, [])
    strictEqual(yield* InboxStore.use((store) => store.forget({ user: "user:1", prefix: "" })), 1)
  }),

  test("makes no more rows updates than a claim asks for", function* () {
    yield* write(...[1, 2, 3].map((at) => set(`${at}`, { at: at - 9 }, { partitionKey: `${at}` })))
    deepStrictEqual(yield* claim("one"), [])
    strictEqual((yield* claim("one", { maxDue: 2 })).length, 2)
    const [{ key }, ...others] = yield* claim("one", { maxDue: 2 })
    deepStrictEqual([key, others], ["3", []])
  }),

  test("keeps the update of a row whose partition another consumer holds", function* () {
    const claimed = yield* claimChat(1)
    yield* write(set("late", past))
    deepStrictEqual(yield* claim("two", { maxDue: 10 }), [])
    strictEqual((yield* stats).queued, 2)
    yield* acknowledgeAll("one", [claimed])
    strictEqual((yield* claim("two")).length, 1)
  }),

  test("tells in how many milliseconds a row is due, or a partition can be claimed", function* () {
    const isNear = (millis: number | undefined, expected: number) =>
      ok(millis !== undefined && Math.abs(millis - expected) <= 60_000, `${millis} instead of ${expected}`)
    strictEqual(yield* untilNext, undefined)
    yield* enqueue([update("first")])
    strictEqual(yield* untilNext, 0)
    const claimed = yield* claim("one")
    isNear(yield* untilNext, lease)
    yield* enqueue([update("other", { key: "other" })])
    strictEqual(yield* untilNext, 0)
    yield* acknowledgeAll("one", claimed)
    yield* acknowledgeAll("two", yield* claim("two"))
    strictEqual(yield* untilNext, undefined)
    yield* write(set("later", { after: 2 * hour }), set("soon", { at: (yield* Clock.currentTimeMillis) + hour }))
    isNear(yield* untilNext, hour)
    yield* write(put("soon", undefined))
    isNear(yield* untilNext, 2 * hour)
    yield* write(set("due", past))
    strictEqual(yield* untilNext, 0)
    yield* acknowledgeAll("one", yield* claim("one", { maxDue: 10 }))
    yield* write(put("later", "not due"))
    strictEqual(yield* untilNext, undefined)
    yield* enqueue([update("second")])
    yield* claim("three", { leaseDuration: 0 })
    strictEqual(yield* untilNext, 0)
    yield* acknowledgeAll("four", yield* claim("four"))
    strictEqual(yield* untilNext, undefined)
  }),

  test("makes no row an update that was deleted or written again", function* () {
    yield* write(set("moved", past), set("deleted", past), set("not due", past), set("kept", past))
    yield* write(set("moved", { after: hour }), put("deleted", undefined), put("not due", "text"))
    deepStrictEqual(yield* claimDue("one"), [["kept"]])
    yield* write(set("moved", past, { partitionKey: "other" }))
    deepStrictEqual(yield* claimDue("one"), [["moved"]])
    deepStrictEqual(yield* dueKeys, [])
  }),

  test("writes the due rows of a commit with its acknowledgements, once if the commit is repeated", function* () {
    yield* write(set("cancelled", past, { partitionKey: "other" }))
    const { updates } = yield* claimChat(2)
    const rows = [set("now", { after: 0 }), set("later", { after: hour }), put("cancelled", undefined)]
    const repeated = change("one", "chat", { completed: [{ id: updates[0].id }], rows })
    deepStrictEqual(yield* commit(repeated), ["applied"])
    deepStrictEqual(yield* claim("two", { maxDue: 10 }), [])
    deepStrictEqual(yield* commit(repeated), ["applied"])
    deepStrictEqual(yield* dueKeys, ["later"])
    yield* commit(change("one", "chat", { completed: [{ id: updates[1].id }], release: true }))
    deepStrictEqual(yield* claimDue("two"), [["now"]])
    const failing = [set("a", past), put("now", "2", { expected: "another" })]
    deepStrictEqual(yield* commit(change("two", "chat", { rows: failing })), ["conflict"])
    deepStrictEqual(yield* texts("a"), [undefined])
  }),

  test("writes the next turn of a row with the end of its update, unless the row was deleted or written again", function* () {
    const next = (key: string, expected: string) => set(key, past, { expected, otherwise: "skip" })
    yield* write(set("goes on", past))
    const first = yield* claimOne
    yield* acknowledge(first.id, next("goes on", first.update.fingerprint))
    const second = yield* claimOne
    ok(second.update.fingerprint !== first.update.fingerprint)
    strictEqual(yield* revisionOf("goes on"), second.update.fingerprint)
    yield* write(put("goes on", undefined))
    deepStrictEqual(yield* acknowledge(second.id, next("goes on", second.update.fingerprint)), ["applied"])
    yield* write(set("moved", past))
    const third = yield* claimOne
    yield* write(set("moved", { after: hour }))
    deepStrictEqual(yield* acknowledge(third.id, next("moved", third.update.fingerprint)), ["applied"])
    deepStrictEqual(yield* dueKeys, ["moved"])
    deepStrictEqual(yield* claim("one", { maxDue: 10 }), [])
  }),

  test("replays the update of a row with its fingerprint", function* () {
    yield* write(set("dead", past))
    const { id, update } = yield* claimOne
    const failure = { error: "failed", attempts: 1, failedAt: 1 }
    yield* commit(change("one", "chat", { completed: [{ id, failure }], release: true }))
    const [{ id: dead }] = yield* listDeadLetters()
    strictEqual(yield* replay(dead), 1)
    strictEqual((yield* claimOne).update.fingerprint, update.fingerprint)
    strictEqual(yield* revisionOf("dead"), update.fingerprint)
  }),

  test("returns due rows by pages, the next one that is due first", function* () {
    const keys = Array.from({ length: 12 }, (_, index) => `a_/${index}`)
    const dueAt = (index: number) => hour * (index < 3 ? 2 : index)
    yield* write(...keys.map((key, index) => set(key, { at: dueAt(index) })))
    yield* write(put("a_/5", undefined), put("a_/6", "not due"), set("a_/0", { at: 20 * hour }), set("ab/1", past))
    const found = yield* pages("a_/", "due", 2)
    deepStrictEqual(
      found.map(({ dueAt }) => dueAt),
      [2, 2, 3, 4, 7, 8, 9, 10, 11, 20].map((hours) => hours * hour)
    )
    deepStrictEqual(
      found.map(({ key }) => key).toSorted(),
      [0, 1, 2, 3, 4, 7, 8, 9, 10, 11].map((n) => `a_/${n}`).toSorted()
    )
    deepStrictEqual(
      found.map(({ text }) => text),
      found.map(({ key }) => set(key, past).row?.text)
    )
  }),

  test("forgets the due rows of a user, and the rows that are updates already", function* () {
    const ofUser = { user: "user:2" }
    yield* write(set("queued", past, ofUser))
    yield* claimOne
    yield* write(set("set", past, ofUser), set("nobody's", { after: hour }))
    yield* write(set("taken over", { after: hour }, ofUser))
    yield* write(set("taken over", { after: hour }, { user: "user:22" }))
    strictEqual(yield* InboxStore.use((store) => store.forget({ user: "user:2", prefix: "" })), 2)
    deepStrictEqual(yield* texts("queued", "set"), [undefined, undefined])
    deepStrictEqual((yield* dueKeys).toSorted(), ["nobody's", "taken over"])
    strictEqual((yield* stats).queued, 1)
    deepStrictEqual(yield* claim("two", { maxDue: 10 }), [])
  })
]
