import { Broadcasts, type Chat, Deliveries, StoreError } from "@colloquy/core"
import * as BroadcastStore from "@colloquy/core/broadcast/BroadcastStore"
import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { Emulator } from "@colloquy/testing"
import { shifted } from "../support/clocks.ts"
import { bot, dialogs, inTime, platform, sent, textsIn } from "../support/broadcast.ts"

const message = { text: "News!" }

const newsFor = (chats: ReadonlyArray<Chat.ChatId>) =>
  Broadcasts.run({ name: "news", recipients: Stream.fromIterable(chats), message })

const fork = <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.forkChild(self, { startImmediately: true })

const measure = Effect.fnUntraced(function* <A, E, R>(self: Effect.Effect<A, E, R>) {
  const start = yield* Clock.currentTimeMillis
  const result = yield* inTime(self)
  return [(yield* Clock.currentTimeMillis) - start, result] as const
})

const recorded = Effect.map(Stream.runCollect(Broadcasts.records("news")), (records) => records.length)

const summary = Effect.flatMap(BroadcastStore.BroadcastStore, (store) =>
  Effect.map(store.summary("news"), Option.getOrThrow)
)

const unavailable = new StoreError.StoreError({
  store: "broadcasts",
  operation: "any",
  reason: "connection lost",
  isRetryable: true
})

/** A bot that may send 3 requests a second. */
const slow = Layer.merge(
  Emulator.layerBot({ clientLimits: { host: { count: 3, window: "1 second" } } }),
  BroadcastStore.layerMemory
)

type Operations = BroadcastStore.BroadcastStore["Service"]

/** A store in memory with a clock that is ahead. */
const skewed = (ahead: () => number) =>
  Layer.unwrap(
    Effect.map(Clock.Clock, (clock) =>
      Layer.provide(BroadcastStore.layerMemory, Layer.succeed(Clock.Clock, shifted(clock, ahead)))
    )
  )

/** A store in memory, in which the operations that `isUnavailable` selects fail. */
const failing = (isUnavailable: (operation: keyof Operations) => boolean) =>
  Layer.effect(
    BroadcastStore.BroadcastStore,
    Effect.map(BroadcastStore.BroadcastStore, (store) => {
      const orFail = <A>(
        operation: keyof Operations,
        self: Effect.Effect<A, StoreError.StoreError>
      ): Effect.Effect<A, StoreError.StoreError> =>
        Effect.suspend(() => (isUnavailable(operation) ? Effect.fail(unavailable) : self))
      return BroadcastStore.BroadcastStore.of({
        ...store,
        acquireLease: (request) => orFail("acquireLease", store.acquireLease(request)),
        pending: (name, chats) => orFail("pending", store.pending(name, chats)),
        addRecords: (name, records) => orFail("addRecords", store.addRecords(name, records))
      })
    })
  ).pipe(Layer.provide(BroadcastStore.layerMemory))

/** The store of a process that can be killed. Its operations do not return any more then. */
const mortal = (store: Operations, isDead: () => boolean): Operations => {
  const orNever = <A>(self: Effect.Effect<A, StoreError.StoreError>): Effect.Effect<A, StoreError.StoreError> =>
    Effect.suspend(() => (isDead() ? Effect.never : self))
  return {
    ...store,
    acquireLease: (request) => orNever(store.acquireLease(request)),
    begin: (request) => orNever(store.begin(request)),
    addRecords: (name, records) => orNever(store.addRecords(name, records))
  }
}

