import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import { Inbox, StoreError, type Update, Updates } from "../../src/index.ts"
import * as InboxStore from "../../src/InboxStore.ts"
import { inTime, source, started, storeOver, timeOf } from "../support/deliveries.ts"

describe("leases", () => {
  it.effect("While the store is unavailable, operations are retried, and no handler runs twice because of it.", () =>
    Effect.gen(function* () {
      const store = yield* InboxStore.InboxStore
      let outage = 3
      const failing = <A>(effect: Effect.Effect<A, StoreError.StoreError>) =>
        Effect.suspend(() =>
          outage-- > 0
            ? Effect.fail(
                new StoreError.StoreError({
                  store: "inbox",
                  operation: "commit",
                  reason: "unavailable",
                  isRetryable: true
                })
              )
            : effect
        )
      const flaky = InboxStore.InboxStore.of({ ...store, commit: (commits) => failing(store.commit(commits)) })
      const times: Array<number> = []
      yield* Updates.run((update) => Effect.sync(() => times.push(timeOf(update)))).pipe(
        inTime,
        Effect.provide(Layer.provideMerge(source([started(1, 1), started(1, 2)]), Inbox.layer())),
        Effect.provideService(InboxStore.InboxStore, flaky)
      )
      assert.deepStrictEqual(times, [1, 2])
      assert.isBelow(outage, 1)
    }).pipe(Effect.provide(InboxStore.layerMemory()))
  )

  it.effect("renews the lease of a partition while its handler runs", () =>
    Effect.gen(function* () {
      const times: Array<number> = []
      const handle = (update: Parameters<typeof timeOf>[0]) =>
        Effect.andThen(
          Effect.sync(() => times.push(timeOf(update))),
          Effect.sleep("5 minutes")
        )
      const consumer = Updates.run(handle, { timeout: "1 hour", concurrency: 1, maxInMemory: 1 }).pipe(
        Effect.provide(Layer.provideMerge(source([started(1, 1)], { stays: true }), Inbox.layer()))
      )
      yield* Effect.forkScoped(Effect.all([consumer, consumer], { concurrency: 2 }))
      yield* TestClock.adjust("10 minutes")
      assert.deepStrictEqual(times, [1])
    }).pipe(Effect.provide(storeOver(() => ({ isShared: true }))))
  )

  it.effect("does not start a second handler in the same process when a lease expires", () =>
    Effect.gen(function* () {
      const store = yield* InboxStore.InboxStore
      const unavailable = new StoreError.StoreError({
        store: "inbox",
        operation: "renew",
        reason: "unavailable",
        isRetryable: true
      })
      const flaky = InboxStore.InboxStore.of({ ...store, isShared: true, renew: () => Effect.fail(unavailable) })
      const times: Array<number> = []
      const handle = (update: Update.Update) =>
        Effect.andThen(
          Effect.sync(() => times.push(timeOf(update))),
          Effect.sleep("5 minutes")
        )
      yield* Updates.run(handle, { timeout: "1 hour" }).pipe(
        Effect.provide(Layer.provideMerge(source([started(1, 1)], { stays: true }), Inbox.layer())),
        Effect.provideService(InboxStore.InboxStore, flaky),
        Effect.forkScoped
      )
      yield* TestClock.adjust("10 minutes")
      assert.deepStrictEqual(times, [1])
      assert.strictEqual((yield* store.stats).queued, 0)
    }).pipe(Effect.provide(InboxStore.layerMemory()))
  )

  it.effect("retries a claim whose result was lost, and handles the updates after the lease expires", () =>
    Effect.gen(function* () {
      const store = yield* InboxStore.InboxStore
      let isLost = true
      const flaky = InboxStore.InboxStore.of({
        ...store,
        isShared: true,
        claim: (options) =>
          Effect.flatMap(store.claim(options), (claimed) => {
            if (!isLost || claimed.length === 0) return Effect.succeed(claimed)
            isLost = false
            return Effect.fail(
              new StoreError.StoreError({
                store: "inbox",
                operation: "claim",
                reason: "unavailable",
                isRetryable: true
              })
            )
          })
      })
      const times: Array<number> = []
      yield* Updates.run((update) => Effect.sync(() => times.push(timeOf(update)))).pipe(
        Effect.provide(Layer.provideMerge(source([started(1, 1), started(1, 2)], { stays: true }), Inbox.layer())),
        Effect.provideService(InboxStore.InboxStore, flaky),
        Effect.forkScoped
      )
      yield* TestClock.adjust("25 seconds")
      assert.deepStrictEqual(times, [])
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(times, [1, 2])
    }).pipe(Effect.provide(InboxStore.layerMemory()))
  )
})
