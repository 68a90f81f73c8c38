import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientError from "effect/http/HttpClientError"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Metric from "effect/Metric"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import {
  Bot,
  BotApi,
  Deliveries,
  Handler,
  Inbox,
  Journal,
  Messages,
  type QueuedUpdate,
  RateLimiter,
  StoreError,
  Timer,
  type Update,
  Updates
} from "../../../src/index.ts"
import * as InboxStore from "../../../src/inbox/InboxStore.ts"
import { chatOf, inTime, source, started, timeOf } from "../../support/deliveries.ts"
import { chat_id, message } from "../../support/fixtures.ts"
import { baseUrl, ok, scripted, token, unlimited } from "../../support/scripted.ts"

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

const run = (store: Store, handle: (update: Update.Update) => Effect.Effect<unknown>, options?: Bot.RunOptions) =>
  Bot.run(handle, options).pipe(Effect.provide(within(store)), Effect.timeoutOption("1 minute"), inTime)

describe("An update whose process died", () => {
  const beside = (log: Array<string>, duration: (update: Update.Update) => Duration.Input = () => "5 seconds") => {
    let running = 0
    return (update: Update.Update) =>
      Effect.gen(function* () {
        const before = yield* Clock.currentTimeMillis
        const others = running++
        yield* Effect.sleep(duration(update))
        running--
        log.push(`${timeOf(update)} from ${before / 1000} s beside ${others}, attempt ${yield* Handler.CurrentAttempt}`)
      })
  }

  it.effect("is handled again beside others at once, and counts the attempt", () =>
    Effect.gen(function* () {
      const store = yield* makeStore()
      yield* fill(store, [started(1, 1), started(2, 2)])
      yield* die(store)
      yield* fill(store, [started(3, 3)])
      const log: Array<string> = []
      yield* run(store, beside(log))
      assert.deepStrictEqual(log, [
        "1 from 0 s beside 0, attempt 2",
        "2 from 0 s beside 1, attempt 2",
        "3 from 0 s beside 2, attempt 1"
      ])
    })
  )

  /** A bot that is woken when updates are stored. */
  const wokenBot = (handle: (update: Update.Update) => Effect.Effect<unknown>) =>
    Effect.gen(function* () {
      let wakeUp = () => {}
      const store = yield* makeStore(() => ({ listen: (wake) => Effect.sync(() => void (wakeUp = wake)) }))
      return {
        store,
        enqueue: (updates: ReadonlyArray<Inbox.Received>) =>
          Effect.tap(fill(store, updates), () => Effect.sync(wakeUp)),
        start: Effect.forkDetach(Effect.provide(Bot.run(handle), within(store)), { startImmediately: true })
      }
    })

  it.effect(
    "is handled alone after two crashes, when the process has run for 10 seconds, and delays others briefly",
    () =>
      Effect.gen(function* () {
        const log: Array<string> = []
        const bot = yield* wokenBot(beside(log))
        yield* bot.enqueue([started(1, 1), started(2, 2)])
        yield* die(bot.store)
        yield* die(bot.store)
        yield* bot.enqueue([started(3, 3)])
        yield* bot.start
        yield* TestClock.adjust("9500 millis")
        yield* bot.enqueue([started(4, 4)])
        yield* TestClock.adjust("6 seconds")
        yield* bot.enqueue([started(5, 5)])
        yield* TestClock.adjust("20 seconds")
        assert.deepStrictEqual(log, [
          "3 from 0 s beside 0, attempt 1",
          "4 from 9.5 s beside 0, attempt 1",
          "1 from 14.5 s beside 0, attempt 3",
          "5 from 15.5 s beside 1, attempt 1",
          "2 from 20.5 s beside 0, attempt 3"
        ])
      })
  )

  it.effect("does not wait longer than 10 seconds for others that are always being handled, and they go on", () =>
    Effect.gen(function* () {
      const log: Array<string> = []
      const bot = yield* wokenBot(beside(log))
      yield* bot.enqueue([started(0, 0)])
      yield* die(bot.store)
      yield* die(bot.store)
      yield* bot.start
      for (let second = 1; second < 40; second++) {
        yield* TestClock.adjust("1 second")
        yield* bot.enqueue([started(second, second)])
      }
      yield* TestClock.adjust("10 seconds")
      const begun = new Map(log.map((entry) => [Number(/^\d+/.exec(entry)), Number(/from ([\d.]+)/.exec(entry)?.[1])]))
      assert.include(log, "0 from 20 s beside 5, attempt 3")
      assert.strictEqual(begun.size, 40)
      for (const [sent, at] of begun) if (sent > 0) assert.isAtMost(at - sent, 1, String(sent))
    })
  )

  interface Process {
    isDead: boolean
  }

  /** A process that shares the store. When it is dead, it stands still, and nothing of it is finalized. */
  const startProcess = (shared: Store, handle: (update: Update.Update, process: Process) => Effect.Effect<unknown>) =>
    Effect.gen(function* () {
      const process: Process = { isDead: false }
      const alive = <A, E>(effect: Effect.Effect<A, E>) =>
        Effect.suspend(() => (process.isDead ? Effect.never : effect))
      const store: Store = {
        ...shared,
        claim: (claim) => alive(shared.claim(claim)),
        commit: (commits) => alive(shared.commit(commits)),
        renew: (owner, duration) => alive(shared.renew(owner, duration))
      }
      const inbox = Layer.provide(
        Inbox.layer({ leaseDuration: "500 millis" }),
        Layer.succeed(InboxStore.InboxStore, store)
      )
      const bot = Bot.run((update) => alive(handle(update, process)))
      yield* Effect.forkDetach(Effect.provide(bot, Layer.provideMerge(source([], { stays: true }), inbox)), {
        startImmediately: true
      })
      return process
    })

  it.effect("is handled after a crash loop of a deploy, whose three kills it was not the cause of", () =>
    Effect.gen(function* () {
      const store = yield* makeStore()
      yield* fill(store, [started(1, 1)])
      let handled = 0
      const slow = (_: Update.Update, process: Process) =>
        Effect.andThen(
          Effect.sleep("5 seconds"),
          Effect.sync(() => {
            if (!process.isDead) handled++
          })
        )
      for (let kills = 0; kills < 3; kills++) {
        const process = yield* startProcess(store, slow)
        yield* TestClock.adjust("2 seconds")
        process.isDead = true
      }
      yield* startProcess(store, slow)
      yield* TestClock.adjust("20 seconds")
      assert.strictEqual(handled, 1)
      assert.deepInclude(yield* store.stats, { queued: 0, deadLetters: 0 })
    })
  )

  it.effect("is a dead letter after three crashes if it is their cause, and no update beside it is", () =>
    Effect.gen(function* () {
      const store = yield* makeStore()
      const fatal = [3, 8, 11, 16]
      const updates = Array.from({ length: 20 }, (_, index) => started(index % 7, index))
      yield* fill(store, updates)
      const begun: Array<number> = []
      const handled = new Set<number>()
      const handle = (update: Update.Update, process: Process) =>
        Effect.gen(function* () {
          const time = timeOf(update)
          const isFatal = fatal.includes(time)
          if (isFatal) begun.push(time)
          yield* Effect.sleep(isFatal ? "300 millis" : `${100 + time * 40} millis`)
          if (isFatal) process.isDead = true
          if (process.isDead) return yield* Effect.never
          handled.add(time)
        })
      let process: Process
      do {
        process = yield* startProcess(store, handle)
        for (let millis = 0; millis < 60_000 && !process.isDead; millis += 100) yield* TestClock.adjust("100 millis")
      } while (process.isDead)
      const dead = (yield* store.updates({ of: "deadLetters", limit: 100 })).map(({ update }) => update.text)
      const isOf = (text: string, time: number) => text.includes(`"timestamp":${time},`)
      assert.lengthOf(dead, fatal.length)
      for (const time of fatal) {
        assert.isTrue(dead.some((text) => isOf(text, time)))
        assert.lengthOf(
          begun.filter((other) => other === time),
          3
        )
      }
      assert.strictEqual(handled.size, updates.length - fatal.length)
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
      const bot = Bot.run(() => Effect.never).pipe(Effect.provide(within(store, [started(1, 1), started(1, 2)])))
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
      yield* Bot.run(handler, { timeout: "1 hour" }).pipe(
        Effect.provide(Layer.merge(within(store, [started(1, 1), started(1, 2)]), platform.layer())),
        Effect.timeoutOption("8 seconds"),
        inTime
      )
      assert.deepStrictEqual(seen, [1])
      assert.lengthOf(platform.journal, 0)
    })
  )

  it.effect("claims the chat again, and handles its updates with the journal that another process has written", () =>
    Effect.gen(function* () {
      let isDown = false
      let ran = 0
      const results: Array<number> = []
      let memory: Store | undefined
      const store = yield* makeStore((store) => {
        memory = store
        const whenUp = <A>(operation: string, effect: Effect.Effect<A, StoreError.StoreError>) =>
          Effect.suspend(() => (isDown ? unavailable(operation) : effect))
        return {
          claim: (claim) => whenUp("claim", store.claim(claim)),
          renew: (owner, duration) => whenUp("renew", store.renew(owner, duration)),
          write: (writes) => whenUp("write", store.write(writes))
        }
      })
      const handler = () =>
        Effect.gen(function* () {
          yield* Effect.sleep("2 seconds")
          const charged = Effect.sync(() => ++ran)
          results.push(yield* Journal.step("charge", Schema.Int, charged))
        })
      const fiber = yield* Bot.run(handler, { timeout: "1 hour" }).pipe(
        Effect.provide(within(store, [started(1, 1)])),
        Effect.forkChild({ startImmediately: true })
      )
      yield* TestClock.adjust("1 second")
      isDown = true
      yield* TestClock.adjust("15 seconds")
      const other = { owner: "other", leaseDuration: 1000 }
      const [partition] = yield* memory!.claim({ ...other, maxPartitions: 1, maxUpdates: 1, begin: 1 })
      const row = { key: "done:step charge 1", row: { text: "7" }, revision: "1" }
      const of = { owner: other.owner, partitionKey: partition!.key, id: partition!.updates[0]!.id }
      yield* memory!.write([{ rows: [row], journal: of }])
      yield* TestClock.adjust("10 seconds")
      isDown = false
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual({ ran, results }, { ran: 0, results: [7] })
      yield* inTime(Fiber.interrupt(fiber))
    })
  )

  it.effect("claims the chat again, and handles it after the interrupted handler has ended", () =>
    Effect.gen(function* () {
      const store = yield* makeStore((store) => ({ renew: () => Effect.as(store.stats, []) }))
      let running = 0
      let most = 0
      let attempts = 0
      const handler = () =>
        Effect.suspend(() => {
          most = Math.max(most, ++running)
          return ++attempts === 1 ? Effect.never : Effect.void
        }).pipe(Effect.ensuring(Effect.sleep("30 seconds")), Effect.ensuring(Effect.sync(() => running--)))
      yield* Bot.run(handler, { timeout: "1 hour" }).pipe(
        Effect.provide(within(store, [started(1, 1)])),
        Effect.timeoutOption("2 minutes"),
        inTime
      )
      assert.isAbove(attempts, 1)
      assert.strictEqual(most, 1)
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
      const fiber = yield* Bot.run(sending("15 seconds"), { timeout: "1 hour" }).pipe(
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

  it.effect("runs no step while its lease is not certain", () =>
    Effect.gen(function* () {
      let isDown = false
      let ran = 0
      const store = yield* makeStore((store) => ({
        claim: (claim) => Effect.suspend(() => (isDown ? unavailable("claim") : store.claim(claim))),
        renew: (owner, duration) => (isDown ? unavailable("renew") : store.renew(owner, duration)),
        write: (writes) => Effect.delay(store.write(writes), "15 seconds")
      }))
      const handler = () =>
        Journal.step(
          "charge",
          Schema.Int,
          Effect.sync(() => ++ran)
        )
      const fiber = yield* Bot.run(handler, { timeout: "1 hour" }).pipe(
        Effect.provide(within(store, [started(1, 1)])),
        Effect.forkChild({ startImmediately: true })
      )
      yield* TestClock.adjust("1 second")
      isDown = true
      yield* TestClock.adjust("30 seconds")
      assert.strictEqual(ran, 0)
      isDown = false
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual(ran, 1)
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
      const fiber = yield* Bot.run(sending("1 second"), { timeout: "1 hour" }).pipe(
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

/** A store whose leases end, and whose chats with these keys are lost, from the next renewal on. */
const losing = (lost: ReadonlySet<string>) =>
  makeStore((store) => ({
    renew: (owner, leaseDuration) =>
      lost.size === 0
        ? store.renew(owner, leaseDuration)
        : Effect.map(store.renew(owner, 0), (keys) => keys.filter((key) => !lost.has(key)))
  }))

describe("A process that has lost its chats", () => {
  it.effect("continues if waiting deliveries are lost before the delivery that is being handled", () =>
    Effect.gen(function* () {
      const lost = new Set<string>()
      const store = yield* losing(lost)
      const handled: Array<number> = []
      let attempts = 0
      const handler = (update: Update.Update) =>
        Effect.map(Effect.sleep(++attempts === 1 ? "20 seconds" : "100 millis"), () => {
          handled.push(chatOf(update))
        })
      const fiber = yield* Updates.deliveries().pipe(
        Deliveries.runForEach(handler, { concurrency: 1 }),
        Effect.provide(within(store, [started(1, 1), started(2, 2), started(3, 3)])),
        Effect.forkChild({ startImmediately: true })
      )
      yield* TestClock.adjust("2 seconds")
      for (const key of ["2", "3"]) lost.add(key)
      yield* TestClock.adjust("4 seconds")
      lost.add("1")
      yield* TestClock.adjust("4 seconds")
      lost.clear()
      yield* TestClock.adjust("30 seconds")
      assert.deepStrictEqual(handled.sort(), [1, 2, 3])
      yield* inTime(Fiber.interrupt(fiber))
    })
  )

  it.effect("emits the others of a group at once when one of its chats is lost", () =>
    Effect.gen(function* () {
      const lost = new Set<string>()
      const store = yield* losing(lost)
      const handled: Array<number> = []
      let attempts = 0
      const fiber = yield* Updates.deliveries().pipe(
        Deliveries.map(chatOf),
        Deliveries.groupedWithin(3, "1 second"),
        Deliveries.runForEach((chats) =>
          Effect.map(Effect.sleep(++attempts === 1 ? "20 seconds" : "1 millis"), () => void handled.push(...chats))
        ),
        Effect.provide(within(store, [started(1, 1), started(2, 2), started(3, 3)])),
        Effect.forkChild({ startImmediately: true })
      )
      yield* TestClock.adjust("2 seconds")
      lost.add("1")
      yield* TestClock.adjust("4 seconds")
      assert.includeMembers(handled, [2, 3])
      yield* inTime(Fiber.interrupt(fiber))
    })
  )

  it.effect("interrupts the handlers of all branches of a delivery", () =>
    Effect.gen(function* () {
      const lost = new Set<string>()
      const store = yield* losing(lost)
      const interrupted: Array<string> = []
      const sleeping = (name: string) => () =>
        Effect.onInterrupt(Effect.sleep("20 seconds"), () => Effect.sync(() => void interrupted.push(name)))
      const fiber = yield* Updates.deliveries().pipe(
        Deliveries.tee(Deliveries.runForEach(sleeping("second"))),
        Deliveries.runForEach(sleeping("first")),
        Effect.provide(within(store, [started(1, 1)])),
        Effect.forkChild({ startImmediately: true })
      )
      yield* TestClock.adjust("2 seconds")
      lost.add("1")
      yield* TestClock.adjust("4 seconds")
      assert.deepStrictEqual(interrupted.sort(), ["first", "second"])
      yield* inTime(Fiber.interrupt(fiber))
    })
  )
})

describe("A delivery that is not settled", () => {
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
      const fiber = yield* Bot.run((update) => Effect.sync(() => handled.push(chatOf(update)))).pipe(
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

  it.effect("handles a timer that another process has set when it is due, if the store wakes the bot up", () =>
    Effect.gen(function* () {
      let wakeUp: () => void = () => undefined
      const store = yield* makeStore(() => ({
        listen: (wake) => Effect.sync(() => void (wakeUp = wake)),
        untilClaimable: Effect.succeed(undefined)
      }))
      const handled: Array<number> = []
      const Reminder = Timer.make("reminder")
      const note = Reminder.on(() => Effect.map(Clock.currentTimeMillis, (now) => handled.push(now)))
      const fiber = yield* Bot.run(note).pipe(
        Effect.provide(within(store)),
        Effect.forkChild({ startImmediately: true })
      )
      yield* TestClock.adjust("4 minutes")
      yield* Reminder.for({ chat_id })
        .in("1 second", undefined)
        .pipe(Effect.provide(Layer.provide(Inbox.layer(), Layer.succeed(InboxStore.InboxStore, store))))
      wakeUp()
      yield* TestClock.adjust("2 seconds")
      assert.deepStrictEqual(handled, [241_000])
      yield* inTime(Fiber.interrupt(fiber))
    })
  )
})

describe("A stream that is closed while its updates are handled", () => {
  type Emitted = Stream.Stream<Deliveries.Delivery, Updates.SourceError, Updates.Updates>

  const pipelines: Record<string, (self: Emitted) => Emitted> = {
    "take(1)": (self) => Stream.take(self, 1),
    "take(1) and buffer": (self) => self.pipe(Stream.take(1), Stream.buffer({ capacity: 16 })),
    "take(1) and merge": (self) => self.pipe(Stream.take(1), Stream.merge(Stream.empty)),
    "take(1) and Deliveries.tee": (self) =>
      self.pipe(
        Stream.take(1),
        Deliveries.tee((second) => Deliveries.runForEach(second, () => Effect.void))
      ),
    interruptWhen: (self) => Stream.interruptWhen(self, Effect.sleep("500 millis")),
    timeout: (self) => Stream.timeout(self, "500 millis")
  }

  /** What two processes do with an update, of which the first closes its stream. */
  const logOf = (end: (self: Emitted) => Emitted, duration: Duration.Input) =>
    Effect.gen(function* () {
      const store = yield* makeStore()
      const log: Array<string> = []
      const handle = (process: string) => () =>
        Effect.gen(function* () {
          log.push(`${process} begins`)
          yield* Effect.sleep(duration)
          log.push(`${process} has handled it`)
        }).pipe(Effect.onInterrupt(() => Effect.sync(() => void log.push(`${process} is interrupted`))))
      const first = Deliveries.runForEach(end(Updates.deliveries()), handle("first"))
      yield* Effect.forkDetach(Effect.provide(first, Layer.fresh(within(store, [started(1, 0)]))))
      for (let step = 0; step < 60; step++) yield* TestClock.adjust("10 millis")
      yield* Effect.forkDetach(Effect.provide(Bot.run(handle("second")), Layer.fresh(within(store))))
      yield* TestClock.adjust("1 minute")
      return log
    })

  for (const [name, end] of Object.entries(pipelines)) {
    it.effect(`waits for them, so that no other process handles them meanwhile: ${name}`, () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* logOf(end, "1 second"), ["first begins", "first has handled it"])
      })
    )
  }

  it.effect("interrupts their handlers after 10 seconds, and another process handles them", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* logOf(pipelines["interruptWhen"]!, "15 seconds"), [
        "first begins",
        "first is interrupted",
        "second begins",
        "second has handled it"
      ])
    })
  )
})
