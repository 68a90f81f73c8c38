import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import { type AcquireResult, type AdaptiveState, RateLimiterStore } from "../../../src/client/RateLimiterStore.ts"
import * as RateLimiterStoreModule from "../../../src/client/RateLimiterStore.ts"
import * as RateLimiter from "../../../src/client/RateLimiter.ts"
import { StoreError } from "../../../src/base/StoreError.ts"

const options: RateLimiter.Options = {
  host: { count: 4, window: 1000 },
  messages: { count: 2, window: 1000 },
  margin: 0
}

const host = { count: 4, window: 1000 }

const unavailable = (operation: string) =>
  new StoreError({ store: "rateLimiter", operation, reason: "switched off", isRetryable: true })

/** What happens to calls of the store: they arrive, fail, lose their responses, or arrive after the process stopped waiting. */
type Network = "up" | "down" | "answersLost" | "late"

const timeout = 1000

const shifted = (result: AcquireResult, shift: number): AcquireResult =>
  result._tag === "Late"
    ? { ...result, now: result.now + shift }
    : {
        ...result,
        now: result.now + shift,
        results: result.results.map((permit) =>
          permit._tag === "Granted" ? { ...permit, at: permit.at + shift, countedAt: permit.countedAt + shift } : permit
        )
      }

/** How long packets take to the store and back, at least, and by how much some take longer, in milliseconds. */
interface Distance {
  readonly latency: number
  readonly jitter: number
}

