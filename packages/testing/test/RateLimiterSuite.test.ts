import { RateLimiter } from "@colloquy/core"
import * as RateLimiterSuite from "@colloquy/testing/RateLimiterSuite"
import { describe, it } from "@effect/vitest"
import * as RateLimiterStore from "@colloquy/core/RateLimiterStore"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

describe("RateLimiter.layerMemory", () => {
  for (const { effect, name } of RateLimiterSuite.cases) {
    it.live(name, () => Effect.provide(effect, RateLimiter.layerMemory(RateLimiterSuite.options)))
  }
})

describe("RateLimiter.layer on RateLimiterStore.layerMemory", () => {
  for (const { effect, name } of RateLimiterSuite.cases) {
    it.live(name, () =>
      Effect.provide(
        effect,
        RateLimiter.layer(RateLimiterSuite.options).pipe(Layer.provide(RateLimiterStore.layerMemory()))
      )
    )
  }
})

describe("RateLimiterStore.layerMemory", () => {
  for (const { effect, name } of RateLimiterSuite.storeCases) {
    it.live(name, () => Effect.provide(effect, RateLimiterStore.layerMemory()))
  }
})
