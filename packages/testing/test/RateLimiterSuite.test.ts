import { RateLimiter } from "@colloquy/core"
import * as RateLimiterSuite from "@colloquy/testing/RateLimiterSuite"
import { describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"

describe("RateLimiter.layerMemory", () => {
  for (const { effect, name } of RateLimiterSuite.cases) {
    it.live(name, () => Effect.provide(effect, RateLimiter.layerMemory(RateLimiterSuite.options)))
  }
})
