import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import { Deliveries, Inbox, Updates } from "../../src/index.ts"
import * as InboxStore from "../../src/InboxStore.ts"
import { source, started, timeOf, within } from "../support/deliveries.ts"

/** The groups of updates that arrive, as their times. */
const collect = (groups: Array<ReadonlyArray<number>>, size = 500) =>
  Updates.deliveries({ perChat: "unbounded" }).pipe(
    Deliveries.map(timeOf),
    Deliveries.groupedWithin(size, "1 hour"),
    Deliveries.runForEach((times) => Effect.sync(() => void groups.push(times)))
  )

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
    }).pipe(Effect.provide(InboxStore.layerMemory()))
  )

  it.effect("dies if `size` is not a positive whole number", () =>
    Effect.gen(function* () {
      const exit = yield* Effect.exit(collect([], 0))
      assert.include(Exit.isFailure(exit) ? Cause.pretty(exit.cause) : "", "`size`")
    }).pipe(Effect.provide(within(Inbox.layer(), source([]))))
  )
})
