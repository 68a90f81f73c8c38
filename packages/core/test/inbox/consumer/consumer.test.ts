import { Emulator, Fixtures, TestUpdates } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import * as InboxStore from "../../../src/inbox/InboxStore.ts"
import * as RateLimiterStore from "../../../src/client/RateLimiterStore.ts"
import {
  Bot,
  Deliveries,
  Handler,
  Inbox,
  LongPolling,
  Messages,
  RateLimiter,
  Timer,
  type Update,
  Updates
} from "../../../src/index.ts"
import { hooks } from "../../../src/inbox/internal/hooks.ts"
import {
  chatOf,
  inboxOver,
  inTime,
  source,
  started,
  storeOver,
  timeOf,
  within,
  emitted
} from "../../support/deliveries.ts"

const noRetry = { retry: Schedule.recurs(0) }

const Later = Timer.make("later", Schema.String)

/** An inbox that calls a function whenever a consumer claims, or asks when something can be claimed. */
const counted = (inbox: Inbox.Service, onPoll: () => void): Inbox.Service => {
  const { store, [hooks]: hooksOf } = inbox
  const poll = Effect.sync(onPoll)
  return {
    ...inbox,
    store: { ...store, untilNext: Effect.andThen(poll, store.untilNext) },
    [hooks]: { ...hooksOf, claim: (claim) => Effect.andThen(poll, hooksOf.claim(claim)) }
  }
}

