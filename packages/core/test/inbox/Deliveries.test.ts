import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { Bot, Deliveries, Handler, Inbox, RateLimiter, type Update, Updates } from "../../src/index.ts"
import * as InboxStore from "../../src/inbox/InboxStore.ts"
import { chatOf, inTime, source, started, timeOf } from "../support/deliveries.ts"

type Handle = (update: Update.Update) => Effect.Effect<void>
type Emitted = Stream.Stream<Deliveries.Delivery, Updates.SourceError, Updates.Updates>

const updates = Array.from({ length: 8 }, (_, index) => started(1 + (index % 2), index))

const nameOf = (update: Update.Update) => `${chatOf(update)}:${timeOf(update)}`

/** A store that records what was acknowledged before its handler had ended. */
const makeProbe = Effect.gen(function* () {
  const store = yield* InboxStore.makeMemory
  const names = new Map<string, string>()
  const handled: Array<string> = []
  const acknowledged: Array<string> = []
  const early: Array<string> = []
  const writes: Array<number> = []
  const probe = InboxStore.InboxStore.of({
    ...store,
    isShared: true,
    claim: (claim) =>
      Effect.map(store.claim(claim), (partitions) => {
        for (const { updates } of partitions) {
          for (const { id, update } of updates) names.set(id, nameOf(Result.getOrThrow(update.decoded)))
        }
        return partitions
      }),
    commit: (commits) =>
      Effect.suspend(() => {
        const completed = commits.flatMap(({ completed }) => completed.map(({ id }) => names.get(id)!))
        if (completed.length > 0) writes.push(completed.length)
        acknowledged.push(...completed)
        early.push(...completed.filter((name) => !handled.includes(name)))
        return store.commit(commits)
      })
  })
  const handle: Handle = (update) =>
    Effect.delay(
      Effect.sync(() => void handled.push(nameOf(update))),
      "100 millis"
    )
  return { store: probe, handled, acknowledged, early, writes, handle }
})

const settle = (handle: Handle) => (delivery: Deliveries.Delivery) =>
  Effect.andThen(handle(delivery.value), Effect.orDie(delivery.ack))

/** Pipelines, with the number of updates that they acknowledge within a minute. */
const pipelines: Record<
  string,
  readonly [number, (self: Emitted, handle: Handle) => Effect.Effect<unknown, unknown, Updates.Updates>]
> = {
  runForEach: [8, (self, handle) => Stream.runForEach(self, settle(handle))],
  throttle: [
    8,
    (self, handle) =>
      self.pipe(
        Stream.throttle({ cost: (array) => array.length, units: 1, duration: "1 second" }),
        Stream.runForEach(settle(handle))
      )
  ],
  "mapEffect of Stream with concurrency": [
    8,
    (self, handle) => self.pipe(Stream.mapEffect(settle(handle), { concurrency: 4 }), Stream.runDrain)
  ],
  mapEffect: [8, (self, handle) => self.pipe(Deliveries.mapEffect(handle, { concurrency: 4 }), Deliveries.runDrain)],
  "Deliveries.runForEach": [8, (self, handle) => Deliveries.runForEach(self, handle, { concurrency: 4 })],
  buffer: [8, (self, handle) => self.pipe(Stream.buffer({ capacity: 16 }), Stream.runForEach(settle(handle)))],
  merge: [
    8,
    (self, handle) =>
      self.pipe(
        Stream.merge(Stream.make(1, 2, 3)),
        Stream.runForEach((element) => (typeof element === "number" ? Effect.void : settle(handle)(element)))
      )
  ],
  groupByKey: [
    8,
    (self, handle) =>
      self.pipe(
        Stream.groupByKey(({ value }) => chatOf(value)),
        Stream.flatMap(([, ofChat]) => Stream.mapEffect(ofChat, settle(handle)), { concurrency: "unbounded" }),
        Stream.runDrain
      )
  ],
  groupedWithin: [
    8,
    (self, handle) =>
      self.pipe(
        Deliveries.groupedWithin(4, "1 second"),
        Deliveries.runForEach((group) => Effect.forEach(group, handle, { discard: true }))
      )
  ],
  broadcast: [
    8,
    (self, handle) =>
      Effect.scoped(
        Effect.gen(function* () {
          const [first, second] = yield* Deliveries.broadcast(self, { n: 2 })
          const fast = Deliveries.runForEach(first, () => Effect.void)
          yield* Effect.all([fast, Deliveries.runForEach(second, handle)], { concurrency: 2 })
        })
      )
  ],
  tee: [
    8,
    (self, handle) =>
      self.pipe(
        Deliveries.tee(Deliveries.runForEach(handle)),
        Deliveries.runForEach(() => Effect.void)
      )
  ],
  "map and filter": [
    8,
    (self, handle) =>
      self.pipe(
        Deliveries.map((update) => ({ update })),
        Deliveries.filter(({ update }) => chatOf(update) > 0),
        Deliveries.runForEach(({ update }) => handle(update))
      )
  ],
  "take(1)": [1, (self, handle) => self.pipe(Stream.take(1), Stream.runForEach(settle(handle)))],
  "take(1) and Deliveries.runForEach": [1, (self, handle) => self.pipe(Stream.take(1), Deliveries.runForEach(handle))],
  zip: [
    3,
    (self, handle) =>
      self.pipe(
        Stream.zip(Stream.make(1, 2, 3)),
        Stream.runForEach(([delivery]) => settle(handle)(delivery))
      )
  ],
  // What it drops is not settled, and holds back its chat.
  debounce: [4, (self, handle) => self.pipe(Stream.debounce("1 second"), Stream.runForEach(settle(handle)))],
  "a failing sink": [
    2,
    (self, handle) => {
      let count = 0
      return Stream.runForEach(self, (delivery) => (count++ < 2 ? settle(handle)(delivery) : Effect.fail("full")))
    }
  ],
  "an interruption in the middle": [
    2,
    (self, handle) => Stream.runForEach(self, settle(handle)).pipe(Effect.timeoutOption("250 millis"))
  ]
}

