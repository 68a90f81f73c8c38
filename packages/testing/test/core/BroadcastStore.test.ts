import { BroadcastStore } from "@colloquy/core"
import { BroadcastSuite } from "@colloquy/testing"
import { describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"

describe("BroadcastStore.layerMemory", () => {
  it.effect.each(BroadcastSuite.cases)("$name", ({ effect }) => Effect.provide(effect, BroadcastStore.layerMemory()))
})
