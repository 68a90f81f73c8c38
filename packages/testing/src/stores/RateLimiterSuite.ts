/**
 * Test cases for every implementation of `RateLimiter`, for any test runner. The cases use the clock of their context.
 * If the rate limiter uses a server, run them in real time.
 *
 * @since 0.1.0
 */
import type * as RateLimiter from "@colloquy/core/client/RateLimiter"
import type { RateLimiterStore } from "@colloquy/core/client/RateLimiterStore"
import type { StoreError } from "@colloquy/core/base/StoreError"
import { limiterCases } from "./internal/rateLimiter/limiterCases.ts"
import * as store from "./internal/rateLimiter/storeCases.ts"
import type { TestCase } from "./TestCase.ts"

/**
 * The options of the rate limiter under test. Their windows are short, so that the cases do not take long.
 *
 * @category options
 * @since 0.1.0
 */
export const options: RateLimiter.Options = {
  host: { count: 6, window: 290 },
  messages: { count: 2, window: 290 },
  answers: { count: 1, window: 290 },
  polling: { count: 1, window: 290 },
  margin: 10,
  maxQueued: 100,
  maxWait: "1 minute"
}

/**
 * The cases.
 *
 * **Example** (Test a rate limiter with vitest)
 *
 * ```ts
 * import { RateLimiter } from "@colloquy/core"
 * import * as RateLimiterSuite from "@colloquy/testing/stores/RateLimiterSuite"
 * import { describe, it } from "@effect/vitest"
 * import { Effect } from "effect"
 *
 * describe("RateLimiter.layerMemory", () => {
 *   for (const { effect, name } of RateLimiterSuite.cases) {
 *     it.live(name, () => Effect.provide(effect, RateLimiter.layerMemory(RateLimiterSuite.options)))
 *   }
 * })
 * ```
 *
 * @category cases
 * @since 0.1.0
 */
export const cases: ReadonlyArray<TestCase<RateLimiter.RateLimiter, RateLimiter.RateLimiterError>> = limiterCases

/**
 * The cases that every `RateLimiterStore` has to pass.
 *
 * **Example** (Test a store with vitest)
 *
 * ```ts
 * import * as RateLimiterStore from "@colloquy/core/client/RateLimiterStore"
 * import * as RateLimiterSuite from "@colloquy/testing/stores/RateLimiterSuite"
 * import { describe, it } from "@effect/vitest"
 * import { Effect } from "effect"
 *
 * describe("RateLimiterStore.layerMemory", () => {
 *   for (const { effect, name } of RateLimiterSuite.storeCases) {
 *     it.live(name, () => Effect.provide(effect, RateLimiterStore.layerMemory))
 *   }
 * })
 * ```
 *
 * @category cases
 * @since 0.1.0
 */
export const storeCases: ReadonlyArray<TestCase<RateLimiterStore, StoreError>> = store.storeCases
