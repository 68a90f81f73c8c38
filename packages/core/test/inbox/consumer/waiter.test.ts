import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Scheduler from "effect/Scheduler"
import * as Stream from "effect/Stream"
import { Bot, Deliveries, Inbox, Updates } from "../../../src/index.ts"
import { makeWaiter } from "../../../src/inbox/internal/consumer/waiter.ts"

const count = 500

const updates = Array.from({ length: count }, (_, index) =>
  JSON.stringify({
    update_type: "bot_started",
    timestamp: index,
    chat_id: index % 7,
    user: { user_id: 1, first_name: "Ann", is_bot: false }
  })
)

/** Numbers of operations after which a fiber yields. With few, a fiber yields between any two steps soon. */
const operations = [3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 16, 17, 19, 23, 29, 31]

const platform = Layer.provideMerge(Updates.layer(Stream.fromIterable(updates)), Inbox.layerMemory())

const nextTick = Effect.promise(() => Promise.resolve())

describe("A fiber that yields between any two steps", () => {
  it.live.each(operations)("handles all updates with one handler, if it yields after %i operations", (yields) =>
    Effect.gen(function* () {
      let handled = 0
      const handler = () => Effect.map(nextTick, () => void handled++)
      yield* Bot.run(handler, { concurrency: 1 }).pipe(
        Effect.provide(platform),
        Effect.provideService(Scheduler.MaxOpsBeforeYield, yields)
      )
      assert.strictEqual(handled, count)
    })
  )

  it.live.each(operations)("emits all results of a pipeline, if it yields after %i operations", (yields) =>
    Effect.gen(function* () {
      let handled = 0
      yield* Updates.deliveries().pipe(
        Deliveries.mapEffect(() => nextTick, { concurrency: 2 }),
        Deliveries.mapEffect(() => Effect.succeed(nextTick), { concurrency: 1 }),
        Deliveries.runForEach((tick) => Effect.map(tick, () => void handled++), { concurrency: 1 }),
        Effect.provide(platform),
        Effect.provideService(Scheduler.MaxOpsBeforeYield, yields)
      )
      assert.strictEqual(handled, count)
    })
  )
})

describe("makeWaiter", () => {
  it.effect("lets a fiber go on when the condition holds, and not before", () =>
    Effect.gen(function* () {
      let isReady = false
      const { until, wake } = makeWaiter(() => isReady)
      const fiber = yield* Effect.forkChild(until, { startImmediately: true })
      wake()
      yield* Effect.yieldNow
      assert.isUndefined(fiber.pollUnsafe())
      isReady = true
      wake()
      yield* Fiber.join(fiber)
      yield* until
    })
  )

  it.effect("keeps the fiber that waits when one that waited before is interrupted", () =>
    Effect.gen(function* () {
      let isReady = false
      const { until, wake } = makeWaiter(() => isReady)
      const first = yield* Effect.forkChild(until, { startImmediately: true })
      const second = yield* Effect.forkChild(until, { startImmediately: true })
      yield* Fiber.interrupt(first)
      isReady = true
      wake()
      yield* Fiber.join(second)
    })
  )
})
