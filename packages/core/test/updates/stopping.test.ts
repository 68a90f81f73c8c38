import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as TestClock from "effect/testing/TestClock"
import { Inbox, InboxStore, StoreError, type Update, Updates } from "../../src/index.ts"
import { inTime, source, started, timeOf } from "../support/deliveries.ts"

const away = new StoreError.StoreError({ store: "inbox", operation: "commit", reason: "away", isRetryable: true })

/** Runs a bot over a store that is changed, and stops it after a second. Gives how many milliseconds that took. */
const stopped = <E>(
  change: (store: InboxStore.InboxStore["Service"]) => Partial<InboxStore.InboxStore["Service"]>,
  handle: (update: Update.Update) => Effect.Effect<unknown, E>,
  updates: ReadonlyArray<Inbox.Received> = [started(1, 1)]
) =>
  Effect.gen(function* () {
    const store = yield* InboxStore.InboxStore
    const changed = InboxStore.InboxStore.of({ ...store, isShared: true, ...change(store) })
    const fiber = yield* Updates.run(handle).pipe(
      Effect.provide(Layer.provideMerge(source(updates, { stays: true }), Inbox.layer())),
      Effect.provideService(InboxStore.InboxStore, changed),
      Effect.forkChild({ startImmediately: true })
    )
    yield* TestClock.adjust("1 second")
    const before = yield* Clock.currentTimeMillis
    yield* inTime(Fiber.interrupt(fiber))
    return (yield* Clock.currentTimeMillis) - before
  })

describe("a stop", () => {
  it.effect("lets the inbox hear what a handler has done", () =>
    Effect.gen(function* () {
      const store = yield* InboxStore.InboxStore
      const slow: typeof store.commit = (commits) => Effect.delay(store.commit(commits), "3 seconds")
      yield* stopped(
        () => ({ commit: slow }),
        () => Effect.void
      )
      assert.strictEqual((yield* store.stats).queued, 0)
    }).pipe(Effect.provide(InboxStore.layerMemory()))
  )

  it.effect("does not wait for the next attempt of a handler that has failed", () =>
    Effect.gen(function* () {
      assert.strictEqual(
        yield* stopped(
          () => ({}),
          () => Effect.fail("no")
        ),
        0
      )
    }).pipe(Effect.provide(InboxStore.layerMemory()))
  )

  it.effect("does not wait for the next attempt of a handler that fails meanwhile", () =>
    Effect.gen(function* () {
      const handle = () => Effect.andThen(Effect.sleep("3 seconds"), Effect.fail("no"))
      assert.isAtMost(yield* stopped(() => ({}), handle), 3000)
      const { queued: waiting } = yield* (yield* InboxStore.InboxStore).stats
      assert.strictEqual(waiting, 1)
    }).pipe(Effect.provide(InboxStore.layerMemory()))
  )

  it.effect("ends soon after the deadline while the store is away", () =>
    Effect.gen(function* () {
      const gone = { commit: () => Effect.fail(away), renew: () => Effect.fail(away) }
      const updates = [started(1, 1), started(2, 2), started(2, 3), started(3, 4)]
      const handle = (update: Update.Update) => (timeOf(update) === 4 ? Effect.sleep("1 hour") : Effect.void)
      assert.isAtMost(yield* stopped(() => gone, handle, updates), 16_000)
    }).pipe(Effect.provide(InboxStore.layerMemory()))
  )

  it.effect("ends soon after the deadline where a handler cannot be interrupted, and says so", () => {
    const logs: Array<string> = []
    const logger = Logger.make(({ message }) => void logs.push(String(message)))
    return Effect.gen(function* () {
      const endless = Effect.uninterruptible(Effect.sleep("1 hour"))
      assert.isAtMost(
        yield* stopped(
          () => ({}),
          () => endless
        ),
        16_000
      )
      assert.match(logs.join(), /1 chats are left as they are/)
    }).pipe(Effect.provide(Layer.merge(InboxStore.layerMemory(), Logger.layer([logger]))))
  })
})
