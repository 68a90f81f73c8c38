import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { Bot, Handler, Inbox, QueuedUpdate, RateLimiter, StoreError, type Update } from "../../../src/index.ts"
import * as InboxStore from "../../../src/inbox/InboxStore.ts"
import { chatOf, inboxOver, inTime, source, started, timeOf, within } from "../../support/deliveries.ts"

const noRetry = { retry: Schedule.recurs(0) }

const unavailable = new StoreError.StoreError({
  store: "inbox",
  operation: "commit",
  reason: "unavailable",
  isRetryable: true
})

/** Runs a bot with a modified store, and stops it after a second. Returns how many milliseconds the shutdown took. */
const shutdownTime = <E>(
  modify: (store: InboxStore.InboxStore["Service"]) => Partial<InboxStore.InboxStore["Service"]>,
  handle: (update: Update.Update) => Effect.Effect<unknown, E>,
  updates: ReadonlyArray<Inbox.Received> = [started(1, 1)]
) =>
  Effect.gen(function* () {
    const store = yield* InboxStore.InboxStore
    const modified = InboxStore.InboxStore.of({ ...store, isShared: true, ...modify(store) })
    const fiber = yield* Bot.run(handle).pipe(
      Effect.provide(Layer.provideMerge(source(updates, { stays: true }), Inbox.layer())),
      Effect.provideService(InboxStore.InboxStore, modified),
      Effect.forkChild({ startImmediately: true })
    )
    yield* TestClock.adjust("1 second")
    const before = yield* Clock.currentTimeMillis
    yield* inTime(Fiber.interrupt(fiber))
    return (yield* Clock.currentTimeMillis) - before
  })

describe("workers", () => {
  it.effect(
    "A defect, a time-out or an interruption in a handler counts as a failure and does not affect other updates.",
    () =>
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
        yield* inTime(Bot.run(handle, noRetry))
        assert.deepStrictEqual(handled, [6])
        const deadLetters = yield* Stream.runCollect(Inbox.deadLetters)
        assert.lengthOf(deadLetters, 5)
        for (const expected of ["thrown before", "a defect", "imeout", "nterrupt", "a failure"]) {
          assert.isTrue(
            deadLetters.some(({ error }) => error.includes(expected)),
            `${expected} in ${deadLetters.map(({ error }) => error).join("; ")}`
          )
        }
      }).pipe(
        Effect.provide(
          within(Inbox.layer({ partitionKey: timeOf }), source([1, 2, 3, 4, 5, 6].map((time) => started(1, time))))
        )
      )
  )
})

describe("workers.acknowledge", () => {
  const chats = [1, 2, 3, 4]

  it.effect("acknowledges the handlers that end in one turn in one write", () =>
    Effect.gen(function* () {
      const written: Array<number> = []
      const modified = inboxOver((store) => ({
        commit: (commits) =>
          Effect.suspend(() => {
            written.push(commits.length)
            return store.commit(commits)
          })
      }))
      const handle = (update: Update.Update) => (chatOf(update) === 4 ? Effect.sleep("1 second") : Effect.void)
      yield* inTime(Bot.run(handle)).pipe(
        Effect.provide(Layer.provideMerge(source(chats.map((chat) => started(chat, chat))), modified))
      )
      assert.deepStrictEqual(written, [3, 1])
    })
  )

  it.effect(
    "acknowledges each of them by itself if the store refuses to write all of them, and ends because of the refused one",
    () =>
      Effect.gen(function* () {
        const refused = new StoreError.StoreError({
          store: "inbox",
          operation: "commit",
          reason: "other",
          isRetryable: false
        })
        const modified = inboxOver((store) => ({
          commit: (commits) =>
            Effect.suspend(() =>
              commits.some(({ partitionKey }) => partitionKey === "2") ? Effect.fail(refused) : store.commit(commits)
            )
        }))
        const handled: Array<number> = []
        const handle = (update: Update.Update) => Effect.sync(() => void handled.push(chatOf(update)))
        yield* Effect.gen(function* () {
          const { stats } = yield* Inbox.Inbox
          const fiber = yield* Effect.forkChild(Bot.run(handle, { concurrency: 4 }), { startImmediately: true })
          yield* TestClock.adjust("1 minute")
          assert.strictEqual((yield* stats).queued, 1)
          assert.strictEqual(yield* Effect.flip(Fiber.join(fiber)), refused)
        }).pipe(Effect.provide(Layer.provideMerge(source(chats.map((chat) => started(chat, chat))), modified)))
        assert.deepStrictEqual(handled, chats)
      })
  )
})