/** Returns the same numbers between 0 and 1 in each run. */
const makeRandom = () => {
  let state = 7
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

/** The store of one process behind a network that can fail, and what the process called and logged. */
const connect = (store: RateLimiterStore["Service"], distance?: Distance) => {
  const random = makeRandom()
  /** By how much the clock of the store seems to be ahead. */
  let shift = 0
  const operations: Array<string> = []
  const logs: Array<string> = []
  let network: Network = "up"
  const through =
    (operation: string) =>
    <A>(call: Effect.Effect<A, StoreError>): Effect.Effect<A, StoreError> =>
      Effect.suspend(() => {
        const failure = Effect.fail(unavailable(operation))
        if (network === "down") return failure
        if (network === "answersLost") return Effect.andThen(call, Effect.delay(failure, timeout))
        if (network === "late") {
          return Effect.andThen(Effect.forkDetach(Effect.delay(call, 3 * timeout)), Effect.delay(failure, timeout))
        }
        operations.push(operation)
        // Nobody moves the clock when a process leaves.
        if (distance === undefined || operation === "leave") return call
        const travel = Effect.suspend(() => Effect.sleep(distance.latency / 2 + distance.jitter * random()))
        return Effect.andThen(travel, Effect.tap(call, travel))
      })
  const connected = RateLimiterStore.of({
    time: Effect.map(through("time")(store.time), (time) => time + shift),
    acquire: (options) =>
      Effect.map(
        through("acquire")(Effect.suspend(() => store.acquire({ ...options, deadline: options.deadline - shift }))),
        (result) => shifted(result, shift)
      ),
    leave: (process) => through("leave")(store.leave(process)),
    updateAdaptiveState: (update) => through("updateAdaptiveState")(store.updateAdaptiveState(update)),
    pause: (millis) => through("pause")(store.pause(millis)),
    mergeBuckets: (from, to) => through("mergeBuckets")(store.mergeBuckets(from, to)),
    move: (options) => through("move")(store.move({ ...options, to: options.to - shift }))
  })
  const layer = Layer.mergeAll(
    Layer.succeed(RateLimiterStore, connected),
    Logger.layer([Logger.make(({ message }) => void logs.push(String(message)))])
  )
  return {
    layer,
    logs,
    operations,
    setNetwork: (value: Network) => void (network = value),
    setShift: (value: number) => void (shift = value)
  }
}

type Connection = ReturnType<typeof connect>

const idle = {
  id: "idle",
  share: 0,
  absentAfter: 0,
  reserveFor: 0,
  epoch: undefined,
  reserved: 0,
  reservedForOthers: 0
}

/** A store whose pause after its first call is over. */
const makeStore = Effect.gen(function* () {
  const store = yield* RateLimiterStoreModule.makeMemory
  yield* store.acquire({
    process: idle,
    requests: [],
    host,
    delay: 0,
    advance: 0,
    maxDelay: 0,
    deadline: Infinity,
    unused: [],
    sentAlone: []
  })
  yield* TestClock.adjust("2 seconds")
  return store
})

const makeProcess = Effect.fnUntraced(function* (
  store: RateLimiterStore["Service"],
  shared: RateLimiter.SharedOptions,
  distance?: Distance
) {
  const connection = connect(store, distance)
  const context = yield* Layer.build(connection.layer)
  const limiter = yield* Effect.provide(RateLimiter.make({ ...options, ...shared }), context)
  return { limiter, ...connection }
})

const withLimiter = (
  shared: RateLimiter.SharedOptions,
  test: (
    limiter: RateLimiter.RateLimiter["Service"],
    connection: Connection,
    store: RateLimiterStore["Service"]
  ) => Effect.Effect<void, unknown>
) =>
  Effect.gen(function* () {
    const store = yield* makeStore
    const process = yield* makeProcess(store, shared)
    yield* test(process.limiter, process, store)
  }).pipe(Effect.scoped)

const adaptiveStateOf = (store: RateLimiterStore["Service"]) =>
  Effect.gen(function* () {
    let current: AdaptiveState | undefined
    yield* store.updateAdaptiveState((state) => {
      current = state
      return state!
    })
    return current
  })

/** Acquires a permit that needs no wait. */
const acquireNow = Effect.fnUntraced(function* (limiter: RateLimiter.RateLimiter["Service"]) {
  const call = yield* Effect.forkChild(RateLimiter.withPriority(limiter.acquire(undefined), "reply"))
  yield* TestClock.adjust(0)
  return yield* Fiber.join(call)
})

/** Starts calls without a target, and returns the times of their permits after a minute. */
const permitTimes = Effect.fnUntraced(function* (limiter: RateLimiter.RateLimiter["Service"], count: number) {
  const start = yield* Clock.currentTimeMillis
  const acquire = Effect.andThen(limiter.acquire(undefined), Clock.currentTimeMillis)
  const fibers = yield* Effect.forEach(Array.from({ length: count }), () =>
    Effect.forkChild(RateLimiter.withPriority(acquire, "reply"), { startImmediately: true })
  )
  yield* TestClock.adjust("1 minute")
  return (yield* Fiber.joinAll(fibers)).map((at) => at - start)
})

describe("RateLimiter.layer", () => {
  it.effect("waits for the permits of the store", () =>
    withLimiter({}, (limiter) =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* permitTimes(limiter, 9), [0, 0, 0, 0, 1000, 1000, 1000, 1000, 2000])
      })
    )
  )

  it.effect("lets calls leave in the order of their permits, which are less than a millisecond apart", () =>
    Effect.gen(function* () {
      const store = yield* makeStore
      const at = (yield* Clock.currentTimeMillis) + 5.3
      const { limiter } = yield* makeProcess(
        {
          ...store,
          // The first permit arrives 5.1 ms before its time, and the second one 4.9 ms.
          acquire: (options) =>
            Effect.map(Effect.delay(store.acquire(options), 0.2), (result) =>
              result._tag === "Late"
                ? result
                : {
                    ...result,
                    results: result.results.map((permit) =>
                      permit._tag === "Granted" ? { ...permit, at, countedAt: at } : permit
                    )
                  }
            )
        },
        {}
      )
      const order: Array<string> = []
      const acquire = (name: string) =>
        Effect.tap(limiter.acquire(undefined), () => Effect.sync(() => order.push(name))).pipe(
          RateLimiter.withPriority("reply"),
          Effect.forkChild({ startImmediately: true })
        )
      yield* acquire("first")
      yield* TestClock.adjust(0.1)
      yield* acquire("second")
      yield* TestClock.adjust(100)
      assert.deepStrictEqual(order, ["first", "second"])
    }).pipe(Effect.scoped)
  )

  it.effect("asks the store once before it fails a call whose maximum wait is 0", () =>
    withLimiter({}, (limiter, { operations }) =>
      Effect.gen(function* () {
        yield* permitTimes(limiter, 1)
        const call = RateLimiter.withMaxWait(limiter.acquire({ scope: "messages", key: 1 }), 0)
        const fiber = yield* Effect.forkChild(Effect.all([call, call, Effect.flip(call)]))
        yield* TestClock.adjust(0)
        const [, , error] = yield* Fiber.join(fiber)
        assert.strictEqual(error.reason, "MaxWaitExceeded")
        assert.isAbove(Duration.toMillis(error.retryAfter), 0)
        assert.isAtLeast(operations.filter((operation) => operation === "acquire").length, 3)
      })
    )
  )

  it.effect("stores pauses, lowered limits, merged dialogs and late responses", () =>
    withLimiter({ margin: 10 }, (limiter, { operations }, store) =>
      Effect.gen(function* () {
        // The first requests of a process count later in any case.
        yield* permitTimes(limiter, 2)
        const before = operations.length
        const fiber = yield* Effect.forkChild(limiter.acquire({ scope: "messages", user: 5 }))
        yield* TestClock.adjust(0)
        const permit = yield* Fiber.join(fiber)
        yield* permit.responded
        yield* TestClock.adjust(50)
        yield* permit.responded
        yield* limiter.linkDialog({ user_id: 5, chat_id: 77 })
        yield* Object.assign(permit, { used: 2 }).rejected(Duration.seconds(1))
        assert.deepStrictEqual(operations.slice(before), [
          "acquire",
          "move",
          "mergeBuckets",
          "pause",
          "updateAdaptiveState"
        ])
        assert.strictEqual((yield* adaptiveStateOf(store))?.limit, 2)
      })
    )
  )

  it.effect("raises a lowered limit that is used up", () =>
    withLimiter({}, (limiter, { operations }, store) =>
      Effect.gen(function* () {
        const fiber = yield* Effect.forkChild(limiter.acquire(undefined))
        yield* TestClock.adjust(0)
        yield* Object.assign(yield* Fiber.join(fiber), { used: 1 }).rejected()
        assert.strictEqual((yield* adaptiveStateOf(store))?.limit, 1)
        yield* TestClock.adjust("1 minute")
        yield* permitTimes(limiter, 4)
        yield* permitTimes(limiter, 1)
        assert.isAbove((yield* adaptiveStateOf(store))!.limit, 1)
        assert.isAbove((yield* limiter.status).hostLimit, 1)
        assert.include(operations.slice(4), "updateAdaptiveState")
      })
    )
  )

  it.effect("does not use a permit that it got too long ago, and returns it to the store", () =>
    withLimiter({}, (limiter) =>
      Effect.gen(function* () {
        const acquire = (previous?: RateLimiter.Permit) =>
          Effect.gen(function* () {
            const fiber = yield* Effect.forkChild(
              RateLimiter.withPriority(limiter.acquire(undefined, previous), "reply")
            )
            yield* TestClock.adjust(0)
            return fiber.pollUnsafe() === undefined ? undefined : yield* Fiber.join(fiber)
          })
        const permits = [yield* acquire(), yield* acquire(), yield* acquire(), yield* acquire()].map(
          (permit) => permit!
        )
        assert.isTrue(permits[0].confirm("ready"))
        yield* TestClock.adjust(300)
        assert.isFalse(permits[1].confirm("ready"))
        assert.isTrue(permits[2].confirm("connected"))
        yield* TestClock.adjust(300)
        assert.isFalse(permits[2].confirm("connected"))
        assert.isTrue(permits[3].confirm("final"))
        // The store counts two permits less, so that two further calls need not wait.
        assert.isDefined(yield* acquire(permits[1]))
        assert.isDefined(yield* acquire(permits[2]))
        assert.isUndefined(yield* acquire())
      })
    )
  )
})