const inboxOf = (store: InboxStore.InboxStore["Service"], received = updates) =>
  Layer.provideMerge(source(received, { stays: true }), Inbox.layer({ deduplicationWindow: "1 hour" })).pipe(
    Layer.provide(Layer.succeed(InboxStore.InboxStore, store))
  )

describe("A pipeline of deliveries", () => {
  for (const [name, [count, run]] of Object.entries(pipelines)) {
    it.effect(`acknowledges nothing before it is handled, and loses nothing: ${name}`, () =>
      Effect.gen(function* () {
        const { acknowledged, early, handle, handled, store } = yield* makeProbe
        const first = run(Updates.deliveries(), handle).pipe(Effect.provide(inboxOf(store)))
        const fiber = yield* Effect.forkChild(Effect.exit(first), { startImmediately: true })
        yield* TestClock.adjust("1 minute")
        yield* inTime(Fiber.interrupt(fiber))
        assert.deepStrictEqual(early, [])
        assert.lengthOf(acknowledged, count)
        assert.strictEqual((yield* store.stats).queued, 8 - count)
        // What is left comes again, in the order of each chat.
        yield* Bot.run(handle).pipe(Effect.provide(inboxOf(store)), Effect.timeoutOption("1 minute"), inTime)
        assert.strictEqual((yield* store.stats).queued, 0)
        for (const chat of [1, 2]) {
          const times = acknowledged.filter((name) => name.startsWith(`${chat}:`))
          assert.deepStrictEqual([...times].sort(), times)
          assert.lengthOf(times, 4)
        }
        assert.strictEqual(new Set(handled).size, 8)
      })
    )
  }
})

const collecting = Effect.gen(function* () {
  const store = yield* InboxStore.makeMemory
  return {
    store,
    layer: (received = updates) => inboxOf(InboxStore.InboxStore.of({ ...store, isShared: true }), received)
  }
})

describe("Updates.deliveries", () => {
  for (const [perChat, emittedFirst, left] of [
    [1, ["1:0"], ["1:0", "1:2", "1:4", "1:6"]],
    [2, ["1:0", "1:2", "1:4"], ["1:0", "1:4", "1:6"]],
    [3, ["1:0", "1:2", "1:4", "1:6"], ["1:0", "1:4"]],
    ["unbounded", ["1:0", "1:2", "1:4", "1:6"], ["1:0", "1:4"]]
  ] as const) {
    it.effect(`emits updates in order that may be acknowledged in any order, and the others again: ${perChat}`, () =>
      Effect.gen(function* () {
        const { layer, store } = yield* collecting
        const emitted: Array<string> = []
        // Every second update of the chat is acknowledged, the others never are.
        yield* Updates.deliveries({ perChat }).pipe(
          Stream.runForEach((delivery) => {
            emitted.push(nameOf(delivery.value))
            return emitted.length % 2 === 0 ? delivery.ack : Effect.void
          }),
          Effect.provide(layer(updates.filter((update) => chatOf(Result.getOrThrow(update.decoded)) === 1))),
          Effect.timeoutOption("10 seconds"),
          inTime
        )
        assert.deepStrictEqual<ReadonlyArray<string>>(emitted, emittedFirst)
        assert.strictEqual((yield* store.stats).queued, left.length)
        const again: Array<string> = []
        yield* Bot.run((update) => Effect.sync(() => again.push(nameOf(update)))).pipe(
          Effect.provide(layer([])),
          Effect.timeoutOption("10 seconds"),
          inTime
        )
        assert.deepStrictEqual<ReadonlyArray<string>>(again, left)
      })
    )
  }
})

