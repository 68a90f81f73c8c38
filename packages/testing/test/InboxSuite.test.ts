import { InboxStore } from "@colloquy/core"
import { InboxSuite } from "@colloquy/testing"
import { describe, it } from "@effect/vitest"
import { Effect } from "effect"

describe("InboxStore.layerMemory", () => {
  for (const { name, effect } of InboxSuite.cases) {
    it.effect(name, () => Effect.provide(effect, InboxStore.layerMemory()))
  }
})
