import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as TestClock from "effect/testing/TestClock"
import { RateLimiter } from "../../../src/index.ts"
import * as metrics from "../../../src/client/internal/rateLimiter/metrics.ts"

const valueOf = <Input, State>(metric: Metric.Metric<Input, State>, priority: RateLimiter.Priority) =>
  Metric.value(Metric.withAttributes(metric, { priority }))

describe("RateLimiter.layerMetrics", () => {
  it.effect("counts waiting calls, permits, wait times, rejected calls, 429 responses and pauses", () =>
    Effect.gen(function* () {
      const limiter = yield* RateLimiter.RateLimiter
      const acquire = RateLimiter.withPriority(limiter.acquire(undefined), "reply")
      const permit = yield* acquire
      const calls = yield* Effect.forEach([1, 2], () => Effect.forkChild(acquire, { startImmediately: true }))
      yield* Effect.flip(RateLimiter.withMaxWait(limiter.acquire(undefined), 0))
      assert.strictEqual((yield* valueOf(metrics.waiting, "reply")).value, 2)
      yield* TestClock.adjust("2 seconds")
      yield* Fiber.joinAll(calls)
      assert.strictEqual((yield* valueOf(metrics.waiting, "reply")).value, 0)
      assert.strictEqual((yield* valueOf(metrics.permits, "reply")).count, 3)
      assert.strictEqual((yield* valueOf(metrics.permits, "normal")).count, 0)
      const waits = yield* valueOf(metrics.waitTime, "reply")
      assert.deepStrictEqual([waits.count, waits.min, waits.max], [3, 0, 2])
      assert.strictEqual((yield* valueOf(metrics.rejected, "normal")).count, 1)
      yield* permit.rejected()
      yield* limiter.pause(Duration.seconds(1))
      assert.strictEqual((yield* Metric.value(metrics.rateLimited)).count, 1)
      assert.strictEqual((yield* Metric.value(metrics.pauses)).count, 2)
    }).pipe(
      Effect.provide(
        RateLimiter.layerMemory({ host: { count: 1, window: "1 second" }, margin: 0 }).pipe(
          Layer.provide(RateLimiter.layerMetrics)
        )
      ),
      Effect.provideService(Metric.MetricRegistry, new Map())
    )
  )
})
