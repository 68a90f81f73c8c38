import * as InboxStore from "@colloquy/core/inbox/InboxStore"
import * as InboxSuite from "@colloquy/testing/stores/InboxSuite"
import { describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"

describe("InboxStore.layerMemory", () => {
  for (const { name, effect } of InboxSuite.cases) {
    it.effect(name, () => Effect.provide(effect, InboxStore.layerMemory))
  }
})

describe("the handling of updates with InboxStore.layerMemory", () => {
  const cases = InboxSuite.handling({
    withStore: (effect) => Effect.provide(effect, Layer.fresh(InboxStore.layerMemory))
  })
  for (const { name, effect } of cases) it.effect(name, () => effect)
})
