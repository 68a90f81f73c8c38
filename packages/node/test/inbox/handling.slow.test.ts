import * as InboxSuite from "@colloquy/testing/stores/InboxSuite"
import { InboxStore } from "@colloquy/core/inbox/InboxStore"
import { describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { databases } from "../support/sharedStores.ts"

// The simulator handles updates with the stores in memory and in SQLite.
for (const { isMissing, kind, opened } of databases.filter(({ kind }) => kind !== "SQLite")) {
  describe.skipIf(isMissing)(`the handling of updates with a store in ${kind}`, () => {
    const cases = InboxSuite.handling({
      withStore: (effect) =>
        Effect.scoped(Effect.flatMap(opened, ({ store }) => Effect.provideService(effect, InboxStore, store))),
      runs: 4,
      concurrency: 4,
      everyPoint: false
    })
    for (const { name, effect } of cases) it.live(name, () => effect)
  })
}