describe("workers.onDeadLetter", () => {
  const twice = { retry: Schedule.recurs(1) }
  const failing = { retry: Schedule.recurs(0) }

  it.effect("runs with the attempts and the error, before the next update of the chat and in its context", () =>
    Effect.gen(function* () {
      const log: Array<unknown> = []
      const handle = (update: Update.Update) =>
        Effect.gen(function* () {
          log.push(`${timeOf(update)} in attempt ${yield* Handler.CurrentAttempt}`)
          return timeOf(update) === 1 ? yield* Effect.fail("no such luck") : undefined
        })
      const onDeadLetter = ({ attempts, error, update }: QueuedUpdate.DeadLetter) =>
        Effect.gen(function* () {
          yield* Effect.sleep("1 second")
          const chat = yield* RateLimiter.CurrentChat
          const priority = yield* RateLimiter.CurrentPriority
          log.push([
            timeOf(Result.getOrThrow(update.decoded)),
            attempts,
            error.includes("no such luck"),
            chat,
            priority
          ])
        })
      yield* inTime(Bot.run(handle, { ...twice, onDeadLetter }))
      assert.deepStrictEqual(log, ["1 in attempt 1", "1 in attempt 2", [1, 2, true, 7, "reply"], "2 in attempt 1"])
      assert.lengthOf(yield* Stream.runCollect(Inbox.deadLetters), 1)
    }).pipe(Effect.provide(within(Inbox.layer(), source([started(7, 1), started(7, 2)]))))
  )

  it.effect("makes the update a dead letter also if the function fails, dies, throws or takes too long", () => {
    const logs: Array<string> = []
    const logger = Logger.make(({ cause, message }) => void logs.push(`${String(message)} ${Cause.pretty(cause)}`))
    const outcomes = [
      () => Effect.fail("it failed"),
      () => Effect.die("it died"),
      () => {
        throw new Error("it threw")
      },
      () => Effect.never
    ]
    return Effect.gen(function* () {
      const onDeadLetter = ({ update }: QueuedUpdate.DeadLetter) =>
        outcomes[timeOf(Result.getOrThrow(update.decoded)) - 1]() as Effect.Effect<void, string>
      yield* inTime(Bot.run(() => Effect.fail("no"), { ...failing, onDeadLetter }))
      const { deadLetters, queued } = yield* (yield* Inbox.Inbox).stats
      assert.deepStrictEqual([queued, deadLetters], [0, 4])
      const reported = logs.filter((text) => text.startsWith("The function `onDeadLetter` failed."))
      for (const [index, expected] of ["it failed", "it died", "it threw", "took longer than 1m"].entries())
        assert.include(reported[index], expected)
    }).pipe(
      Effect.provide(
        Layer.merge(within(Inbox.layer(), source([1, 2, 3, 4].map((time) => started(7, time)))), Logger.layer([logger]))
      )
    )
  })

  it.effect("runs for a queued update that cannot be decoded", () =>
    Effect.gen(function* () {
      const store = yield* InboxStore.InboxStore
      const update = QueuedUpdate.fromStored({ fingerprint: "a", partitionKey: "1", receivedAt: 0, text: "not JSON" })
      yield* store.enqueue({ updates: [update], deadLetters: [], now: 0, duplicatesSince: 0 })
      const seen: Array<readonly [string, number]> = []
      const onDeadLetter = ({ attempts, update }: QueuedUpdate.DeadLetter) =>
        Effect.sync(() => void seen.push([update.text, attempts]))
      yield* inTime(Bot.run(() => Effect.void, { onDeadLetter }))
      assert.deepStrictEqual(seen, [["not JSON", 0]])
      assert.strictEqual((yield* store.stats).deadLetters, 1)
    }).pipe(Effect.provide(within(Inbox.layer(), source([]))))
  )

  it.effect("keeps the update in the inbox when the function is interrupted by a shutdown", () =>
    Effect.gen(function* () {
      const inbox = yield* Inbox.Inbox
      const bot = Bot.run(() => Effect.fail("no"), {
        ...failing,
        onDeadLetter: () => Effect.never,
        timeout: "1 hour"
      })
      const fiber = yield* Effect.forkChild(bot, { startImmediately: true })
      yield* TestClock.adjust("1 second")
      yield* inTime(Fiber.interrupt(fiber))
      const { deadLetters, queued } = yield* inbox.stats
      assert.deepStrictEqual([queued, deadLetters], [1, 0])
    }).pipe(Effect.provide(within(Inbox.layer(), source([started(7, 1)], { stays: true }))))
  )
})

