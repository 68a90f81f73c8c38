/**
 * Test cases for every implementation of `BroadcastStore`, for any test runner.
 *
 * @since 0.1.0
 */
import * as ApiError from "@colloquy/core/client/ApiError"
import type * as Broadcast from "@colloquy/core/broadcast/Broadcast"
import * as Broadcasts from "@colloquy/core/broadcast/Broadcasts"
import * as BroadcastStore from "@colloquy/core/broadcast/BroadcastStore"
import { ChatId } from "@colloquy/core/model/Chat"
import { MessageId } from "@colloquy/core/model/Message"
import * as Messages from "@colloquy/core/endpoints/Messages"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as assert from "node:assert/strict"
import * as Fixtures from "../bot/Fixtures.ts"
import * as TestBotApi from "../bot/TestBotApi.ts"
import { test } from "./internal/test.ts"
import type { TestCase } from "./TestCase.ts"

type Cases = ReadonlyArray<TestCase<BroadcastStore.BroadcastStore, unknown>>

const equals = (actual: unknown, expected: unknown): void => assert.deepEqual(actual, expected)

const name = "news of May"

const now = Fixtures.timestamp

const acquireLease = (owner: string, leaseDuration: number = 60_000, create = true, broadcast = name) =>
  BroadcastStore.BroadcastStore.use((store) => store.acquireLease({ name: broadcast, owner, leaseDuration, create }))

/** Whether the owner has the lease after an attempt to acquire the lease. */
const has = (...lease: Parameters<typeof acquireLease>) => Effect.map(acquireLease(...lease), Option.isSome)

const update = (changes: Parameters<BroadcastStore.BroadcastStore["Service"]["update"]>[1]) =>
  BroadcastStore.BroadcastStore.use((store) => store.update(name, changes))

const remove = (broadcast = name) => BroadcastStore.BroadcastStore.use((store) => store.remove(broadcast))

const addRecords = (added: ReadonlyArray<Broadcast.RecipientRecord>, broadcast = name) =>
  BroadcastStore.BroadcastStore.use((store) => store.addRecords(broadcast, added))

const records = (after: ChatId | undefined, limit: number) =>
  BroadcastStore.BroadcastStore.use((store) => store.records(name, { after, limit }))

const summary = (broadcast = name) => BroadcastStore.BroadcastStore.use((store) => store.summary(broadcast))

const pending = (chats: ReadonlyArray<ChatId>, broadcast = name) =>
  BroadcastStore.BroadcastStore.use((store) => store.pending(broadcast, chats))

const idOf = (id: number) => ChatId.make(id)

const sent = (id: number): Broadcast.RecipientRecord => ({
  chat_id: idOf(id),
  status: "Sent",
  message_id: MessageId.make(`mid.${id}`),
  at: now + 1000
})

const unsuccessful = (
  id: number,
  status: "Forbidden" | "NotFound" | "Failed",
  problem = "no"
): Broadcast.RecipientRecord => ({
  chat_id: idOf(id),
  status,
  problem,
  at: now + 2000
})

const countsOf = (broadcast = name) => Effect.map(summary(broadcast), (found) => Option.getOrThrow(found).counts)

const none = { Sent: 0, Forbidden: 0, NotFound: 0, Failed: 0 }

/** Acquires the lease by a process whose clock is an hour ahead or behind. */
const acquireWithClock = (owner: string, hours: -1 | 1) =>
  Effect.clockWith((clock) => {
    const now = () => clock.currentTimeMillisUnsafe() + hours * 3_600_000
    const shifted: Clock.Clock = Object.assign(Object.create(clock), {
      currentTimeMillisUnsafe: now,
      currentTimeMillis: Effect.sync(now)
    })
    return Effect.provideService(acquireLease(owner), Clock.Clock, shifted)
  })