describe("consumer", () => {
  it.effect("An update leaves the inbox only after its handler has succeeded.", () =>
    Effect.gen(function* () {
      const latch = yield* Deferred.make<void>()
      const fiber = yield* Effect.forkChild(
        Bot.run(() => Deferred.await(latch)),
        { startImmediately: true }
      )
      const inbox = yield* Inbox.Inbox
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* inbox.stats).queued, 1)
      yield* Deferred.succeed(latch, undefined)
      yield* Fiber.join(fiber)
      assert.strictEqual((yield* inbox.stats).queued, 0)
    }).pipe(Effect.provide(within(Inbox.layer(), source([started(1, 1)]))))
  )

  it.effect("An event is handled once within the deduplication window, and again after it.", () =>
    Effect.gen(function* () {
      const inbox = yield* Inbox.Inbox
      const times: Array<number> = []
      const handle = (update: Update.Update) => Effect.sync(() => times.push(timeOf(update)))
      const fiber = yield* Effect.forkChild(Bot.run(handle), { startImmediately: true })
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
    "Updates of one chat are handled one at a time, in order; different chats do not wait for each other.",
    () =>
      Effect.gen(function* () {
        const active = new Set<number>()
        const seen = new Map<number, Array<number>>()
        let maxActive = 0
        yield* Bot.run((update) => {
          const chat = chatOf(update)
          return Effect.gen(function* () {
            assert.isFalse(active.has(chat), "two handlers of one chat at once")
            active.add(chat)
            maxActive = Math.max(maxActive, active.size)
            yield* Effect.sleep(chat === 1 ? "50 millis" : "1 millis")
            seen.set(chat, [...(seen.get(chat) ?? []), timeOf(update)])
            active.delete(chat)
          })
        }).pipe(Effect.raceFirst(Effect.forever(TestClock.adjust("1 millis"))))
        assert.strictEqual(maxActive, 7)
        for (const [chat, times] of seen) {
          const expected = many.map((_, index) => index).filter((index) => 1 + (index % 7) === chat)
          assert.deepStrictEqual(times, expected)
        }
      }).pipe(Effect.provide(within(Inbox.layer(), source(many))))
  )

  it.effect(
    "While an update is retried, later updates of its chat wait and other chats continue, also with a concurrency of 1.",
    () =>
      Effect.gen(function* () {
        const log: Array<string> = []
        let failures = 2
        const handle = (update: Update.Update) =>
          Effect.suspend(() => {
            const name = `${chatOf(update)}:${timeOf(update)}`
            log.push(name)
            return name === "1:1" && failures-- > 0 ? Effect.fail("not yet") : Effect.void
          })
        yield* Bot.run(handle, { concurrency: 1, retry: Schedule.spaced("10 seconds") }).pipe(inTime)
        assert.deepStrictEqual(log, ["1:1", "2:1", "1:1", "1:1", "1:2"])
      }).pipe(Effect.provide(within(Inbox.layer(), source([started(1, 1), started(1, 2), started(2, 1)]))))
  )

  it.effect("Dead letters can be listed, replayed and dropped.", () =>
    Effect.gen(function* () {
      const handled: Array<number> = []
      let isBroken = true
      const handle = (update: Update.Update) =>
        isBroken ? Effect.fail("broken") : Effect.sync(() => void handled.push(timeOf(update)))
      const fiber = yield* Effect.forkChild(Bot.run(handle, noRetry), { startImmediately: true })
      yield* TestClock.adjust("1 second")
      const deadLetters = yield* Stream.runCollect(Inbox.deadLetters)
      assert.deepStrictEqual(
        deadLetters.map(({ attempts, update }) => [attempts, timeOf(Result.getOrThrow(update.decoded))]),
        [
          [1, 1],
          [1, 2]
        ]
      )
      isBroken = false
      assert.isTrue(yield* Inbox.drop(deadLetters[0].id))
      assert.isTrue(yield* Inbox.replay(deadLetters[1].id))
      assert.isFalse(yield* Inbox.replay(deadLetters[1].id))
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(handled, [2])
      assert.deepStrictEqual(yield* Stream.runCollect(Inbox.deadLetters), [])
      yield* Fiber.interrupt(fiber)
    }).pipe(Effect.provide(within(Inbox.layer(), source([started(1, 1), started(1, 2)], { stays: true }))))
  )

  it.effect("The number of concurrent handlers and the number of updates in memory are bounded.", () =>
    Effect.gen(function* () {
      const claims: Array<number> = []
      const store = yield* InboxStore.InboxStore
      let inMemory = 0
      let running = 0
      let maxActive = 0
      const counting = InboxStore.InboxStore.of({
        ...store,
        isShared: true,
        claim: (options) =>
          Effect.tap(store.claim(options), (partitions) =>
            Effect.sync(() => {
              inMemory += partitions.reduce((sum, { updates }) => sum + updates.length, 0)
              claims.push(inMemory)
            })
          ),
        commit: (commits) =>
          Effect.tap(store.commit(commits), () =>
            Effect.sync(() => {
              for (const { completed } of commits) inMemory -= completed.length
            })
          )
      })
      const handle = () =>
        Effect.gen(function* () {
          maxActive = Math.max(maxActive, ++running)
          yield* Effect.sleep("1 second")
          running--
        })
      yield* Bot.run(handle, { concurrency: 3, maxInMemory: 12 }).pipe(
        inTime,
        Effect.provide(Layer.provideMerge(source(many), Inbox.layer())),
        Effect.provideService(InboxStore.InboxStore, counting)
      )
      assert.strictEqual(maxActive, 3)
      assert.isAtMost(Math.max(...claims), 12)
    }).pipe(Effect.provide(InboxStore.layerMemory))
  )

  it.effect(
    "`Bot.run` fails with the error of its source, after running handlers had until the shutdown time-out.",
    () =>
      Effect.gen(function* () {
        const log: Array<string> = []
        const inbox = yield* Inbox.Inbox
        const arrives = Effect.orDie(inbox.receive([started(1, 1)]))
        const source = arrives.pipe(
          Effect.andThen(Effect.sleep("1 second")),
          Effect.andThen(Effect.die("cannot continue"))
        )
        const handle = () =>
          Effect.andThen(
            Effect.sleep("3 seconds"),
            Effect.sync(() => void log.push("handled"))
          )
        const exit = yield* Bot.run(handle).pipe(
          Effect.provideService(Updates.Updates, Updates.Updates.of({ inbox, source })),
          Effect.exit,
          inTime
        )
        assert.deepStrictEqual(log, ["handled"])
        assert.isTrue(exit._tag === "Failure" && Cause.pretty(exit.cause).includes("cannot continue"))
      }).pipe(Effect.provide(Inbox.layerMemory()))
  )

  it.effect("does not poll the store while the maximum number of updates is in memory", () =>
    Effect.gen(function* () {
      const latch = yield* Deferred.make<void>()
      const inbox = yield* Inbox.Inbox
      let polls = 0
      const fiber = yield* Bot.run(() => Deferred.await(latch), { concurrency: 1, maxInMemory: 2 }).pipe(
        Effect.provideService(
          Updates.Updates,
          Updates.Updates.of({ inbox: counted(inbox, () => polls++), source: Effect.never })
        ),
        Effect.forkChild({ startImmediately: true })
      )
      for (let chat = 1; chat <= 20; chat++) {
        yield* inbox.receive([started(chat, chat)])
        yield* TestClock.adjust("1 second")
      }
      assert.isBelow(polls, 50)
      yield* Deferred.succeed(latch, undefined)
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* inbox.stats).queued, 0)
      yield* Fiber.interrupt(fiber)
    }).pipe(Effect.provide(Inbox.layerMemory()))
  )

  it.effect("waits for a handler, not for the time, while a timer is due and all handlers are busy", () =>
    Effect.gen(function* () {
      const log: Array<readonly [string, number]> = []
      const bot = Handler.first(
        Handler.on("bot_started", (update) =>
          Effect.gen(function* () {
            if (update.chat_id === 1) yield* Later.in("300 millis", "due")
            else yield* Effect.sleep("3 seconds")
            log.push([`chat ${update.chat_id}`, yield* Clock.currentTimeMillis])
          })
        ),
        Later.on((value) => Effect.map(Clock.currentTimeMillis, (now) => void log.push([value, now])))
      )
      const inbox = yield* Inbox.Inbox
      let polls = 0
      yield* Effect.orDie(inbox.receive([started(1, 1), started(2, 2)]))
      yield* Bot.run(bot, { concurrency: 1 }).pipe(
        Effect.provideService(
          Updates.Updates,
          Updates.Updates.of({ inbox: counted(inbox, () => polls++), source: Effect.never })
        ),
        Effect.forkScoped
      )
      yield* TestClock.adjust("2900 millis")
      assert.deepStrictEqual(log, [["chat 1", 0]])
      yield* TestClock.adjust("100 millis")
      assert.deepStrictEqual(log.slice(1), [
        ["chat 2", 3000],
        ["due", 3000]
      ])
      assert.isBelow(polls, 10)
    }).pipe(Effect.provide(Inbox.layerMemory()))
  )

  it.effect("takes timers that are due also if its handlers are never idle", () =>
    Effect.gen(function* () {
      const due: Array<string> = []
      const bot = Handler.first(
        Handler.on("bot_started", (update) =>
          Effect.andThen(update.chat_id === 3 ? Later.in("10 seconds", "due") : Effect.void, Effect.sleep("1 second"))
        ),
        Later.on((value) => Effect.sync(() => void due.push(value)))
      )
      yield* Effect.gen(function* () {
        const inbox = yield* Inbox.Inbox
        const receive = (chat: number) => Effect.orDie(inbox.receive([started(chat, chat)]))
        const fiber = yield* Bot.run(bot, { concurrency: 1, maxInMemory: 1 }).pipe(
          Effect.provideService(Updates.Updates, Updates.Updates.of({ inbox, source: Effect.never })),
          Effect.forkChild({ startImmediately: true })
        )
        for (let chat = 1; chat <= 20; chat++) yield* receive(chat)
        for (let chat = 21; chat <= 60; chat++) {
          yield* TestClock.adjust("1 second")
          yield* receive(chat)
        }
        yield* inTime(Fiber.interrupt(fiber))
      }).pipe(Effect.provide(Inbox.layerMemory()))
      assert.deepStrictEqual(due, ["due"])
    })
  )

  it.effect("counts updates, not partitions, against the maximum in memory", () =>
    Effect.gen(function* () {
      const handled: Array<number> = []
      const handle = (update: Parameters<typeof chatOf>[0]) =>
        chatOf(update) > 80 ? Effect.sync(() => void handled.push(chatOf(update))) : Effect.fail("not yet")
      const fiber = yield* Bot.run(handle, {
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

  /** Handles updates that wait, and returns what each claim asked for and found. */
  const claimsOf = Effect.fnUntraced(function* (
    waiting: ReadonlyArray<Inbox.Received>,
    bot: Effect.Effect<void, Updates.SourceError, Updates.Updates>
  ) {
    const claims: Array<{ readonly maxUpdates: number; readonly found: number; readonly updates: number }> = []
    const store = storeOver(({ claim }) => ({
      claim: (request) =>
        Effect.tap(claim(request), (partitions) =>
          Effect.sync(() => {
            const updates = partitions.reduce((sum, { updates }) => sum + updates.length, 0)
            claims.push({ maxUpdates: request.maxUpdates, found: partitions.length, updates })
          })
        )
    }))
    yield* bot.pipe(inTime, Effect.provide(Layer.provideMerge(source(waiting), Layer.provide(Inbox.layer(), store))))
    return claims
  })

  const run = (options: Bot.RunOptions) => Bot.run(() => Effect.sleep("1 second"), options)

  it.effect("claims once after all partitions that end in one turn of the event loop", () =>
    Effect.gen(function* () {
      const waiting = Array.from({ length: 40 }, (_, index) => started(index + 1, index))
      const claims = yield* claimsOf(waiting, run({ concurrency: 10, maxInMemory: 20 }))
      assert.deepStrictEqual(
        claims.map(({ found }) => found).filter((found) => found > 0),
        [20, 10, 10]
      )
    })
  )

  it.effect("claims larger parts of the chats while no others wait", () =>
    Effect.gen(function* () {
      const waiting = Array.from({ length: 300 }, (_, index) => started(1 + (index % 2), index))
      const claims = yield* claimsOf(waiting, run({ concurrency: 10, maxInMemory: 400 }))
      const sizes = claims.filter(({ found }) => found > 0).map(({ maxUpdates }) => maxUpdates)
      assert.deepStrictEqual(sizes.slice(0, 3), [16, 32, 64])
      assert.strictEqual(
        claims.reduce((sum, { updates }) => sum + updates, 0),
        300
      )
    })
  )

  it.effect("claims small parts of a chat that has many updates while others wait", () =>
    Effect.gen(function* () {
      const waiting = Array.from({ length: 400 }, (_, index) => started(index < 200 ? 1 : index, index))
      const claims = yield* claimsOf(waiting, run({ concurrency: 2, maxInMemory: 40 }))
      assert.isAtMost(Math.max(...claims.slice(0, -30).map(({ maxUpdates }) => maxUpdates)), 10)
    })
  )

  it.effect("claims chats as a whole if their updates are emitted together", () =>
    Effect.gen(function* () {
      const waiting = Array.from({ length: 4000 }, (_, index) => started(1 + (index % 200), index))
      const claims = yield* claimsOf(
        waiting,
        Updates.deliveries({ perChat: "unbounded", maxInMemory: 1000 }).pipe(
          Deliveries.groupedWithin(100, "1 second"),
          Deliveries.runForEach(() => Effect.sleep("1 second"), { concurrency: 4 })
        )
      )
      assert.strictEqual(
        claims.reduce((sum, { found }) => sum + found, 0),
        200
      )
    })
  )

  it.effect("claims again before it ends, if updates are queued that a claim missed because they were locked", () => {
    const locked = inboxOver(({ claim }) => ({
      isShared: true,
      claim: (request) =>
        Effect.clockWith((clock) => (clock.currentTimeMillisUnsafe() < 500 ? Effect.succeed([]) : claim(request)))
    }))
    return Effect.gen(function* () {
      const times: Array<number> = []
      yield* inTime(Bot.run((update) => Effect.sync(() => times.push(timeOf(update)))))
      assert.deepStrictEqual(times, [1, 2])
    }).pipe(Effect.provide(Layer.provideMerge(source([started(1, 1), started(1, 2)]), locked)))
  })

  it.effect("ends while another process holds the updates that are left", () =>
    Effect.gen(function* () {
      const { store } = yield* Inbox.Inbox
      const times: Array<number> = []
      const inbox = yield* Inbox.Inbox
      yield* inbox.receive([started(2, 1)])
      yield* store.claim({ owner: "other", leaseDuration: 3_600_000, maxPartitions: 1, maxUpdates: 1, begin: 0 })
      yield* inTime(Bot.run((update) => Effect.sync(() => times.push(timeOf(update)))))
      assert.deepStrictEqual(times, [1])
      assert.strictEqual((yield* store.stats).queued, 1)
    }).pipe(
      Effect.provide(
        Layer.provideMerge(
          source([started(1, 1)]),
          inboxOver(() => ({ isShared: true }))
        )
      )
    )
  )

  it.effect("reads the statistics while updates are handled and once afterwards, and not while it is idle", () => {
    let reads = 0
    const counted = inboxOver(({ stats }) => ({
      stats: Effect.suspend(() => {
        reads++
        return stats
      })
    }))
    return Effect.gen(function* () {
      yield* Bot.run(() => Effect.sleep("50 seconds"), { timeout: "1 hour" }).pipe(Effect.forkScoped)
      yield* TestClock.adjust("46 seconds")
      const inbox = yield* Inbox.Inbox
      // One read is that of the capacity.
      assert.strictEqual(reads, 4)
      yield* TestClock.adjust("30 seconds")
      assert.strictEqual(reads, 5)
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(reads, 5)
      yield* inbox.receive([started(2, 2)])
      yield* TestClock.adjust("16 seconds")
      assert.strictEqual(reads, 7)
      yield* TestClock.adjust("1 minute")
    }).pipe(Effect.provide(Layer.provideMerge(source([started(1, 1)], { stays: true }), counted)))
  })

  it.effect.each([
    { name: "Bot.run", run: Bot.run(() => Effect.void) },
    { name: "Updates.deliveries", run: Stream.runForEach(Updates.deliveries(), ({ ack }) => ack) }
  ])("waits for nothing but updates while it is idle, in memory: $name", ({ run }) =>
    Effect.gen(function* () {
      const clock = yield* Clock.Clock
      let sleeps = 0
      const counted: Clock.Clock = Object.assign(Object.create(clock) as Clock.Clock, {
        sleep: (duration: Duration.Duration) => {
          sleeps++
          return clock.sleep(duration)
        }
      })
      yield* run.pipe(Effect.provideService(Clock.Clock, counted), Effect.forkScoped)
      yield* TestClock.adjust("2 minutes")
      assert.isAbove(sleeps, 0)
      sleeps = 0
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(sleeps, 0)
    }).pipe(Effect.provide(within(Inbox.layerMemory(), source([started(1, 1)], { stays: true }))))
  )

  it.effect("releases a partition whose updates were deleted from the database", () => {
    let isFirst = true
    const emptied = inboxOver((store) => ({
      claim: (options) =>
        Effect.map(store.claim(options), (partitions) => {
          if (partitions.length === 0 || !isFirst) return partitions
          isFirst = false
          return partitions.map((partition) => ({ ...partition, updates: [] }))
        })
    }))
    const enqueueing = (inbox: Inbox.Inbox["Service"], time: number) =>
      Updates.Updates.of({ inbox, source: Effect.orDie(inbox.receive([started(1, time)])) })
    return Effect.gen(function* () {
      const inbox = yield* Inbox.Inbox
      const times: Array<number> = []
      yield* Bot.run((update) => Effect.sync(() => times.push(timeOf(update)))).pipe(
        Effect.provideService(Updates.Updates, enqueueing(inbox, 1))
      )
      assert.deepStrictEqual(times, [1])
      isFirst = true
      const updates = yield* Stream.runCollect(emitted).pipe(
        Effect.provideService(Updates.Updates, enqueueing(inbox, 2))
      )
      assert.deepStrictEqual(updates.map(timeOf), [2])
    }).pipe(Effect.provide(emptied))
  })

  const slowClaim = inboxOver((store) => ({
    // Updates that arrive during the delay are not in the result.
    claim: (options) => Effect.tap(store.claim(options), () => Effect.sleep("2 seconds"))
  }))

  const sourceOf = (inbox: Inbox.Inbox["Service"]) =>
    Effect.andThen(Effect.sleep("1 second"), Effect.orDie(inbox.receive([started(1, 1)])))

  it.effect("handles the updates that a source enqueued just before it ended", () =>
    Effect.gen(function* () {
      const inbox = yield* Inbox.Inbox
      const times: Array<number> = []
      yield* inTime(
        Bot.run((update) => Effect.sync(() => times.push(timeOf(update)))).pipe(
          Effect.provideService(Updates.Updates, Updates.Updates.of({ inbox, source: sourceOf(inbox) }))
        )
      )
      assert.deepStrictEqual(times, [1])
    }).pipe(Effect.provide(slowClaim))
  )

  it.effect("emits the updates that a source enqueued just before it ended", () =>
    Effect.gen(function* () {
      const inbox = yield* Inbox.Inbox
      const updates = yield* inTime(
        Stream.runCollect(emitted).pipe(
          Effect.provideService(Updates.Updates, Updates.Updates.of({ inbox, source: sourceOf(inbox) }))
        )
      )
      assert.deepStrictEqual(updates.map(timeOf), [1])
    }).pipe(Effect.provide(slowClaim))
  )
})

/** Handlers that are still running when the test ends. */
const bots = {
  "replies and then sleeps": Bot.run(
    Handler.on("message_created", (update) =>
      Effect.andThen(Messages.reply(update, "Hello"), Effect.sleep("5 seconds"))
    )
  ),
  "has a long time to stop": Bot.run(
    Handler.on("message_created", (update) => Effect.andThen(Messages.reply(update, "Hello"), Effect.never)),
    { shutdownTimeout: "1 hour" }
  ),
  "waits in the rate limiter": Bot.run(
    Handler.on("message_created", (update) =>
      Effect.forEach([1, 2, 3, 4, 5], () => Messages.reply(update, "Hello"), { discard: true })
    )
  ),
  "waits for its next attempt": Bot.run(
    Handler.on("message_created", (update) => Effect.andThen(Messages.reply(update, "Hello"), Effect.fail("not yet")))
  ),
  "cannot be interrupted": Bot.run(
    Handler.on("message_created", (update) =>
      Effect.andThen(Messages.reply(update, "Hello"), Effect.uninterruptible(Effect.sleep("1 hour")))
    )
  ),
  "sleeps after its interruption": Bot.run(
    Handler.on("message_created", (update) =>
      Effect.andThen(
        Messages.reply(update, "Hello"),
        Effect.onInterrupt(Effect.never, () => Effect.sleep("1 hour"))
      )
    )
  ),
  "runs onDeadLetter": Bot.run(
    Handler.on("message_created", (update) => Effect.andThen(Messages.reply(update, "Hello"), Effect.die("broken"))),
    { retry: Schedule.recurs(0), onDeadLetter: () => Effect.never }
  )
}

const platform = LongPolling.layer().pipe(Layer.provideMerge(Emulator.layerBot({ clientLimits: RateLimiter.defaults })))

describe("A defect of a fiber in the background", () => {
  const defect = Effect.die(new Error("a defect of the store"))

  const cases: ReadonlyArray<
    readonly [string, (store: InboxStore.InboxStore["Service"]) => Partial<InboxStore.InboxStore["Service"]>]
  > = [
    ["a renewal", () => ({ renew: () => defect })],
    ["a claim", () => ({ claim: () => Effect.delay(defect, "1 second") })],
    ["a commit", () => ({ commit: () => defect })],
    [
      "a commit that marks an update as begun",
      (store) => ({
        commit: (commits) => (commits.some(({ begun }) => begun.length > 0) ? defect : store.commit(commits))
      })
    ],
    [
      "the statistics",
      (store) => {
        let reads = 0
        return { stats: Effect.suspend(() => (reads++ < 1 ? store.stats : defect)) }
      }
    ],
    ["the wake-ups of other processes", () => ({ listen: () => defect })],
    ["the cleanup", () => ({ cleanup: () => defect })],
    ["the wait for a timer", () => ({ untilNext: defect })]
  ]

  it.effect.each(cases)("ends the bot with that defect: %s", ([, modify]) =>
    Effect.gen(function* () {
      const store = yield* InboxStore.makeMemory
      let handled = 0
      // The first handler takes all that may run.
      const handler = () => Effect.andThen(Effect.sleep(handled++ === 0 ? "100 millis" : "40 seconds"), Effect.void)
      const exit = yield* Bot.run(handler, { concurrency: 1 }).pipe(
        Effect.provide(
          Layer.provide(
            source([started(1, 1), started(1, 2), started(2, 3), started(3, 4)], { stays: true }),
            Inbox.layer()
          )
        ),
        Effect.provideService(InboxStore.InboxStore, { ...store, isShared: true, ...modify(store) }),
        Effect.timeoutOption("2 minutes"),
        Effect.exit,
        inTime
      )
      assert.isTrue(Exit.isFailure(exit) && Cause.pretty(exit.cause).includes("a defect of the store"))
    })
  )

  it.effect("ends the bot although its handler waits for the lease that is not renewed", () =>
    Effect.gen(function* () {
      const exit = yield* Bot.run(
        Handler.on("bot_started", (update) =>
          Effect.andThen(Effect.sleep("20 seconds"), Messages.reply(update, "done"))
        ),
        { concurrency: 1 }
      ).pipe(
        Effect.provide(
          source([started(1, 1)], { stays: true }).pipe(
            Layer.provide(Inbox.layer()),
            Layer.provide(storeOver(() => ({ isShared: true, renew: () => defect })))
          )
        ),
        Effect.timeoutOption("30 seconds"),
        Effect.exit,
        inTime
      )
      assert.isTrue(Exit.isFailure(exit) && Cause.pretty(exit.cause).includes("a defect of the store"))
    }).pipe(Effect.provide(Emulator.layerBot()))
  )

  it.effect("ends the bot with that defect: the rate limiter", () =>
    Effect.gen(function* () {
      const limiter = RateLimiter.layer().pipe(
        Layer.provide(
          Layer.effect(
            RateLimiterStore.RateLimiterStore,
            Effect.map(RateLimiterStore.makeMemory, (store) => ({ ...store, acquire: () => defect }))
          )
        )
      )
      const acquire = Effect.flatMap(RateLimiter.RateLimiter, (limiter) => limiter.acquire(undefined))
      const exit = yield* Bot.run(() => acquire).pipe(
        Effect.provide([Layer.provide(source([started(1, 1)], { stays: true }), Inbox.layerMemory()), limiter]),
        Effect.timeoutOption("30 seconds"),
        Effect.exit,
        inTime
      )
      assert.isTrue(Exit.isFailure(exit) && Cause.pretty(exit.cause).includes("a defect of the store"))
    })
  )
})

describe("the consumer of a bot on the emulator", () => {
  for (const [name, bot] of Object.entries(bots)) {
    it.effect(`ends a test with its assertion while a handler ${name}`, () =>
      Effect.gen(function* () {
        const conversation = Effect.gen(function* () {
          const ann = yield* Emulator.user("Ann")
          yield* ann.send("Good morning")
          assert.strictEqual((yield* ann.reply).body?.text, "You said: Good morning")
        })
        const start = yield* Clock.currentTimeMillis
        const exit = yield* conversation.pipe(Effect.raceFirst(bot), Effect.provide(platform), Effect.exit)
        assert.isBelow((yield* Clock.currentTimeMillis) - start, 1000)
        assert.isTrue(Exit.isFailure(exit))
        assert.include(Cause.pretty((exit as Exit.Failure<void, unknown>).cause), "expected 'Hello' to equal 'You said")
      })
    )
  }

  it.effect("ends a test of given updates while a handler sleeps", () =>
    Effect.gen(function* () {
      const bot = Bot.run(() => Effect.sleep("5 seconds"))
      yield* Effect.yieldNow.pipe(Effect.raceFirst(bot), Effect.provide(TestUpdates.layer([Fixtures.messageCreated()])))
    })
  )

  it.effect("waits for handlers if ImmediateShutdown is false", () =>
    Effect.gen(function* () {
      const log: Array<string> = []
      const bot = Bot.run(() =>
        Effect.andThen(
          Effect.sleep("5 seconds"),
          Effect.sync(() => void log.push("handled"))
        )
      ).pipe(Effect.provideService(Deliveries.ImmediateShutdown, false))
      const fiber = yield* Effect.forkChild(bot, { startImmediately: true })
      const ann = yield* Emulator.user("Ann")
      yield* ann.send("Good morning")
      yield* TestClock.adjust("1 second")
      yield* Effect.raceFirst(Fiber.interrupt(fiber), Effect.forever(TestClock.adjust("1 second")))
      assert.deepStrictEqual(log, ["handled"])
    }).pipe(Effect.provide(platform))
  )
})
