import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { Inbox, InboxStore, StoreError, type Update, Updates } from "../../src/index.ts"
import { chatOf, inTime, source, started, timeOf, within } from "../support/deliveries.ts"

const noRetry = { retry: Schedule.recurs(0) }

describe("delivery", () => {
  it.effect("An update leaves the inbox when its handler has succeeded, not before.", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      const fiber = yield* Effect.forkChild(
        Updates.run(() => Deferred.await(gate)),
        { startImmediately: true }
      )
      const inbox = yield* Inbox.Inbox
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* inbox.stats).queued, 1)
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(fiber)
      assert.strictEqual((yield* inbox.stats).queued, 0)
    }).pipe(Effect.provide(within(Inbox.layer(), source([started(1, 1)]))))
  )

  it.effect("The same event is handled once within the window, and again after it.", () =>
    Effect.gen(function* () {
      const inbox = yield* Inbox.Inbox
      const times: Array<number> = []
      const handle = (update: Update.Update) => Effect.sync(() => times.push(timeOf(update)))
      const fiber = yield* Effect.forkChild(Updates.run(handle), { startImmediately: true })
      yield* inbox.receive([started(1, 1), started(1, 2), started(1, 1)])
      yield* TestClock.adjust("2 seconds")
      yield* inbox.receive([started(1, 2)])
      yield* TestClock.adjust("57 seconds")
      yield* inbox.receive([started(1, 1)])
      yield* TestClock.adjust("5 seconds")
      yield* inbox.receive([started(1, 2)])
      yield* TestClock.adjust("2 seconds")
      assert.deepStrictEqual(times, [1, 2, 2])
      yield* Fiber.interrupt(fiber)
    }).pipe(Effect.provide(within(Inbox.layer({ deduplicationWindow: "1 minute" }), source([], { stays: true }))))
  )

  const many = Array.from({ length: 400 }, (_, index) => started(1 + (index % 7), index))

  it.effect(
    "The updates of one chat are handled one at a time in the order they came; chats do not wait for each other.",
    () =>
      Effect.gen(function* () {
        const active = new Set<number>()
        const seen = new Map<number, Array<number>>()
        let most = 0
        yield* Updates.run((update) => {
          const chat = chatOf(update)
          return Effect.gen(function* () {
            assert.isFalse(active.has(chat), "two handlers of one chat at once")
            active.add(chat)
            most = Math.max(most, active.size)
            yield* Effect.sleep(chat === 1 ? "50 millis" : "1 millis")
            seen.set(chat, [...(seen.get(chat) ?? []), timeOf(update)])
            active.delete(chat)
          })
        }).pipe(Effect.raceFirst(Effect.forever(TestClock.adjust("1 millis"))))
        assert.strictEqual(most, 7)
        for (const [chat, times] of seen) {
          const expected = many.map((_, index) => index).filter((index) => 1 + (index % 7) === chat)
          assert.deepStrictEqual(times, expected)
        }
      }).pipe(Effect.provide(within(Inbox.layer(), source(many))))
  )

  it.effect("A chat waits while its update is tried again, even where only one handler may run; others go on.", () =>
    Effect.gen(function* () {
      const log: Array<string> = []
      let failures = 2
      const handle = (update: Update.Update) =>
        Effect.suspend(() => {
          const name = `${chatOf(update)}:${timeOf(update)}`
          log.push(name)
          return name === "1:1" && failures-- > 0 ? Effect.fail("not yet") : Effect.void
        })
      yield* Updates.run(handle, { concurrency: 1, retry: Schedule.spaced("10 seconds") }).pipe(inTime)
      assert.deepStrictEqual(log, ["1:1", "2:1", "1:1", "1:1", "1:2"])
    }).pipe(Effect.provide(within(Inbox.layer(), source([started(1, 1), started(1, 2), started(2, 1)]))))
  )

  it.effect("A defect, a time-out and an interruption inside count as failures, and never stop the others.", () =>
    Effect.gen(function* () {
      const handled: Array<number> = []
      const handle = (update: Update.Update): Effect.Effect<void, string> => {
        switch (timeOf(update)) {
          case 1:
            throw new Error("thrown before there was an effect")
          case 2:
            return Effect.die("a defect")
          case 3:
            return Effect.never
          case 4:
            return Effect.interrupt
          case 5:
            return Effect.fail("a failure")
          default:
            return Effect.sync(() => void handled.push(timeOf(update)))
        }
      }
      yield* inTime(Updates.run(handle, noRetry))
      assert.deepStrictEqual(handled, [6])
      const dead = yield* Stream.runCollect(Inbox.deadLetters)
      assert.lengthOf(dead, 5)
      for (const problem of ["thrown before", "a defect", "imeout", "nterrupt", "a failure"]) {
        assert.isTrue(
          dead.some((update) => update.error.includes(problem)),
          `${problem} in ${dead.map((update) => update.error).join("; ")}`
        )
      }
    }).pipe(
      Effect.provide(
        within(Inbox.layer({ partitionKey: timeOf }), source([1, 2, 3, 4, 5, 6].map((time) => started(1, time))))
      )
    )
  )

  it.effect("Dead letters can be listed, replayed and dropped.", () =>
    Effect.gen(function* () {
      const handled: Array<number> = []
      let isBroken = true
      const handle = (update: Update.Update) =>
        isBroken ? Effect.fail("broken") : Effect.sync(() => void handled.push(timeOf(update)))
      const fiber = yield* Effect.forkChild(Updates.run(handle, noRetry), { startImmediately: true })
      yield* TestClock.adjust("1 second")
      const dead = yield* Stream.runCollect(Inbox.deadLetters)
      assert.deepStrictEqual(
        dead.map(({ attempts, update }) => [attempts, timeOf(Result.getOrThrow(update.decoded))]),
        [
          [1, 1],
          [1, 2]
        ]
      )
      isBroken = false
      assert.isTrue(yield* Inbox.drop(dead[0].id))
      assert.isTrue(yield* Inbox.replay(dead[1].id))
      assert.isFalse(yield* Inbox.replay(dead[1].id))
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(handled, [2])
      assert.deepStrictEqual(yield* Stream.runCollect(Inbox.deadLetters), [])
      yield* Fiber.interrupt(fiber)
    }).pipe(Effect.provide(within(Inbox.layer(), source([started(1, 1), started(1, 2)], { stays: true }))))
  )

  it.effect("The number of handlers at once and of updates in memory is bounded.", () =>
    Effect.gen(function* () {
      const claims: Array<number> = []
      const store = yield* InboxStore.InboxStore
      let held = 0
      let running = 0
      let most = 0
      const counting = InboxStore.InboxStore.of({
        ...store,
        isShared: true,
        claim: (asked) =>
          Effect.tap(store.claim(asked), (partitions) =>
            Effect.sync(() => {
              held += partitions.reduce((sum, { updates }) => sum + updates.length, 0)
              claims.push(held)
            })
          ),
        commit: (commits) => Effect.tap(store.commit(commits), () => Effect.sync(() => void held--))
      })
      const handle = () =>
        Effect.gen(function* () {
          most = Math.max(most, ++running)
          yield* Effect.sleep("1 second")
          running--
        })
      yield* Updates.run(handle, { concurrency: 3, maxInMemory: 12 }).pipe(
        inTime,
        Effect.provide(Layer.provideMerge(source(many), Inbox.layer())),
        Effect.provideService(InboxStore.InboxStore, counting)
      )
      assert.strictEqual(most, 3)
      assert.isAtMost(Math.max(...claims), 12)
    }).pipe(Effect.provide(InboxStore.layerMemory()))
  )

  it.effect(
    "When it stops, it takes nothing more, running handlers get a deadline, and the rest stays in the inbox.",
    () =>
      Effect.gen(function* () {
        const log: Array<string> = []
        const handle = (update: Update.Update) =>
          Effect.gen(function* () {
            log.push(`begin ${chatOf(update)}:${timeOf(update)}`)
            yield* Effect.sleep(chatOf(update) === 1 ? "5 seconds" : "1 hour")
            log.push(`end ${chatOf(update)}:${timeOf(update)}`)
          })
        const inbox = yield* Inbox.Inbox
        const running = Updates.run(handle, { timeout: "2 hours" })
        const fiber = yield* Effect.forkChild(running, { startImmediately: true })
        yield* TestClock.adjust("1 second")
        const stopping = yield* Effect.forkChild(Fiber.interrupt(fiber), { startImmediately: true })
        yield* TestClock.adjust("1 second")
        const refusal = yield* Effect.flip(inbox.receive([started(3, 1)]))
        assert.strictEqual(refusal._tag, "InboxStopping")
        yield* TestClock.adjust("10 seconds")
        yield* Fiber.join(stopping)
        assert.deepStrictEqual(log, ["begin 1:1", "begin 2:1", "end 1:1"])
        assert.strictEqual((yield* inbox.stats).queued, 2)

        // What was left is there for the next start at once.
        const next = yield* Effect.forkChild(running, { startImmediately: true })
        yield* TestClock.adjust("1 second")
        assert.sameMembers(log.slice(3), ["begin 1:2", "begin 2:1"])
        yield* Fiber.interrupt(next).pipe(inTime)
      }).pipe(
        Effect.provide(within(Inbox.layer(), source([started(1, 1), started(1, 2), started(2, 1)], { stays: true })))
      )
  )

  it.effect("An update whose handler has succeeded does not come again because the program stops.", () =>
    Effect.gen(function* () {
      const store = yield* InboxStore.InboxStore
      const slow = InboxStore.InboxStore.of({
        ...store,
        commit: (commits) => Effect.delay(store.commit(commits), "2 seconds")
      })
      yield* Effect.gen(function* () {
        const inbox = yield* Inbox.Inbox
        const fiber = yield* Effect.forkChild(
          Updates.run(() => Effect.void),
          { startImmediately: true }
        )
        yield* TestClock.adjust("1 second")
        assert.strictEqual((yield* inbox.stats).queued, 1)
        yield* Fiber.interrupt(fiber).pipe(Effect.raceFirst(Effect.forever(TestClock.adjust("1 second"))))
        assert.strictEqual((yield* inbox.stats).queued, 0)
      }).pipe(
        Effect.provide(Layer.provideMerge(source([started(1, 1)], { stays: true }), Inbox.layer())),
        Effect.provideService(InboxStore.InboxStore, slow)
      )
    }).pipe(Effect.provide(InboxStore.layerMemory()))
  )

  it.effect("A store that cannot be reached is waited for, and no handler runs twice on account of it.", () =>
    Effect.gen(function* () {
      const store = yield* InboxStore.InboxStore
      let outage = 3
      const failing = <A>(effect: Effect.Effect<A, StoreError.StoreError>) =>
        Effect.suspend(() =>
          outage-- > 0
            ? Effect.fail(
                new StoreError.StoreError({ store: "inbox", operation: "commit", reason: "away", isRetryable: true })
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

  it.effect("A claim whose answer was lost is no update lost: it is made again when its lease has run out.", () =>
    Effect.gen(function* () {
      const store = yield* InboxStore.InboxStore
      let isLost = true
      const flaky = InboxStore.InboxStore.of({
        ...store,
        isShared: true,
        claim: (asked) =>
          Effect.flatMap(store.claim(asked), (claimed) => {
            if (!isLost || claimed.length === 0) return Effect.succeed(claimed)
            isLost = false
            return Effect.fail(
              new StoreError.StoreError({ store: "inbox", operation: "claim", reason: "away", isRetryable: true })
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

  it.effect("A lease that runs out while its handler runs begins no second handler in the same process.", () =>
    Effect.gen(function* () {
      const store = yield* InboxStore.InboxStore
      const unavailable = new StoreError.StoreError({
        store: "inbox",
        operation: "renew",
        reason: "away",
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

  it.effect("A full inbox refuses, and nothing of what it refused is in it.", () =>
    Effect.gen(function* () {
      const inbox = yield* Inbox.Inbox
      yield* inbox.receive([started(1, 1), started(1, 2)])
      const refusal = yield* Effect.flip(inbox.receive([started(1, 3), started(1, 4)]))
      assert.strictEqual(refusal._tag, "InboxFull")
      assert.strictEqual((yield* inbox.stats).queued, 2)
      yield* inbox.receive([started(1, 3)])
    }).pipe(Effect.provide(Inbox.layerMemory({ capacity: 3 })))
  )

  it.effect(
    "A source that cannot go on ends the driver with its error, after running handlers had their deadline.",
    () =>
      Effect.gen(function* () {
        const log: Array<string> = []
        const inbox = yield* Inbox.Inbox
        const arrives = Effect.orDie(inbox.receive([started(1, 1)]))
        const source = arrives.pipe(
          Effect.andThen(Effect.sleep("1 second")),
          Effect.andThen(Effect.die("cannot go on"))
        )
        const handle = () =>
          Effect.andThen(
            Effect.sleep("3 seconds"),
            Effect.sync(() => void log.push("handled"))
          )
        const exit = yield* Updates.run(handle).pipe(
          Effect.provideService(Updates.Updates, Updates.Updates.of({ inbox, source })),
          Effect.exit,
          inTime
        )
        assert.deepStrictEqual(log, ["handled"])
        assert.isTrue(exit._tag === "Failure" && Cause.pretty(exit.cause).includes("cannot go on"))
      }).pipe(Effect.provide(Inbox.layerMemory()))
  )
})
