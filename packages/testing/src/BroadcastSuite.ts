/**
 * What every `BroadcastStore` must do, as cases for any test runner.
 *
 * @since 0.1.0
 */
import * as ApiError from "@colloquy/core/ApiError"
import type * as Broadcast from "@colloquy/core/Broadcast"
import * as Broadcasts from "@colloquy/core/Broadcasts"
import * as BroadcastStore from "@colloquy/core/BroadcastStore"
import { ChatId } from "@colloquy/core/Chat"
import { MessageId } from "@colloquy/core/Message"
import * as Messages from "@colloquy/core/Messages"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as assert from "node:assert/strict"
import * as Fixtures from "./Fixtures.ts"
import * as TestBotApi from "./TestBotApi.ts"

/**
 * A case: a sentence, and an effect that fails or dies where the sentence is not true. It wants a store that is empty.
 *
 * @category models
 * @since 0.1.0
 */
export interface Case {
  readonly name: string
  readonly effect: Effect.Effect<void, unknown, BroadcastStore.BroadcastStore>
}

const equals = (actual: unknown, expected: unknown): void => assert.deepEqual(actual, expected)

const name = "news of May"

const now = Fixtures.timestamp

const { acquire, change, forget, record, records, standing, unserved } = {
  acquire: (owner: string, at: number, until: number, create = true, broadcast = name) =>
    BroadcastStore.BroadcastStore.use((store) =>
      store.acquireLease({ name: broadcast, owner, now: now + at, leaseUntil: now + until, create })
    ),
  change: (changes: Parameters<BroadcastStore.BroadcastStore["Service"]["update"]>[1]) =>
    BroadcastStore.BroadcastStore.use((store) => store.update(name, changes)),
  forget: (broadcast = name) => BroadcastStore.BroadcastStore.use((store) => store.remove(broadcast)),
  record: (served: ReadonlyArray<Broadcast.RecipientRecord>, broadcast = name) =>
    BroadcastStore.BroadcastStore.use((store) => store.addRecords(broadcast, served)),
  records: (after: ChatId | undefined, limit: number) =>
    BroadcastStore.BroadcastStore.use((store) => store.records(name, { after, limit })),
  standing: (broadcast = name) => BroadcastStore.BroadcastStore.use((store) => store.summary(broadcast)),
  unserved: (chats: ReadonlyArray<ChatId>, broadcast = name) =>
    BroadcastStore.BroadcastStore.use((store) => store.pending(broadcast, chats))
}

const idOf = (id: number) => ChatId.make(id)

const sent = (id: number): Broadcast.RecipientRecord => ({
  chat_id: idOf(id),
  status: "Sent",
  message_id: MessageId.make(`mid.${id}`),
  at: now + 1000
})

const refused = (id: number, kind: "Forbidden" | "NotFound" | "Failed", problem = "no"): Broadcast.RecipientRecord => ({
  chat_id: idOf(id),
  status: kind,
  problem,
  at: now + 2000
})

const countsOf = (broadcast = name) => Effect.map(standing(broadcast), (found) => Option.getOrThrow(found).counts)

const none = { Sent: 0, Forbidden: 0, NotFound: 0, Failed: 0 }

