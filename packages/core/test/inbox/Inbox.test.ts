import { assert, describe, it } from "@effect/vitest"
import * as Config from "effect/Config"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { Bot, Inbox, type Update } from "../../src/index.ts"
import { hooks } from "../../src/inbox/internal/hooks.ts"
import * as InboxStore from "../../src/inbox/InboxStore.ts"
import { chatOf, inboxOver, inTime, source, started, timeOf, within } from "../support/deliveries.ts"

const succeed = () => Effect.void

describe("Inbox capacity", () => {
  it.effect("counts again before it rejects updates, because handlers may have completed some", () =>
    Effect.gen(function* () {
      const inbox = yield* Inbox.Inbox
      yield* Effect.forkChild(Bot.run(succeed), { startImmediately: true })
      for (let time = 0; time < 20; time += 2) {
        yield* inbox.receive([started(1, time), started(1, time + 1)])
        yield* TestClock.adjust("100 millis")
      }
    }).pipe(Effect.provide(within(Inbox.layer({ capacity: 3 }), source([], { stays: true }))))
  )

  it.effect("does not change when the clock is set back", () =>
    Effect.gen(function* () {
      const inbox = yield* Inbox.Inbox
      yield* Effect.forkChild(Bot.run(succeed), { startImmediately: true })
      yield* TestClock.setTime(3_600_000)
      yield* inbox.receive([started(1, 1), started(1, 2)])
      yield* TestClock.setTime(0)
      for (let time = 3; time < 9; time++) {
        yield* TestClock.adjust("1 second")
        yield* inbox.receive([started(1, time)])
      }
    }).pipe(Effect.provide(within(Inbox.layer({ capacity: 3 }), source([], { stays: true }))))
  )

  it.effect("A full inbox rejects a batch, and stores nothing of it.", () =>
    Effect.gen(function* () {
      const inbox = yield* Inbox.Inbox
      yield* inbox.receive([started(1, 1), started(1, 2)])
      const refusal = yield* Effect.flip(inbox.receive([started(1, 3), started(1, 4)]))
      assert.strictEqual(refusal._tag, "InboxFull")
      assert.strictEqual((yield* inbox.stats).queued, 2)
      yield* inbox.receive([started(1, 3)])
    }).pipe(Effect.provide(Inbox.layerMemory({ capacity: 3 })))
  )

  it.effect("does not apply to a batch that is larger than it when the inbox is empty", () =>
    Effect.gen(function* () {
      const inbox = yield* Inbox.Inbox
      yield* inbox.receive([started(1, 1), started(1, 2), started(1, 3)])
      const refusal = yield* Effect.flip(inbox.receive([started(1, 4)]))
      assert.strictEqual(refusal._tag, "InboxFull")
    }).pipe(Effect.provide(Inbox.layerMemory({ capacity: 2 })))
  )

  it.effect("is counted once for concurrent batches", () => {
    let counts = 0
    const inbox = inboxOver((store) => ({
      stats: Effect.suspend(() => {
        counts++
        return Effect.delay(store.stats, "10 millis")
      })
    }))
    return Effect.gen(function* () {
      const { receive } = yield* Inbox.Inbox
      const all = Effect.forEach([1, 2, 3], (time) => receive([started(1, time)]), { concurrency: "unbounded" })
      const fiber = yield* Effect.forkChild(all, { startImmediately: true })
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(fiber)
      assert.strictEqual(counts, 1)
    }).pipe(Effect.provide(inbox))
  })
})

describe("Inbox cleanup", () => {
  it.effect("runs with the first batch and then every 10 minutes, in the background", () => {
    let cleanups = 0
    const inbox = inboxOver(() => ({
      cleanup: () =>
        Effect.suspend(() => {
          cleanups++
          return Effect.never
        })
    }))
    return Effect.gen(function* () {
      const { receive } = yield* Inbox.Inbox
      for (const [time, expected] of [1, 1, 2].entries()) {
        yield* receive([started(1, time)])
        yield* TestClock.adjust("301 seconds")
        assert.strictEqual(cleanups, expected)
      }
    }).pipe(Effect.provide(inbox))
  })

  it.effect("uses non-negative times when the window and the retention are infinite", () => {
    const times: Array<number> = []
    const options = { deduplicationWindow: "Infinity", deadLetterRetention: "Infinity" } as const
    const inbox = inboxOver(
      (store) => ({
        enqueue: (batch) => {
          times.push(batch.duplicatesSince)
          return store.enqueue(batch)
        },
        cleanup: ({ deadLettersBefore, fingerprintsBefore }) =>
          Effect.sync(() => void times.push(deadLettersBefore, fingerprintsBefore))
      }),
      options
    )
    return Effect.gen(function* () {
      const { receive } = yield* Inbox.Inbox
      yield* receive([started(1, 1)])
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(times, [0, 0, 0])
    }).pipe(Effect.provide(inbox))
  })
})

