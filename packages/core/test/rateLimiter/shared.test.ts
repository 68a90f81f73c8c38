import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as TestClock from "effect/testing/TestClock"
import { type AdaptiveState, RateLimiterStore } from "../../src/RateLimiterStore.ts"
import * as RateLimiter from "../../src/RateLimiter.ts"
import { StoreError } from "../../src/StoreError.ts"
import * as Windows from "../../src/internal/rateLimiter/window.ts"

const options: RateLimiter.Options = {
  host: { count: 4, window: 1000 },
  messages: { count: 2, window: 1000 },
  margin: 0
}

const host = { count: 4, window: 1000 }

const unavailable = (operation: string) =>
  new StoreError({ store: "rateLimiter", operation, reason: "switched off", isRetryable: true })

/** A store in memory that can be switched off, and the logged messages. */
const makeStore = Effect.sync(() => {
  const windows = Windows.make({ host, messages: { count: 2, window: 1000 } }, 0)
  const operations: Array<string> = []
  const logs: Array<string> = []
  let state: AdaptiveState | undefined
  let isAvailable = true

  const run = <A>(operation: string, f: (now: number) => A) =>
    Effect.flatMap(Clock.currentTimeMillis, (now): Effect.Effect<A, StoreError> => {
      if (!isAvailable) return Effect.fail(unavailable(operation))
      operations.push(operation)
      return Effect.sync(() => f(now))
    })

  const store = RateLimiterStore.of({
    acquire: ({ requests }) =>
      run("acquire", (now) => ({
        hostLimit: state?.limit ?? host.count,
        results: requests.map(({ bucket }) => {
          const hostWait = windows.hostWait(now)
          if (hostWait > 0) return { _tag: "HostFull", retryAfter: hostWait }
          const bucketWait = windows.bucketWait(bucket?.key, now)
          if (bucketWait > 0) return { _tag: "BucketFull", retryAfter: bucketWait }
          return { _tag: "Granted", ...windows.grant("messages", bucket?.key, false, now) }
        })
      })),
    updateAdaptiveState: (update) => run("updateAdaptiveState", (now) => void (state = update(state, now))),
    pause: (millis) => run("pause", (now) => windows.pause(now, millis)),
    mergeBuckets: (from, to) => run("mergeBuckets", () => windows.merge(from, to)),
    postpone: ({ bucket, from, to }) => run("postpone", () => windows.postpone(bucket, from, to))
  })
  const layer = Layer.mergeAll(
    Layer.succeed(RateLimiterStore, store),
    Logger.layer([Logger.make(({ message }) => void logs.push(String(message)))])
  )
  return { layer, logs, operations, state: () => state, setAvailable: (value: boolean) => void (isAvailable = value) }
})

const withLimiter = (
  shared: RateLimiter.SharedOptions,
  test: (
    limiter: RateLimiter.RateLimiter["Service"],
    store: Effect.Success<typeof makeStore>
  ) => Effect.Effect<void, unknown>
) =>
  Effect.gen(function* () {
    const store = yield* makeStore
    yield* Effect.gen(function* () {
      yield* test(yield* RateLimiter.make({ ...options, ...shared }), store)
    }).pipe(Effect.scoped, Effect.provide(store.layer))
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
        assert.isAtLeast(operations.filter((operation) => operation === "acquire").length, 4)
      })
    )
  )

  it.effect("stores pauses, lowered limits, merged dialogs and late responses", () =>
    withLimiter({ margin: 10 }, (limiter, { operations, state }) =>
      Effect.gen(function* () {
        const fiber = yield* Effect.forkChild(limiter.acquire({ scope: "messages", user: 5 }))
        yield* TestClock.adjust(0)
        const permit = yield* Fiber.join(fiber)
        yield* limiter.onResponse(permit)
        yield* TestClock.adjust(50)
        yield* limiter.onResponse(permit)
        yield* limiter.linkDialog({ user_id: 5, chat_id: 77 })
        yield* limiter.onRateLimited({ ...permit, used: 2 }, Duration.seconds(1))
        assert.deepStrictEqual(operations.slice(1), ["postpone", "mergeBuckets", "pause", "updateAdaptiveState"])
        assert.strictEqual(state()?.limit, 2)
      })
    )
  )

  it.effect("raises a lowered limit that is used up", () =>
    withLimiter({}, (limiter, { operations, state }) =>
      Effect.gen(function* () {
        const fiber = yield* Effect.forkChild(limiter.acquire(undefined))
        yield* TestClock.adjust(0)
        yield* limiter.onRateLimited({ ...(yield* Fiber.join(fiber)), used: 1 })
        assert.strictEqual(state()?.limit, 1)
        yield* TestClock.adjust("1 minute")
        yield* permitTimes(limiter, 4)
        yield* permitTimes(limiter, 1)
        assert.isAbove(state()!.limit, 1)
        assert.isAbove((yield* limiter.status).hostLimit, 1)
        assert.include(operations.slice(3), "updateAdaptiveState")
      })
    )
  )
})

describe("While the store is unavailable, RateLimiter.layer", () => {
  it.effect("lets calls wait by default, and logs the change", () =>
    withLimiter({}, (limiter, { logs, setAvailable }) =>
      Effect.gen(function* () {
        setAvailable(false)
        const call = yield* Effect.forkChild(limiter.acquire(undefined), { startImmediately: true })
        yield* TestClock.adjust("10 seconds")
        assert.isUndefined(call.pollUnsafe())
        setAvailable(true)
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

  it.effect("grants a share of the limits if the options say so", () =>
    withLimiter({ onUnavailable: { share: 0.5 } }, (limiter, { logs, setAvailable }) =>
      Effect.gen(function* () {
        setAvailable(false)
        // Permits of the store may still be in the windows of the platform, so the share begins after one window.
        assert.deepStrictEqual(yield* permitTimes(limiter, 5), [1000, 1000, 2000, 2000, 3000])
        assert.include(logs[0], "at most 0.5 of the configured limits")
        yield* limiter.pause(Duration.seconds(1))
        yield* limiter.linkDialog({ user_id: 5, chat_id: 77 })
        assert.strictEqual(logs.length, 1)
      })
    )
  )
})