describe("While the store is unavailable, RateLimiter.layer", () => {
  it.effect("lets calls wait by default, and logs the change", () =>
    withLimiter({}, (limiter, { logs, setNetwork }) =>
      Effect.gen(function* () {
        setNetwork("down")
        const call = yield* Effect.forkChild(limiter.acquire(undefined), { startImmediately: true })
        yield* TestClock.adjust("10 seconds")
        assert.isUndefined(call.pollUnsafe())
        setNetwork("up")
        yield* TestClock.adjust("500 millis")
        yield* Fiber.join(call)
        assert.deepStrictEqual(
          logs.map((log) => log.split(",")[0]),
          [
            "The rate limiter store is unavailable. Calls wait until the store is available again.",
            "The rate limiter store is available again. All processes share the limits."
          ]
        )
      })
    )
  )

  it.effect("logs once that answers take longer than permits are valid, and goes on when they are in time", () =>
    Effect.gen(function* () {
      const distance = { latency: 1100, jitter: 0 }
      const { limiter, logs } = yield* makeProcess(yield* makeStore, {}, distance)
      const call = yield* Effect.forkChild(limiter.acquire(undefined), { startImmediately: true })
      yield* TestClock.adjust("1 minute")
      assert.isUndefined(call.pollUnsafe())
      assert.deepStrictEqual(logs, [
        "The rate limiter store answers after 1100 ms, and a permit is valid for 1000 ms. Calls wait until the store answers in " +
          "time: check that the store is near and not overloaded."
      ])
      distance.latency = 100
      yield* TestClock.adjust("3 seconds")
      yield* Fiber.join(call)
    }).pipe(Effect.scoped)
  )

  it.effect("reaches the store again although the call that noticed the failure was interrupted", () =>
    withLimiter({}, (limiter, { setNetwork }) =>
      Effect.gen(function* () {
        const permit = yield* acquireNow(limiter)
        setNetwork("down")
        const interrupting = Logger.make(() => Fiber.getCurrent()?.interruptUnsafe())
        const rejected = Effect.provide(permit.rejected(Duration.seconds(1)), Logger.layer([interrupting]))
        const noticed = yield* Effect.forkChild(rejected, { startImmediately: true })
        assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(noticed)))
        setNetwork("up")
        const call = yield* Effect.forkChild(limiter.acquire(undefined), { startImmediately: true })
        yield* TestClock.adjust("2 seconds")
        assert.isDefined(call.pollUnsafe())
      })
    )
  )

  it.effect("sends a share of the limits after the store has reserved it, for a limited time", () =>
    withLimiter({ onUnavailable: { share: 0.5, duration: "10 seconds" } }, (limiter, { logs, setNetwork }) =>
      Effect.gen(function* () {
        yield* permitTimes(limiter, 1)
        setNetwork("down")
        // 1 second for a late call, 2.5 seconds until the share is reserved, 1 second for late requests, 1 window.
        assert.deepStrictEqual(yield* permitTimes(limiter, 6), [5500, 5500, 6500, 6500, 7500, 7500])
        assert.include(logs[0], "Calls wait for 5.5 seconds, then this process sends at most 2 requests in a window")
        assert.strictEqual((yield* limiter.status).hostLimit, 0)
        yield* limiter.pause(Duration.seconds(1))
        yield* limiter.linkDialog({ user_id: 5, chat_id: 77 })
        assert.strictEqual(logs.length, 1)
        const call = yield* Effect.forkChild(limiter.acquire(undefined), { startImmediately: true })
        yield* TestClock.adjust("1 minute")
        assert.isUndefined(call.pollUnsafe())
        setNetwork("up")
        yield* TestClock.adjust("1 second")
        yield* Fiber.join(call)
      })
    )
  )

  it.effect("counts a request that arrived late at the time of its arrival, while it sends its share", () =>
    withLimiter({ margin: 20, onUnavailable: { share: 0.5, duration: "1 minute" } }, (limiter, { setNetwork }) =>
      Effect.gen(function* () {
        yield* permitTimes(limiter, 3)
        setNetwork("down")
        const call = yield* Effect.forkChild(limiter.acquire(undefined), { startImmediately: true })
        yield* TestClock.adjust("6 seconds")
        yield* (yield* Fiber.join(call)).responded
        yield* TestClock.adjust("2 seconds")
        const [first, second] = [yield* acquireNow(limiter), yield* acquireNow(limiter)]
        yield* first.responded
        yield* TestClock.adjust(100)
        yield* second.responded
        const times = yield* permitTimes(limiter, 2)
        assert.deepStrictEqual(
          times.map((at) => at + 100),
          [1020, 1120]
        )
      })
    )
  )

  it.effect("tells the store of a request that leaves late, and does not send it while the store is unavailable", () =>
    withLimiter({ margin: 20 }, (limiter, { operations, setNetwork }) =>
      Effect.gen(function* () {
        const [available, unavailable] = [yield* acquireNow(limiter), yield* acquireNow(limiter)]
        yield* TestClock.adjust(300)
        assert.isTrue(available.confirm("connected"))
        assert.isAtLeast(available.countedAt, available.at + 300)
        yield* TestClock.adjust(0)
        assert.strictEqual(operations.at(-1), "move")
        setNetwork("down")
        yield* limiter.pause(Duration.millis(1))
        assert.isFalse(unavailable.confirm("connected"))
        assert.isTrue(unavailable.confirm("final"))
      })
    )
  )

  it.effect("rejects a share that is not above 0 and at most 1", () =>
    Effect.gen(function* () {
      const exit = yield* Effect.exit(withLimiter({ onUnavailable: { share: 25 } }, () => Effect.void))
      assert.include(String(exit), "`onUnavailable.share` must be above 0 and at most 1")
    })
  )
})