describe("workers.stop", () => {
  it.effect(
    "During a shutdown, no updates are handled, running handlers have until the shutdown time-out, and all other updates stay in the inbox.",
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
        const running = Bot.run(handle, { timeout: "2 hours" })
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

        // The updates are released, so the next start handles them at once.
        const next = yield* Effect.forkChild(running, { startImmediately: true })
        yield* TestClock.adjust("1 second")
        assert.sameMembers(log.slice(3), ["begin 1:2", "begin 2:1"])
        yield* Fiber.interrupt(next).pipe(inTime)
      }).pipe(
        Effect.provide(within(Inbox.layer(), source([started(1, 1), started(1, 2), started(2, 1)], { stays: true })))
      )
  )

  it.effect("An update whose handler has succeeded is not handled again because of a shutdown.", () =>
    Effect.gen(function* () {
      const store = yield* InboxStore.InboxStore
      const slow = InboxStore.InboxStore.of({
        ...store,
        commit: (commits) => Effect.delay(store.commit(commits), "2 seconds")
      })
      yield* Effect.gen(function* () {
        const inbox = yield* Inbox.Inbox
        const fiber = yield* Effect.forkChild(
          Bot.run(() => Effect.void),
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
    }).pipe(Effect.provide(InboxStore.layerMemory))
  )

  it.effect("waits for the commit of a handler that has succeeded", () =>
    Effect.gen(function* () {
      const store = yield* InboxStore.InboxStore
      const slow: typeof store.commit = (commits) => Effect.delay(store.commit(commits), "3 seconds")
      yield* shutdownTime(
        () => ({ commit: slow }),
        () => Effect.void
      )
      assert.strictEqual((yield* store.stats).queued, 0)
    }).pipe(Effect.provide(InboxStore.layerMemory))
  )

  it.effect("does not wait for the retry of a handler that has failed", () =>
    Effect.gen(function* () {
      assert.strictEqual(
        yield* shutdownTime(
          () => ({}),
          () => Effect.fail("no")
        ),
        0
      )
    }).pipe(Effect.provide(InboxStore.layerMemory))
  )

  it.effect("does not wait for the retry of a handler that fails during the shutdown", () =>
    Effect.gen(function* () {
      const handle = () => Effect.andThen(Effect.sleep("3 seconds"), Effect.fail("no"))
      assert.isAtMost(yield* shutdownTime(() => ({}), handle), 3000)
      const { queued } = yield* (yield* InboxStore.InboxStore).stats
      assert.strictEqual(queued, 1)
    }).pipe(Effect.provide(InboxStore.layerMemory))
  )

  it.effect("ends soon after the shutdown time-out while the store is unavailable", () =>
    Effect.gen(function* () {
      const failing = { commit: () => Effect.fail(unavailable), renew: () => Effect.fail(unavailable) }
      const updates = [started(1, 1), started(2, 2), started(2, 3), started(3, 4)]
      const handle = (update: Update.Update) => (timeOf(update) === 4 ? Effect.sleep("1 hour") : Effect.void)
      assert.isAtMost(yield* shutdownTime(() => failing, handle, updates), 16_000)
    }).pipe(Effect.provide(InboxStore.layerMemory))
  )

  it.effect("ends soon after the shutdown time-out if a handler cannot be interrupted, and logs it", () => {
    const logs: Array<string> = []
    const logger = Logger.make(({ message }) => void logs.push(String(message)))
    return Effect.gen(function* () {
      const endless = Effect.uninterruptible(Effect.sleep("1 hour"))
      assert.isAtMost(
        yield* shutdownTime(
          () => ({}),
          () => endless
        ),
        16_000
      )
      assert.match(logs.join(), /1 updates were not released/)
    }).pipe(Effect.provide(Layer.merge(InboxStore.layerMemory, Logger.layer([logger]))))
  })

  it.effect("ends 10 seconds after the shutdown time-out if the store is unavailable as well", () =>
    Effect.gen(function* () {
      const endless = Effect.uninterruptible(Effect.sleep("1 hour"))
      let isUnavailable = false
      const handle = () =>
        Effect.andThen(
          Effect.sync(() => void (isUnavailable = true)),
          endless
        )
      const modify = ({ commit, renew }: InboxStore.InboxStore["Service"]) => ({
        commit: (commits: ReadonlyArray<InboxStore.Commit>) => (isUnavailable ? Effect.never : commit(commits)),
        renew: (owner: string, millis: number) => (isUnavailable ? Effect.never : renew(owner, millis))
      })
      assert.isAtMost(yield* shutdownTime(modify, handle), 21_000)
    }).pipe(Effect.provide(InboxStore.layerMemory))
  )
})
