import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientError from "effect/http/HttpClientError"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Metric from "effect/Metric"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import {
  BotApi,
  Inbox,
  Messages,
  type QueuedUpdate,
  RateLimiter,
  StoreError,
  type Update,
  Updates
} from "../../src/index.ts"
import * as InboxStore from "../../src/InboxStore.ts"
import { chatOf, inTime, source, started, timeOf } from "../support/deliveries.ts"
import { chat_id, message } from "../support/fixtures.ts"
import { baseUrl, ok, scripted, token, unlimited } from "../support/scripted.ts"

type Store = InboxStore.InboxStore["Service"]

const makeStore = (modify: (store: Store) => Partial<Store> = () => ({})) =>
  Effect.map(InboxStore.makeMemory, (store) => InboxStore.InboxStore.of({ ...store, isShared: true, ...modify(store) }))

const within = (store: Store, updates: ReadonlyArray<Inbox.Received> = []) =>
  Layer.provideMerge(source(updates, { stays: true }), Inbox.layer()).pipe(
    Layer.provide(Layer.succeed(InboxStore.InboxStore, store))
  )

const fill = (store: Store, updates: ReadonlyArray<Inbox.Received>) =>
  Effect.flatMap(Inbox.Inbox, (inbox) => Effect.orDie(inbox.receive(updates))).pipe(
    Effect.provide(Layer.provide(Inbox.layer(), Layer.succeed(InboxStore.InboxStore, store)))
  )

/** A process claims all partitions, begins their first updates, and dies. */
const die = (store: Store) =>
  store.claim({ owner: "dead", leaseDuration: 0, maxPartitions: 100, maxUpdates: 1, begin: 1 })

const unavailable = (operation: string) =>
  Effect.fail(new StoreError.StoreError({ store: "inbox", operation, reason: "unavailable", isRetryable: true }))

const run = (store: Store, handle: (update: Update.Update) => Effect.Effect<unknown>, options?: Updates.RunOptions) =>
  Updates.run(handle, options).pipe(Effect.provide(within(store)), Effect.timeoutOption("1 minute"), inTime)

describe("An update whose process died", () => {
  it.effect("is handled while nothing else is, and counts the attempt", () =>
    Effect.gen(function* () {
      const store = yield* makeStore()
      yield* fill(store, [started(1, 1), started(2, 2)])
      yield* die(store)
      yield* fill(store, [started(1, 3), started(3, 4), started(4, 5), started(5, 6)])
      const log: Array<string> = []
      let running = 0
      const handle = (update: Update.Update) =>
        Effect.gen(function* () {
          running++
          yield* Effect.sleep("1 second")
          log.push(`${timeOf(update)} beside ${running - 1} in attempt ${yield* Updates.CurrentAttempt}`)
          running--
        })
      yield* run(store, handle)
      assert.includeMembers(log, ["1 beside 0 in attempt 2", "2 beside 0 in attempt 2"])
      assert.lengthOf(log, 6)
      assert.isTrue(log.some((entry) => /^[456] beside [12]/.test(entry)))
      assert.strictEqual((yield* store.stats).queued, 0)
    })
  )

  it.effect("is a dead letter that says so after `maxCrashes`, and the updates beside it are handled", () =>
    Effect.gen(function* () {
      const store = yield* makeStore()
      yield* fill(store, [started(1, 1)])
      yield* die(store)
      yield* die(store)
      yield* fill(store, [started(2, 2)])
      yield* die(store)
      const handled: Array<number> = []
      const dead: Array<QueuedUpdate.DeadLetter> = []
      const onDeadLetter = (deadLetter: QueuedUpdate.DeadLetter) => Effect.sync(() => void dead.push(deadLetter))
      yield* run(store, (update) => Effect.sync(() => handled.push(timeOf(update))), { onDeadLetter, maxCrashes: 3 })
      assert.deepStrictEqual(handled, [2])
      assert.lengthOf(dead, 1)
      assert.include(dead[0].error, "The process died 3 times while the update was handled.")
      assert.deepInclude(yield* store.stats, { queued: 0, deadLetters: 1 })
    })
  )

  it.effect("does not count the claim of a process that stops", () =>
    Effect.gen(function* () {
      const store = yield* makeStore()
      const bot = Updates.run(() => Effect.never).pipe(Effect.provide(within(store, [started(1, 1), started(1, 2)])))
      for (let count = 0; count < 4; count++) {
        const fiber = yield* Effect.forkChild(bot, { startImmediately: true })
        yield* TestClock.adjust("1 second")
        yield* inTime(Fiber.interrupt(fiber))
      }
      const [partition] = yield* store.claim({
        owner: "next",
        leaseDuration: 1000,
        maxPartitions: 1,
        maxUpdates: 2,
        begin: 0
      })
      assert.deepStrictEqual(
        partition.updates.map(({ attempts, crashes }) => [attempts, crashes]),
        [
          [4, 0],
          [0, 0]
        ]
      )
    })
  )
})