describe("Inbox", () => {
  it.effect("makes an update a dead letter when `partitionKey` throws, and stores the other updates", () => {
    const partitionKey = (update: Update.Update) => {
      if (timeOf(update) === 1) throw new Error("no partition key")
      return chatOf(update)
    }
    return Effect.gen(function* () {
      const inbox = yield* Inbox.Inbox
      yield* inbox.receive([started(1, 1), started(1, 2)])
      const { deadLetters, queued } = yield* inbox.stats
      assert.deepStrictEqual([deadLetters, queued], [1, 1])
      const [{ error, update }] = yield* Stream.runCollect(Inbox.deadLetters)
      assert.include(error, "no partition key")
      assert.strictEqual(update.partitionKey, "1")
    }).pipe(Effect.provide(Inbox.layerMemory({ partitionKey })))
  })

  it.effect("accepts updates again after `Bot.run` was restarted", () =>
    Effect.gen(function* () {
      const inbox = yield* Inbox.Inbox
      const times: Array<number> = []
      const running = Bot.run((update) => Effect.sync(() => times.push(timeOf(update))))
      const first = yield* Effect.forkChild(running, { startImmediately: true })
      yield* Fiber.interrupt(first)
      assert.isFalse(inbox[hooks].isOpen())
      const second = yield* Effect.forkChild(running, { startImmediately: true })
      yield* inbox.receive([started(1, 1)])
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(times, [1])
      yield* Fiber.interrupt(second)
    }).pipe(Effect.provide(within(Inbox.layer(), source([], { stays: true }))))
  )

  it.effect("accepts updates while `Bot.run` stops if other processes can handle them, and is not open", () =>
    Effect.gen(function* () {
      const inbox = yield* Inbox.Inbox
      const running = Bot.run(() => Effect.sleep("5 seconds"))
      const fiber = yield* Effect.forkChild(running, { startImmediately: true })
      yield* inbox.receive([started(1, 1)])
      yield* TestClock.adjust("1 second")
      const stopping = yield* Effect.forkChild(Fiber.interrupt(fiber), { startImmediately: true })
      yield* TestClock.adjust("1 second")
      assert.isFalse(inbox[hooks].isOpen())
      yield* inbox.receive([started(2, 2)])
      yield* inTime(Fiber.join(stopping))
      const updates = yield* inbox.store.updates({ of: "queue", limit: 10 })
      assert.deepStrictEqual(
        updates.map(({ update }) => update.partitionKey),
        ["2"]
      )
    }).pipe(
      Effect.provide(
        Layer.provideMerge(
          source([], { stays: true }),
          inboxOver(() => ({ isShared: true }))
        )
      )
    )
  )

  it.effect("updates the gauges while `Bot.run` runs", () =>
    Effect.gen(function* () {
      const gaugeOf = (name: string) =>
        Effect.map(Metric.snapshot, (metrics) => {
          const state = metrics.find(({ id }) => id === name)?.state
          return state !== undefined && "value" in state ? state.value : undefined
        })
      const fiber = yield* Effect.forkChild(
        Bot.run(() => Effect.sleep("20 seconds")),
        { startImmediately: true }
      )
      yield* TestClock.adjust("16 seconds")
      assert.strictEqual(yield* gaugeOf("colloquy_inbox_queued"), 1)
      assert.strictEqual(yield* gaugeOf("colloquy_inbox_oldest_age_seconds"), 15)
      yield* TestClock.adjust("15 seconds")
      assert.strictEqual(yield* gaugeOf("colloquy_inbox_queued"), 0)
      yield* Fiber.interrupt(fiber)
    }).pipe(
      Effect.provide(within(Inbox.layer(), source([started(1, 1)], { stays: true }))),
      Effect.provideService(Metric.MetricRegistry, new Map())
    )
  )
})

describe("Inbox.queued", () => {
  it.effect("emits the queued updates of more than one page, in order, and leaves them queued", () =>
    Effect.gen(function* () {
      const { receive, stats } = yield* Inbox.Inbox
      const times = Array.from({ length: 250 }, (_, index) => index + 1)
      yield* receive(times.map((time) => started(time % 7, time)))
      const listed = yield* Stream.runCollect(Stream.map(Inbox.queued, ({ id }) => Number(id)))
      assert.lengthOf(listed, 250)
      assert.deepStrictEqual(
        listed,
        listed.toSorted((a, b) => a - b)
      )
      assert.strictEqual((yield* stats).queued, 250)
    }).pipe(Effect.provide(Inbox.layerMemory()))
  )
})