/** Sends as many replies as the limiter allows, and returns the times at which they were sent. */
const sendAll = Effect.fnUntraced(function* (
  limiter: RateLimiter.RateLimiter["Service"],
  times: Array<number>,
  responseTime = 0
) {
  const send = (previous?: RateLimiter.Permit): Effect.Effect<void, RateLimiter.RateLimiterError> =>
    Effect.flatMap(limiter.acquire(undefined, previous), (permit) => {
      if (!permit.confirm("ready")) return send(permit)
      return Effect.flatMap(Clock.currentTimeMillis, (now) => {
        times.push(now)
        return Effect.delay(permit.responded, responseTime)
      })
    })
  yield* Effect.forkScoped(Effect.forever(RateLimiter.withPriority(send(), "reply")))
})

const maxInWindow = (times: ReadonlyArray<number>, window: number) => {
  const sorted = [...times].sort((a, b) => a - b)
  let [first, most] = [0, 0]
  for (const [index, at] of sorted.entries()) {
    while (sorted[first] + window <= at) first++
    most = Math.max(most, index - first + 1)
  }
  return most
}

const sharedLimit = {
  host: { count: 12, window: 1000 },
  onUnavailable: { share: 0.25, duration: "20 seconds" }
} as const

/** Three processes that send all the time, while the network of each changes. Returns the times of all requests. */
const withOutages = (
  outages: ReadonlyArray<{ readonly process: number; readonly network: Network; readonly after: number }>
) =>
  Effect.gen(function* () {
    const store = yield* makeStore
    const times: Array<number> = []
    const processes = yield* Effect.forEach([0, 1, 2], () => makeProcess(store, sharedLimit))
    for (const { limiter } of processes) yield* sendAll(limiter, times)
    for (const { after, network, process } of outages) {
      yield* TestClock.adjust(after)
      processes[process].setNetwork(network)
    }
    yield* TestClock.adjust("10 seconds")
    for (const { setNetwork } of processes) setNetwork("up")
    return times
  }).pipe(Effect.scoped)

