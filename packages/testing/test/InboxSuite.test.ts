import * as InboxStore from "@colloquy/core/InboxStore"
import * as InboxSuite from "@colloquy/testing/InboxSuite"
import { describe, it } from "@effect/vitest"
import { Effect } from "effect"

describe("InboxStore.layerMemory", () => {
  for (const { name, effect } of InboxSuite.cases) {
    it.effect(name, () => Effect.provide(effect, InboxStore.layerMemory()))
  }
})