const leaseCases: Cases = [
  test("creates a broadcast when its lease is acquired, only if requested", function* () {
    equals(yield* acquireLease("one", 60_000, false), Option.none())
    equals(yield* summary(), Option.none())
    const made = Option.getOrThrow(yield* acquireLease("one"))
    const { startedAt } = made
    equals(typeof startedAt, "number")
    equals(made, { name, status: "running", startedAt, total: undefined, counts: none })
    equals(yield* acquireLease("one"), Option.some(made))
    equals(yield* summary(), Option.some(made))
  }),

  test("gives the lease to one owner until it expires or is released", function* () {
    equals(yield* has("one"), true)
    equals(yield* has("two"), false)
    equals(yield* has("one"), true)
    equals(yield* has("two", 0), false)
    equals(yield* has("one", 0), true)
    equals(yield* has("two"), true)
    equals(yield* has("one"), false)
    equals(yield* has("one", 0), false)
    equals(yield* has("two", 0), true)
    equals(yield* has("one"), true)
  }),

  test("renews the lease of its last owner only", function* () {
    const renews = (owner: string, leaseDuration?: number) => has(owner, leaseDuration, false)
    yield* acquireLease("one")
    equals(yield* renews("two"), false)
    equals(yield* renews("one", 0), true)
    equals(yield* renews("two"), false)
    equals(yield* renews("one", 0), true)
    yield* acquireLease("two", 0)
    equals(yield* renews("one"), false)
    equals(yield* renews("two"), true)
  }),

  test("measures leases by the clock of the store, whatever the clocks of the owners", function* () {
    yield* acquireLease("one")
    equals(yield* acquireWithClock("two", 1), Option.none())
    yield* acquireLease("one", 0)
    const { startedAt } = Option.getOrThrow(yield* acquireWithClock("two", -1))
    equals(yield* acquireLease("one"), Option.none())
    yield* remove()
    const again = Option.getOrThrow(yield* acquireWithClock("one", 1))
    assert.ok(Math.abs(again.startedAt - startedAt) < 1_800_000)
  }),

  test("gives the lease to one of several owners that acquire it concurrently", function* () {
    const owners = Array.from({ length: 10 }, (_, index) => `owner ${index}`)
    const got = yield* Effect.forEach(owners, (owner) => has(owner), { concurrency: "unbounded" })
    equals(got.filter(Boolean).length, 1)
  }),

  test("updates status and total independently, and nothing once the broadcast is over", function* () {
    equals(yield* update({ status: "paused" }), false)
    yield* acquireLease("one")
    equals(yield* update({ status: "paused" }), true)
    equals(yield* update({ total: 3_000_000_000 }), true)
    equals(yield* update({}), true)
    const seen = () =>
      Effect.map(summary(), (found) => [Option.getOrThrow(found).status, Option.getOrThrow(found).total])
    equals(yield* seen(), ["paused", 3_000_000_000])
    equals(yield* update({ status: "running" }), true)
    equals(yield* update({ status: "cancelled" }), true)
    for (const status of ["running", "paused", "finished", "cancelled"] as const) {
      equals(yield* update({ status, total: 1 }), false)
    }
    equals(yield* seen(), ["cancelled", 3_000_000_000])
    yield* acquireLease("one", 0)
    equals(yield* has("two"), true)
  })
]

const ends = [Number.MIN_SAFE_INTEGER, -1, 1, Number.MAX_SAFE_INTEGER]