describe("Several processes that send all the time", () => {
  it.effect("use the limit from the first second on, because a response shows that its request arrived", () =>
    Effect.gen(function* () {
      const store = yield* makeStore
      const times: Array<number> = []
      for (let index = 0; index < 3; index++) {
        const { limiter } = yield* makeProcess(store, { ...sharedLimit, margin: 25 })
        for (let sender = 0; sender < 6; sender++) yield* sendAll(limiter, times, 20)
      }
      yield* TestClock.adjust("6 seconds")
      assert.strictEqual(maxInWindow(times, 1025), 12)
      // Five windows with their margins, and twice the time of a response.
      assert.isAtMost(times[5 * 12] - times[0], 5 * 1025 + 2 * 20)
    }).pipe(Effect.scoped)
  )
})

/** Processes that send all the time, with a store that is some time away. Returns the most requests and the mean window. */
const fromAfar = Effect.fnUntraced(function* (
  distances: ReadonlyArray<Distance>,
  change: (processes: ReadonlyArray<Connection>) => Effect.Effect<void> = () => Effect.void
) {
  const store = yield* makeStore
  const times: Array<number> = []
  const processes = yield* Effect.forEach(distances, (distance) =>
    makeProcess(store, { ...sharedLimit, margin: 25 }, distance)
  )
  for (const { limiter } of processes) {
    for (let sender = 0; sender < 12; sender++) yield* sendAll(limiter, times, 20)
  }
  yield* TestClock.adjust("3 seconds")
  times.length = 0
  yield* TestClock.adjust("10 seconds")
  yield* change(processes)
  yield* TestClock.adjust("10 seconds")
  const cycles = times.slice(12).map((at, index) => at - times[index])
  return { most: maxInWindow(times, 1000), mean: cycles.reduce((sum, cycle) => sum + cycle, 0) / cycles.length }
}, Effect.scoped)