const holding: ReadonlyArray<Case> = [
  {
    name: "a broadcast is made when it is acquired, and only where that is wanted",
    effect: Effect.gen(function* () {
      equals(yield* acquire("one", 0, 60, false), Option.none())
      equals(yield* standing(), Option.none())
      const made = { name, status: "running", startedAt: now, total: undefined, counts: none }
      equals(yield* acquire("one", 0, 60), Option.some(made))
      equals(yield* acquire("one", 1, 61), Option.some(made))
      equals(yield* standing(), Option.some(made))
    })
  },
  {
    name: "a broadcast belongs to one owner until the lease ends or is given back",
    effect: Effect.gen(function* () {
      const has = (owner: string, at: number, until: number) =>
        Effect.map(acquire(owner, at, until, false), Option.isSome)
      yield* acquire("one", 0, 60)
      equals(yield* has("two", 59, 119), false)
      equals(yield* has("one", 59, 119), true)
      equals(yield* has("two", 118, 178), false)
      equals(yield* has("two", 119, 179), true)
      equals(yield* has("one", 120, 180), false)
      equals(yield* has("one", -now, -now), false)
      equals(yield* has("two", -now, -now), true)
      equals(yield* has("one", 121, 181), true)
    })
  },
  {
    name: "of several owners that want a broadcast at once, one gets it",
    effect: Effect.gen(function* () {
      const owners = Array.from({ length: 10 }, (_, index) => `owner ${index}`)
      const got = yield* Effect.forEach(owners, (owner) => acquire(owner, 0, 60), { concurrency: "unbounded" })
      equals(got.filter(Option.isSome).length, 1)
    })
  },
  {
    name: "status and total are told apart, and nothing changes once it is over",
    effect: Effect.gen(function* () {
      equals(yield* change({ status: "paused" }), false)
      yield* acquire("one", 0, 60)
      equals(yield* change({ status: "paused" }), true)
      equals(yield* change({ total: 3_000_000_000 }), true)
      equals(yield* change({}), true)
      const seen = () =>
        Effect.map(standing(), (found) => [Option.getOrThrow(found).status, Option.getOrThrow(found).total])
      equals(yield* seen(), ["paused", 3_000_000_000])
      equals(yield* change({ status: "running" }), true)
      equals(yield* change({ status: "cancelled" }), true)
      for (const status of ["running", "paused", "finished", "cancelled"] as const) {
        equals(yield* change({ status, total: 1 }), false)
      }
      equals(yield* seen(), ["cancelled", 3_000_000_000])
      equals(Option.isSome(yield* acquire("two", 60, 120)), true)
    })
  }
]

const ends = [Number.MIN_SAFE_INTEGER, -1, 1, Number.MAX_SAFE_INTEGER]

const serving: ReadonlyArray<Case> = [
  {
    name: "those without a record are unserved, in the order that was asked",
    effect: Effect.gen(function* () {
      equals(yield* unserved([idOf(2), idOf(1)]), [2, 1])
      yield* acquire("one", 0, 60)
      yield* record([sent(5), refused(3, "Forbidden"), refused(-4, "NotFound")])
      equals(yield* unserved([9, 5, -9, 3, 4, -4, 1].map(idOf)), [9, -9, 4, 1])
      equals(yield* unserved([]), [])
    })
  },
  {
    name: "ids at the ends of the exact numbers are kept apart from their neighbours",
    effect: Effect.gen(function* () {
      yield* acquire("one", 0, 60)
      yield* record(ends.map(sent))
      equals(yield* unserved(ends.map(idOf)), [])
      const neighbours = [Number.MIN_SAFE_INTEGER + 1, -2, 2, Number.MAX_SAFE_INTEGER - 1].map(idOf)
      equals(yield* unserved(neighbours), neighbours)
      equals(yield* records(undefined, 10), ends.map(sent))
    })
  },
  {
    name: "many records are told, asked for and counted at once",
    effect: Effect.gen(function* () {
      yield* acquire("one", 0, 60)
      const ids = Array.from({ length: 2000 }, (_, index) => index + 1)
      yield* record(ids.filter((id) => id % 2 === 0).map(sent))
      equals(
        yield* unserved(ids.map(idOf)),
        ids.filter((id) => id % 2 === 1)
      )
      equals(yield* countsOf(), { ...none, Sent: 1000 })
    })
  },
  {
    name: "a recipient is recorded and counted once, and the first record stays",
    effect: Effect.gen(function* () {
      yield* acquire("one", 0, 60)
      yield* record([
        sent(1),
        refused(1, "Failed"),
        refused(2, "Forbidden"),
        refused(3, "NotFound"),
        refused(4, "Failed")
      ])
      yield* record([refused(1, "Forbidden"), sent(2), sent(5)])
      yield* record([])
      equals(yield* countsOf(), { Sent: 2, Forbidden: 1, NotFound: 1, Failed: 1 })
      equals(yield* records(undefined, 2), [sent(1), refused(2, "Forbidden")])
    })
  },
  {
    name: "records that are told at the same time are counted once each",
    effect: Effect.gen(function* () {
      yield* acquire("one", 0, 60)
      const tellings = Array.from({ length: 30 }, (_, index) => [sent(index), sent(index + 1), sent(index + 2)])
      yield* Effect.forEach(tellings, (told) => record(told), { concurrency: 10, discard: true })
      equals(yield* countsOf(), { ...none, Sent: 32 })
      equals((yield* records(undefined, 100)).length, 32)
    })
  },
  {
    name: "a problem is kept as a text, whatever stands in it",
    effect: Effect.gen(function* () {
      yield* acquire("one", 0, 60)
      yield* record([refused(1, "Failed", `it's "5 %" \\ 👋\n`), refused(2, "Failed", "a\0b\ud800c")])
      const [first, second] = yield* records(undefined, 2)
      equals(first, refused(1, "Failed", `it's "5 %" \\ 👋\n`))
      assert.match(second?.problem ?? "", /^a.*b.*c$/su)
    })
  },
  {
    name: "records are read page by page in ascending order",
    effect: Effect.gen(function* () {
      equals(yield* records(undefined, 2), [])
      yield* acquire("one", 0, 60)
      yield* record([30, -20, 5, -100].map(sent))
      equals(yield* records(undefined, 2), [sent(-100), sent(-20)])
      equals(yield* records(idOf(-20), 2), [sent(5), sent(30)])
      equals(yield* records(idOf(0), 1), [sent(5)])
      equals(yield* records(idOf(30), 2), [])
    })
  },
  {
    name: "broadcasts are kept apart, whatever their names",
    effect: Effect.gen(function* () {
      const names = ["a", "a:b", "A", `it's "5 %_*" [x] 👋`, "records:a"]
      for (const [index, broadcast] of names.entries()) {
        yield* acquire("one", 0, 60, true, broadcast)
        yield* record([sent(index)], broadcast)
      }
      for (const [index, broadcast] of names.entries()) {
        equals(yield* countsOf(broadcast), { ...none, Sent: 1 })
        equals(
          yield* unserved([0, 1, 2, 3, 4].map(idOf), broadcast),
          [0, 1, 2, 3, 4].filter((id) => id !== index)
        )
      }
    })
  },
  {
    name: "a broadcast that is forgotten leaves nothing, and takes no records",
    effect: Effect.gen(function* () {
      equals(yield* forget(), false)
      yield* acquire("one", 0, 60)
      yield* acquire("one", 0, 60, true, "another")
      yield* record([sent(1)])
      yield* record([sent(1)], "another")
      equals(yield* forget(), true)
      yield* record([sent(2)])
      equals(yield* standing(), Option.none())
      yield* acquire("two", 1, 60)
      equals(yield* countsOf(), none)
      equals(yield* unserved([1, 2].map(idOf)), [1, 2])
      equals(yield* countsOf("another"), { ...none, Sent: 1 })
    })
  }
]

