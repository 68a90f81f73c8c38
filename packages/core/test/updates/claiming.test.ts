import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { Inbox, Updates } from "../../src/index.ts"
import { chatOf, inboxOver, inTime, source, started, storeOver, timeOf } from "../support/deliveries.ts"

describe("what is claimed", () => {
  it.effect("is not looked for while nothing more may be held", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      const inbox = yield* Inbox.Inbox
      let looks = 0
      const wakeUp: typeof inbox.wakeUp = {
        ...inbox.wakeUp,
        openUnsafe: () => inbox.wakeUp.openUnsafe(),
        closeUnsafe: () => inbox.wakeUp.closeUnsafe(),
        await: Effect.suspend(() => {
          looks++
          return inbox.wakeUp.await
        })
      }
      const fiber = yield* Updates.run(() => Deferred.await(gate), { concurrency: 1, maxInMemory: 2 }).pipe(
        Effect.provideService(
          Updates.Updates,
          Updates.Updates.of({ inbox: { ...inbox, wakeUp }, source: Effect.never })
        ),
        Effect.forkChild({ startImmediately: true })
      )
      for (let chat = 1; chat <= 20; chat++) {
        yield* inbox.receive([started(chat, chat)])
        yield* TestClock.adjust("1 second")
      }
      assert.isBelow(looks, 50)
      yield* Deferred.succeed(gate, undefined)
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* inbox.stats).queued, 0)
      yield* Fiber.interrupt(fiber)
    }).pipe(Effect.provide(Inbox.layerMemory()))
  )

  it.effect("is measured by its updates, so that many chats with one each may wait for their next attempt", () =>
    Effect.gen(function* () {
      const handled: Array<number> = []
      const handle = (update: Parameters<typeof chatOf>[0]) =>
        chatOf(update) > 80 ? Effect.sync(() => void handled.push(chatOf(update))) : Effect.fail("not yet")
      const fiber = yield* Updates.run(handle, {
        concurrency: 4,
        maxInMemory: 100,
        retry: Schedule.spaced("1 hour")
      }).pipe(Effect.forkChild({ startImmediately: true }))
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(handled, [81, 82])
      yield* inTime(Fiber.interrupt(fiber))
    }).pipe(
      Effect.provide(
        Layer.provideMerge(
          source(
            Array.from({ length: 82 }, (_, index) => started(index + 1, index + 1)),
            { stays: true }
          ),
          Inbox.layerMemory()
        )
      )
    )
  )

  it.effect("stays with a handler that takes longer than the lease", () =>
    Effect.gen(function* () {
      const times: Array<number> = []
      const handle = (update: Parameters<typeof timeOf>[0]) =>
        Effect.andThen(
          Effect.sync(() => times.push(timeOf(update))),
          Effect.sleep("5 minutes")
        )
      const process = Updates.run(handle, { timeout: "1 hour", concurrency: 1, maxInMemory: 1 }).pipe(
        Effect.provide(Layer.provideMerge(source([started(1, 1)], { stays: true }), Inbox.layer()))
      )
      yield* Effect.forkScoped(Effect.all([process, process], { concurrency: 2 }))
      yield* TestClock.adjust("10 minutes")
      assert.deepStrictEqual(times, [1])
    }).pipe(Effect.provide(storeOver(() => ({ isShared: true }))))
  )

  it.effect("may be an empty partition, where somebody took its updates out of the database", () => {
    let isFirst = true
    const emptied = inboxOver((store) => ({
      claim: (asked) =>
        Effect.map(store.claim(asked), (partitions) => {
          if (partitions.length === 0 || !isFirst) return partitions
          isFirst = false
          return partitions.map((partition) => ({ ...partition, updates: [] }))
        })
    }))
    const bringing = (inbox: Inbox.Inbox["Service"], time: number) =>
      Updates.Updates.of({ inbox, source: Effect.orDie(inbox.receive([started(1, time)])) })
    return Effect.gen(function* () {
      const inbox = yield* Inbox.Inbox
      const times: Array<number> = []
      yield* Updates.run((update) => Effect.sync(() => times.push(timeOf(update)))).pipe(
        Effect.provideService(Updates.Updates, bringing(inbox, 1))
      )
      assert.deepStrictEqual(times, [1])
      isFirst = true
      const updates = yield* Stream.runCollect(Updates.stream).pipe(
        Effect.provideService(Updates.Updates, bringing(inbox, 2))
      )
      assert.deepStrictEqual(updates.map(timeOf), [2])
    }).pipe(Effect.provide(emptied))
  })

  const late = inboxOver((store) => ({
    // What arrives after the look is not in the answer.
    claim: (asked) => Effect.tap(store.claim(asked), () => Effect.sleep("2 seconds"))
  }))

  const sourceOf = (inbox: Inbox.Inbox["Service"]) =>
    Effect.andThen(Effect.sleep("1 second"), Effect.orDie(inbox.receive([started(1, 1)])))

  it.effect("includes what a source brought just before it ended", () =>
    Effect.gen(function* () {
      const inbox = yield* Inbox.Inbox
      const times: Array<number> = []
      yield* inTime(
        Updates.run((update) => Effect.sync(() => times.push(timeOf(update)))).pipe(
          Effect.provideService(Updates.Updates, Updates.Updates.of({ inbox, source: sourceOf(inbox) }))
        )
      )
      assert.deepStrictEqual(times, [1])
    }).pipe(Effect.provide(late))
  )

  it.effect("includes it in the stream too", () =>
    Effect.gen(function* () {
      const inbox = yield* Inbox.Inbox
      const updates = yield* inTime(
        Stream.runCollect(Updates.stream).pipe(
          Effect.provideService(Updates.Updates, Updates.Updates.of({ inbox, source: sourceOf(inbox) }))
        )
      )
      assert.deepStrictEqual(updates.map(timeOf), [1])
    }).pipe(Effect.provide(late))
  )
})
