import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { Inbox, StoreError, Updates } from "../../../src/index.ts"
import { chatOf, inboxOver, source, started } from "../../support/deliveries.ts"

const chats = [1, 2, 3, 4]

const updates = chats.map((chat) => started(chat, chat))

/** An inbox of several processes that records how many updates each commit completes, and refuses those of some chats. */
const makeInbox = (isRefused: (partitionKey: string) => boolean = () => false) => {
  const written: Array<number> = []
  const refused = new StoreError.StoreError({
    store: "inbox",
    operation: "commit",
    reason: "other",
    isRetryable: false
  })
  const layer = Layer.provideMerge(
    source(updates, { stays: true }),
    inboxOver((store) => ({
      isShared: true,
      commit: (commits) =>
        Effect.suspend(() => {
          const completed = commits.filter(({ completed }) => completed.length > 0)
          if (completed.length > 0) written.push(completed.length)
          return commits.some(({ partitionKey }) => isRefused(partitionKey))
            ? Effect.fail(refused)
            : store.commit(commits)
        })
    }))
  )
  return { layer, written }
}

describe("Acknowledgements of one turn of the event loop", () => {
  it.effect("are written together", () =>
    Effect.gen(function* () {
      const { layer, written } = makeInbox()
      yield* Effect.gen(function* () {
        yield* Updates.deliveries().pipe(
          Stream.mapEffect(({ ack }) => ack, { concurrency: 8 }),
          Stream.runDrain,
          Effect.forkScoped({ startImmediately: true })
        )
        yield* TestClock.adjust("1 second")
        assert.strictEqual((yield* (yield* Inbox.Inbox).stats).queued, 0)
      }).pipe(Effect.provide(layer))
      assert.deepStrictEqual(written, [4])
    }).pipe(Effect.scoped)
  )

  it.effect("are written one by one if the store refuses to write all of them", () =>
    Effect.gen(function* () {
      const { layer, written } = makeInbox((key) => key === "2")
      const failed: Array<number> = []
      yield* Effect.gen(function* () {
        yield* Updates.deliveries().pipe(
          Stream.mapEffect(
            ({ ack, value }) =>
              Effect.map(Effect.result(ack), (result) => {
                if (Result.isFailure(result)) failed.push(chatOf(value))
              }),
            { concurrency: 8 }
          ),
          Stream.runDrain,
          Effect.forkScoped({ startImmediately: true })
        )
        yield* TestClock.adjust("1 second")
        assert.strictEqual((yield* (yield* Inbox.Inbox).stats).queued, 1)
      }).pipe(Effect.provide(layer))
      assert.deepStrictEqual(failed, [2])
      assert.deepStrictEqual(written, [4, 1, 1, 1, 1])
    }).pipe(Effect.scoped)
  )

  it.effect("are written if their fibers are interrupted, and if the stream ends in the same turn", () =>
    Effect.gen(function* () {
      const { layer, written } = makeInbox()
      yield* Effect.gen(function* () {
        yield* Updates.deliveries().pipe(
          Stream.runForEachArray((deliveries) =>
            Effect.forEach(
              deliveries,
              ({ ack }) =>
                Effect.flatMap(Effect.forkChild(ack, { startImmediately: true }), (fiber) => {
                  fiber.interruptUnsafe()
                  return Fiber.await(fiber)
                }),
              { discard: true }
            ).pipe(Effect.andThen(Effect.interrupt))
          ),
          Effect.exit
        )
        yield* TestClock.adjust("1 second")
        assert.strictEqual((yield* (yield* Inbox.Inbox).stats).queued, 0)
      }).pipe(Effect.provide(layer))
      assert.deepStrictEqual(written, [4])
    })
  )
})
