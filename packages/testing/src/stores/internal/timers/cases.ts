import { InboxStore, type StoredTimer, type TimerChange, type TimerSetting } from "@colloquy/core/inbox/InboxStore"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { deepStrictEqual, ok, strictEqual } from "node:assert"
import {
  acknowledgeAll,
  type Case,
  change,
  claim,
  commit,
  enqueue,
  fingerprints,
  stats,
  test,
  updatesOf
} from "../inbox/operations.ts"

const timers = InboxStore.use(({ timers }) => Effect.succeed(timers))

const apply = (...changes: ReadonlyArray<TimerChange>) => Effect.flatMap(timers, ({ change }) => change(changes))

const untilNext = Effect.flatMap(timers, ({ untilNext }) => untilNext)

const hour = 3_600_000

// A test clock begins at 0.
const past = { at: -9 }

const setting = (fingerprint: string, due: TimerSetting["due"], partitionKey = "chat"): TimerSetting => ({
  due,
  partitionKey,
  fingerprint,
  text: JSON.stringify({ fingerprint, text: '"\\ é 🙂' })
})

interface SetOptions {
  readonly partitionKey?: string
  readonly fingerprint?: string
  readonly user?: string
  readonly occurrence?: string
}

const set = (
  key: string,
  due: TimerSetting["due"],
  { partitionKey = "chat", fingerprint = key, user, occurrence }: SetOptions = {}
): TimerChange => ({
  name: "reminder",
  key,
  set: { ...setting(fingerprint, due, partitionKey), user },
  occurrence
})

const cancel = (key: string): TimerChange => ({ name: "reminder", key, set: undefined })

/** Ends the handling of an occurrence that does not recur. */
const end = (key: string, occurrence: string): TimerChange => ({ ...cancel(key), occurrence })

const isCancelled = (occurrence: string) => Effect.flatMap(timers, ({ isCancelled }) => isCancelled(occurrence))

/** Claims the occurrence of the only timer that is due. */
const claimOccurrence = Effect.map(claim("one", { maxTimers: 10 }), ([{ updates }]) => updates.at(-1)!.id)

const acknowledge = (id: string, ...timers: ReadonlyArray<TimerChange>) =>
  commit(change("one", "chat", { completed: [{ id }], timers, release: true }))

const texts = (all: ReadonlyArray<{ readonly text: string }>) =>
  all.map(({ text }) => (JSON.parse(text) as { readonly fingerprint: string }).fingerprint)

