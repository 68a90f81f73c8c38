import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Scheduler from "effect/Scheduler"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { Inbox, Updates } from "../../../src/index.ts"
import * as InboxStore from "../../../src/inbox/InboxStore.ts"
import { emitted, inTime, source, started } from "../../support/deliveries.ts"

/** Interrupts the first fiber that it schedules before an operation of this fiber. */
class InterruptingScheduler extends Scheduler.MixedScheduler {
  #first: Fiber.Fiber<unknown, unknown> | undefined
  #operations = 0
  readonly #at: number

  constructor(at: number) {
    super()
    this.#at = at
  }

  override shouldYield(fiber: Fiber.Fiber<unknown, unknown>): boolean {
    this.#first ??= fiber
    if (fiber === this.#first && ++this.#operations === this.#at) fiber.interruptUnsafe()
    return super.shouldYield(fiber)
  }
}

/** Interrupts a stream of deliveries before an operation, and returns how many updates the next stream emits. */
const trial = Effect.fnUntraced(function* (operation: number) {
  const store = { ...(yield* InboxStore.makeMemory), isShared: true }
  return yield* Effect.gen(function* () {
    const { inbox } = yield* Updates.Updates
    yield* inbox.receive([started(1, 1)])
    const interrupted = Stream.runForEach(Updates.deliveries(), () => Effect.never)
    const fiber = yield* Effect.forkChild(
      Effect.provideService(interrupted, Scheduler.Scheduler, new InterruptingScheduler(operation))
    )
    yield* Effect.repeat(Effect.yieldNow, { times: 20 })
    yield* inTime(Fiber.interrupt(fiber))
    // A lease that is not renewed ends.
    yield* TestClock.adjust("2 minutes")
    const next = emitted.pipe(Stream.take(1), Stream.runCollect, Effect.timeoutOption("5 minutes"))
    return Option.match(yield* inTime(next), { onNone: () => 0, onSome: ({ length }) => length })
  }).pipe(
    Effect.provide(Layer.provideMerge(source([], { stays: true }), Inbox.layer())),
    Effect.provideService(InboxStore.InboxStore, store)
  )
})

describe("A stream of deliveries", () => {
  it.effect("leaves no lease if the stream is interrupted before any operation of its beginning", () =>
    Effect.gen(function* () {
      const stuck: Array<number> = []
      for (let operation = 0; operation <= 300; operation++) {
        if ((yield* trial(operation)) === 0) stuck.push(operation)
      }
      assert.deepStrictEqual(stuck, [])
    })
  )
})