describe("run", () => {
  it.effect("sends one message to a chat that is repeated while its request is in flight", () =>
    Effect.gen(function* () {
      const chats = yield* dialogs(210)
      yield* Emulator.setFaults([{ endpoint: "Messages.send", delay: 400 }])
      yield* inTime(Stream.runDrain(newsFor([...chats.slice(0, 200), ...chats.slice(190)])))
      for (const chat_id of chats) assert.deepStrictEqual(yield* textsIn(chat_id), ["News!"])
    }).pipe(Effect.provide(platform))
  )

  it.effect("sends at the full rate if a request takes 200 ms", () =>
    Effect.gen(function* () {
      const chats = yield* dialogs(300)
      yield* Emulator.setFaults([{ endpoint: "Messages.send", delay: 200 }])
      const [took] = yield* measure(Stream.runDrain(newsFor(chats)))
      // The margin of the limits, and the last response.
      assert.isAtMost(took, 1.025 * 10_000 + 500)
    }).pipe(Effect.provide(platform))
  )

  it.effect("times out a request without a response like any call, and does not send it again", () =>
    Effect.gen(function* () {
      const chats = yield* dialogs(20)
      const [silent] = chats
      yield* Emulator.setFaults([{ endpoint: "Messages.send", chat_id: silent, delay: 3_600_000 }])
      const [took, outcomes] = yield* measure(Stream.runCollect(newsFor(chats)))
      assert.isAtMost(took, 70_000)
      assert.deepStrictEqual(
        outcomes.filter(({ _tag }) => _tag === "Failed").map(({ chat_id }) => chat_id),
        [silent]
      )
      assert.strictEqual(yield* sent, 20)
    }).pipe(Effect.provide(platform))
  )

  it.effect("records the requests in flight when it is interrupted, and continues with the others", () =>
    Effect.gen(function* () {
      const chats = yield* dialogs(40)
      yield* Emulator.setFaults([{ endpoint: "Messages.send", delay: 5000 }])
      const fiber = yield* fork(Stream.runDrain(newsFor(chats)))
      yield* TestClock.adjust("1 second")
      yield* inTime(Fiber.interrupt(fiber))
      // Those that wait for a permit are not in flight.
      assert.strictEqual(yield* sent, 10)
      assert.strictEqual(yield* recorded, 10)
      yield* inTime(Stream.runDrain(newsFor(chats)))
      for (const chat_id of chats) assert.deepStrictEqual(yield* textsIn(chat_id), ["News!"])
    }).pipe(Effect.provideService(Deliveries.ImmediateShutdown, false), Effect.provide(platform))
  )

  it.effect("is interrupted at once during an outage", () =>
    Effect.gen(function* () {
      const chats = yield* dialogs(40)
      yield* Emulator.setFaults([{ endpoint: "Messages.send", status: 503 }])
      const fiber = yield* fork(Stream.runDrain(newsFor(chats)))
      yield* TestClock.adjust("2 minutes")
      const [took] = yield* measure(Fiber.interrupt(fiber))
      assert.isAtMost(took, 1000)
      yield* Emulator.setFaults([])
      yield* inTime(Stream.runDrain(newsFor(chats)))
      assert.strictEqual((yield* summary).counts.Sent, 40)
    }).pipe(Effect.provide(platform))
  )

  it.effect("is cancelled within a second during an outage, and while it waits for recipients", () =>
    Effect.gen(function* () {
      const chats = yield* dialogs(20)
      yield* Emulator.setFaults([{ endpoint: "Messages.send", status: 503 }])
      const recipients = Stream.concat(Stream.fromIterable(chats), Stream.never)
      const fiber = yield* fork(Stream.runCollect(Broadcasts.run({ name: "news", recipients, message })))
      yield* TestClock.adjust("2 minutes")
      yield* Broadcasts.cancel("news")
      const [took, outcomes] = yield* measure(Fiber.join(fiber))
      assert.isAtMost(took, 1100)
      assert.lengthOf(outcomes, 0)
      assert.strictEqual((yield* summary).status, "cancelled")
    }).pipe(Effect.provide(platform))
  )

  it.effect.each(["pause", "cancel"] as const)(
    "sends nothing a second after %s, if calls wait for permits",
    (control) =>
      Effect.gen(function* () {
        const chats = yield* dialogs(100)
        const fiber = yield* fork(Stream.runDrain(newsFor(chats)))
        yield* TestClock.adjust("10 seconds")
        assert.isTrue(yield* Broadcasts[control]("news"))
        yield* TestClock.adjust("1100 millis")
        const before = yield* sent
        yield* TestClock.adjust("20 seconds")
        assert.strictEqual(yield* sent, before)
        yield* Broadcasts.resume("news")
        yield* inTime(Fiber.join(fiber))
        assert.strictEqual(yield* sent, control === "pause" ? 100 : before)
      }).pipe(Effect.provide(slow))
  )

  it.effect("is interrupted at once if all calls wait for permits", () =>
    Effect.gen(function* () {
      const chats = yield* dialogs(100)
      const fiber = yield* fork(Stream.runDrain(newsFor(chats)))
      yield* TestClock.adjust("2 seconds")
      // The clock does not move any more.
      yield* Fiber.interrupt(fiber)
      assert.isAtLeast(yield* sent, 3)
      assert.strictEqual(yield* recorded, yield* sent)
    }).pipe(Effect.provide(slow))
  )

  it.effect("sends nothing after it has ended", () =>
    Effect.gen(function* () {
      const [chat] = yield* dialogs(1)
      const fiber = yield* fork(Stream.runDrain(Broadcasts.run({ name: "news", recipients: Stream.never, message })))
      yield* Broadcasts.cancel("news")
      yield* inTime(Fiber.join(fiber))
      assert.isFalse(yield* Broadcasts.resume("news"))
      assert.lengthOf(yield* inTime(Stream.runCollect(newsFor([chat]))), 0)
      assert.isTrue(yield* Broadcasts.remove("news"))
      assert.lengthOf(yield* inTime(Stream.runCollect(newsFor([chat]))), 1)
      assert.isFalse(yield* Broadcasts.pause("news"))
      assert.strictEqual((yield* summary).status, "finished")
    }).pipe(Effect.provide(platform))
  )

  it.effect("ends when it is removed, and leaves no records", () =>
    Effect.gen(function* () {
      const chats = yield* dialogs(200)
      const fiber = yield* fork(Stream.runCollect(newsFor(chats)))
      yield* TestClock.adjust("2 seconds")
      yield* Broadcasts.remove("news")
      const outcomes = yield* inTime(Fiber.join(fiber))
      assert.isBelow(outcomes.length, 120)
      assert.strictEqual(yield* recorded, 0)
      assert.isFalse(yield* Broadcasts.cancel("news"))
    }).pipe(Effect.provide(platform))
  )

  it.effect("fails with the error of its recipients, and continues in the next run", () =>
    Effect.gen(function* () {
      const chats = yield* dialogs(60)
      const recipients = Stream.concat(
        Stream.fromIterable(chats.slice(0, 40)),
        Stream.fail("the list is unavailable" as const)
      )
      const error = yield* inTime(Effect.flip(Stream.runDrain(Broadcasts.run({ name: "news", recipients, message }))))
      assert.strictEqual(error, "the list is unavailable")
      assert.strictEqual(yield* recorded, yield* sent)
      assert.strictEqual((yield* summary).status, "running")
      yield* inTime(Stream.runDrain(newsFor(chats)))
      for (const chat_id of chats) assert.deepStrictEqual(yield* textsIn(chat_id), ["News!"])
    }).pipe(Effect.provide(platform))
  )

  it.effect("starts with the first recipients while later ones are slow", () =>
    Effect.gen(function* () {
      const chats = yield* dialogs(10)
      const recipients = Stream.concat(Stream.fromIterable(chats), Stream.never)
      const fiber = yield* fork(Stream.runDrain(Broadcasts.run({ name: "news", recipients, message })))
      yield* TestClock.adjust("3 seconds")
      assert.strictEqual(yield* sent, 10)
      yield* inTime(Fiber.interrupt(fiber))
    }).pipe(Effect.provide(platform))
  )

  it.effect.each([
    { what: "has the lease", later: 0 },
    { what: "had the lease, which has expired", later: 120_000 }
  ])("stops within a second when another runner $what, and both send to every recipient once", ({ later }) => {
    let ahead = 0
    return Effect.gen(function* () {
      const chats = yield* dialogs(150)
      const store = yield* BroadcastStore.BroadcastStore
      const fiber = yield* fork(Effect.flip(Stream.runDrain(newsFor(chats))))
      yield* TestClock.adjust("1500 millis")
      ahead = 120_000
      const taken = yield* store.acquireLease({ name: "news", owner: "other", leaseDuration: 0, create: true })
      assert.isTrue(Option.isSome(taken))
      ahead = later
      const [took, error] = yield* measure(Fiber.join(fiber))
      assert.strictEqual(error._tag, "BroadcastAlreadyRunning")
      // The requests in flight complete first.
      assert.isAtMost(took, 1500)
      yield* TestClock.adjust("3 minutes")
      yield* inTime(Stream.runDrain(newsFor(chats)))
      for (const chat_id of chats) assert.deepStrictEqual(yield* textsIn(chat_id), ["News!"])
    }).pipe(
      Effect.provide(
        Layer.merge(
          bot,
          skewed(() => ahead)
        )
      )
    )
  })

  it.effect.each([
    { name: "the time passes", setBack: 0 },
    { name: "the wall clock is set back", setBack: 3_600_000 }
  ])("renews a lease that may have expired before it sends, if $name", ({ setBack }) => {
    let isUnavailable = false
    let ahead = 0
    return Effect.gen(function* () {
      const chats = yield* dialogs(2000)
      const clock = shifted(yield* Clock.Clock, () => ahead)
      const news = Effect.provideService(Stream.runDrain(newsFor(chats)), Clock.Clock, clock)
      const fiber = yield* fork(Effect.result(news))
      yield* TestClock.adjust("2 seconds")
      isUnavailable = true
      ahead = -setBack
      yield* TestClock.adjust("11 seconds")
      const soFar = yield* sent
      yield* TestClock.adjust("20 seconds")
      assert.strictEqual(yield* sent, soFar)
      isUnavailable = false
      yield* TestClock.adjust("10 seconds")
      assert.isAbove(yield* sent, soFar)
      yield* inTime(Fiber.interrupt(fiber))
    }).pipe(
      Effect.provide(
        Layer.merge(
          bot,
          failing((operation) => isUnavailable && operation === "acquireLease")
        )
      )
    )
  })

  it.effect("retries while the store is unavailable, and sends nothing twice", () => {
    let isUnavailable = false
    return Effect.gen(function* () {
      const chats = yield* dialogs(400)
      const fiber = yield* fork(Stream.runCollect(newsFor(chats)))
      yield* TestClock.adjust("2 seconds")
      isUnavailable = true
      yield* TestClock.adjust("20 seconds")
      const soFar = yield* sent
      isUnavailable = false
      const outcomes = yield* inTime(Fiber.join(fiber))
      assert.isAtMost(soFar, 80)
      assert.lengthOf(outcomes, 400)
      assert.strictEqual(yield* sent, 400)
    }).pipe(
      Effect.provide(
        Layer.merge(
          bot,
          failing(() => isUnavailable)
        )
      )
    )
  })

  it.effect("fails if the store stays unavailable, and only requests in flight can be sent twice", () => {
    let isUnavailable = false
    return Effect.gen(function* () {
      const chats = yield* dialogs(100)
      const fiber = yield* fork(Effect.flip(Stream.runDrain(newsFor(chats))))
      yield* TestClock.adjust("1500 millis")
      isUnavailable = true
      const [took, error] = yield* measure(Fiber.join(fiber))
      assert.strictEqual(error._tag, "GaveUp")
      assert.isAtMost(took, Duration.toMillis("615 seconds"))
      isUnavailable = false
      yield* TestClock.adjust("1 minute")
      yield* inTime(Stream.runDrain(newsFor(chats)))
      const texts = yield* Effect.forEach(chats, textsIn)
      assert.isTrue(texts.every(({ length }) => length > 0))
      assert.isAtMost(yield* sent, 100 + 16)
    }).pipe(
      Effect.provide(
        Layer.merge(
          bot,
          failing(() => isUnavailable)
        )
      )
    )
  })

  it.effect("sends nothing twice after kills, where the bot may read", () => {
    let killed = 0
    return Effect.gen(function* () {
      const chats = yield* dialogs(200)
      const store = yield* BroadcastStore.BroadcastStore
      yield* Emulator.setFaults([{ endpoint: "Messages.send", delay: 400 }])
      for (let life = 0; life < 3; life++) {
        const own = mortal(store, () => life < killed)
        yield* Effect.forkDetach(
          Effect.provideService(Stream.runDrain(newsFor(chats)), BroadcastStore.BroadcastStore, own)
        )
        yield* TestClock.adjust("1730 millis")
        killed = life + 1
        yield* TestClock.adjust("25 seconds")
      }
      // Some messages have no record.
      assert.isAbove(yield* sent, yield* recorded)
      yield* inTime(Stream.runDrain(newsFor(chats)))
      for (const chat_id of chats) assert.deepStrictEqual(yield* textsIn(chat_id), ["News!"])
      assert.strictEqual((yield* summary).counts.Sent, 200)
    }).pipe(Effect.provide(platform))
  })

  it.effect("looks up nothing in the run after an interruption", () =>
    Effect.gen(function* () {
      const chats = yield* dialogs(60)
      const fiber = yield* fork(Stream.runDrain(newsFor(chats)))
      yield* TestClock.adjust("1 second")
      yield* inTime(Fiber.interrupt(fiber))
      yield* inTime(Stream.runDrain(newsFor(chats)))
      const methods = (yield* Emulator.requests).map(({ endpoint }) => endpoint)
      assert.notInclude(methods, "Messages.list")
    }).pipe(Effect.provide(platform))
  )

  it.effect("logs the chat at which it stops if the platform rejects one for an unknown reason", () => {
    const logged: Array<string> = []
    const logger = Logger.make(({ message }) => void logged.push(String(message)))
    return Effect.gen(function* () {
      const chats = yield* dialogs(3)
      yield* Emulator.setFaults([{ endpoint: "Messages.send", chat_id: chats[1], status: 400, code: "odd" }])
      const error = yield* inTime(Effect.flip(Stream.runDrain(newsFor(chats))))
      assert.strictEqual(error._tag, "RequestFailed")
      assert.include(logged.join("\n"), `The broadcast "news" stops at the chat ${chats[1]}.`)
      assert.strictEqual(yield* recorded, 2)
    }).pipe(Effect.provide(Layer.merge(platform, Logger.layer([logger]))))
  })

  it.effect("logs each attempt of an outage once, however many requests fail", () => {
    const logged: Array<string> = []
    const logger = Logger.make(({ message }) => void logged.push(String(message)))
    return Effect.gen(function* () {
      const chats = yield* dialogs(40)
      yield* Emulator.setFaults([{ endpoint: "Messages.send", status: 503 }])
      const fiber = yield* fork(Stream.runDrain(newsFor(chats)))
      yield* TestClock.adjust("2 minutes")
      yield* inTime(Fiber.interrupt(fiber))
      assert.match(logged[0]!, /^The platform, for the broadcast "news", is unavailable\. Attempt 1 failed/)
      for (const [index, line] of logged.entries()) assert.include(line, `Attempt ${index + 1} failed`)
      assert.isAtMost(logged.length, 25)
    }).pipe(Effect.provide(Layer.merge(platform, Logger.layer([logger]))))
  })

  it.effect("can be observed before it starts", () =>
    Effect.gen(function* () {
      const chats = yield* dialogs(30)
      const watching = yield* fork(Stream.runCollect(Broadcasts.progress("news")))
      yield* TestClock.adjust("5 seconds")
      yield* inTime(Stream.runDrain(newsFor(chats)))
      const progress = yield* inTime(Fiber.join(watching))
      assert.deepInclude(progress.at(-1), { status: "finished", done: 30 })
    }).pipe(Effect.provide(platform))
  )
})