describe("Several processes whose store is some time away", () => {
  for (const [latencies, jitter, longest] of [
    [[50, 50, 50], 0, 1080],
    [[50, 50, 50], 15, 1100],
    [[50, 50, 50], 40, 1110],
    [[20, 50, 100], 15, 1150],
    [[200, 200, 200], 15, 1250],
    [[400, 400, 400], 0, 1450],
    [[200, 200, 200], 200, 1350],
    [[0, 0, 50], 5, 1090]
  ] as const) {
    it.effect(
      `keep the limit, and lengthen a window by about one call of the store (${latencies.join()} ± ${jitter} ms)`,
      () =>
        Effect.gen(function* () {
          const { mean, most } = yield* fromAfar(latencies.map((latency) => ({ latency, jitter })))
          assert.isAtMost(most, 12)
          assert.isAtMost(mean, longest)
        })
    )
  }

  for (const shift of [400, -400]) {
    it.effect(`keep the limit when the clock of the store is set by ${shift} ms`, () =>
      Effect.gen(function* () {
        const distances = [20, 50, 100].map((latency) => ({ latency, jitter: 15 }))
        const { mean, most } = yield* fromAfar(distances, (processes) =>
          Effect.sync(() => processes.forEach(({ setShift }) => setShift(shift)))
        )
        assert.isAtMost(most, 12)
        assert.isAtMost(mean, 1200)
      })
    )
  }
})

const countBetween = (times: ReadonlyArray<number>, from: number, to: number) =>
  times.filter((at) => at >= times[0] + from && at < times[0] + to).length

describe("Several processes of which some cannot reach the store", () => {
  it.effect("keep the limit together, while the absent one sends its share", () =>
    Effect.gen(function* () {
      const times = yield* withOutages([
        { process: 0, network: "down", after: 3000 },
        { process: 0, network: "up", after: 12_000 }
      ])
      assert.strictEqual(maxInWindow(times, 1000), 12)
      // The last seconds of the outage use the whole limit: 9 of the store, and 3 of the process that cannot reach it.
      assert.isAtLeast(countBetween(times, 9000, 14_000), 5 * 11)
    })
  )

  it.effect("keep the limit when all of them lose the store and come back one after another", () =>
    Effect.gen(function* () {
      const times = yield* withOutages([
        { process: 0, network: "down", after: 3000 },
        { process: 1, network: "down", after: 0 },
        { process: 2, network: "down", after: 0 },
        { process: 1, network: "up", after: 10_000 },
        { process: 0, network: "up", after: 900 },
        { process: 2, network: "up", after: 4000 }
      ])
      assert.isAtMost(maxInWindow(times, 1000), 12)
      assert.isAtLeast(countBetween(times, 8500, 12_500), 4 * 8)
    })
  )

  it.effect.prop(
    "keep the limit, however the network fails",
    {
      outages: Arbitrary.array(
        Arbitrary.all({
          process: Arbitrary.schema(Schema.Literals([0, 1, 2])),
          network: Arbitrary.schema(Schema.Literals(["up", "down", "answersLost", "late"])),
          after: Arbitrary.schema(Schema.Literals([0, 100, 700, 1500, 2500, 4800, 6000]))
        }),
        { minLength: 3, maxLength: 10 }
      )
    },
    ({ outages }) =>
      Effect.gen(function* () {
        assert.isAtMost(maxInWindow(yield* withOutages(outages), 1000), 12)
      }),
    { arbitrary: { runs: 25 } }
  )
})