describe("Inbox.layerConfig", () => {
  const layer = (BOT_INBOX_CAPACITY: string) =>
    Inbox.layerConfig({ capacity: Config.Int("BOT_INBOX_CAPACITY") }).pipe(
      Layer.provide(InboxStore.layerMemory),
      Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env: { BOT_INBOX_CAPACITY } })))
    )

  it.effect("reads options from the configuration", () =>
    Effect.gen(function* () {
      const { receive } = yield* Inbox.Inbox
      yield* receive([started(1, 1)])
      assert.deepStrictEqual(yield* Effect.flip(receive([started(1, 2)])), new Inbox.InboxFull({ capacity: 1 }))
    }).pipe(Effect.provide(layer("1")))
  )

  it.effect("fails with the name of a malformed setting", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(Effect.scoped(Layer.build(layer("many"))))
      assert.include(error.message, "BOT_INBOX_CAPACITY")
    })
  )
})

describe("Inbox.layerMemory", () => {
  it.effect("makes a store for each call", () =>
    Effect.gen(function* () {
      const queued: Array<number> = []
      const receive = Effect.gen(function* () {
        const inbox = yield* Inbox.Inbox
        yield* inbox.receive([started(1, 1)])
        queued.push((yield* inbox.stats).queued)
      })
      const bot = () => Layer.provide(Layer.effectDiscard(receive), Inbox.layerMemory())
      yield* Layer.build(Layer.merge(bot(), bot()))
      assert.deepStrictEqual(queued, [1, 1])
    })
  )
})

describe("InboxStore.layerMemory", () => {
  it.effect("is one store in a program, and another store with Layer.fresh", () =>
    Effect.gen(function* () {
      const stores: Array<unknown> = []
      const remember = Effect.gen(function* () {
        stores.push(yield* InboxStore.InboxStore)
      })
      const user = (layer: Layer.Layer<InboxStore.InboxStore>) => Layer.provide(Layer.effectDiscard(remember), layer)
      const { layerMemory } = InboxStore
      yield* Layer.build(Layer.mergeAll(user(layerMemory), user(layerMemory), user(Layer.fresh(layerMemory))))
      assert.lengthOf(stores, 3)
      assert.strictEqual(new Set(stores).size, 2)
    })
  )
})

describe("An inbox that is paused", () => {
  /** Two processes that use one store: a bot, and the command of an operator. */
  const processes = Effect.fnUntraced(function* (isShared: boolean) {
    const memory = yield* InboxStore.makeMemory
    const inbox = Layer.fresh(
      Layer.provide(Inbox.layer(), Layer.succeed(InboxStore.InboxStore, { ...memory, isShared }))
    )
    const handled: Array<number> = []
    const bot = Bot.run((update: Update.Update) => Effect.sync(() => void handled.push(timeOf(update))))
    yield* Effect.forkScoped(Effect.provide(bot, Layer.provideMerge(source([], { stays: true }), inbox)), {
      startImmediately: true
    })
    yield* TestClock.adjust("1 second")
    const other = yield* Layer.build(inbox)
    return {
      handled,
      asOther: <A, E>(effect: Effect.Effect<A, E, Inbox.Inbox>) => Effect.provideContext(effect, other),
      receive: (time: number) =>
        Effect.provideContext(
          Inbox.Inbox.use((inbox) => inbox.receive([started(time, time)])),
          other
        )
    }
  })

  it.effect("stores updates and handles none in any process, until another process resumes the inbox", () =>
    Effect.gen(function* () {
      const { asOther, handled, receive } = yield* processes(true)
      yield* receive(1)
      yield* TestClock.adjust("5 seconds")
      yield* asOther(Inbox.pause)
      // The bot may have read the state within the last second.
      yield* TestClock.adjust("1 second")
      yield* receive(2)
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(handled, [1])
      assert.isTrue(yield* asOther(Inbox.isPaused))
      assert.strictEqual((yield* asOther(Inbox.Inbox.use(({ stats }) => stats))).queued, 1)
      yield* asOther(Inbox.resume)
      yield* TestClock.adjust("5 seconds")
      assert.deepStrictEqual(handled, [1, 2])
      assert.isFalse(yield* asOther(Inbox.isPaused))
    }).pipe(Effect.scoped)
  )

  it.effect("stays paused in a process that starts", () =>
    Effect.gen(function* () {
      const memory = yield* InboxStore.makeMemory
      const inbox = Layer.provide(Inbox.layer(), Layer.succeed(InboxStore.InboxStore, memory))
      yield* Effect.provide(Inbox.pause, Layer.fresh(inbox))
      const handled: Array<number> = []
      const bot = Bot.run((update: Update.Update) => Effect.sync(() => void handled.push(timeOf(update))))
      yield* Effect.gen(function* () {
        yield* Effect.forkChild(bot, { startImmediately: true })
        yield* TestClock.adjust("1 minute")
        assert.deepStrictEqual(handled, [])
        // In the same process, the bot goes on at once.
        yield* Inbox.resume
        yield* TestClock.adjust(0)
        assert.deepStrictEqual(handled, [1])
      }).pipe(Effect.provide(Layer.provideMerge(source([started(1, 1)], { stays: true }), Layer.fresh(inbox))))
    })
  )
})