describe("A process that has lost a chat", () => {
  const sending = (pause: string) => () =>
    Effect.andThen(Effect.sleep(pause as "1 second"), Messages.send({ chat_id, text: "Hello" }))

  it.effect("interrupts the handler, and handles no further update of the chat", () =>
    Effect.gen(function* () {
      const store = yield* makeStore((store) => ({ renew: () => Effect.as(store.stats, []) }))
      const platform = scripted(ok({ message: message() }))
      const seen: Array<number> = []
      const handler = (update: Update.Update) => {
        seen.push(timeOf(update))
        return sending("5 seconds")()
      }
      yield* Updates.run(handler, { timeout: "1 hour" }).pipe(
        Effect.provide(Layer.merge(within(store, [started(1, 1), started(1, 2)]), platform.layer())),
        Effect.timeoutOption("8 seconds"),
        inTime
      )
      assert.deepStrictEqual(seen, [1])
      assert.lengthOf(platform.journal, 0)
    })
  )

  it.effect("sends nothing while its lease is not certain", () =>
    Effect.gen(function* () {
      let isDown = false
      const store = yield* makeStore((store) => ({
        claim: (claim) => Effect.suspend(() => (isDown ? unavailable("claim") : store.claim(claim))),
        renew: (owner, duration) => (isDown ? unavailable("renew") : store.renew(owner, duration))
      }))
      const platform = scripted(ok({ message: message() }))
      const fiber = yield* Updates.run(sending("15 seconds"), { timeout: "1 hour" }).pipe(
        Effect.provide(Layer.merge(within(store, [started(1, 1)]), platform.layer())),
        Effect.forkChild({ startImmediately: true })
      )
      yield* TestClock.adjust("1 second")
      isDown = true
      yield* TestClock.adjust("30 seconds")
      assert.lengthOf(platform.journal, 0)
      isDown = false
      yield* TestClock.adjust("5 seconds")
      assert.lengthOf(platform.journal, 1)
      yield* inTime(Fiber.interrupt(fiber))
    })
  )

  /** What a handler sends with a client whose requests wait for a connection, if its chat is lost at the given time. */
  const sentOver = (
    connect: (confirmPermit: () => boolean) => Effect.Effect<void, RateLimiter.PermitExpired>,
    lostAfter: string
  ) =>
    Effect.gen(function* () {
      let isDown = false
      let isLost = false
      const store = yield* makeStore((store) => ({
        claim: (claim) => Effect.suspend(() => (isDown ? unavailable("claim") : store.claim(claim))),
        renew: (owner, duration) =>
          Effect.suspend(() =>
            isDown ? unavailable("renew") : isLost ? Effect.as(store.stats, []) : store.renew(owner, duration)
          )
      }))
      const platform = scripted(ok({ message: message() }))
      const waiting = HttpClient.transform(platform.client, (response, request) =>
        Effect.andThen(
          Effect.mapError(
            Effect.flatMap(RateLimiter.ConfirmPermit, connect),
            (cause) =>
              new HttpClientError.HttpClientError({ reason: new HttpClientError.TransportError({ request, cause }) })
          ),
          response
        )
      )
      const fiber = yield* Updates.run(sending("1 second"), { timeout: "1 hour" }).pipe(
        Effect.provide(
          Layer.merge(
            within(store, [started(1, 1)]),
            BotApi.layer({ token: Redacted.make(token), baseUrl }).pipe(
              Layer.provide([Layer.succeed(HttpClient.HttpClient, waiting), RateLimiter.layerMemory(unlimited)])
            )
          )
        ),
        Effect.forkChild({ startImmediately: true })
      )
      yield* TestClock.adjust("500 millis")
      isDown = true
      yield* TestClock.adjust(lostAfter as "1 second")
      isDown = false
      isLost = true
      yield* TestClock.adjust("1 minute")
      yield* inTime(Fiber.interrupt(fiber))
      return platform.journal.length
    })

  const confirmAfter = (wait: string) => (confirmPermit: () => boolean) =>
    Effect.andThen(
      Effect.sleep(wait as "1 second"),
      Effect.suspend(() => (confirmPermit() ? Effect.void : Effect.fail(new RateLimiter.PermitExpired())))
    )

  it.effect("sends nothing if its request waits for a connection until the lease has expired", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* sentOver(confirmAfter("15 seconds"), "30 seconds"), 0)
    })
  )

  it.effect("sends a request that waits for a connection while the lease is valid", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* sentOver(confirmAfter("3 seconds"), "5 seconds"), 1)
    })
  )
})

