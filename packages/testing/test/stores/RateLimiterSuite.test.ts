import { RateLimiter } from "@colloquy/core"
import * as RateLimiterSuite from "@colloquy/testing/stores/RateLimiterSuite"
import { describe, it } from "@effect/vitest"
import * as RateLimiterStore from "@colloquy/core/client/RateLimiterStore"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { TestClock } from "effect/testing"

/** Time passes while the effect runs, and only in the test. */
const inVirtualTime = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.raceFirst(effect, Effect.forever(TestClock.adjust("1 millis")))

describe("RateLimiter.layerMemory", () => {
  for (const { effect, name } of RateLimiterSuite.cases) {
    it.effect(name, () => inVirtualTime(Effect.provide(effect, RateLimiter.layerMemory(RateLimiterSuite.options))))
  }
})

describe("RateLimiter.layer on RateLimiterStore.layerMemory", () => {
  for (const { effect, name } of RateLimiterSuite.cases) {
    it.effect(name, () =>
      inVirtualTime(
        Effect.provide(
          effect,
          RateLimiter.layer(RateLimiterSuite.options).pipe(Layer.provide(RateLimiterStore.layerMemory))
        )
      )
    )
  }
})

describe("RateLimiterStore.layerMemory", () => {
  for (const { effect, name } of RateLimiterSuite.storeCases) {
    it.effect(name, () => inVirtualTime(Effect.provide(effect, RateLimiterStore.layerMemory)))
  }
})