const recordCases: Cases = [
  test("keeps the recipients that have begun, until the broadcast is removed", function* () {
    const store = yield* BroadcastStore.BroadcastStore
    const recipients = ends.map((id, index) => ({ chat_id: idOf(id), after: now + index }))
    const begin = (owner: string, count: number) => store.begin({ name, owner, recipients: recipients.slice(0, count) })
    yield* begin("one", 1)
    equals(yield* store.begun(name), [])
    yield* acquireLease("one")
    equals(yield* store.begun(name), [])
    yield* begin("one", 1)
    yield* begin("one", 4)
    yield* addRecords([sent(1)])
    equals(yield* store.begun(name), recipients)
    yield* acquireLease("one", 0)
    yield* acquireLease("two")
    yield* begin("one", 1)
    equals(yield* store.begun(name), recipients)
    yield* begin("two", 0)
    equals(yield* store.begun(name), [])
    yield* begin("two", 2)
    yield* remove()
    yield* acquireLease("one")
    equals(yield* store.begun(name), [])
  }),

  test("returns the chats without a record, in the order of the query", function* () {
    equals(yield* pending([idOf(2), idOf(1)]), [2, 1])
    yield* acquireLease("one")
    yield* addRecords([sent(5), unsuccessful(3, "Forbidden"), unsuccessful(-4, "NotFound")])
    equals(yield* pending([9, 5, -9, 3, 4, -4, 1].map(idOf)), [9, -9, 4, 1])
    equals(yield* pending([]), [])
  }),

  test("distinguishes ids at the limits of safe integers from their neighbours", function* () {
    yield* acquireLease("one")
    yield* addRecords(ends.map(sent))
    equals(yield* pending(ends.map(idOf)), [])
    const neighbours = [Number.MIN_SAFE_INTEGER + 1, -2, 2, Number.MAX_SAFE_INTEGER - 1].map(idOf)
    equals(yield* pending(neighbours), neighbours)
    equals(yield* records(undefined, 10), ends.map(sent))
  }),

  test("adds, looks up and counts many records in one operation", function* () {
    yield* acquireLease("one")
    const ids = Array.from({ length: 2000 }, (_, index) => index + 1)
    yield* addRecords(ids.filter((id) => id % 2 === 0).map(sent))
    equals(
      yield* pending(ids.map(idOf)),
      ids.filter((id) => id % 2 === 1)
    )
    equals(yield* countsOf(), { ...none, Sent: 1000 })
  }),

  test("records and counts a recipient once, and keeps the first record", function* () {
    yield* acquireLease("one")
    yield* addRecords([
      sent(1),
      unsuccessful(1, "Failed"),
      unsuccessful(2, "Forbidden"),
      unsuccessful(3, "NotFound"),
      unsuccessful(4, "Failed")
    ])
    yield* addRecords([unsuccessful(1, "Forbidden"), sent(2), sent(5)])
    yield* addRecords([])
    equals(yield* countsOf(), { Sent: 2, Forbidden: 1, NotFound: 1, Failed: 1 })
    equals(yield* records(undefined, 2), [sent(1), unsuccessful(2, "Forbidden")])
  }),

  test("counts records that are added concurrently once each", function* () {
    yield* acquireLease("one")
    const batches = Array.from({ length: 30 }, (_, index) => [sent(index), sent(index + 1), sent(index + 2)])
    yield* Effect.forEach(batches, (records) => addRecords(records), { concurrency: 10, discard: true })
    equals(yield* countsOf(), { ...none, Sent: 32 })
    equals((yield* records(undefined, 100)).length, 32)
  }),

  test("stores a problem with any characters", function* () {
    yield* acquireLease("one")
    yield* addRecords([unsuccessful(1, "Failed", `it's "5 %" \\ 👋\n`), unsuccessful(2, "Failed", "a\0b\ud800c")])
    const [first, second] = yield* records(undefined, 2)
    equals(first, unsuccessful(1, "Failed", `it's "5 %" \\ 👋\n`))
    assert.match(second?.problem ?? "", /^a.*b.*c$/su)
  }),

  test("returns pages of records in ascending order of the chats", function* () {
    equals(yield* records(undefined, 2), [])
    yield* acquireLease("one")
    yield* addRecords([30, -20, 5, -100].map(sent))
    equals(yield* records(undefined, 2), [sent(-100), sent(-20)])
    equals(yield* records(idOf(-20), 2), [sent(5), sent(30)])
    equals(yield* records(idOf(0), 1), [sent(5)])
    equals(yield* records(idOf(30), 2), [])
  }),

  test("keeps broadcasts separate, whatever their names contain", function* () {
    const names = ["a", "a:b", "A", `it's "5 %_*" [x] 👋`, "records:a"]
    for (const [index, broadcast] of names.entries()) {
      yield* acquireLease("one", 60_000, true, broadcast)
      yield* addRecords([sent(index)], broadcast)
    }
    for (const [index, broadcast] of names.entries()) {
      equals(yield* countsOf(broadcast), { ...none, Sent: 1 })
      equals(
        yield* pending([0, 1, 2, 3, 4].map(idOf), broadcast),
        [0, 1, 2, 3, 4].filter((id) => id !== index)
      )
    }
  }),

  test("lists the broadcasts, the last started first", function* () {
    const list = (limit: number) => BroadcastStore.BroadcastStore.use((store) => store.list(limit))
    equals(yield* list(10), [])
    for (const broadcast of ["one", "two: ж", "three"]) yield* acquireLease("owner", 0, true, broadcast)
    yield* acquireLease("owner", 0, true, "one")
    yield* addRecords([sent(1)], "two: ж")
    const all = yield* list(10)
    equals(new Set(all.map(({ name }) => name)), new Set(["one", "two: ж", "three"]))
    equals(all.find(({ name }) => name === "two: ж")?.counts, { ...none, Sent: 1 })
    const starts = all.map(({ startedAt }) => startedAt)
    equals(
      starts,
      starts.toSorted((a, b) => b - a)
    )
    equals((yield* list(2)).length, 2)
    yield* remove("two: ж")
    equals(new Set((yield* list(10)).map(({ name }) => name)), new Set(["one", "three"]))
  }),

  test("removes a broadcast with its records, and accepts no further ones", function* () {
    equals(yield* remove(), false)
    yield* acquireLease("one")
    yield* acquireLease("one", 60_000, true, "another")
    yield* addRecords([sent(1)])
    yield* addRecords([sent(1)], "another")
    equals(yield* remove(), true)
    yield* addRecords([sent(2)])
    equals(yield* summary(), Option.none())
    yield* acquireLease("two")
    equals(yield* countsOf(), none)
    equals(yield* pending([1, 2].map(idOf)), [1, 2])
    equals(yield* countsOf("another"), { ...none, Sent: 1 })
  })
]