describe("A delivery that nobody settles", () => {
  it.effect("is told of in a warning and a metric, keeps its lease, and is given back when the stream closes", () => {
    const logs: Array<string> = []
    const logger = Logger.make(({ message }) => void logs.push(String(message)))
    return Effect.gen(function* () {
      const store = yield* makeStore()
      const forgetful = Updates.deliveries().pipe(
        Stream.runForEach(() => Effect.void),
        Effect.provide(within(store, [started(1, 1), started(1, 2)]))
      )
      const fiber = yield* Effect.forkChild(forgetful, { startImmediately: true })
      yield* TestClock.adjust("5 minutes")
      const claim = { owner: "other", leaseDuration: 1000, maxPartitions: 1, maxUpdates: 2, begin: 0 }
      assert.deepStrictEqual(yield* store.claim(claim), [])
      assert.lengthOf(
        logs.filter((text) => text.startsWith("A delivery was not settled within 1m.")),
        1
      )
      const metric = (yield* Metric.snapshot).find(({ id }) => id === "colloquy_updates_unsettled_total")
      assert.deepInclude(metric?.state, { count: 1 })
      yield* inTime(Fiber.interrupt(fiber))
      const [partition] = yield* store.claim(claim)
      assert.lengthOf(partition.updates, 2)
    }).pipe(Effect.provide(Logger.layer([logger])), Effect.provideService(Metric.MetricRegistry, new Map()))
  })
})

describe("An idle bot", () => {
  it.effect("asks a store that wakes it up once in 5 seconds, and begins an update at once", () =>
    Effect.gen(function* () {
      let claims = 0
      let wakeUp: () => void = () => undefined
      const store = yield* makeStore((store) => ({
        claim: (claim) => Effect.suspend(() => (claims++, store.claim(claim))),
        listen: (wake) => Effect.sync(() => void (wakeUp = wake))
      }))
      const handled: Array<number> = []
      const fiber = yield* Updates.run((update) => Effect.sync(() => handled.push(chatOf(update)))).pipe(
        Effect.provide(within(store)),
        Effect.forkChild({ startImmediately: true })
      )
      yield* TestClock.adjust("1 minute")
      assert.isAtMost(claims, 14)
      yield* fill(store, [started(7, 1)])
      wakeUp()
      yield* TestClock.adjust("1 millis")
      assert.deepStrictEqual(handled, [7])
      yield* inTime(Fiber.interrupt(fiber))
    })
  )
})
