import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { Deliveries, Inbox, Updates } from "../../../src/index.ts"
import * as InboxStore from "../../../src/inbox/InboxStore.ts"
import { inTime, source, started, timeOf, within } from "../../support/deliveries.ts"

/** The groups of updates that arrive, as their times. */
const collect = (groups: Array<ReadonlyArray<number>>, size = 500) =>
  Updates.deliveries({ perChat: "unbounded" }).pipe(
    Deliveries.map(timeOf),
    Deliveries.groupedWithin(size, "1 hour"),
    Deliveries.runForEach((times) => Effect.sync(() => void groups.push(times)))
  )

const empty = within(Inbox.layer(), source([], { stays: true }))

/** Groups as their times, with the minute in which they were emitted. */
type Emitted = Array<readonly [minute: number, times: ReadonlyArray<number>]>

type Minutes = ReadonlyArray<readonly [minute: number, count: number]>

/** Updates that arrive in these minutes, a number of them at a time. */
const arrivals = (inbox: Inbox.Inbox["Service"], minutes: Minutes, currentMinute: Effect.Effect<number>) => {
  let time = 0
  return Effect.forEach(
    minutes,
    Effect.fnUntraced(function* ([minute, count]) {
      yield* Effect.sleep(`${minute - (yield* currentMinute)} minutes`)
      const updates = Array.from({ length: count }, () => started(++time, time))
      yield* Effect.orDie(inbox.receive(updates))
    }),
    { discard: true }
  )
}

type Group = <R>(
  self: Stream.Stream<Deliveries.Delivery<number>, never, R>
) => Stream.Stream<ReadonlyArray<number>, never, R>

const byDeliveries: Group = (self) => Stream.map(Deliveries.groupedWithin(self, 3, "10 minutes"), ({ value }) => value)

const byStream: Group = (self) =>
  Stream.map(Stream.groupedWithin(self, 3, "10 minutes"), (group) => group.map(({ value }) => value))

/** The groups that `group` makes of arrivals. */
const groupsOf = (group: Group, minutes: Minutes) =>
  Effect.gen(function* () {
    const emitted: Emitted = []
    const inbox = yield* Inbox.Inbox
    const begin = yield* Clock.currentTimeMillis
    const currentMinute = Effect.map(Clock.currentTimeMillis, (millis) => (millis - begin) / 60_000)
    const deliveries = Updates.deliveries({ perChat: "unbounded" }).pipe(Deliveries.map(timeOf), Stream.orDie)
    yield* Effect.forkChild(arrivals(inbox, minutes, currentMinute), { startImmediately: true })
    yield* Effect.forkChild(
      Stream.runForEach(group(deliveries), (times) =>
        Effect.map(currentMinute, (minute) => void emitted.push([minute, times]))
      ),
      { startImmediately: true }
    )
    for (let minute = 0; minute < 60; minute++) yield* TestClock.adjust("1 minute")
    return emitted
  }).pipe(Effect.provide(empty))