const gone = new ApiError.NotFound({ endpoint: "Messages.send", status: 404, detail: "no such chat", body: "" })

const api = TestBotApi.layer(
  TestBotApi.on(Messages.send, ({ chat_id }) =>
    chat_id === idOf(7) ? Effect.fail(gone) : Effect.succeed(Fixtures.message())
  )
)

const sending: ReadonlyArray<Case> = [
  {
    name: "a broadcast goes on where it was",
    effect: Effect.gen(function* () {
      const recipients = Stream.range(1, 450).pipe(Stream.map(idOf))
      const news = Broadcasts.run({ name, recipients, message: { text: "News!" }, total: 450 })
      const first = yield* Stream.runCollect(Stream.take(news, 210))
      const then = yield* Stream.runCollect(news)
      const all = new Set([...first, ...then].map(({ chat_id }) => chat_id))
      equals(all.size, first.length + then.length)
      equals(yield* countsOf(), { ...none, Sent: 449, NotFound: 1 })
      equals(Option.getOrThrow(yield* standing()).status, "finished")
      equals((yield* Stream.runCollect(Broadcasts.records(name))).length, 450)
      equals(yield* Stream.runCollect(news), [])
    }).pipe(Effect.provide(api))
  }
]

/**
 * The cases. Each wants a `BroadcastStore` of its own that is empty, and runs on any clock.
 *
 * **Example** (With vitest)
 *
 * ```ts
 * import * as BroadcastStore from "@colloquy/core/BroadcastStore"
 * import * as BroadcastSuite from "@colloquy/testing/BroadcastSuite"
 * import * as Effect from "effect/Effect"
 *
 * export const run = (it: (name: string, test: () => Promise<void>) => void) => {
 *   for (const { name, effect } of BroadcastSuite.cases) {
 *     it(name, () => Effect.runPromise(Effect.provide(effect, BroadcastStore.layerMemory())))
 *   }
 * }
 * ```
 *
 * @category values
 * @since 0.1.0
 */
export const cases: ReadonlyArray<Case> = [...holding, ...serving, ...sending]
