import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { Bot, Inbox, State, User } from "../../../src/index.ts"
import * as InboxStore from "../../../src/inbox/InboxStore.ts"
import { inboxOver, inTime, source } from "../../support/deliveries.ts"
import { pressOf } from "../../support/presses.ts"

const options = { of: Schema.String, initial: () => 0 }

const sortBy = (points: number) => points

const Points = State.make("points", Schema.Number, { ...options, sortBy })

const Unsorted = State.make("points", Schema.Number, options)

const Reversed = State.make("points", Schema.Number, { ...options, sortBy: (points) => -points })

const inMemory = <A, E>(program: Effect.Effect<A, E, Inbox.Inbox | InboxStore.InboxStore>) =>
  Effect.provide(program, Layer.provideMerge(Inbox.layer(), InboxStore.layerMemory))

const valuesOf = (limit: number, state: typeof Points = Points) =>
  Effect.map(State.top(state, { limit }), (entries) =>
    entries.map(({ key, value }) => [key, Result.getOrThrow(value)] as const)
  )

const rowsOf = (prefix: string) => InboxStore.InboxStore.use(({ rows }) => rows({ prefix, by: "key", limit: 10_000 }))

const orderRows = rowsOf("stateOrder/")

const set = (values: Readonly<Record<string, number>>, state: typeof Points = Points) =>
  Effect.forEach(Object.entries(values), ([key, value]) => state.at(key).set(value))

