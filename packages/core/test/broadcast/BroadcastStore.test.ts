import * as BroadcastStore from "@colloquy/core/broadcast/BroadcastStore"
import * as BroadcastSuite from "@colloquy/testing/stores/BroadcastSuite"
import { describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"

describe("BroadcastStore.layerMemory", () => {
  it.effect.each(BroadcastSuite.cases)("$name", ({ effect }) => Effect.provide(effect, BroadcastStore.layerMemory))
})
