import type { TimerChange, TimerSetting } from "@colloquy/core/HandlingStore"
import { InboxStore } from "@colloquy/core/InboxStore"
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
} from "../updates/operations.ts"

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

const set = (
  key: string,
  due: TimerSetting["due"],
  { partitionKey = "chat", fingerprint = key } = {}
): TimerChange => ({
  name: "reminder",
  key,
  set: setting(fingerprint, due, partitionKey)
})

const cancel = (key: string): TimerChange => ({ name: "reminder", key, set: undefined })

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
    const held = yield* claim("one")
    yield* apply(set("late", past))
    deepStrictEqual(yield* claim("two", { maxTimers: 10 }), [])
    strictEqual((yield* stats).queued, 2)
    yield* acknowledgeAll("one", held)
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
    const writes = [{ scope: "bot", name: "cart", value: undefined, expected: "another" }]
    deepStrictEqual(yield* commit(change("two", "chat", { writes, timers: [set("a", past)] })), ["stateConflict"])
    strictEqual(yield* untilNext, undefined)
  })
]
