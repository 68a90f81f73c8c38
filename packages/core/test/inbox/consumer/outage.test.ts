import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { Bot, Handler, Inbox, Journal, Outage, State, StoreError, Updates } from "../../../src/index.ts"
import * as InboxStore from "../../../src/inbox/InboxStore.ts"
import { started } from "../../support/deliveries.ts"

type Store = InboxStore.InboxStore["Service"]

const failure = (operation: string, isRetryable: boolean) =>
  new StoreError.StoreError({
    store: "inbox",
    operation,
    reason: isRetryable ? "connect ECONNREFUSED" : "permission denied for table colloquy_inbox",
    isRetryable
  })

/** Whether an operation fails, and how. */
interface Faults {
  fails: "away" | "refused" | undefined
}

/** A shared store in memory whose operations can fail. */
const failing = (store: Store, faults: Faults, operations: ReadonlyArray<string>): Store => {
  const guard = <A, R>(operation: string, self: Effect.Effect<A, StoreError.StoreError, R>) =>
    Effect.suspend(() =>
      faults.fails === undefined || !operations.includes(operation)
        ? self
        : Effect.fail(failure(operation, faults.fails === "away"))
    )
  return {
    ...store,
    isShared: true,
    enqueue: (batch) => guard("enqueue", store.enqueue(batch)),
    claim: (claim) => guard("claim", store.claim(claim)),
    commit: (commits) => guard("commit", store.commit(commits)),
    stats: guard("stats", store.stats),
    write: (writes) => guard("write", store.write(writes)),
    // The source reads its position.
    read: (keys) => (keys[0]?.startsWith("marker/") === true ? store.read(keys) : guard("read", store.read(keys)))
  }
}

const Count = State.make("count", Schema.Int, { of: "chat", initial: () => 0 })

const step = Journal.step("step", Schema.Int, Effect.succeed(1))

/** One update, and then none. */
const endless = Updates.layer(Stream.concat(Stream.succeed(Result.getOrThrow(started(1, 1).decoded)), Stream.never))

/** Runs a bot whose handler uses its journal and its state. */
const run = Effect.fnUntraced(function* (faults: Faults, operations: ReadonlyArray<string>) {
  const store = yield* InboxStore.InboxStore
  const attempts: Array<number> = []
  const handler = () =>
    Effect.gen(function* () {
      attempts.push(yield* Handler.CurrentAttempt)
      yield* step
      yield* Count.update((before) => before + 1)
    })
  const fiber = yield* Bot.run(handler).pipe(
    Effect.provide(Layer.provideMerge(endless, Inbox.layer())),
    Effect.provideService(InboxStore.InboxStore, failing(store, faults, operations)),
    Effect.forkChild({ startImmediately: true })
  )
  return { attempts, fiber, store }
})

const errorOf = <A, E>(exit: Exit.Exit<A, E>): E => {
  const { reasons } = (exit as Exit.Failure<A, E>).cause
  assert.lengthOf(reasons, 1)
  assert.isTrue(Cause.isFailReason(reasons[0]!), "the bot fails, and does not die")
  return (reasons[0] as Cause.Fail<E>).error
}

const operations = ["enqueue", "claim", "commit", "write", "read"]