describe("Deliveries.groupedWithin", () => {
  it.effect("acknowledges a group in one write", () =>
    Effect.gen(function* () {
      const { handle, store, writes } = yield* makeProbe
      yield* Updates.deliveries({ perChat: "unbounded" }).pipe(
        Deliveries.groupedWithin(8, "1 second"),
        Deliveries.runForEach((group) => Effect.forEach(group, handle, { discard: true })),
        Effect.provide(inboxOf(store)),
        Effect.timeoutOption("10 seconds"),
        inTime
      )
      assert.deepStrictEqual(writes, [8])
    })
  )
})

describe("Deliveries.mapEffect", () => {
  it.effect("retries an effect that fails by the schedule, and then makes the update a dead letter", () =>
    Effect.gen(function* () {
      const { layer, store } = yield* collecting
      const attempts: Array<string> = []
      const results: Array<number> = []
      yield* Updates.deliveries().pipe(
        Deliveries.mapEffect(
          (update) =>
            Effect.gen(function* () {
              attempts.push(`${nameOf(update)} ${yield* Handler.CurrentAttempt}`)
              return timeOf(update) === 2 ? yield* Effect.fail("no") : timeOf(update)
            }),
          { retry: Schedule.recurs(1) }
        ),
        Deliveries.map((time) => void results.push(time)),
        Deliveries.runDrain,
        Effect.provide(layer()),
        Effect.timeoutOption("10 seconds"),
        inTime
      )
      assert.includeMembers(attempts, ["1:2 1", "1:2 2"])
      assert.sameMembers(results, [0, 1, 3, 4, 5, 6, 7])
      assert.deepInclude(yield* store.stats, { queued: 0, deadLetters: 1 })
    })
  )
})

describe("Deliveries.filter and on", () => {
  it.effect("acknowledges dropped deliveries, and narrows the others", () =>
    Effect.gen(function* () {
      const { layer, store } = yield* collecting
      const chats: Array<number> = []
      yield* Updates.deliveries().pipe(
        Deliveries.filter((update) => chatOf(update) === 1),
        Deliveries.on("bot_started"),
        Deliveries.runForEach((update) => Effect.sync(() => chats.push(update.chat_id))),
        Effect.provide(layer()),
        Effect.timeoutOption("10 seconds"),
        inTime
      )
      assert.deepStrictEqual(chats, [1, 1, 1, 1])
      assert.strictEqual((yield* store.stats).queued, 0)
    })
  )
})

describe("Deliveries.broadcast", () => {
  it.effect("rejects an update that one branch rejects, and retries an update that one branch retries", () =>
    Effect.gen(function* () {
      const { layer, store } = yield* collecting
      const attempts: Array<number> = []
      yield* Effect.gen(function* () {
        const [first, second] = yield* Deliveries.broadcast(Updates.deliveries(), { n: 2 })
        const one = Stream.runForEach(first, (delivery) =>
          timeOf(delivery.value) === 0 ? delivery.reject(Cause.fail("no")) : delivery.ack
        )
        const two = Stream.runForEach(second, (delivery) => {
          if (timeOf(delivery.value) === 1) attempts.push(delivery.attempt)
          return timeOf(delivery.value) === 1 && delivery.attempt === 1 ? delivery.retry() : delivery.ack
        })
        yield* Effect.all([one, two], { concurrency: 2 })
      }).pipe(Effect.scoped, Effect.provide(layer()), Effect.timeoutOption("10 seconds"), inTime)
      assert.deepStrictEqual(attempts, [1, 2])
      assert.deepInclude(yield* store.stats, { queued: 0, deadLetters: 1 })
    })
  )
})

describe("Deliveries.provide", () => {
  it.effect("runs an effect with the chat, the priority and the attempt of the delivery", () =>
    Effect.gen(function* () {
      const { layer } = yield* collecting
      const seen = yield* Updates.deliveries().pipe(
        Stream.take(1),
        Stream.mapEffect((delivery) =>
          Deliveries.provide(
            Effect.all([RateLimiter.CurrentChat, RateLimiter.CurrentPriority, Handler.CurrentAttempt]),
            delivery
          )
        ),
        Stream.runHead,
        Effect.provide(layer())
      )
      assert.deepStrictEqual(Option.getOrThrow(seen), [1, "reply", 1] as never)
    })
  )
})

describe("The operators of Deliveries", () => {
  it.effect("die for a copy of a delivery, and name the operator to use instead", () =>
    Effect.gen(function* () {
      const { layer, store } = yield* collecting
      const copied = Updates.deliveries().pipe(Stream.map((delivery) => ({ ...delivery, value: "changed" })))
      for (const use of [Deliveries.runForEach(copied, () => Effect.void), Deliveries.runDrain(copied)]) {
        const exit = yield* Effect.exit(use.pipe(Effect.provide(layer()), inTime))
        assert.include(
          Exit.isFailure(exit) ? Cause.pretty(exit.cause) : "",
          "A copy of a delivery is none: use Deliveries.map to change the value of a delivery."
        )
      }
      assert.isAbove((yield* store.stats).queued, 0)
    })
  )
})