const notFound = new ApiError.NotFound({ endpoint: "Messages.send", status: 404, detail: "no such chat", body: "" })

const api = TestBotApi.layer(
  TestBotApi.on(Messages.send, ({ chat_id }) =>
    chat_id === idOf(7) ? Effect.fail(notFound) : Effect.succeed(Fixtures.message())
  )
)

const runCases: Cases = [
  {
    name: "continues a broadcast that was interrupted",
    effect: Effect.gen(function* () {
      const recipients = Stream.range(1, 450).pipe(Stream.map(idOf))
      const news = Broadcasts.run({ name, recipients, message: { text: "News!" }, total: 450 })
      const first = yield* Stream.runCollect(Stream.take(news, 210))
      const then = yield* Stream.runCollect(news)
      const all = new Set([...first, ...then].map(({ chat_id }) => chat_id))
      equals(all.size, first.length + then.length)
      equals(yield* countsOf(), { ...none, Sent: 449, NotFound: 1 })
      equals(Option.getOrThrow(yield* summary()).status, "finished")
      equals((yield* Stream.runCollect(Broadcasts.records(name))).length, 450)
      equals(yield* Stream.runCollect(news), [])
    }).pipe(Effect.provide(api))
  }
]

/**
 * The cases that every store has to pass. Each of them needs an empty `BroadcastStore`, and runs with any clock.
 *
 * **Example** (Run the cases with vitest)
 *
 * ```ts
 * import * as BroadcastStore from "@colloquy/core/broadcast/BroadcastStore"
 * import * as BroadcastSuite from "@colloquy/testing/stores/BroadcastSuite"
 * import * as Effect from "effect/Effect"
 *
 * export const run = (it: (name: string, test: () => Promise<void>) => void) => {
 *   for (const { name, effect } of BroadcastSuite.cases) {
 *     it(name, () => Effect.runPromise(Effect.provide(effect, BroadcastStore.layerMemory)))
 *   }
 * }
 * ```
 *
 * @category cases
 * @since 0.1.0
 */
export const cases: ReadonlyArray<TestCase<BroadcastStore.BroadcastStore, unknown>> = [
  ...leaseCases,
  ...recordCases,
  ...runCases
]