describe("Deliveries.groupedWithin", () => {
  it.effect("emits a group when it has `size` deliveries, or after the duration, and settles it in one write", () =>
    Effect.gen(function* () {
      const groups: Array<ReadonlyArray<number>> = []
      const inbox = yield* Inbox.Inbox
      yield* Effect.forkChild(collect(groups, 2), { startImmediately: true })
      yield* TestClock.adjust("59 minutes")
      assert.deepStrictEqual(groups, [[1, 2]])
      assert.strictEqual((yield* inbox.stats).queued, 1)
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(groups, [[1, 2], [3]])
      assert.strictEqual((yield* inbox.stats).queued, 0)
    }).pipe(
      Effect.provide(within(Inbox.layer(), source([started(1, 1), started(1, 2), started(1, 3)], { stays: true })))
    )
  )

  it.effect("fills its groups while more updates wait than fit into memory, also if they belong to many chats", () =>
    Effect.gen(function* () {
      const groups: Array<ReadonlyArray<number>> = []
      yield* Effect.forkChild(collect(groups), { startImmediately: true })
      yield* Effect.repeat(TestClock.adjust("1 second"), { times: 60 })
      assert.deepStrictEqual(
        groups.map(({ length }) => length),
        [500, 500, 500, 500]
      )
    }).pipe(
      Effect.provide(
        within(
          Inbox.layer(),
          source(
            Array.from({ length: 2000 }, (_, index) => started(1 + (index % 100), index)),
            { stays: true }
          )
        )
      )
    )
  )

  it.effect("does not delay an update that is handled alone because a process died, and groups the others", () =>
    Effect.gen(function* () {
      const store = yield* InboxStore.InboxStore
      const crashed = InboxStore.InboxStore.of({
        ...store,
        claim: (options) =>
          Effect.map(store.claim(options), (partitions) =>
            partitions.map(({ key, updates }) => ({
              key,
              updates: updates.map((entry) => {
                const { decoded } = entry.update
                const isCrashed = decoded._tag === "Success" && timeOf(decoded.success) <= 3
                return isCrashed ? { ...entry, attempts: 1, crashes: 1 } : entry
              })
            }))
          )
      })
      const groups: Array<ReadonlyArray<number>> = []
      const updates = source(
        [1, 2, 3, 4, 5, 6].map((time) => started(1, time)),
        { stays: true }
      )
      yield* collect(groups).pipe(
        Effect.provide(
          updates.pipe(Layer.provide(Inbox.layer()), Layer.provide(Layer.succeed(InboxStore.InboxStore, crashed)))
        ),
        Effect.forkChild({ startImmediately: true })
      )
      for (let step = 0; step < 20; step++) yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(groups, [[1], [2], [3]])
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(groups, [[1], [2], [3], [4, 5, 6]])
    }).pipe(Effect.provide(InboxStore.layerMemory))
  )

  it.effect("emits a group after the duration since its first delivery, also if others arrive meanwhile", () =>
    Effect.gen(function* () {
      const groups = yield* groupsOf(byDeliveries, [
        [5, 1],
        [14, 1],
        [16, 1],
        [40, 7]
      ])
      assert.deepStrictEqual(groups, [
        [15, [1, 2]],
        [26, [3]],
        [40, [4, 5, 6]],
        [40, [7, 8, 9]],
        [50, [10]]
      ])
    })
  )

  it.effect("makes the groups that `Stream.groupedWithin` makes", () =>
    Effect.gen(function* () {
      let seed = 1
      const random = (n: number): number => (seed = (seed * 48_271) % 2_147_483_647) % n
      for (let round = 0; round < 8; round++) {
        const minutes = Array.from({ length: 10 }, () => [random(50), 1 + random(8)] as const).sort(([a], [b]) => a - b)
        const expected = yield* groupsOf(byStream, minutes)
        assert.deepStrictEqual(yield* groupsOf(byDeliveries, minutes), expected)
      }
    })
  )

  it.effect("emits the last deliveries at once when the stream ends", () =>
    Effect.gen(function* () {
      const groups: Array<ReadonlyArray<number>> = []
      yield* Updates.deliveries({ perChat: "unbounded" }).pipe(
        Stream.take(3),
        Deliveries.map(timeOf),
        Deliveries.groupedWithin(2, "1 hour"),
        Deliveries.runForEach((times) => Effect.sync(() => void groups.push(times)))
      )
      assert.deepStrictEqual(groups, [[1, 2], [3]])
    }).pipe(
      Effect.provide(within(Inbox.layer(), source([started(1, 1), started(1, 2), started(1, 3)], { stays: true })))
    )
  )

  it.effect(
    "fails at once when the stream fails, and leaves the deliveries of the group that is not complete in the inbox",
    () =>
      Effect.gen(function* () {
        const groups: Array<ReadonlyArray<number>> = []
        const inbox = yield* Inbox.Inbox
        const exit = yield* Updates.deliveries({ perChat: "unbounded" }).pipe(
          Stream.take(3),
          Stream.concat(Stream.fail("broken")),
          Deliveries.map(timeOf),
          Deliveries.groupedWithin(2, "1 hour"),
          Deliveries.runForEach((times) => Effect.sync(() => void groups.push(times))),
          Effect.exit,
          inTime
        )
        assert.deepStrictEqual(exit, Exit.fail("broken"))
        assert.deepStrictEqual(groups, [[1, 2]])
        assert.strictEqual((yield* inbox.stats).queued, 1)
      }).pipe(
        Effect.provide(within(Inbox.layer(), source([started(1, 1), started(1, 2), started(1, 3)], { stays: true })))
      )
  )

  it.effect("keeps the deliveries of a group that is not complete in the inbox when it is interrupted", () =>
    Effect.gen(function* () {
      const groups: Array<ReadonlyArray<number>> = []
      const inbox = yield* Inbox.Inbox
      const fiber = yield* Effect.forkChild(collect(groups, 2), { startImmediately: true })
      yield* TestClock.adjust("1 minute")
      yield* inTime(Fiber.interrupt(fiber))
      assert.deepStrictEqual(groups, [[1, 2]])
      assert.strictEqual((yield* inbox.stats).queued, 1)
    }).pipe(
      Effect.provide(within(Inbox.layer(), source([started(1, 1), started(1, 2), started(1, 3)], { stays: true })))
    )
  )

  it.effect("dies if `size` is not a positive whole number", () =>
    Effect.gen(function* () {
      const exit = yield* Effect.exit(collect([], 0))
      assert.include(Exit.isFailure(exit) ? Cause.pretty(exit.cause) : "", "`size`")
    }).pipe(Effect.provide(within(Inbox.layer(), source([]))))
  )
})