describe("A bot whose inbox is away", () => {
  it.effect.each(operations)("ends with GaveUp after 10 minutes if %s fails, and loses nothing", (operation) =>
    Effect.gen(function* () {
      const faults: Faults = { fails: "away" }
      const { attempts, fiber, store } = yield* run(faults, [operation])
      yield* TestClock.adjust("595 seconds")
      assert.isUndefined(fiber.pollUnsafe())
      // The time of a handler that waits for its journal begins with its first time-out, and is noticed at the next one.
      yield* TestClock.adjust("3 minutes")
      assert.isDefined(fiber.pollUnsafe())
      const error = errorOf(yield* Fiber.await(fiber))
      assert.strictEqual(error._tag, "GaveUp")
      assert.match(error.message, /^The inbox was unavailable for 10m.* BOT_GIVE_UP_AFTER .*ECONNREFUSED/)
      assert.isTrue(attempts.every((attempt) => attempt === 1))
      assert.deepInclude(yield* store.stats, { queued: operation === "enqueue" ? 0 : 1, deadLetters: 0 })
    }).pipe(Effect.provide(InboxStore.layerMemory))
  )

  it.effect.each(operations)("goes on as soon as %s succeeds again, in the same attempt", (operation) =>
    Effect.gen(function* () {
      const faults: Faults = { fails: "away" }
      const { attempts, fiber, store } = yield* run(faults, [operation])
      yield* TestClock.adjust("5 minutes")
      faults.fails = undefined
      yield* TestClock.adjust("15 seconds")
      assert.deepInclude(yield* store.stats, { queued: 0, deadLetters: 0 })
      assert.isNotEmpty(attempts)
      assert.isTrue(attempts.every((attempt) => attempt === 1))
      yield* Fiber.interrupt(fiber)
    }).pipe(Effect.provide(InboxStore.layerMemory))
  )

  it.effect.each(operations)("ends at once with a solution if %s fails permanently", (operation) =>
    Effect.gen(function* () {
      const { fiber, store } = yield* run({ fails: "refused" }, [operation])
      yield* TestClock.adjust("10 seconds")
      assert.isDefined(fiber.pollUnsafe())
      const error = errorOf(yield* Fiber.await(fiber))
      assert.strictEqual(error._tag, "StoreError")
      assert.match(error.message, /permission denied.* check the database and the options of the store/)
      assert.deepInclude(yield* store.stats, { queued: operation === "enqueue" ? 0 : 1, deadLetters: 0 })
    }).pipe(Effect.provide(InboxStore.layerMemory))
  )

  it.effect("ends a stream of deliveries in the same way", () =>
    Effect.gen(function* () {
      const store = yield* InboxStore.InboxStore
      const fiber = yield* Updates.deliveries().pipe(
        Stream.mapEffect(({ ack }) => ack),
        Stream.runDrain,
        Effect.provide(Layer.provideMerge(endless, Inbox.layer())),
        Effect.provideService(InboxStore.InboxStore, failing(store, { fails: "away" }, ["claim"])),
        Effect.provideService(Outage.GiveUpAfter, Duration.minutes(1)),
        Effect.forkChild({ startImmediately: true })
      )
      yield* TestClock.adjust("61 seconds")
      const error = errorOf(yield* Fiber.await(fiber))
      assert.strictEqual(error._tag, "GaveUp")
    }).pipe(Effect.provide(InboxStore.layerMemory))
  )

  it.effect("fails an acknowledgement, and does not interrupt it, if the stream closes meanwhile", () =>
    Effect.gen(function* () {
      const store = yield* InboxStore.InboxStore
      const faults: Faults = { fails: undefined }
      const closing = yield* Deferred.make<void>()
      const fiber = yield* Updates.deliveries().pipe(
        Stream.tap(({ ack }) =>
          Effect.suspend(() => {
            faults.fails = "away"
            return Effect.forkDetach(Effect.exit(ack), { startImmediately: true })
          }).pipe(Effect.tap((acknowledging) => Effect.sync(() => (acknowledged = acknowledging))))
        ),
        Stream.interruptWhen(Deferred.await(closing)),
        Stream.runDrain,
        Effect.provide(Layer.provideMerge(endless, Inbox.layer())),
        Effect.provideService(InboxStore.InboxStore, failing(store, faults, ["commit"])),
        Effect.forkChild({ startImmediately: true })
      )
      let acknowledged: Fiber.Fiber<Exit.Exit<void, StoreError.StoreError>> | undefined
      yield* TestClock.adjust("1 second")
      yield* Deferred.succeed(closing, undefined)
      yield* TestClock.adjust("1 minute")
      yield* Fiber.await(fiber)
      const error = errorOf(yield* Fiber.join(acknowledged!))
      assert.deepInclude(error, { _tag: "StoreError", isRetryable: true })
      assert.deepInclude(yield* store.stats, { queued: 1, deadLetters: 0 })
    }).pipe(Effect.provide(InboxStore.layerMemory))
  )
})