export const timerCases: ReadonlyArray<Case> = [
  test("moves timers that are due to the end of their partitions, the earliest first", function* () {
    yield* enqueue(updatesOf("chat", 1))
    yield* apply(set("second", { at: -8 }), set("first", past), set("other", { at: -7 }, { partitionKey: "new" }))
    const [chat, other] = yield* claim("one", { maxTimers: 10 })
    deepStrictEqual(fingerprints([chat, other]), [["chat:0", "first", "second"], ["other"]])
    const [, { attempts, crashes, update }] = chat.updates
    deepStrictEqual([attempts, crashes, update.receivedAt, update.partitionKey], [0, 0, -9, "chat"])
    strictEqual(update.text, setting("first", past).text)
    yield* acknowledgeAll("one", [chat, other])
    deepStrictEqual(yield* claim("one", { maxTimers: 10 }), [])
    strictEqual((yield* stats).queued, 0)
  }),

  test("moves no more timers than a claim asks for", function* () {
    yield* apply(...[1, 2, 3].map((at) => set(`${at}`, { at: at - 9 }, { partitionKey: `${at}` })))
    deepStrictEqual(fingerprints(yield* claim("one")), [])
    deepStrictEqual(fingerprints(yield* claim("one", { maxTimers: 2 })), [["1"], ["2"]])
    deepStrictEqual(fingerprints(yield* claim("one", { maxTimers: 2 })), [["3"]])
  }),

  test("keeps the updates of a partition that another consumer holds", function* () {
    yield* enqueue(updatesOf("chat", 1))
    const claimed = yield* claim("one")
    yield* apply(set("late", past))
    deepStrictEqual(yield* claim("two", { maxTimers: 10 }), [])
    strictEqual((yield* stats).queued, 2)
    yield* acknowledgeAll("one", claimed)
    deepStrictEqual(fingerprints(yield* claim("two")), [["late"]])
  }),

  test("sets the timers of a commit once if the commit is repeated", function* () {
    yield* enqueue(updatesOf("chat", 2))
    const [{ updates }] = yield* claim("one")
    const [first, second] = updates
    const repeated = change("one", "chat", { completed: [{ id: first.id }], timers: [set("due", past)] })
    deepStrictEqual(yield* commit(repeated), ["applied"])
    deepStrictEqual(yield* claim("two", { maxTimers: 10 }), [])
    deepStrictEqual(yield* commit(repeated), ["applied"])
    strictEqual(yield* untilNext, undefined)
    yield* commit(change("one", "chat", { completed: [{ id: second.id }], release: true }))
    deepStrictEqual(fingerprints(yield* claim("two", { maxTimers: 10 })), [["due"]])
  }),

  test("replaces and cancels timers by their name and key", function* () {
    yield* apply(set("moved", past), set("cancelled", past), { ...set("moved", past), name: "another" })
    yield* apply(set("moved", { after: hour }, { fingerprint: "later" }), cancel("cancelled"), cancel("unknown"))
    deepStrictEqual(fingerprints(yield* claim("one", { maxTimers: 10 })), [["moved"]])
    yield* apply(set("moved", past, { fingerprint: "earlier", partitionKey: "other" }))
    deepStrictEqual(fingerprints(yield* claim("one", { maxTimers: 10 })), [["earlier"]])
    strictEqual(yield* untilNext, undefined)
  }),

  test("applies several changes of one timer in their order", function* () {
    yield* apply(
      set("a", past),
      cancel("a"),
      cancel("b"),
      set("b", past),
      set("b", { at: -8 }, { fingerprint: "last" })
    )
    deepStrictEqual(fingerprints(yield* claim("one", { maxTimers: 10 })), [["last"]])
  }),

  test("tells in how many milliseconds the next timer is due", function* () {
    strictEqual(yield* untilNext, undefined)
    yield* apply(set("later", { after: 2 * hour }), set("soon", { at: (yield* Clock.currentTimeMillis) + hour }))
    const soon = (yield* untilNext)!
    ok(soon > hour - 60_000 && soon <= hour + 60_000, `${soon}`)
    yield* apply(cancel("soon"))
    const later = (yield* untilNext)!
    ok(later > 2 * hour - 60_000 && later <= 2 * hour, `${later}`)
    yield* apply(set("due", past))
    strictEqual(yield* untilNext, 0)
    deepStrictEqual(fingerprints(yield* claim("one", { maxTimers: 10 })), [["due"]])
  }),

  test("sets the timers of a commit with its acknowledgements", function* () {
    yield* enqueue(updatesOf("chat", 1))
    yield* apply(set("cancelled", past, { partitionKey: "other" }))
    const [{ updates }] = yield* claim("one")
    deepStrictEqual(
      yield* commit(
        change("one", "chat", {
          completed: updates.map(({ id }) => ({ id })),
          timers: [set("now", { after: 0 }), set("later", { after: hour }), cancel("cancelled")],
          release: true
        })
      ),
      ["applied"]
    )
    deepStrictEqual(fingerprints(yield* claim("one", { maxTimers: 10 })), [["now"]])
    ok((yield* untilNext)! > hour - 60_000)
  }),

  test("sets no timers for a commit that is not applied", function* () {
    yield* enqueue(updatesOf("chat", 1))
    yield* claim("one", { leaseDuration: 0 })
    yield* claim("two")
    deepStrictEqual(yield* commit(change("one", "chat", { timers: [set("a", past)] })), ["leaseLost"])
    const writes = [{ scope: "bot", name: "cart", value: undefined, expected: "another", revision: "new" }]
    deepStrictEqual(yield* commit(change("two", "chat", { writes, timers: [set("a", past)] })), ["stateConflict"])
    strictEqual(yield* untilNext, undefined)
  }),

  test("sets the next occurrence of a timer when the one before ends, unless it was cancelled", function* () {
    yield* apply(set("goes on", past))
    const first = yield* claimOccurrence
    strictEqual(yield* isCancelled(first), false)
    yield* acknowledge(first, set("goes on", past, { fingerprint: "second", occurrence: first }))
    const second = yield* claimOccurrence
    yield* apply(cancel("goes on"))
    deepStrictEqual([yield* isCancelled(first), yield* isCancelled(second)], [false, true])
    yield* acknowledge(second, set("goes on", past, { occurrence: second }))
    strictEqual(yield* untilNext, undefined)
    strictEqual(yield* isCancelled(second), false)
  }),

  test("keeps a timer that is set while its occurrence is queued, and cancels the occurrence", function* () {
    yield* apply(set("moved", past))
    const occurrence = yield* claimOccurrence
    yield* apply(set("moved", { after: hour }, { fingerprint: "later" }), set("other", { after: hour }))
    strictEqual(yield* isCancelled(occurrence), true)
    yield* acknowledge(occurrence, set("moved", past, { fingerprint: "next", occurrence }))
    const { page } = yield* timers
    deepStrictEqual(texts(yield* page({ limit: 10 })), ["later", "other"])
  }),

  test("keeps the changes of a handler to the timer whose occurrence it handles", function* () {
    yield* apply(set("snoozed", past))
    const occurrence = yield* claimOccurrence
    yield* acknowledge(
      occurrence,
      end("snoozed", occurrence),
      set("snoozed", { after: hour }, { fingerprint: "later" })
    )
    const { page } = yield* timers
    deepStrictEqual(texts(yield* page({ limit: 10 })), ["later"])
  }),

  test("does not cancel an occurrence that is a dead letter and is replayed", function* () {
    yield* apply(set("dead", past))
    const id = yield* claimOccurrence
    const failure = { error: "failed", attempts: 1, failedAt: 1 }
    yield* commit(change("one", "chat", { completed: [{ id, failure }], timers: [end("dead", id)], release: true }))
    yield* apply(cancel("dead"))
    const store = yield* InboxStore
    strictEqual(yield* store.replay([id]), 1)
    strictEqual(yield* isCancelled(yield* claimOccurrence), false)
  }),

  test("returns timers by pages, the next one that is due first", function* () {
    const keys = Array.from({ length: 12 }, (_, index) => `${index}`)
    const due = (index: number) => ({ at: hour * (index < 3 ? 2 : index) })
    yield* apply(...keys.map((key, index) => set(key, due(index), { partitionKey: `${key} é` })))
    yield* apply(cancel("5"), set("0", { at: 20 * hour }))
    const { page } = yield* timers
    const seen: Array<string> = []
    for (let after = undefined; ;) {
      const found: ReadonlyArray<StoredTimer> = yield* page({ after, limit: 2 })
      for (const [index, key] of texts(found).entries()) {
        const { dueAt, partitionKey } = found[index]!
        const expected = key === "0" ? { dueAt: 20 * hour, partitionKey: "chat" } : undefined
        deepStrictEqual({ dueAt, partitionKey }, expected ?? { dueAt: due(Number(key)).at, partitionKey: `${key} é` })
      }
      seen.push(...texts(found))
      if (found.length < 2) break
      after = found.at(-1)
    }
    deepStrictEqual(seen, ["1", "2", "3", "4", "6", "7", "8", "9", "10", "11", "0"])
  }),

  test("forgets the timers of a user, with their occurrences that are queued", function* () {
    const ofUser = { user: "user:2" }
    yield* apply(set("queued", past, ofUser), set("another's", past, { user: "user:22" }))
    const [{ updates }] = yield* claim("one", { maxTimers: 10 })
    yield* apply(set("set", { after: hour }, ofUser), set("nobody's", { after: hour }))
    yield* apply(set("taken over", { after: hour }, ofUser), set("taken over", { after: hour }, { user: "user:22" }))
    const { forget, page } = yield* timers
    strictEqual(yield* forget("user:2"), 2)
    strictEqual(yield* forget("user:2"), 0)
    deepStrictEqual(texts(yield* page({ limit: 10 })).toSorted(), ["nobody's", "taken over"])
    const cancelled = new Map<string, boolean>()
    for (const { id, update } of updates) cancelled.set(update.fingerprint, yield* isCancelled(id))
    deepStrictEqual([cancelled.get("queued"), cancelled.get("another's")], [true, false])
  })
]
