import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Scheduler from "effect/Scheduler"
import * as Stream from "effect/Stream"
import { Deliveries, Inbox, Updates } from "../../../src/index.ts"
import * as InboxStore from "../../../src/inbox/InboxStore.ts"
import { inTime, source, started } from "../../support/deliveries.ts"

type Settle = (delivery: Deliveries.Delivery<unknown>) => Effect.Effect<void, unknown>

const settlements: Readonly<Record<string, Settle>> = {
  ack: ({ ack }) => ack,
  reject: ({ reject }) => reject(Cause.fail("no")),
  retry: ({ retry }) => retry()
}

/** A fiber with this limit yields after each of its operations. */
const maxOps = 3

/** Settles the deliveries of two chats by a fiber that yields after each operation, and interrupts the fiber after some yields. */
const trial = Effect.fnUntraced(function* (settle: Settle, isShared: boolean, isGrouped: boolean, yields: number) {
  const store = { ...(yield* InboxStore.makeMemory), isShared }
  const updates: Stream.Stream<Deliveries.Delivery<unknown>, unknown, Updates.Updates> = isGrouped
    ? Updates.deliveries().pipe(Deliveries.groupedWithin(2, "1 second"))
    : Updates.deliveries()
  const isRetried = new Set<unknown>()
  const all = updates.pipe(
    Stream.runForEach((delivery) =>
      Effect.gen(function* () {
        const { ack, value } = delivery
        if (isRetried.has(JSON.stringify(value))) return yield* ack
        isRetried.add(JSON.stringify(value))
        const settled = Effect.provideService(settle(delivery), Scheduler.MaxOpsBeforeYield, maxOps)
        const fiber = yield* Effect.forkChild(settled, { startImmediately: true })
        yield* Effect.repeat(Effect.yieldNow, { times: yields })
        yield* Fiber.interrupt(fiber)
        yield* settle(delivery)
      })
    ),
    Effect.provide(source([started(1, 1), started(2, 2)]).pipe(Layer.provideMerge(Inbox.layer()))),
    Effect.provideService(InboxStore.InboxStore, store),
    Effect.timeoutOption("10 minutes")
  )
  yield* inTime(all)
  return (yield* store.stats).queued
})

describe("A settlement that is interrupted", () => {
  for (const [name, settle] of Object.entries(settlements)) {
    for (const isShared of [false, true]) {
      for (const isGrouped of [false, true]) {
        const how = `${isShared ? "shared" : "own"} store, ${isGrouped ? "a group" : "one update"}`
        it.effect(`is written, or can be repeated: ${name}, ${how}`, () =>
          Effect.gen(function* () {
            const stuck: Array<number> = []
            for (let yields = 0; yields <= 20; yields++) {
              if ((yield* trial(settle, isShared, isGrouped, yields)) > 0) stuck.push(yields)
            }
            assert.deepStrictEqual(stuck, [])
          })
        )
      }
    }
  }
})