describe("State.top", () => {
  it.effect("sorts negative, fractional, tiny and huge numbers, and both zeros as one", () =>
    inMemory(
      Effect.gen(function* () {
        const numbers = [
          Number.MAX_VALUE,
          1e21,
          2 ** 53,
          2 ** 53 - 1,
          2 ** 31,
          256,
          255,
          10,
          9,
          1.5,
          1 + Number.EPSILON,
          1,
          0.1,
          1e-7,
          Number.MIN_VALUE,
          0,
          -Number.MIN_VALUE,
          -0.5,
          -1,
          -2,
          -10,
          -(2 ** 31),
          -(2 ** 53),
          -1e300,
          -Number.MAX_VALUE
        ]
        // The keys have another order.
        yield* Effect.forEach(numbers.entries(), ([index, number]) =>
          Points.at(String((index * 7) % numbers.length)).set(number)
        )
        assert.deepStrictEqual(
          (yield* valuesOf(100)).map(([, number]) => number),
          numbers
        )
        assert.deepStrictEqual(
          (yield* valuesOf(3)).map(([, number]) => number),
          numbers.slice(0, 3)
        )
        yield* set({ b: -0, a: 0, c: -0 })
        const zeros = (yield* valuesOf(100)).filter(([, number]) => number === 0).map(([key]) => key)
        assert.deepStrictEqual(zeros.slice(-3), ["a", "b", "c"])
      })
    )
  )

  it.effect("moves, keeps and removes the place of a value that changes, and reads no other values", () => {
    const read: Array<string> = []
    const counted = inboxOver((store) => ({
      read: (keys) =>
        Effect.andThen(
          Effect.sync(() => read.push(...keys)),
          store.read(keys)
        )
    }))
    return Effect.gen(function* () {
      yield* Effect.forEach(Array.from({ length: 300 }), (_, index) => Points.at(`p${index}`).set(index))
      yield* set({ a: 1000, b: 2000 })
      yield* Points.at("a").update((points) => points + 5000)
      yield* Points.at("a").update((points) => points)
      yield* Points.at("p299").clear
      read.length = 0
      assert.deepStrictEqual(yield* valuesOf(4), [
        ["a", 6000],
        ["b", 2000],
        ["p298", 298],
        ["p297", 297]
      ])
      assert.isBelow(read.length, 20)
      yield* Points.at("a").clear
      yield* Points.at("b").set(-1)
      assert.deepStrictEqual(yield* valuesOf(1), [["p298", 298]])
      assert.strictEqual((yield* valuesOf(10_000)).length, 300)
    }).pipe(Effect.provide(counted))
  })

  it.effect("has exactly one row for each value", () =>
    inMemory(
      Effect.gen(function* () {
        yield* set({ a: 1, b: 2, c: 3 })
        yield* set({ a: 5, b: 2, c: -3 })
        yield* Points.at("b").clear
        assert.strictEqual((yield* orderRows).length, 2)
        yield* Points.at("a").clear
        yield* Points.at("c").clear
        assert.strictEqual((yield* rowsOf("")).length, 0)
      })
    )
  )

  it.effect("sees the changes of the handler, which the commit writes, and an attempt that fails leaves nothing", () =>
    Effect.gen(function* () {
      for (const isShared of [false, true]) {
        const seen: Array<unknown> = []
        let attempts = 0
        const handle = () =>
          Effect.gen(function* () {
            yield* Points.at("a").set(50)
            yield* Points.at("b").clear
            yield* Points.at("d").get
            seen.push(yield* valuesOf(2))
            if (++attempts === 1) return yield* Effect.fail("failed as planned")
            yield* Points.at("c").set(60)
          })
        const store = inboxOver(() => ({ isShared }))
        const program = Effect.gen(function* () {
          yield* set({ a: 1, b: 30, c: 20, d: 10 })
          yield* Bot.run(handle)
          return yield* valuesOf(10)
        })
        const found = yield* program.pipe(inTime, Effect.provide(Layer.provideMerge(source([pressOf(1, 2)]), store)))
        const during = [
          ["a", 50],
          ["c", 20]
        ]
        assert.deepStrictEqual(seen, [during, during])
        assert.deepStrictEqual(found, [
          ["c", 60],
          ["a", 50],
          ["d", 10]
        ])
      }
    })
  )

  it.effect("agrees with the values after chats changed them at once", () =>
    Effect.gen(function* () {
      for (const isShared of [false, true]) {
        const updates = Array.from({ length: 24 }, (_, index) => pressOf(1 + (index % 6), 2, index))
        const handle = (index: number) =>
          Effect.gen(function* () {
            const mine = Points.at(`p${index % 3}`)
            const before = yield* mine.get
            yield* Effect.sleep("10 millis")
            if (index % 5 === 0) yield* Points.at(`p${(index + 1) % 3}`).update((points) => points - 0.5)
            yield* mine.set(before + 1)
          })
        const run = Bot.run((update) => handle(update.update_type === "message_callback" ? update.timestamp : 0))
        const inbox = inboxOver(() => ({ isShared }))
        const [all, sorted] = yield* Effect.andThen(
          run,
          Effect.all([Stream.runCollect(State.stream(Points)), State.top(Points, { limit: 10 })])
        ).pipe(inTime, Effect.provide(Layer.provideMerge(source(updates), inbox)))
        const numberOf = ({ value }: (typeof all)[number]) => Result.getOrThrow(value)
        assert.deepStrictEqual(
          sorted,
          all.toSorted((a, b) => numberOf(b) - numberOf(a))
        )
        assert.strictEqual(
          all.reduce((sum, entry) => sum + numberOf(entry), 0),
          24 - 5 * 0.5
        )
      }
    })
  )

  it.effect("ignores rows without a value, and finds values behind many of them", () =>
    inMemory(
      Effect.gen(function* () {
        yield* set({ a: 1, b: 2 })
        const rows = yield* orderRows
        const { write } = yield* InboxStore.InboxStore
        const place = (order: string, key: string) => ({
          key: `stateOrder/points/${order.padStart(16, "0")}/key:"${key}"`,
          row: { text: "" },
          revision: "r"
        })
        // As after a tool that wrote the rows of values by itself: places of missing values, and old places of present ones.
        yield* write([{ rows: Array.from({ length: 700 }, (_, index) => place(String(index), `none${index}`)) }])
        yield* write([{ rows: [place("1", "a"), place("2", "b")] }])
        assert.deepStrictEqual(yield* valuesOf(1), [["b", 2]])
        assert.deepStrictEqual(yield* valuesOf(5), [
          ["b", 2],
          ["a", 1]
        ])
        yield* write([{ rows: rows.map(({ key }) => ({ key, row: undefined, revision: "r" })) }])
        assert.deepStrictEqual(yield* valuesOf(1), [["b", 2]])
      })
    )
  )

  it.effect("follows programs that sort by another number, or not at all", () =>
    inMemory(
      Effect.gen(function* () {
        yield* set({ a: 1, b: 2 }, Unsorted as typeof Points)
        assert.deepStrictEqual(yield* valuesOf(5), [])
        // As the documentation says.
        yield* State.stream(Points).pipe(Stream.runForEach(({ key }) => Points.at(key).update((points) => points)))
        assert.deepStrictEqual(yield* valuesOf(5), [
          ["b", 2],
          ["a", 1]
        ])
        yield* set({ a: 3 }, Reversed)
        assert.deepStrictEqual(yield* valuesOf(5, Reversed), [
          ["b", 2],
          ["a", 3]
        ])
        assert.strictEqual(yield* Unsorted.at("a").get, 3)
        yield* set({ a: 4, b: 5 }, Unsorted as typeof Points)
        assert.deepStrictEqual([yield* valuesOf(5), (yield* orderRows).length], [[], 0])
      })
    )
  )

  it.effect("returns stale values as failures, migrated values, and no expired values", () =>
    inMemory(
      Effect.gen(function* () {
        const of = Schema.String
        const Old = State.make("s", Schema.Int, { of, initial: () => 0, sortBy })
        const New = State.make("s", Schema.Struct({ points: Schema.Int }), {
          of,
          initial: () => ({ points: 0 }),
          version: 3,
          migrate: { 1: (stored) => ({ points: Number(stored) }) },
          expireAfter: "1 minute",
          sortBy: ({ points }) => points
        })
        yield* Old.at("a").set(1)
        yield* State.make("s", Schema.String, { of, initial: () => "", version: 2, sortBy: () => 9 })
          .at("b")
          .set("?")
        yield* New.at("c").set({ points: 5 })
        const all = yield* State.top(New, { limit: 5 })
        assert.deepStrictEqual(
          all.map(({ key, value }) => [key, Result.isSuccess(value) ? value.success.points : value.failure._tag]),
          [
            ["b", "StaleState"],
            ["c", 5],
            ["a", 1]
          ]
        )
        yield* TestClock.adjust("1 minute")
        assert.deepStrictEqual(
          (yield* State.top(New, { limit: 5 })).map(({ key }) => key),
          ["b", "a"]
        )
        yield* InboxStore.InboxStore.use(({ cleanup }) =>
          cleanup({ fingerprintsBefore: 0, deadLettersBefore: 0, rowsBefore: 100_000 })
        )
        assert.strictEqual((yield* orderRows).length, 2)
      })
    )
  )

  it.effect("forgets a person", () =>
    inMemory(
      Effect.gen(function* () {
        const OfUser = State.make("ofUser", Schema.Int, { of: "user", initial: () => 0, sortBy })
        for (const id of [2, 3]) yield* OfUser.at({ user_id: User.UserId.make(id) }).set(id)
        assert.strictEqual((yield* State.forget({ user_id: User.UserId.make(3) })).values, 1)
        assert.deepStrictEqual(
          (yield* State.top(OfUser, { limit: 5 })).map(({ key }) => key.user_id as number),
          [2]
        )
        assert.strictEqual((yield* orderRows).length, 1)
      })
    )
  )

  it.effect("refuses a number that is not finite, a state without `sortBy`, and a limit that cannot be meant", () =>
    inMemory(
      Effect.gen(function* () {
        const error = yield* Effect.flip(Points.at("a").set(NaN))
        assert.strictEqual(error._tag, "InvalidState")
        assert.include(error.message, "`sortBy` returned NaN, which is not a finite number")
        assert.strictEqual((yield* rowsOf("")).length, 0)
        assert.throws(() => State.top(Unsorted, { limit: 1 }), 'The state "points" needs the option `sortBy` for `top`')
        assert.throws(() => State.top(Points, { limit: 0 }), "positive whole number")
      })
    )
  )
})
